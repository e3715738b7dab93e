// What the verifier of whole graphs lets pass though it looks odd.
// RUN: mirage-opt %s --split-input-file | mirage-opt --split-input-file

// The last of 13 iterations has 4 elements of 5; the sums of the earlier ones are all there.
func.func @f(%x: tensor<16x64xf16>) {
  %r = kernel.graph_defined ins(%x) grid [4] loop [13] {
  ^bb0(%xa: tensor<16x64xf16>):
    %t = threadblock.load %xa grid_map [0] loop_map [1] : (tensor<16x64xf16>) -> !threadblock.tile<4x5xf16>
    %s = threadblock.accumulate %t : (!threadblock.tile<4x5xf16>) -> !threadblock.tile<4x5xf32>
    threadblock.store %s grid_map [0] : !threadblock.tile<4x5xf32>
  } : (tensor<16x64xf16>) -> tensor<16x5xf32>
  func.return
}

// -----

// Five of nine iterations, and two of six blocks, have nothing.
func.func @f(%x: tensor<16x64xf16>) {
  %r = kernel.graph_defined ins(%x) grid [6] loop [9] {
  ^bb0(%xa: tensor<16x64xf16>):
    %t = threadblock.load %xa grid_map [0] loop_map [1] : (tensor<16x64xf16>) -> !threadblock.tile<4x16xf16>
    %q = threadblock.reduce_sum %t {dims = array<i64: 1>} : (!threadblock.tile<4x16xf16>) -> !threadblock.tile<4x1xf32>
    %s = threadblock.accumulate %q : (!threadblock.tile<4x1xf32>) -> !threadblock.tile<4x1xf32>
    threadblock.store %s grid_map [0] : !threadblock.tile<4x1xf32>
  } : (tensor<16x64xf16>) -> tensor<16x1xf32>
  func.return
}

// -----

// A tile beyond the tensor has as many rows as the tensor; so has the result.
func.func @f(%x: tensor<16x64xf16>) {
  %r = kernel.graph_defined ins(%x) grid [1] loop [8] {
  ^bb0(%xa: tensor<16x64xf16>):
    %t = threadblock.load %xa grid_map [_] loop_map [1] : (tensor<16x64xf16>) -> !threadblock.tile<32x8xf16>
    %q = threadblock.reduce_sum %t {dims = array<i64: 1>} : (!threadblock.tile<32x8xf16>) -> !threadblock.tile<32x1xf32>
    %s = threadblock.accumulate %q : (!threadblock.tile<32x1xf32>) -> !threadblock.tile<32x1xf32>
    threadblock.store %s grid_map [_] : !threadblock.tile<32x1xf32>
  } : (tensor<16x64xf16>) -> tensor<16x1xf32>
  func.return
}

// -----

// Two loops cut one dimension, the outer one slower.
func.func @f(%x: tensor<16x64xf16>) {
  %r = kernel.graph_defined ins(%x) grid [4] loop [2, 4] {
  ^bb0(%xa: tensor<16x64xf16>):
    %t = threadblock.load %xa grid_map [0] loop_map [1, 1] : (tensor<16x64xf16>) -> !threadblock.tile<4x8xf16>
    %s = threadblock.accumulate %t : (!threadblock.tile<4x8xf16>) -> !threadblock.tile<4x8xf32>
    threadblock.store %s grid_map [0] : !threadblock.tile<4x8xf32>
  } : (tensor<16x64xf16>) -> tensor<16x8xf32>
  func.return
}

// -----

// A grid axis and the loop cut the same dimension.
func.func @f(%x: tensor<16x64xf16>) {
  %r = kernel.graph_defined ins(%x) grid [4] loop [4] {
  ^bb0(%xa: tensor<16x64xf16>):
    %t = threadblock.load %xa grid_map [1] loop_map [1] : (tensor<16x64xf16>) -> !threadblock.tile<16x4xf16>
    %q = threadblock.reduce_sum %t {dims = array<i64: 1>} : (!threadblock.tile<16x4xf16>) -> !threadblock.tile<16x1xf32>
    %s = threadblock.accumulate %q across [0] : (!threadblock.tile<16x1xf32>) -> !threadblock.tile<16x1xf32>
    threadblock.store %s grid_map [_] : !threadblock.tile<16x1xf32>
  } : (tensor<16x64xf16>) -> tensor<16x1xf32>
  func.return
}

// -----

// The second axis holds the same tile for the first result and places copies of one in the other.
// The constant is as wide as what it fills: two elements in the last block.
func.func @f(%x: tensor<16x64xf16>) {
  %r:2 = kernel.graph_defined ins(%x) grid [4, 4] loop [8] {
  ^bb0(%xa: tensor<16x64xf16>):
    %t = threadblock.load %xa grid_map [0, _] loop_map [1] : (tensor<16x64xf16>) -> !threadblock.tile<4x8xf16>
    %s = threadblock.accumulate %t : (!threadblock.tile<4x8xf16>) -> !threadblock.tile<4x8xf32>
    threadblock.store %s grid_map [0, _] : !threadblock.tile<4x8xf32>
    %c = threadblock.constant {value = 2.0 : f32} : !threadblock.tile<4x4xf16>
    threadblock.store %c grid_map [0, 1] : !threadblock.tile<4x4xf16>
  } : (tensor<16x64xf16>) -> (tensor<16x8xf32>, tensor<16x14xf16>)
  func.return
}

