// RUN: mirage-opt %s --verify-equivalence="reference=reference candidate=ugraph" --verify-diagnostics
// RUN: mirage-opt %s > %t && mirage-opt %t --print-op-generic | mirage-opt | diff %t -

// Attention in one kernel, the context split over the eight blocks of a cluster.
//
// The idea. Softmax in pieces (Milakov and Gimelshein 2018; FlashAttention): a piece of the context
// computes exp(s - m) with its own largest score m. Pieces with different m are brought to the largest
// of all by a factor exp(m - max m) each. `accumulate ... rescale %m` is that sum: over the iterations
// of the loop, and with `across [2]` over the blocks of grid axis 2 at once. What the sums of p v and
// of p have in common cancels in the division.
func.func @reference(%q: tensor<2x256x64xf16>, %k: tensor<2x64x4096xf16>, %v: tensor<2x4096x64xf16>) -> tensor<2x256x64xf16> {
  %s = kernel.matmul %q, %k : (tensor<2x256x64xf16>, tensor<2x64x4096xf16>) -> tensor<2x256x4096xf16>
  %p = kernel.softmax %s {dim = 2 : i64} : (tensor<2x256x4096xf16>) -> tensor<2x256x4096xf16>
  %o = kernel.matmul %p, %v : (tensor<2x256x4096xf16>, tensor<2x4096x64xf16>) -> tensor<2x256x64xf16>
  func.return %o : tensor<2x256x64xf16>
}

// expected-remark @+1 {{@ugraph is @reference: proved: the normal forms are equal; tested: equal modulo random primes}}
func.func @ugraph(%q: tensor<2x256x64xf16>, %k: tensor<2x64x4096xf16>, %v: tensor<2x4096x64xf16>) -> tensor<2x256x64xf16> {
  // Axis 0 is the heads, axis 1 tiles of 32 queries, axis 2 parts of 512 of the context.
  %o = kernel.graph_defined ins(%q, %k, %v) grid [2, 8, 8] cluster [1, 1, 8] loop [8] {
  ^bb0(%qa: tensor<2x256x64xf16>, %ka: tensor<2x64x4096xf16>, %va: tensor<2x4096x64xf16>):
    %qt = threadblock.load %qa grid_map [0, 1, _] loop_map [_] : (tensor<2x256x64xf16>) -> !threadblock.tile<1x32x64xf16>
    %kt = threadblock.load %ka grid_map [0, _, 2] loop_map [2] : (tensor<2x64x4096xf16>) -> !threadblock.tile<1x64x64xf16>
    %vt = threadblock.load %va grid_map [0, _, 1] loop_map [1] : (tensor<2x4096x64xf16>) -> !threadblock.tile<1x64x64xf16>
    %s = threadblock.matmul %qt, %kt : (!threadblock.tile<1x32x64xf16>, !threadblock.tile<1x64x64xf16>) -> !threadblock.tile<1x32x64xf32>
    %m = threadblock.reduce_max %s {dims = array<i64: 2>} : (!threadblock.tile<1x32x64xf32>) -> !threadblock.tile<1x32x1xf32>
    %d = threadblock.sub %s, %m : (!threadblock.tile<1x32x64xf32>, !threadblock.tile<1x32x1xf32>) -> !threadblock.tile<1x32x64xf32>
    %p = threadblock.exp %d : (!threadblock.tile<1x32x64xf32>) -> !threadblock.tile<1x32x64xf32>
    %l = threadblock.reduce_sum %p {dims = array<i64: 2>} : (!threadblock.tile<1x32x64xf32>) -> !threadblock.tile<1x32x1xf32>
    %pc = threadblock.cast %p : (!threadblock.tile<1x32x64xf32>) -> !threadblock.tile<1x32x64xf16>
    %pv = threadblock.matmul %pc, %vt : (!threadblock.tile<1x32x64xf16>, !threadblock.tile<1x64x64xf16>) -> !threadblock.tile<1x32x64xf32>
    %lsum = threadblock.accumulate %l across [2] rescale %m : (!threadblock.tile<1x32x1xf32>, !threadblock.tile<1x32x1xf32>) -> !threadblock.tile<1x32x1xf32>
    %osum = threadblock.accumulate %pv across [2] rescale %m : (!threadblock.tile<1x32x64xf32>, !threadblock.tile<1x32x1xf32>) -> !threadblock.tile<1x32x64xf32>
    %z = threadblock.div %osum, %lsum : (!threadblock.tile<1x32x64xf32>, !threadblock.tile<1x32x1xf32>) -> !threadblock.tile<1x32x64xf32>
    %zo = threadblock.cast %z : (!threadblock.tile<1x32x64xf32>) -> !threadblock.tile<1x32x64xf16>
    threadblock.store %zo grid_map [0, 1, _] : !threadblock.tile<1x32x64xf16>
  } : (tensor<2x256x64xf16>, tensor<2x64x4096xf16>, tensor<2x4096x64xf16>) -> tensor<2x256x64xf16>
  func.return %o : tensor<2x256x64xf16>
}
