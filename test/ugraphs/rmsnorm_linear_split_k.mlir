// RUN: mirage-opt %s --verify-equivalence="reference=reference candidate=ugraph" --verify-diagnostics
// RUN: mirage-opt %s > %t && mirage-opt %t --print-op-generic | mirage-opt | diff %t -

// RMSNorm and a narrow Linear (the keys of a model with grouped heads), its depth split over blocks.
//
// The idea. 1024 columns are 16 tiles of 64: 16 blocks would leave most of the GPU idle while they
// stream all of W. So a second grid axis cuts the depth too, and 8 blocks share each tile of the
// result. `accumulate ... across [1]` adds up over the loop and over the blocks of grid axis 1, and
// each of these blocks sees the total: the division by the norm, which needs the whole sum of
// squares, follows as if there were one block. How blocks exchange their parts is not said here.
func.func @reference(%x: tensor<8x4096xf16>, %w: tensor<4096x1024xf16> {kernel.constant}) -> tensor<8x1024xf16> {
  %y = kernel.rms_norm %x {eps = 1.0e-05 : f32} : (tensor<8x4096xf16>) -> tensor<8x4096xf16>
  %o = kernel.matmul %y, %w : (tensor<8x4096xf16>, tensor<4096x1024xf16>) -> tensor<8x1024xf16>
  func.return %o : tensor<8x1024xf16>
}

// expected-remark @+1 {{@ugraph is @reference: proved: the normal forms are equal; tested: equal modulo random primes}}
func.func @ugraph(%x: tensor<8x4096xf16>, %w: tensor<4096x1024xf16> {kernel.constant}) -> tensor<8x1024xf16> {
  // The blocks that share a tile form a cluster, so that they can see each other's shared memory.
  %o = kernel.graph_defined ins(%x, %w) grid [16, 8] cluster [1, 8] loop [8] {
  ^bb0(%xa: tensor<8x4096xf16>, %wa: tensor<4096x1024xf16>):
    // Grid axis 1 and the loop cut the same dimension: the axis into parts of 512, the loop these
    // into tiles of 64.
    %xt = threadblock.load %xa grid_map [_, 1] loop_map [1] : (tensor<8x4096xf16>) -> !threadblock.tile<8x64xf16>
    %wt = threadblock.load %wa grid_map [1, 0] loop_map [0] : (tensor<4096x1024xf16>) -> !threadblock.tile<64x64xf16>
    %p = threadblock.matmul %xt, %wt : (!threadblock.tile<8x64xf16>, !threadblock.tile<64x64xf16>) -> !threadblock.tile<8x64xf32>
    %q = threadblock.square %xt : (!threadblock.tile<8x64xf16>) -> !threadblock.tile<8x64xf32>
    %s = threadblock.reduce_sum %q {dims = array<i64: 1>} : (!threadblock.tile<8x64xf32>) -> !threadblock.tile<8x1xf32>
    %xw = threadblock.accumulate %p across [1] : (!threadblock.tile<8x64xf32>) -> !threadblock.tile<8x64xf32>
    %ss = threadblock.accumulate %s across [1] : (!threadblock.tile<8x1xf32>) -> !threadblock.tile<8x1xf32>
    %mean = threadblock.scale %ss {factor = 2.44140625e-04 : f32} : (!threadblock.tile<8x1xf32>) -> !threadblock.tile<8x1xf32>
    %eps = threadblock.constant {value = 1.0e-05 : f32} : !threadblock.tile<8x1xf32>
    %shifted = threadblock.add %mean, %eps : (!threadblock.tile<8x1xf32>, !threadblock.tile<8x1xf32>) -> !threadblock.tile<8x1xf32>
    %r = threadblock.sqrt %shifted : (!threadblock.tile<8x1xf32>) -> !threadblock.tile<8x1xf32>
    %z = threadblock.div %xw, %r : (!threadblock.tile<8x64xf32>, !threadblock.tile<8x1xf32>) -> !threadblock.tile<8x64xf32>
    %zo = threadblock.cast %z : (!threadblock.tile<8x64xf32>) -> !threadblock.tile<8x64xf16>
    // All blocks along axis 1 hold the same tile now: its entry is `_`.
    threadblock.store %zo grid_map [1, _] : !threadblock.tile<8x64xf16>
  } : (tensor<8x4096xf16>, tensor<4096x1024xf16>) -> tensor<8x1024xf16>
  func.return %o : tensor<8x1024xf16>
}
