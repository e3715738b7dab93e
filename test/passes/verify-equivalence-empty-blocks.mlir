// Five blocks of two rows for seven rows, the last one without any: its maxima are over nothing, and go nowhere.
// RUN: mirage-opt %s --verify-equivalence="reference=reference candidate=ugraph" 2>&1 | filecheck %s

func.func @reference(%x: tensor<7x8xf32>) -> tensor<7x1xf32> {
  %y = kernel.reduce_max %x {dims = array<i64: 1>} : (tensor<7x8xf32>) -> tensor<7x1xf32>
  func.return %y : tensor<7x1xf32>
}

// CHECK: remark: @ugraph is @reference: {{.*}}tested: equal modulo random primes
func.func @ugraph(%x: tensor<7x8xf32>) -> tensor<7x1xf32> {
  %y = kernel.graph_defined ins(%x) grid [5] loop [2] {
  ^bb0(%a: tensor<7x8xf32>):
    %t = threadblock.load %a grid_map [0] loop_map [1] : (tensor<7x8xf32>) -> !threadblock.tile<2x5xf32>
    %m = threadblock.reduce_max %t {dims = array<i64: 1>} : (!threadblock.tile<2x5xf32>) -> !threadblock.tile<2x1xf32>
    %s = threadblock.accumulate %m {kind = "max"} : (!threadblock.tile<2x1xf32>) -> !threadblock.tile<2x1xf32>
    threadblock.store %s grid_map [0] : !threadblock.tile<2x1xf32>
  } : (tensor<7x8xf32>) -> tensor<7x1xf32>
  func.return %y : tensor<7x1xf32>
}
