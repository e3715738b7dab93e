// RUN: mirage-opt %s --verify-equivalence="reference=reference candidate=ugraph"

// The gradients of attention: of queries, keys and values.
func.func @reference(%q: tensor<2x384x64xf16>, %k: tensor<2x384x64xf16>, %v: tensor<2x384x64xf16>, %g: tensor<2x384x64xf16>) -> (tensor<2x384x64xf16>, tensor<2x384x64xf16>, tensor<2x384x64xf16>) {
  %kt = kernel.transpose %k {permutation = array<i64: 0, 2, 1>} : (tensor<2x384x64xf16>) -> tensor<2x64x384xf16>
  %s = kernel.matmul %q, %kt : (tensor<2x384x64xf16>, tensor<2x64x384xf16>) -> tensor<2x384x384xf16>
  %e = kernel.softmax %s {dim = 2 : i64} : (tensor<2x384x384xf16>) -> tensor<2x384x384xf16>
  %vt = kernel.transpose %v {permutation = array<i64: 0, 2, 1>} : (tensor<2x384x64xf16>) -> tensor<2x64x384xf16>
  %dp16 = kernel.matmul %g, %vt : (tensor<2x384x64xf16>, tensor<2x64x384xf16>) -> tensor<2x384x384xf16>
  %et = kernel.transpose %e {permutation = array<i64: 0, 2, 1>} : (tensor<2x384x384xf16>) -> tensor<2x384x384xf16>
  %dv = kernel.matmul %et, %g : (tensor<2x384x384xf16>, tensor<2x384x64xf16>) -> tensor<2x384x64xf16>
  %dp = kernel.cast %dp16 : (tensor<2x384x384xf16>) -> tensor<2x384x384xf32>
  %s32 = kernel.cast %s : (tensor<2x384x384xf16>) -> tensor<2x384x384xf32>
  %p = kernel.softmax %s32 {dim = 2 : i64} : (tensor<2x384x384xf32>) -> tensor<2x384x384xf32>
  %t = kernel.mul %p, %dp : (tensor<2x384x384xf32>, tensor<2x384x384xf32>) -> tensor<2x384x384xf32>
  %mean = kernel.reduce_sum %t {dims = array<i64: 2>} : (tensor<2x384x384xf32>) -> tensor<2x384x1xf32>
  %centred = kernel.sub %dp, %mean : (tensor<2x384x384xf32>, tensor<2x384x1xf32>) -> tensor<2x384x384xf32>
  %d = kernel.mul %p, %centred : (tensor<2x384x384xf32>, tensor<2x384x384xf32>) -> tensor<2x384x384xf32>
  %ds = kernel.cast %d : (tensor<2x384x384xf32>) -> tensor<2x384x384xf16>
  %kr = kernel.transpose %kt {permutation = array<i64: 0, 2, 1>} : (tensor<2x64x384xf16>) -> tensor<2x384x64xf16>
  %dq = kernel.matmul %ds, %kr : (tensor<2x384x384xf16>, tensor<2x384x64xf16>) -> tensor<2x384x64xf16>
  %qt = kernel.transpose %q {permutation = array<i64: 0, 2, 1>} : (tensor<2x384x64xf16>) -> tensor<2x64x384xf16>
  %dkt = kernel.matmul %qt, %ds : (tensor<2x64x384xf16>, tensor<2x384x384xf16>) -> tensor<2x64x384xf16>
  %dk = kernel.transpose %dkt {permutation = array<i64: 0, 2, 1>} : (tensor<2x64x384xf16>) -> tensor<2x384x64xf16>
  func.return %dq, %dk, %dv : tensor<2x384x64xf16>, tensor<2x384x64xf16>, tensor<2x384x64xf16>
}

