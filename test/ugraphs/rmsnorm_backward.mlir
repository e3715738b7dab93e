// RUN: mirage-opt %s --verify-equivalence="reference=reference candidate=ugraph"

// The gradients of RMSNorm, from the rows, their gradient and 1 / root(mean of squares + eps).
func.func @reference(%x: tensor<250x256xf32>, %dy: tensor<250x256xf32>, %r: tensor<250x1xf32>) -> (tensor<250x256xf32>, tensor<1x256xf32>) {
  %n = kernel.mul %x, %r : (tensor<250x256xf32>, tensor<250x1xf32>) -> tensor<250x256xf32>
  %t = kernel.mul %n, %dy : (tensor<250x256xf32>, tensor<250x256xf32>) -> tensor<250x256xf32>
  %c = kernel.reduce_mean %t {dims = array<i64: 1>} : (tensor<250x256xf32>) -> tensor<250x1xf32>
  %p = kernel.mul %n, %c : (tensor<250x256xf32>, tensor<250x1xf32>) -> tensor<250x256xf32>
  %d = kernel.sub %dy, %p : (tensor<250x256xf32>, tensor<250x256xf32>) -> tensor<250x256xf32>
  %dx = kernel.mul %d, %r : (tensor<250x256xf32>, tensor<250x1xf32>) -> tensor<250x256xf32>
  %dg = kernel.reduce_sum %t {dims = array<i64: 0>} : (tensor<250x256xf32>) -> tensor<1x256xf32>
  func.return %dx, %dg : tensor<250x256xf32>, tensor<1x256xf32>
}

// Each of 8 blocks walks 32 rows, 4 at a time (the last has fewer). It stores the gradients of these
// rows in each iteration: `loop_map` places them. Behind the loop it leaves its part of the sum over
// all rows, so that the rows are read once; a second kernel adds up the parts.
func.func @ugraph(%x: tensor<250x256xf32>, %dy: tensor<250x256xf32>, %r: tensor<250x1xf32>) -> (tensor<250x256xf32>, tensor<1x256xf32>) {
  %dx, %parts = kernel.graph_defined ins(%x, %dy, %r) grid [8] loop [8] {
  ^bb0(%xa: tensor<250x256xf32>, %ya: tensor<250x256xf32>, %ra: tensor<250x1xf32>):
    %xt = threadblock.load %xa grid_map [0] loop_map [0] : (tensor<250x256xf32>) -> !threadblock.tile<4x256xf32>
    %yt = threadblock.load %ya grid_map [0] loop_map [0] : (tensor<250x256xf32>) -> !threadblock.tile<4x256xf32>
    %rt = threadblock.load %ra grid_map [0] loop_map [0] : (tensor<250x1xf32>) -> !threadblock.tile<4x1xf32>
    %n = threadblock.mul %xt, %rt : (!threadblock.tile<4x256xf32>, !threadblock.tile<4x1xf32>) -> !threadblock.tile<4x256xf32>
    %t = threadblock.mul %n, %yt : (!threadblock.tile<4x256xf32>, !threadblock.tile<4x256xf32>) -> !threadblock.tile<4x256xf32>
    %s = threadblock.reduce_sum %t {dims = array<i64: 1>} : (!threadblock.tile<4x256xf32>) -> !threadblock.tile<4x1xf32>
    %c = threadblock.scale %s {factor = 0.00390625 : f32} : (!threadblock.tile<4x1xf32>) -> !threadblock.tile<4x1xf32>
    %p = threadblock.mul %n, %c : (!threadblock.tile<4x256xf32>, !threadblock.tile<4x1xf32>) -> !threadblock.tile<4x256xf32>
    %d = threadblock.sub %yt, %p : (!threadblock.tile<4x256xf32>, !threadblock.tile<4x256xf32>) -> !threadblock.tile<4x256xf32>
    %dt = threadblock.mul %d, %rt : (!threadblock.tile<4x256xf32>, !threadblock.tile<4x1xf32>) -> !threadblock.tile<4x256xf32>
    %a = threadblock.accumulate %t : (!threadblock.tile<4x256xf32>) -> !threadblock.tile<4x256xf32>
    %g = threadblock.reduce_sum %a {dims = array<i64: 0>} : (!threadblock.tile<4x256xf32>) -> !threadblock.tile<1x256xf32>
    threadblock.store %dt grid_map [0] loop_map [0] : !threadblock.tile<4x256xf32>
    threadblock.store %g grid_map [0] : !threadblock.tile<1x256xf32>
  } : (tensor<250x256xf32>, tensor<250x256xf32>, tensor<250x1xf32>) -> (tensor<250x256xf32>, tensor<8x256xf32>)
  %dg = kernel.graph_defined ins(%parts) grid [4] {
  ^bb0(%pa: tensor<8x256xf32>):
    %pt = threadblock.load %pa grid_map [1] : (tensor<8x256xf32>) -> !threadblock.tile<8x64xf32>
    %g = threadblock.reduce_sum %pt {dims = array<i64: 0>} : (!threadblock.tile<8x64xf32>) -> !threadblock.tile<1x64xf32>
    threadblock.store %g grid_map [1] : !threadblock.tile<1x64xf32>
  } : (tensor<8x256xf32>) -> tensor<1x256xf32>
  func.return %dx, %dg : tensor<250x256xf32>, tensor<1x256xf32>
}
