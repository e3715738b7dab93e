// RUN: mirage-opt "--verify-equivalence=reference=f candidate=g" %s | filecheck %s

// The indices of a block have no normal form; tests compute them.

// CHECK: func.func @f
func.func @f(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %i = kernel.iota {dim = 0 : i64} : tensor<8x1xf32>
  %y = kernel.mul %x, %i : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}
func.func @g(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %y = kernel.graph_defined ins(%x) grid [2] {
  ^bb0(%a: tensor<8x4xf32>):
    %t = threadblock.load %a grid_map [0] : (tensor<8x4xf32>) -> !threadblock.tile<4x4xf32>
    %i = threadblock.iota of [8, 1] strides [1, 0] grid_map [0] : !threadblock.tile<4x1xf32>
    %m = threadblock.mul %t, %i : (!threadblock.tile<4x4xf32>, !threadblock.tile<4x1xf32>) -> !threadblock.tile<4x4xf32>
    threadblock.store %m grid_map [0] : !threadblock.tile<4x4xf32>
  } : (tensor<8x4xf32>) -> tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}
