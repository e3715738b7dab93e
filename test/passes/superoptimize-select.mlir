// Operators that have a kernel of their own read views, whose dims may not lie as one would.
// RUN: mirage-opt --superoptimize --report %s 2>&1 | filecheck %s

// CHECK: func.func @select_of_transposed(
// CHECK: %t = kernel.transpose
// CHECK-NEXT: kernel.graph_defined ins(%m, %t, %y) grid [1, 1, 1]
// CHECK: verified: proved
// CHECK: select_of_transposed_kernel_0: grid
func.func @select_of_transposed(%m: tensor<8x4x6xf32>, %x: tensor<4x8x6xf32>, %y: tensor<8x4x6xf32>) -> tensor<8x4x6xf32> {
  %t = kernel.transpose %x {permutation = array<i64: 1, 0, 2>} : (tensor<4x8x6xf32>) -> tensor<8x4x6xf32>
  %s = kernel.select %m, %t, %y : (tensor<8x4x6xf32>, tensor<8x4x6xf32>, tensor<8x4x6xf32>) -> tensor<8x4x6xf32>
  func.return %s : tensor<8x4x6xf32>
}
