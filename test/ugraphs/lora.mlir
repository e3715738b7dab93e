// RUN: mirage-opt %s --verify-equivalence="reference=reference candidate=ugraph" --verify-diagnostics
// RUN: mirage-opt %s > %t && mirage-opt %t --print-op-generic | mirage-opt | diff %t -

// A Linear layer and its low-rank adapter, X W + (X A) B, in one kernel.
//
// The idea. X A has 16 columns: every block can afford to compute all of it, beside its own columns of
// X W and from the same tiles of X. Then its columns of (X A) B need no other block. As three kernels
// (and an addition) the same takes three launches and two round trips through memory.
func.func @reference(%x: tensor<16x256xf16>, %w: tensor<256x4096xf16> {kernel.constant}, %a: tensor<256x16xf16> {kernel.constant}, %b: tensor<16x4096xf16> {kernel.constant}) -> tensor<16x4096xf16> {
  %xw = kernel.matmul %x, %w : (tensor<16x256xf16>, tensor<256x4096xf16>) -> tensor<16x4096xf16>
  %xa = kernel.matmul %x, %a : (tensor<16x256xf16>, tensor<256x16xf16>) -> tensor<16x16xf16>
  %xab = kernel.matmul %xa, %b : (tensor<16x16xf16>, tensor<16x4096xf16>) -> tensor<16x4096xf16>
  %o = kernel.add %xw, %xab : (tensor<16x4096xf16>, tensor<16x4096xf16>) -> tensor<16x4096xf16>
  func.return %o : tensor<16x4096xf16>
}

// expected-remark @+1 {{@ugraph is @reference: proved: the normal forms are equal; tested: equal modulo random primes}}
func.func @ugraph(%x: tensor<16x256xf16>, %w: tensor<256x4096xf16> {kernel.constant}, %a: tensor<256x16xf16> {kernel.constant}, %b: tensor<16x4096xf16> {kernel.constant}) -> tensor<16x4096xf16> {
  %o = kernel.graph_defined ins(%x, %w, %a, %b) grid [128] loop [4] {
  ^bb0(%xa: tensor<16x256xf16>, %wa: tensor<256x4096xf16>, %aa: tensor<256x16xf16>, %ba: tensor<16x4096xf16>):
    %xt = threadblock.load %xa grid_map [_] loop_map [1] : (tensor<16x256xf16>) -> !threadblock.tile<16x64xf16>
    %wt = threadblock.load %wa grid_map [1] loop_map [0] : (tensor<256x4096xf16>) -> !threadblock.tile<64x32xf16>
    %at = threadblock.load %aa grid_map [_] loop_map [0] : (tensor<256x16xf16>) -> !threadblock.tile<64x16xf16>
    // The loop does not cut B: its tile is loaded once, before the loop, and used after it.
    %bt = threadblock.load %ba grid_map [1] loop_map [_] : (tensor<16x4096xf16>) -> !threadblock.tile<16x32xf16>
    %p = threadblock.matmul %xt, %wt : (!threadblock.tile<16x64xf16>, !threadblock.tile<64x32xf16>) -> !threadblock.tile<16x32xf32>
    %q = threadblock.matmul %xt, %at : (!threadblock.tile<16x64xf16>, !threadblock.tile<64x16xf16>) -> !threadblock.tile<16x16xf32>
    %xw = threadblock.accumulate %p : (!threadblock.tile<16x32xf32>) -> !threadblock.tile<16x32xf32>
    %xA = threadblock.accumulate %q : (!threadblock.tile<16x16xf32>) -> !threadblock.tile<16x16xf32>
    // An operand of the tensor core again: back to f16, by a cast.
    %xAc = threadblock.cast %xA : (!threadblock.tile<16x16xf32>) -> !threadblock.tile<16x16xf16>
    %xAB = threadblock.matmul %xAc, %bt : (!threadblock.tile<16x16xf16>, !threadblock.tile<16x32xf16>) -> !threadblock.tile<16x32xf32>
    %z = threadblock.add %xw, %xAB : (!threadblock.tile<16x32xf32>, !threadblock.tile<16x32xf32>) -> !threadblock.tile<16x32xf32>
    %zo = threadblock.cast %z : (!threadblock.tile<16x32xf32>) -> !threadblock.tile<16x32xf16>
    threadblock.store %zo grid_map [1] : !threadblock.tile<16x32xf16>
  } : (tensor<16x256xf16>, tensor<256x4096xf16>, tensor<256x16xf16>, tensor<16x4096xf16>) -> tensor<16x4096xf16>
  func.return %o : tensor<16x4096xf16>
}
