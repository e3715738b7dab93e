// RUN: mirage-opt %s --verify-equivalence="reference=reference candidate=ugraph" --verify-diagnostics
// RUN: mirage-opt %s > %t && mirage-opt %t --print-op-generic | mirage-opt | diff %t -

// Decoding one token with grouped heads, in two kernels and without rescaled sums: 2 heads of keys and
// values with 8 query heads each, context 4096.
//
// The idea. With one tile of 64 keys per block there is no loop, and nothing to rescale in the first
// kernel; the second holds all 64 parts of 32 columns at once and rescales them by hand. The 8 query
// heads of a group are the rows of a matrix, so that the tensor core has work for half of its rows, and
// keys are read once for all of them.
func.func @reference(%q: tensor<2x8x128xf16>, %k: tensor<2x4096x128xf16>, %v: tensor<2x4096x128xf16>) -> tensor<2x8x128xf16> {
  %kt = kernel.transpose %k {permutation = array<i64: 0, 2, 1>} : (tensor<2x4096x128xf16>) -> tensor<2x128x4096xf16>
  %s = kernel.matmul %q, %kt : (tensor<2x8x128xf16>, tensor<2x128x4096xf16>) -> tensor<2x8x4096xf16>
  %t = kernel.scale %s {factor = 0.0883883461 : f32} : (tensor<2x8x4096xf16>) -> tensor<2x8x4096xf16>
  %p = kernel.softmax %t {dim = 2 : i64} : (tensor<2x8x4096xf16>) -> tensor<2x8x4096xf16>
  %o = kernel.matmul %p, %v : (tensor<2x8x4096xf16>, tensor<2x4096x128xf16>) -> tensor<2x8x128xf16>
  func.return %o : tensor<2x8x128xf16>
}

