// RUN: mirage-opt %s --verify-equivalence="reference=reference candidate=ugraph" --verify-diagnostics
// RUN: mirage-opt %s > %t && mirage-opt %t --print-op-generic | mirage-opt | diff %t -

// A residual, RMSNorm with a weight, then Linear; the residual is a result too.
//
// The idea. Every block needs all of r = x + residual, tile by tile, for its columns of the product. As
// a result it is needed once: each block stores the columns of r that bear its own number. For those it
// loads x and the residual again, 32 columns that are in the cache anyway; values of the loop cannot be
// stored, they are gone with their iteration.
//
// The tensor core takes f16. r * g may exceed what f16 has room for where the norm does not, with large
// channels and gains above 1: so rows are normalised before. Each block takes the norm of whole rows,
// which no loop cuts, before its loop.
func.func @reference(%x: tensor<8x4096xf16>, %residual: tensor<8x4096xf16>, %g: tensor<4096xf16> {kernel.constant}, %w: tensor<4096x4096xf16> {kernel.constant}) -> (tensor<8x4096xf16>, tensor<8x4096xf16>) {
  %r = kernel.add %x, %residual : (tensor<8x4096xf16>, tensor<8x4096xf16>) -> tensor<8x4096xf16>
  %y = kernel.rms_norm %r, %g {eps = 1.0e-05 : f32} : (tensor<8x4096xf16>, tensor<4096xf16>) -> tensor<8x4096xf16>
  %o = kernel.matmul %y, %w : (tensor<8x4096xf16>, tensor<4096x4096xf16>) -> tensor<8x4096xf16>
  func.return %r, %o : tensor<8x4096xf16>, tensor<8x4096xf16>
}

// expected-remark @+1 {{@ugraph is @reference: proved: the normal forms are equal; tested: equal modulo random primes}}
func.func @ugraph(%x: tensor<8x4096xf16>, %residual: tensor<8x4096xf16>, %g: tensor<4096xf16> {kernel.constant}, %w: tensor<4096x4096xf16> {kernel.constant}) -> (tensor<8x4096xf16>, tensor<8x4096xf16>) {
  %r, %o = kernel.graph_defined ins(%x, %residual, %g, %w) grid [128] loop [16] {
  ^bb0(%xa: tensor<8x4096xf16>, %ra: tensor<8x4096xf16>, %ga: tensor<4096xf16>, %wa: tensor<4096x4096xf16>):
    // This block's columns of the residual: no loop cuts them.
    %xo = threadblock.load %xa grid_map [1] loop_map [_] : (tensor<8x4096xf16>) -> !threadblock.tile<8x32xf16>
    %ro = threadblock.load %ra grid_map [1] loop_map [_] : (tensor<8x4096xf16>) -> !threadblock.tile<8x32xf16>
    %so = threadblock.add %xo, %ro : (!threadblock.tile<8x32xf16>, !threadblock.tile<8x32xf16>) -> !threadblock.tile<8x32xf32>
    %sc = threadblock.cast %so : (!threadblock.tile<8x32xf32>) -> !threadblock.tile<8x32xf16>

    // Whole rows, for their norms.
    %xw = threadblock.load %xa grid_map [_] loop_map [_] : (tensor<8x4096xf16>) -> !threadblock.tile<8x4096xf16>
    %rw = threadblock.load %ra grid_map [_] loop_map [_] : (tensor<8x4096xf16>) -> !threadblock.tile<8x4096xf16>
    %sw = threadblock.add %xw, %rw : (!threadblock.tile<8x4096xf16>, !threadblock.tile<8x4096xf16>) -> !threadblock.tile<8x4096xf32>
    %q = threadblock.square %sw : (!threadblock.tile<8x4096xf32>) -> !threadblock.tile<8x4096xf32>
    %ss = threadblock.reduce_sum %q {dims = array<i64: 1>} : (!threadblock.tile<8x4096xf32>) -> !threadblock.tile<8x1xf32>
    %mean = threadblock.scale %ss {factor = 2.44140625e-04 : f32} : (!threadblock.tile<8x1xf32>) -> !threadblock.tile<8x1xf32>
    %eps = threadblock.constant {value = 1.0e-05 : f32} : !threadblock.tile<8x1xf32>
    %shifted = threadblock.add %mean, %eps : (!threadblock.tile<8x1xf32>, !threadblock.tile<8x1xf32>) -> !threadblock.tile<8x1xf32>
    %n = threadblock.rsqrt %shifted : (!threadblock.tile<8x1xf32>) -> !threadblock.tile<8x1xf32>

    // All of it once more, for the product, cut by the loop.
    %xt = threadblock.load %xa grid_map [_] loop_map [1] : (tensor<8x4096xf16>) -> !threadblock.tile<8x256xf16>
    %rt = threadblock.load %ra grid_map [_] loop_map [1] : (tensor<8x4096xf16>) -> !threadblock.tile<8x256xf16>
    %gt = threadblock.load %ga grid_map [_] loop_map [0] : (tensor<4096xf16>) -> !threadblock.tile<256xf16>
    %wt = threadblock.load %wa grid_map [1] loop_map [0] : (tensor<4096x4096xf16>) -> !threadblock.tile<256x32xf16>
    %s = threadblock.add %xt, %rt : (!threadblock.tile<8x256xf16>, !threadblock.tile<8x256xf16>) -> !threadblock.tile<8x256xf32>
    %sn = threadblock.mul %s, %n : (!threadblock.tile<8x256xf32>, !threadblock.tile<8x1xf32>) -> !threadblock.tile<8x256xf32>
    %sg = threadblock.mul %sn, %gt : (!threadblock.tile<8x256xf32>, !threadblock.tile<256xf16>) -> !threadblock.tile<8x256xf32>
    %sgc = threadblock.cast %sg : (!threadblock.tile<8x256xf32>) -> !threadblock.tile<8x256xf16>
    %p = threadblock.matmul %sgc, %wt : (!threadblock.tile<8x256xf16>, !threadblock.tile<256x32xf16>) -> !threadblock.tile<8x32xf32>
    %y = threadblock.accumulate %p : (!threadblock.tile<8x32xf32>) -> !threadblock.tile<8x32xf32>
    %zo = threadblock.cast %y : (!threadblock.tile<8x32xf32>) -> !threadblock.tile<8x32xf16>

    // The first store makes the first result, the second the second.
    threadblock.store %sc grid_map [1] : !threadblock.tile<8x32xf16>
    threadblock.store %zo grid_map [1] : !threadblock.tile<8x32xf16>
  } : (tensor<8x4096xf16>, tensor<8x4096xf16>, tensor<4096xf16>, tensor<4096x4096xf16>) -> (tensor<8x4096xf16>, tensor<8x4096xf16>)
  func.return %r, %o : tensor<8x4096xf16>, tensor<8x4096xf16>
}
