// Candidates for a program: the first that is equal gets the name, what is refused and the program go.
// RUN: mirage-opt %s --verify-equivalence --verify-diagnostics | filecheck %s
// RUN: mirage-opt %s --verify-equivalence="top-k=2" 2>%t | filecheck %s --check-prefix=TWO
// RUN: filecheck %s --check-prefix=REFUSED < %t
// RUN: not mirage-opt %s --sink-reductions 2>&1 | filecheck %s --check-prefix=MARKED
// RUN: not mirage-opt %s --lower-to-nvvm 2>&1 | filecheck %s --check-prefix=MARKED
// RUN: not mirage-opt %s --report 2>&1 | filecheck %s --check-prefix=MARKED

// CHECK-LABEL: func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:    kernel.sigmoid
// CHECK-NOT:   func.func
// TWO-LABEL:   func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
// TWO-NEXT:      kernel.sigmoid
// TWO-LABEL:   func.func @f__candidate_1(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {kernel.alternative = #kernel.alternative<1 : i64, 2.000000e-06 : f64>} {
// TWO-NEXT:      kernel.silu
// TWO-NOT:     func.func
// REFUSED:     remark: wrong was rejected, not equal: output 0 at [0, 0] is
// MARKED:      [[# @LINE + 2]]:1: error: 'func.func' op @f is not verified: run verify-equivalence, which compares it with @f__program
// expected-remark @+1 {{wrong was rejected, not equal: output 0 at [0, 0] is}}
func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {kernel.implements = @f__program, kernel.candidate = #kernel.candidate<"wrong", 1.0e-06 : f64, false, []>} {
  %y = kernel.sigmoid %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}
func.func @second(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {kernel.implements = @f__program} {
  %s = kernel.sigmoid %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %y = kernel.mul %x, %s : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}
func.func @third(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {kernel.implements = @f__program, kernel.candidate = #kernel.candidate<"grid(i)", 2.0e-06 : f64, false, [array<i64: 1, 1>]>} {
  %y = kernel.silu %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}
func.func private @f__program(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = kernel.silu %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}
