// RUN: not mirage-opt "--verify-equivalence=reference=f candidate=g" %s 2>&1 | filecheck %s

// Blocks of single keys are shifted by what is not masked: a maximum of maxima that are made anew
// for each other. It is not decided; it was an endless recursion.

// CHECK: error: 'func.func' op @g may be @f or not, not proved: normal forms: a maximum is made of too many others
func.func @f(%a0: tensor<3x2xf32>, %a1: tensor<2x2xf32>) -> tensor<3x2xf32> {
  %k0 = kernel.iota {dim = 0 : i64} : tensor<3x1xf32>
  %k1 = kernel.iota {dim = 1 : i64} : tensor<1x2xf32>
  %k2 = kernel.mul %k0, %k1  : (tensor<3x1xf32>, tensor<1x2xf32>) -> tensor<3x2xf32>
  %k3 = kernel.constant {value = 4.000000000e+00 : f32} : tensor<1x1xf32>
  %k4 = kernel.compare %k2, %k3 {predicate = "lt"} : (tensor<3x2xf32>, tensor<1x1xf32>) -> tensor<3x2xf32>
  %k5 = kernel.constant {value = 0xFF800000 : f32} : tensor<1x1xf32>
  %k6 = kernel.select %k4, %a0, %k5  : (tensor<3x2xf32>, tensor<3x2xf32>, tensor<1x1xf32>) -> tensor<3x2xf32>
  %k7 = kernel.softmax %k6 {dim = 1 : i64} : (tensor<3x2xf32>) -> tensor<3x2xf32>
  %k8 = kernel.matmul %k7, %a1  : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  func.return %k8 : tensor<3x2xf32>
}
func.func @g(%a0: tensor<3x2xf32>, %a1: tensor<2x2xf32>) -> tensor<3x2xf32> {
  %k0 = kernel.iota {dim = 0 : i64} : tensor<3x1xf32>
  %k1 = kernel.iota {dim = 1 : i64} : tensor<1x2xf32>
  %g2_0 = kernel.graph_defined ins(%a0, %a1, %k0, %k1) grid [1] loop [2] {
  ^bb0(%b0_2: tensor<3x2xf32>, %b1_2: tensor<2x2xf32>, %b2_2: tensor<3x1xf32>, %b3_2: tensor<1x2xf32>):
    %t2_0 = threadblock.load %b0_2 grid_map [0] loop_map [1] : (tensor<3x2xf32>) -> !threadblock.tile<3x1xf32>
    %t2_1 = threadblock.load %b1_2 grid_map [_] loop_map [0] : (tensor<2x2xf32>) -> !threadblock.tile<1x2xf32>
    %t2_2 = threadblock.load %b2_2 grid_map [0] loop_map [_] : (tensor<3x1xf32>) -> !threadblock.tile<3x1xf32>
    %t2_3 = threadblock.load %b3_2 grid_map [_] loop_map [1] : (tensor<1x2xf32>) -> !threadblock.tile<1x1xf32>
    %t2_4 = threadblock.mul %t2_2, %t2_3  : (!threadblock.tile<3x1xf32>, !threadblock.tile<1x1xf32>) -> !threadblock.tile<3x1xf32>
    %t2_5 = threadblock.constant {value = 4.000000000e+00 : f32} : !threadblock.tile<1x1xf32>
    %t2_6 = threadblock.compare %t2_4, %t2_5 {predicate = "lt"} : (!threadblock.tile<3x1xf32>, !threadblock.tile<1x1xf32>) -> !threadblock.tile<3x1xf32>
    %t2_7 = threadblock.constant {value = 0xFF800000 : f32} : !threadblock.tile<1x1xf32>
    %t2_8 = threadblock.select %t2_6, %t2_0, %t2_7  : (!threadblock.tile<3x1xf32>, !threadblock.tile<3x1xf32>, !threadblock.tile<1x1xf32>) -> !threadblock.tile<3x1xf32>
    %t2_9 = threadblock.reduce_max %t2_0 {dims = array<i64: 1>} : (!threadblock.tile<3x1xf32>) -> !threadblock.tile<3x1xf32>
    %t2_10 = threadblock.sub %t2_8, %t2_9  : (!threadblock.tile<3x1xf32>, !threadblock.tile<3x1xf32>) -> !threadblock.tile<3x1xf32>
    %t2_11 = threadblock.exp %t2_10  : (!threadblock.tile<3x1xf32>) -> !threadblock.tile<3x1xf32>
    %t2_12 = threadblock.matmul %t2_11, %t2_1  : (!threadblock.tile<3x1xf32>, !threadblock.tile<1x2xf32>) -> !threadblock.tile<3x2xf32>
    %t2_13 = threadblock.accumulate %t2_12 rescale %t2_9 : (!threadblock.tile<3x2xf32>, !threadblock.tile<3x1xf32>) -> !threadblock.tile<3x2xf32>
    %t2_14 = threadblock.reduce_sum %t2_11 {dims = array<i64: 1>} : (!threadblock.tile<3x1xf32>) -> !threadblock.tile<3x1xf32>
    %t2_15 = threadblock.accumulate %t2_14 rescale %t2_9 : (!threadblock.tile<3x1xf32>, !threadblock.tile<3x1xf32>) -> !threadblock.tile<3x1xf32>
    %t2_16 = threadblock.div %t2_13, %t2_15  : (!threadblock.tile<3x2xf32>, !threadblock.tile<3x1xf32>) -> !threadblock.tile<3x2xf32>
    threadblock.store %t2_16 grid_map [0] : !threadblock.tile<3x2xf32>
  } : (tensor<3x2xf32>, tensor<2x2xf32>, tensor<3x1xf32>, tensor<1x2xf32>) -> tensor<3x2xf32>
  func.return %g2_0 : tensor<3x2xf32>
}
