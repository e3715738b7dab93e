// Options of a pass, in the three ways to name it.
// RUN: mirage-opt %s --algebraic-rewrite="rules=join-sums,square-of-sqrt" | filecheck %s
// RUN: mirage-opt %s '--algebraic-rewrite={rules=join-sums,square-of-sqrt}' | filecheck %s
// RUN: mirage-opt %s --pass-pipeline='builtin.module(algebraic-rewrite{rules=join-sums,square-of-sqrt})' | filecheck %s
// RUN: mirage-opt %s -p 'algebraic-rewrite{rules="join-sums","square-of-sqrt"}' | filecheck %s

// CHECK-NOT: kernel.square
// CHECK:     kernel.div
func.func @f(%x: tensor<4x8xf32>, %s: tensor<4x1xf32>) -> tensor<4x1xf32> {
  %a = kernel.sqrt %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %b = kernel.square %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // Left alone: a rule that is not among those that are asked for.
  %c = kernel.div %b, %s : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %y = kernel.reduce_sum %c {dims = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  func.return %y : tensor<4x1xf32>
}
