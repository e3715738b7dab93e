// RUN: mirage-opt %s --verify-equivalence="reference=reference candidate=ugraph" --verify-diagnostics
// RUN: mirage-opt %s > %t && mirage-opt %t --print-op-generic | mirage-opt | diff %t -

// Softmax over rows, two rows per block.
//
// The idea. Every element is read once and written once. The largest element of a row is subtracted
// before exp, so that no exp overflows; it cancels in the division, which the verifier proves.
func.func @reference(%x: tensor<256x4096xf16>) -> tensor<256x4096xf16> {
  %o = kernel.softmax %x {dim = 1 : i64} : (tensor<256x4096xf16>) -> tensor<256x4096xf16>
  func.return %o : tensor<256x4096xf16>
}

// expected-remark @+1 {{@ugraph is @reference: proved: the normal forms are equal; tested: equal modulo random primes}}
func.func @ugraph(%x: tensor<256x4096xf16>) -> tensor<256x4096xf16> {
  %o = kernel.graph_defined ins(%x) grid [128] {
  ^bb0(%xa: tensor<256x4096xf16>):
    %xt = threadblock.load %xa grid_map [0] : (tensor<256x4096xf16>) -> !threadblock.tile<2x4096xf16>
    %m = threadblock.reduce_max %xt {dims = array<i64: 1>} : (!threadblock.tile<2x4096xf16>) -> !threadblock.tile<2x1xf32>
    %d = threadblock.sub %xt, %m : (!threadblock.tile<2x4096xf16>, !threadblock.tile<2x1xf32>) -> !threadblock.tile<2x4096xf32>
    %e = threadblock.exp %d : (!threadblock.tile<2x4096xf32>) -> !threadblock.tile<2x4096xf32>
    %s = threadblock.reduce_sum %e {dims = array<i64: 1>} : (!threadblock.tile<2x4096xf32>) -> !threadblock.tile<2x1xf32>
    %z = threadblock.div %e, %s : (!threadblock.tile<2x4096xf32>, !threadblock.tile<2x1xf32>) -> !threadblock.tile<2x4096xf32>
    %zo = threadblock.cast %z : (!threadblock.tile<2x4096xf32>) -> !threadblock.tile<2x4096xf16>
    threadblock.store %zo grid_map [0] : !threadblock.tile<2x4096xf16>
  } : (tensor<256x4096xf16>) -> tensor<256x4096xf16>
  func.return %o : tensor<256x4096xf16>
}
