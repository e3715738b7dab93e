// RUN: mirage-opt %s --verify-equivalence="reference=reference candidate=ugraph" --verify-diagnostics
// RUN: mirage-opt %s > %t && mirage-opt %t --print-op-generic | mirage-opt | diff %t -

// Linear with a weight that has a row per output, as PyTorch stores it, in bf16.
//
// The idea. `kernel.transpose` is a view: nothing moves, only the strides change hands. The kernel gets
// the transposed tensor and cuts it as any other; that its columns now lie in memory one after the
// other is the lowering's business, which loads them as rows.
func.func @reference(%x: tensor<16x2048xbf16>, %w: tensor<6144x2048xbf16> {kernel.constant}) -> tensor<16x6144xbf16> {
  %wt = kernel.transpose %w {permutation = array<i64: 1, 0>} : (tensor<6144x2048xbf16>) -> tensor<2048x6144xbf16>
  %o = kernel.matmul %x, %wt : (tensor<16x2048xbf16>, tensor<2048x6144xbf16>) -> tensor<16x6144xbf16>
  func.return %o : tensor<16x6144xbf16>
}

// expected-remark @+1 {{@ugraph is @reference: proved: the normal forms are equal; tested: equal modulo random primes}}
func.func @ugraph(%x: tensor<16x2048xbf16>, %w: tensor<6144x2048xbf16> {kernel.constant}) -> tensor<16x6144xbf16> {
  %wt = kernel.transpose %w {permutation = array<i64: 1, 0>} : (tensor<6144x2048xbf16>) -> tensor<2048x6144xbf16>
  %o = kernel.graph_defined ins(%x, %wt) grid [96] loop [16] {
  ^bb0(%xa: tensor<16x2048xbf16>, %wa: tensor<2048x6144xbf16>):
    %xt = threadblock.load %xa grid_map [_] loop_map [1] : (tensor<16x2048xbf16>) -> !threadblock.tile<16x128xbf16>
    %wc = threadblock.load %wa grid_map [1] loop_map [0] : (tensor<2048x6144xbf16>) -> !threadblock.tile<128x64xbf16>
    %p = threadblock.matmul %xt, %wc : (!threadblock.tile<16x128xbf16>, !threadblock.tile<128x64xbf16>) -> !threadblock.tile<16x64xf32>
    %y = threadblock.accumulate %p : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x64xf32>
    %z = threadblock.cast %y : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x64xbf16>
    threadblock.store %z grid_map [1] : !threadblock.tile<16x64xbf16>
  } : (tensor<16x2048xbf16>, tensor<2048x6144xbf16>) -> tensor<16x6144xbf16>
  func.return %o : tensor<16x6144xbf16>
}