// As in FlashAttention-2: no kernel stores anything with an element for each score; each computes the
// scores anew. With the maximum and the sum of a row known its exponentials need no rescaling.
func.func @ugraph(%q: tensor<2x384x64xf16>, %k: tensor<2x384x64xf16>, %v: tensor<2x384x64xf16>, %g: tensor<2x384x64xf16>) -> (tensor<2x384x64xf16>, tensor<2x384x64xf16>, tensor<2x384x64xf16>) {
  %kt = kernel.transpose %k {permutation = array<i64: 0, 2, 1>} : (tensor<2x384x64xf16>) -> tensor<2x64x384xf16>
  %vt = kernel.transpose %v {permutation = array<i64: 0, 2, 1>} : (tensor<2x384x64xf16>) -> tensor<2x64x384xf16>
  %kr = kernel.transpose %kt {permutation = array<i64: 0, 2, 1>} : (tensor<2x64x384xf16>) -> tensor<2x384x64xf16>
  %qt = kernel.transpose %q {permutation = array<i64: 0, 2, 1>} : (tensor<2x384x64xf16>) -> tensor<2x64x384xf16>
  // Of each query the sum of exps, the maximum and the mean of gradients: all that a row needs.
  %sums, %maxima, %means = kernel.graph_defined ins(%q, %kt, %g, %vt) grid [24, 2] loop [3] {
  ^bb0(%qa: tensor<2x384x64xf16>, %ka: tensor<2x64x384xf16>, %ga: tensor<2x384x64xf16>, %va: tensor<2x64x384xf16>):
    %q_ = threadblock.load %qa grid_map [1, 0] loop_map [_] : (tensor<2x384x64xf16>) -> !threadblock.tile<1x16x64xf16>
    %k_ = threadblock.load %ka grid_map [_, 0] loop_map [2] : (tensor<2x64x384xf16>) -> !threadblock.tile<1x64x128xf16>
    %g_ = threadblock.load %ga grid_map [1, 0] loop_map [_] : (tensor<2x384x64xf16>) -> !threadblock.tile<1x16x64xf16>
    %v_ = threadblock.load %va grid_map [_, 0] loop_map [2] : (tensor<2x64x384xf16>) -> !threadblock.tile<1x64x128xf16>
    %s = threadblock.matmul %q_, %k_ : (!threadblock.tile<1x16x64xf16>, !threadblock.tile<1x64x128xf16>) -> !threadblock.tile<1x16x128xf32>
    %m = threadblock.reduce_max %s {dims = array<i64: 2>} : (!threadblock.tile<1x16x128xf32>) -> !threadblock.tile<1x16x1xf32>
    %below = threadblock.sub %s, %m : (!threadblock.tile<1x16x128xf32>, !threadblock.tile<1x16x1xf32>) -> !threadblock.tile<1x16x128xf32>
    %e = threadblock.exp %below : (!threadblock.tile<1x16x128xf32>) -> !threadblock.tile<1x16x128xf32>
    %dp = threadblock.matmul %g_, %v_ : (!threadblock.tile<1x16x64xf16>, !threadblock.tile<1x64x128xf16>) -> !threadblock.tile<1x16x128xf32>
    %edp = threadblock.mul %e, %dp : (!threadblock.tile<1x16x128xf32>, !threadblock.tile<1x16x128xf32>) -> !threadblock.tile<1x16x128xf32>
    %sums = threadblock.accumulate %e rescale %m : (!threadblock.tile<1x16x128xf32>, !threadblock.tile<1x16x1xf32>) -> !threadblock.tile<1x16x128xf32>
    %total = threadblock.reduce_sum %sums {dims = array<i64: 2>} : (!threadblock.tile<1x16x128xf32>) -> !threadblock.tile<1x16x1xf32>
    %largest = threadblock.accumulate %m {kind = "max"} : (!threadblock.tile<1x16x1xf32>) -> !threadblock.tile<1x16x1xf32>
    %weighted = threadblock.accumulate %edp rescale %m : (!threadblock.tile<1x16x128xf32>, !threadblock.tile<1x16x1xf32>) -> !threadblock.tile<1x16x128xf32>
    %of_row = threadblock.reduce_sum %weighted {dims = array<i64: 2>} : (!threadblock.tile<1x16x128xf32>) -> !threadblock.tile<1x16x1xf32>
    %average = threadblock.div %of_row, %total : (!threadblock.tile<1x16x1xf32>, !threadblock.tile<1x16x1xf32>) -> !threadblock.tile<1x16x1xf32>
    threadblock.store %total grid_map [1, 0] : !threadblock.tile<1x16x1xf32>
    threadblock.store %largest grid_map [1, 0] : !threadblock.tile<1x16x1xf32>
    threadblock.store %average grid_map [1, 0] : !threadblock.tile<1x16x1xf32>
  } : (tensor<2x384x64xf16>, tensor<2x64x384xf16>, tensor<2x384x64xf16>, tensor<2x64x384xf16>) -> (tensor<2x384x1xf32>, tensor<2x384x1xf32>, tensor<2x384x1xf32>)
  // Rows are walked again for the gradient of queries, ...
  %dq = kernel.graph_defined ins(%q, %kt, %maxima, %sums, %g, %vt, %means, %kr) grid [48, 2] loop [3] {
  ^bb0(%qa: tensor<2x384x64xf16>, %ka: tensor<2x64x384xf16>, %ma: tensor<2x384x1xf32>, %sa: tensor<2x384x1xf32>, %ga: tensor<2x384x64xf16>, %va: tensor<2x64x384xf16>, %da: tensor<2x384x1xf32>, %kb: tensor<2x384x64xf16>):
    %q_ = threadblock.load %qa grid_map [1, 0] loop_map [_] : (tensor<2x384x64xf16>) -> !threadblock.tile<1x8x64xf16>
    %k_ = threadblock.load %ka grid_map [_, 0] loop_map [2] : (tensor<2x64x384xf16>) -> !threadblock.tile<1x64x128xf16>
    %m = threadblock.load %ma grid_map [1, 0] loop_map [_] : (tensor<2x384x1xf32>) -> !threadblock.tile<1x8x1xf32>
    %total = threadblock.load %sa grid_map [1, 0] loop_map [_] : (tensor<2x384x1xf32>) -> !threadblock.tile<1x8x1xf32>
    %g_ = threadblock.load %ga grid_map [1, 0] loop_map [_] : (tensor<2x384x64xf16>) -> !threadblock.tile<1x8x64xf16>
    %v_ = threadblock.load %va grid_map [_, 0] loop_map [2] : (tensor<2x64x384xf16>) -> !threadblock.tile<1x64x128xf16>
    %average = threadblock.load %da grid_map [1, 0] loop_map [_] : (tensor<2x384x1xf32>) -> !threadblock.tile<1x8x1xf32>
    %rows = threadblock.load %kb grid_map [_, 0] loop_map [1] : (tensor<2x384x64xf16>) -> !threadblock.tile<1x128x64xf16>
    %one = threadblock.constant {value = 1.000000e+00 : f32} : !threadblock.tile<1x8x1xf32>
    %inverse = threadblock.div %one, %total : (!threadblock.tile<1x8x1xf32>, !threadblock.tile<1x8x1xf32>) -> !threadblock.tile<1x8x1xf32>
    %s = threadblock.matmul %q_, %k_ : (!threadblock.tile<1x8x64xf16>, !threadblock.tile<1x64x128xf16>) -> !threadblock.tile<1x8x128xf32>
    %dp = threadblock.matmul %g_, %v_ : (!threadblock.tile<1x8x64xf16>, !threadblock.tile<1x64x128xf16>) -> !threadblock.tile<1x8x128xf32>
    %below = threadblock.sub %s, %m : (!threadblock.tile<1x8x128xf32>, !threadblock.tile<1x8x1xf32>) -> !threadblock.tile<1x8x128xf32>
    %centred = threadblock.sub %dp, %average : (!threadblock.tile<1x8x128xf32>, !threadblock.tile<1x8x1xf32>) -> !threadblock.tile<1x8x128xf32>
    %e = threadblock.exp %below : (!threadblock.tile<1x8x128xf32>) -> !threadblock.tile<1x8x128xf32>
    %divided = threadblock.mul %inverse, %centred : (!threadblock.tile<1x8x1xf32>, !threadblock.tile<1x8x128xf32>) -> !threadblock.tile<1x8x128xf32>
    %ds = threadblock.mul %e, %divided : (!threadblock.tile<1x8x128xf32>, !threadblock.tile<1x8x128xf32>) -> !threadblock.tile<1x8x128xf32>
    %narrow = threadblock.cast %ds : (!threadblock.tile<1x8x128xf32>) -> !threadblock.tile<1x8x128xf16>
    %part = threadblock.matmul %narrow, %rows : (!threadblock.tile<1x8x128xf16>, !threadblock.tile<1x128x64xf16>) -> !threadblock.tile<1x8x64xf32>
    %all = threadblock.accumulate %part : (!threadblock.tile<1x8x64xf32>) -> !threadblock.tile<1x8x64xf32>
    %result = threadblock.cast %all : (!threadblock.tile<1x8x64xf32>) -> !threadblock.tile<1x8x64xf16>
    threadblock.store %result grid_map [1, 0] : !threadblock.tile<1x8x64xf16>
  } : (tensor<2x384x64xf16>, tensor<2x64x384xf16>, tensor<2x384x1xf32>, tensor<2x384x1xf32>, tensor<2x384x64xf16>, tensor<2x64x384xf16>, tensor<2x384x1xf32>, tensor<2x384x64xf16>) -> tensor<2x384x64xf16>
  // ... and columns for those of keys and values.
  %dkt, %dv = kernel.graph_defined ins(%qt, %q, %kt, %maxima, %sums, %g, %vt, %means) grid [48, 2] loop [3] {
  ^bb0(%qta: tensor<2x64x384xf16>, %qa: tensor<2x384x64xf16>, %ka: tensor<2x64x384xf16>, %ma: tensor<2x384x1xf32>, %sa: tensor<2x384x1xf32>, %ga: tensor<2x384x64xf16>, %va: tensor<2x64x384xf16>, %da: tensor<2x384x1xf32>):
    %qt_ = threadblock.load %qta grid_map [_, 0] loop_map [2] : (tensor<2x64x384xf16>) -> !threadblock.tile<1x64x128xf16>
    %q_ = threadblock.load %qa grid_map [_, 0] loop_map [1] : (tensor<2x384x64xf16>) -> !threadblock.tile<1x128x64xf16>
    %k_ = threadblock.load %ka grid_map [2, 0] loop_map [_] : (tensor<2x64x384xf16>) -> !threadblock.tile<1x64x8xf16>
    %m = threadblock.load %ma grid_map [_, 0] loop_map [1] : (tensor<2x384x1xf32>) -> !threadblock.tile<1x128x1xf32>
    %total = threadblock.load %sa grid_map [_, 0] loop_map [1] : (tensor<2x384x1xf32>) -> !threadblock.tile<1x128x1xf32>
    %g_ = threadblock.load %ga grid_map [_, 0] loop_map [1] : (tensor<2x384x64xf16>) -> !threadblock.tile<1x128x64xf16>
    %v_ = threadblock.load %va grid_map [2, 0] loop_map [_] : (tensor<2x64x384xf16>) -> !threadblock.tile<1x64x8xf16>
    %average = threadblock.load %da grid_map [_, 0] loop_map [1] : (tensor<2x384x1xf32>) -> !threadblock.tile<1x128x1xf32>
    %s = threadblock.matmul %q_, %k_ : (!threadblock.tile<1x128x64xf16>, !threadblock.tile<1x64x8xf16>) -> !threadblock.tile<1x128x8xf32>
    %dp = threadblock.matmul %g_, %v_ : (!threadblock.tile<1x128x64xf16>, !threadblock.tile<1x64x8xf16>) -> !threadblock.tile<1x128x8xf32>
    %below = threadblock.sub %s, %m : (!threadblock.tile<1x128x8xf32>, !threadblock.tile<1x128x1xf32>) -> !threadblock.tile<1x128x8xf32>
    %centred = threadblock.sub %dp, %average : (!threadblock.tile<1x128x8xf32>, !threadblock.tile<1x128x1xf32>) -> !threadblock.tile<1x128x8xf32>
    %e = threadblock.exp %below : (!threadblock.tile<1x128x8xf32>) -> !threadblock.tile<1x128x8xf32>
    %one = threadblock.constant {value = 1.000000e+00 : f32} : !threadblock.tile<1x128x1xf32>
    %inverse = threadblock.div %one, %total : (!threadblock.tile<1x128x1xf32>, !threadblock.tile<1x128x1xf32>) -> !threadblock.tile<1x128x1xf32>
    %p = threadblock.mul %e, %inverse : (!threadblock.tile<1x128x8xf32>, !threadblock.tile<1x128x1xf32>) -> !threadblock.tile<1x128x8xf32>
    %p16 = threadblock.cast %p : (!threadblock.tile<1x128x8xf32>) -> !threadblock.tile<1x128x8xf16>
    %pt = threadblock.transpose %p16 {permutation = array<i64: 0, 2, 1>} : (!threadblock.tile<1x128x8xf16>) -> !threadblock.tile<1x8x128xf16>
    %dv_part = threadblock.matmul %pt, %g_ : (!threadblock.tile<1x8x128xf16>, !threadblock.tile<1x128x64xf16>) -> !threadblock.tile<1x8x64xf32>
    %ds = threadblock.mul %p, %centred : (!threadblock.tile<1x128x8xf32>, !threadblock.tile<1x128x8xf32>) -> !threadblock.tile<1x128x8xf32>
    %ds16 = threadblock.cast %ds : (!threadblock.tile<1x128x8xf32>) -> !threadblock.tile<1x128x8xf16>
    %dk_part = threadblock.matmul %qt_, %ds16 : (!threadblock.tile<1x64x128xf16>, !threadblock.tile<1x128x8xf16>) -> !threadblock.tile<1x64x8xf32>
    %dv_all = threadblock.accumulate %dv_part : (!threadblock.tile<1x8x64xf32>) -> !threadblock.tile<1x8x64xf32>
    %dk_all = threadblock.accumulate %dk_part : (!threadblock.tile<1x64x8xf32>) -> !threadblock.tile<1x64x8xf32>
    %dk_result = threadblock.cast %dk_all : (!threadblock.tile<1x64x8xf32>) -> !threadblock.tile<1x64x8xf16>
    threadblock.store %dk_result grid_map [2, 0] : !threadblock.tile<1x64x8xf16>
    %dv_result = threadblock.cast %dv_all : (!threadblock.tile<1x8x64xf32>) -> !threadblock.tile<1x8x64xf16>
    threadblock.store %dv_result grid_map [1, 0] : !threadblock.tile<1x8x64xf16>
  } : (tensor<2x64x384xf16>, tensor<2x384x64xf16>, tensor<2x64x384xf16>, tensor<2x384x1xf32>, tensor<2x384x1xf32>, tensor<2x384x64xf16>, tensor<2x64x384xf16>, tensor<2x384x1xf32>) -> (tensor<2x64x384xf16>, tensor<2x384x64xf16>)
  %dk = kernel.transpose %dkt {permutation = array<i64: 0, 2, 1>} : (tensor<2x64x384xf16>) -> tensor<2x384x64xf16>
  func.return %dq, %dk, %dv : tensor<2x384x64xf16>, tensor<2x384x64xf16>, tensor<2x384x64xf16>
}