// expected-remark @+1 {{@ugraph is @reference: proved: the normal forms are equal; tested: equal modulo random primes}}
func.func @ugraph(%q: tensor<2x8x128xf16>, %k: tensor<2x4096x128xf16>, %v: tensor<2x4096x128xf16>) -> tensor<2x8x128xf16> {
  // Keys lie in memory as a cache has them, a row for each token; the view makes them columns.
  %kt = kernel.transpose %k {permutation = array<i64: 0, 2, 1>} : (tensor<2x4096x128xf16>) -> tensor<2x128x4096xf16>
  %op, %lp, %mp = kernel.graph_defined ins(%q, %kt, %v) grid [2, 64] {
  ^bb0(%qa: tensor<2x8x128xf16>, %ka: tensor<2x128x4096xf16>, %va: tensor<2x4096x128xf16>):
    %qt = threadblock.load %qa grid_map [0, _] : (tensor<2x8x128xf16>) -> !threadblock.tile<1x8x128xf16>
    %kc = threadblock.load %ka grid_map [0, 2] : (tensor<2x128x4096xf16>) -> !threadblock.tile<1x128x64xf16>
    %vt = threadblock.load %va grid_map [0, 1] : (tensor<2x4096x128xf16>) -> !threadblock.tile<1x64x128xf16>
    %s = threadblock.matmul %qt, %kc : (!threadblock.tile<1x8x128xf16>, !threadblock.tile<1x128x64xf16>) -> !threadblock.tile<1x8x64xf32>
    %t = threadblock.scale %s {factor = 0.0883883461 : f32} : (!threadblock.tile<1x8x64xf32>) -> !threadblock.tile<1x8x64xf32>
    %m = threadblock.reduce_max %t {dims = array<i64: 2>} : (!threadblock.tile<1x8x64xf32>) -> !threadblock.tile<1x8x1xf32>
    %d = threadblock.sub %t, %m : (!threadblock.tile<1x8x64xf32>, !threadblock.tile<1x8x1xf32>) -> !threadblock.tile<1x8x64xf32>
    %p = threadblock.exp %d : (!threadblock.tile<1x8x64xf32>) -> !threadblock.tile<1x8x64xf32>
    %l = threadblock.reduce_sum %p {dims = array<i64: 2>} : (!threadblock.tile<1x8x64xf32>) -> !threadblock.tile<1x8x1xf32>
    %pc = threadblock.cast %p : (!threadblock.tile<1x8x64xf32>) -> !threadblock.tile<1x8x64xf16>
    %pv = threadblock.matmul %pc, %vt : (!threadblock.tile<1x8x64xf16>, !threadblock.tile<1x64x128xf16>) -> !threadblock.tile<1x8x128xf32>
    %o4 = threadblock.broadcast %pv : (!threadblock.tile<1x8x128xf32>) -> !threadblock.tile<1x1x8x128xf32>
    %l4 = threadblock.broadcast %l : (!threadblock.tile<1x8x1xf32>) -> !threadblock.tile<1x1x8x1xf32>
    %m4 = threadblock.broadcast %m : (!threadblock.tile<1x8x1xf32>) -> !threadblock.tile<1x1x8x1xf32>
    threadblock.store %o4 grid_map [1, 0] : !threadblock.tile<1x1x8x128xf32>
    threadblock.store %l4 grid_map [1, 0] : !threadblock.tile<1x1x8x1xf32>
    threadblock.store %m4 grid_map [1, 0] : !threadblock.tile<1x1x8x1xf32>
  } : (tensor<2x8x128xf16>, tensor<2x128x4096xf16>, tensor<2x4096x128xf16>) -> (tensor<64x2x8x128xf32>, tensor<64x2x8x1xf32>, tensor<64x2x8x1xf32>)
  // Each of 64 blocks merges one row of 32 columns.
  %z = kernel.graph_defined ins(%op, %lp, %mp) grid [2, 8, 4] {
  ^bb0(%oa: tensor<64x2x8x128xf32>, %la: tensor<64x2x8x1xf32>, %ma: tensor<64x2x8x1xf32>):
    %ot = threadblock.load %oa grid_map [1, 2, 3] : (tensor<64x2x8x128xf32>) -> !threadblock.tile<64x1x1x32xf32>
    %lt = threadblock.load %la grid_map [1, 2, _] : (tensor<64x2x8x1xf32>) -> !threadblock.tile<64x1x1x1xf32>
    %mt = threadblock.load %ma grid_map [1, 2, _] : (tensor<64x2x8x1xf32>) -> !threadblock.tile<64x1x1x1xf32>
    %top = threadblock.reduce_max %mt {dims = array<i64: 0>} : (!threadblock.tile<64x1x1x1xf32>) -> !threadblock.tile<1x1x1x1xf32>
    %d = threadblock.sub %mt, %top : (!threadblock.tile<64x1x1x1xf32>, !threadblock.tile<1x1x1x1xf32>) -> !threadblock.tile<64x1x1x1xf32>
    %f = threadblock.exp %d : (!threadblock.tile<64x1x1x1xf32>) -> !threadblock.tile<64x1x1x1xf32>
    %of = threadblock.mul %ot, %f : (!threadblock.tile<64x1x1x32xf32>, !threadblock.tile<64x1x1x1xf32>) -> !threadblock.tile<64x1x1x32xf32>
    %lf = threadblock.mul %lt, %f : (!threadblock.tile<64x1x1x1xf32>, !threadblock.tile<64x1x1x1xf32>) -> !threadblock.tile<64x1x1x1xf32>
    %osum = threadblock.reduce_sum %of {dims = array<i64: 0>} : (!threadblock.tile<64x1x1x32xf32>) -> !threadblock.tile<1x1x1x32xf32>
    %lsum = threadblock.reduce_sum %lf {dims = array<i64: 0>} : (!threadblock.tile<64x1x1x1xf32>) -> !threadblock.tile<1x1x1x1xf32>
    %r = threadblock.div %osum, %lsum : (!threadblock.tile<1x1x1x32xf32>, !threadblock.tile<1x1x1x1xf32>) -> !threadblock.tile<1x1x1x32xf32>
    %rc = threadblock.cast %r : (!threadblock.tile<1x1x1x32xf32>) -> !threadblock.tile<1x1x1x32xf16>
    threadblock.store %rc grid_map [1, 2, 3] : !threadblock.tile<1x1x1x32xf16>
  } : (tensor<64x2x8x128xf32>, tensor<64x2x8x1xf32>, tensor<64x2x8x1xf32>) -> tensor<1x2x8x128xf16>
  %o = kernel.reshape %z : (tensor<1x2x8x128xf16>) -> tensor<2x8x128xf16>
  func.return %o : tensor<2x8x128xf16>
}
