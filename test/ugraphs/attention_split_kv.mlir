// RUN: mirage-opt %s --verify-equivalence="reference=reference candidate=ugraph" --verify-diagnostics
// RUN: mirage-opt %s > %t && mirage-opt %t --print-op-generic | mirage-opt | diff %t -

// Attention in two kernels (FlashDecoding), the context split over 16 blocks.
//
// The idea. The same pieces as in attention_across.mlir, but what the blocks found goes through memory:
// the first kernel stores sums of p v, sums of p, and the largest score of each part of the context; the
// second merges them. A partial result has one more leading dimension for the axis that is not summed
// yet. The largest score must be stored too, as it says what the sums are relative to.
func.func @reference(%q: tensor<2x256x64xf16>, %k: tensor<2x64x4096xf16>, %v: tensor<2x4096x64xf16>) -> tensor<2x256x64xf16> {
  %s = kernel.matmul %q, %k : (tensor<2x256x64xf16>, tensor<2x64x4096xf16>) -> tensor<2x256x4096xf16>
  %p = kernel.softmax %s {dim = 2 : i64} : (tensor<2x256x4096xf16>) -> tensor<2x256x4096xf16>
  %o = kernel.matmul %p, %v : (tensor<2x256x4096xf16>, tensor<2x4096x64xf16>) -> tensor<2x256x64xf16>
  func.return %o : tensor<2x256x64xf16>
}

// expected-remark @+1 {{@ugraph is @reference: proved: the normal forms are equal; tested: equal modulo random primes}}
func.func @ugraph(%q: tensor<2x256x64xf16>, %k: tensor<2x64x4096xf16>, %v: tensor<2x4096x64xf16>) -> tensor<2x256x64xf16> {
  %op, %lp, %mp = kernel.graph_defined ins(%q, %k, %v) grid [2, 4, 16] loop [4] {
  ^bb0(%qa: tensor<2x256x64xf16>, %ka: tensor<2x64x4096xf16>, %va: tensor<2x4096x64xf16>):
    %qt = threadblock.load %qa grid_map [0, 1, _] loop_map [_] : (tensor<2x256x64xf16>) -> !threadblock.tile<1x64x64xf16>
    %kt = threadblock.load %ka grid_map [0, _, 2] loop_map [2] : (tensor<2x64x4096xf16>) -> !threadblock.tile<1x64x64xf16>
    %vt = threadblock.load %va grid_map [0, _, 1] loop_map [1] : (tensor<2x4096x64xf16>) -> !threadblock.tile<1x64x64xf16>
    %s = threadblock.matmul %qt, %kt : (!threadblock.tile<1x64x64xf16>, !threadblock.tile<1x64x64xf16>) -> !threadblock.tile<1x64x64xf32>
    %m = threadblock.reduce_max %s {dims = array<i64: 2>} : (!threadblock.tile<1x64x64xf32>) -> !threadblock.tile<1x64x1xf32>
    %d = threadblock.sub %s, %m : (!threadblock.tile<1x64x64xf32>, !threadblock.tile<1x64x1xf32>) -> !threadblock.tile<1x64x64xf32>
    %p = threadblock.exp %d : (!threadblock.tile<1x64x64xf32>) -> !threadblock.tile<1x64x64xf32>
    %l = threadblock.reduce_sum %p {dims = array<i64: 2>} : (!threadblock.tile<1x64x64xf32>) -> !threadblock.tile<1x64x1xf32>
    %pc = threadblock.cast %p : (!threadblock.tile<1x64x64xf32>) -> !threadblock.tile<1x64x64xf16>
    %pv = threadblock.matmul %pc, %vt : (!threadblock.tile<1x64x64xf16>, !threadblock.tile<1x64x64xf16>) -> !threadblock.tile<1x64x64xf32>
    %osum = threadblock.accumulate %pv rescale %m : (!threadblock.tile<1x64x64xf32>, !threadblock.tile<1x64x1xf32>) -> !threadblock.tile<1x64x64xf32>
    %lsum = threadblock.accumulate %l rescale %m : (!threadblock.tile<1x64x1xf32>, !threadblock.tile<1x64x1xf32>) -> !threadblock.tile<1x64x1xf32>
    %mmax = threadblock.accumulate %m {kind = "max"} : (!threadblock.tile<1x64x1xf32>) -> !threadblock.tile<1x64x1xf32>
    // The new leading dimension, along which axis 2 places the tiles: entry 2 of the maps is 0.
    %o4 = threadblock.broadcast %osum : (!threadblock.tile<1x64x64xf32>) -> !threadblock.tile<1x1x64x64xf32>
    %l4 = threadblock.broadcast %lsum : (!threadblock.tile<1x64x1xf32>) -> !threadblock.tile<1x1x64x1xf32>
    %m4 = threadblock.broadcast %mmax : (!threadblock.tile<1x64x1xf32>) -> !threadblock.tile<1x1x64x1xf32>
    threadblock.store %o4 grid_map [1, 2, 0] : !threadblock.tile<1x1x64x64xf32>
    threadblock.store %l4 grid_map [1, 2, 0] : !threadblock.tile<1x1x64x1xf32>
    threadblock.store %m4 grid_map [1, 2, 0] : !threadblock.tile<1x1x64x1xf32>
  } : (tensor<2x256x64xf16>, tensor<2x64x4096xf16>, tensor<2x4096x64xf16>) -> (tensor<16x2x256x64xf32>, tensor<16x2x256x1xf32>, tensor<16x2x256x1xf32>)
  // 64 blocks of 8 queries; the loop runs over the parts.
  %z = kernel.graph_defined ins(%op, %lp, %mp) grid [2, 32] loop [16] {
  ^bb0(%oa: tensor<16x2x256x64xf32>, %la: tensor<16x2x256x1xf32>, %ma: tensor<16x2x256x1xf32>):
    %ot = threadblock.load %oa grid_map [1, 2] loop_map [0] : (tensor<16x2x256x64xf32>) -> !threadblock.tile<1x1x8x64xf32>
    %lt = threadblock.load %la grid_map [1, 2] loop_map [0] : (tensor<16x2x256x1xf32>) -> !threadblock.tile<1x1x8x1xf32>
    %mt = threadblock.load %ma grid_map [1, 2] loop_map [0] : (tensor<16x2x256x1xf32>) -> !threadblock.tile<1x1x8x1xf32>
    %osum = threadblock.accumulate %ot rescale %mt : (!threadblock.tile<1x1x8x64xf32>, !threadblock.tile<1x1x8x1xf32>) -> !threadblock.tile<1x1x8x64xf32>
    %lsum = threadblock.accumulate %lt rescale %mt : (!threadblock.tile<1x1x8x1xf32>, !threadblock.tile<1x1x8x1xf32>) -> !threadblock.tile<1x1x8x1xf32>
    %d = threadblock.div %osum, %lsum : (!threadblock.tile<1x1x8x64xf32>, !threadblock.tile<1x1x8x1xf32>) -> !threadblock.tile<1x1x8x64xf32>
    %dc = threadblock.cast %d : (!threadblock.tile<1x1x8x64xf32>) -> !threadblock.tile<1x1x8x64xf16>
    threadblock.store %dc grid_map [1, 2] : !threadblock.tile<1x1x8x64xf16>
  } : (tensor<16x2x256x64xf32>, tensor<16x2x256x1xf32>, tensor<16x2x256x1xf32>) -> tensor<1x2x256x64xf16>
  %o = kernel.reshape %z : (tensor<1x2x256x64xf16>) -> tensor<2x256x64xf16>
  func.return %o : tensor<2x256x64xf16>
}