// -----

// A total across blocks, put to use on what each block has of its own: stored by all of them.
func.func @f(%x: tensor<16x64xf16>) {
  %r = kernel.graph_defined ins(%x) grid [4, 4] {
  ^bb0(%xa: tensor<16x64xf16>):
    %t = threadblock.load %xa grid_map [0, 1] : (tensor<16x64xf16>) -> !threadblock.tile<4x16xf16>
    %q = threadblock.reduce_sum %t {dims = array<i64: 1>} : (!threadblock.tile<4x16xf16>) -> !threadblock.tile<4x1xf32>
    %s = threadblock.accumulate %q across [1] : (!threadblock.tile<4x1xf32>) -> !threadblock.tile<4x1xf32>
    %d = threadblock.div %t, %s : (!threadblock.tile<4x16xf16>, !threadblock.tile<4x1xf32>) -> !threadblock.tile<4x16xf32>
    threadblock.store %d grid_map [0, 1] : !threadblock.tile<4x16xf32>
  } : (tensor<16x64xf16>) -> tensor<16x64xf32>
  func.return
}

// -----

// First over the loop, then across blocks.
func.func @f(%x: tensor<16x64xf16>) {
  %r = kernel.graph_defined ins(%x) grid [4, 4] loop [4] {
  ^bb0(%xa: tensor<16x64xf16>):
    %t = threadblock.load %xa grid_map [0, 1] loop_map [1] : (tensor<16x64xf16>) -> !threadblock.tile<4x4xf16>
    %q = threadblock.reduce_max %t {dims = array<i64: 1>} : (!threadblock.tile<4x4xf16>) -> !threadblock.tile<4x1xf32>
    %m = threadblock.accumulate %q {kind = "max"} : (!threadblock.tile<4x1xf32>) -> !threadblock.tile<4x1xf32>
    %n = threadblock.accumulate %m across [1] {kind = "max"} : (!threadblock.tile<4x1xf32>) -> !threadblock.tile<4x1xf32>
    %d = threadblock.sub %m, %n : (!threadblock.tile<4x1xf32>, !threadblock.tile<4x1xf32>) -> !threadblock.tile<4x1xf32>
    %e = threadblock.exp %d : (!threadblock.tile<4x1xf32>) -> !threadblock.tile<4x1xf32>
    %l = threadblock.accumulate %e across [1] : (!threadblock.tile<4x1xf32>) -> !threadblock.tile<4x1xf32>
    threadblock.store %l grid_map [0, _] : !threadblock.tile<4x1xf32>
  } : (tensor<16x64xf16>) -> tensor<16x1xf32>
  func.return
}

// -----

// An invariant tile is there after the loop.
func.func @f(%x: tensor<16x64xf16>) {
  %r = kernel.graph_defined ins(%x) grid [4] loop [8] {
  ^bb0(%xa: tensor<16x64xf16>):
    %c = threadblock.load %xa grid_map [0] loop_map [_] : (tensor<16x64xf16>) -> !threadblock.tile<4x64xf16>
    %t = threadblock.load %xa grid_map [0] loop_map [1] : (tensor<16x64xf16>) -> !threadblock.tile<4x8xf16>
    %q = threadblock.reduce_sum %t {dims = array<i64: 1>} : (!threadblock.tile<4x8xf16>) -> !threadblock.tile<4x1xf32>
    %s = threadblock.accumulate %q : (!threadblock.tile<4x1xf32>) -> !threadblock.tile<4x1xf32>
    %d = threadblock.div %c, %s : (!threadblock.tile<4x64xf16>, !threadblock.tile<4x1xf32>) -> !threadblock.tile<4x64xf32>
    threadblock.store %d grid_map [0] : !threadblock.tile<4x64xf32>
  } : (tensor<16x64xf16>) -> tensor<16x64xf32>
  func.return
}

// -----

// Axes of one block need no dimension; a leading dimension of size 1 is for partial results.
func.func @f(%x: tensor<16x64xf16>) {
  %r = kernel.graph_defined ins(%x) grid [4, 1, 1] {
  ^bb0(%xa: tensor<16x64xf16>):
    %t = threadblock.load %xa grid_map [0, _, _] : (tensor<16x64xf16>) -> !threadblock.tile<4x64xf16>
    %b = threadblock.broadcast %t : (!threadblock.tile<4x64xf16>) -> !threadblock.tile<1x1x4x64xf16>
    threadblock.store %b grid_map [2, _, _] : !threadblock.tile<1x1x4x64xf16>
  } : (tensor<16x64xf16>) -> tensor<1x1x16x64xf16>
  func.return
}
