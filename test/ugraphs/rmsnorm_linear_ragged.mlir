// RUN: mirage-opt %s --verify-equivalence="reference=reference candidate=ugraph" --verify-diagnostics
// RUN: mirage-opt %s > %t && mirage-opt %t --print-op-generic | mirage-opt | diff %t -

// RMSNorm, then Linear, at sizes that no tile divides: 37 rows, depth 1000, 2003 columns.
//
// The idea. Tiles need not divide anything. Block b, iteration i of a dimension of size S that is cut
// into tiles of t holds the indices from (b F + i) t up to, but not including, min(S, (b F + i + 1) t),
// F the iterations; there may be fewer than t of them, or none. Every operator ranges over the
// elements that are there: the last iteration here adds 40 products and not 64, and the sum of
// squares ends at column 1000. Nothing is padded, and nobody writes a mask.
func.func @reference(%x: tensor<37x1000xf16>, %w: tensor<1000x2003xf16> {kernel.constant}) -> tensor<37x2003xf16> {
  %y = kernel.rms_norm %x {eps = 1.0e-05 : f32} : (tensor<37x1000xf16>) -> tensor<37x1000xf16>
  %o = kernel.matmul %y, %w : (tensor<37x1000xf16>, tensor<1000x2003xf16>) -> tensor<37x2003xf16>
  func.return %o : tensor<37x2003xf16>
}

// expected-remark @+1 {{@ugraph is @reference: proved: the normal forms are equal; tested: equal modulo random primes}}
func.func @ugraph(%x: tensor<37x1000xf16>, %w: tensor<1000x2003xf16> {kernel.constant}) -> tensor<37x2003xf16> {
  // 3 tiles of 16 rows for 37, 32 tiles of 64 columns for 2003, 16 tiles of 64 for the depth of 1000.
  %o = kernel.graph_defined ins(%x, %w) grid [32, 3] loop [16] {
  ^bb0(%xa: tensor<37x1000xf16>, %wa: tensor<1000x2003xf16>):
    %xt = threadblock.load %xa grid_map [_, 0] loop_map [1] : (tensor<37x1000xf16>) -> !threadblock.tile<16x64xf16>
    %wt = threadblock.load %wa grid_map [1, _] loop_map [0] : (tensor<1000x2003xf16>) -> !threadblock.tile<64x64xf16>
    %p = threadblock.matmul %xt, %wt : (!threadblock.tile<16x64xf16>, !threadblock.tile<64x64xf16>) -> !threadblock.tile<16x64xf32>
    %q = threadblock.square %xt : (!threadblock.tile<16x64xf16>) -> !threadblock.tile<16x64xf32>
    %s = threadblock.reduce_sum %q {dims = array<i64: 1>} : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x1xf32>
    %xw = threadblock.accumulate %p : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x64xf32>
    %ss = threadblock.accumulate %s : (!threadblock.tile<16x1xf32>) -> !threadblock.tile<16x1xf32>
    %mean = threadblock.scale %ss {factor = 1.0e-03 : f32} : (!threadblock.tile<16x1xf32>) -> !threadblock.tile<16x1xf32>
    %eps = threadblock.constant {value = 1.0e-05 : f32} : !threadblock.tile<16x1xf32>
    %shifted = threadblock.add %mean, %eps : (!threadblock.tile<16x1xf32>, !threadblock.tile<16x1xf32>) -> !threadblock.tile<16x1xf32>
    %r = threadblock.sqrt %shifted : (!threadblock.tile<16x1xf32>) -> !threadblock.tile<16x1xf32>
    %z = threadblock.div %xw, %r : (!threadblock.tile<16x64xf32>, !threadblock.tile<16x1xf32>) -> !threadblock.tile<16x64xf32>
    %zo = threadblock.cast %z : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x64xf16>
    threadblock.store %zo grid_map [1, 0] : !threadblock.tile<16x64xf16>
  } : (tensor<37x1000xf16>, tensor<1000x2003xf16>) -> tensor<37x2003xf16>
  func.return %o : tensor<37x2003xf16>
}
