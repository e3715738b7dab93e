// Blocks of a persistent launch that somebody has edited.
// RUN: mirage-opt %s --select-mma="target=H200" --select-copies --assign-layouts --software-pipeline --plan-memory --overlap-launches | sed "s/persistent_blocks = 132/persistent_blocks = 5000/" | not mirage-opt --lower-to-nvvm 2>&1 | filecheck %s --check-prefix=MANY
// RUN: mirage-opt %s --select-mma="target=H200" --select-copies --assign-layouts --software-pipeline --plan-memory --overlap-launches | sed "s/producer_warps = [0-9]*, //" | not mirage-opt --lower-to-nvvm 2>&1 | filecheck %s --check-prefix=ALONE

// MANY:  error: 'kernel.graph_defined' op has 5000 persistent_blocks, not a multiple of 1, the blocks of a cluster, up to the 512 of its grid
// ALONE: error: 'kernel.graph_defined' op has persistent_blocks, and no producer_warps that copy for the next tiles
func.func @large(%x: tensor<4096x1024xf16>, %w: tensor<1024x4096xf16>) -> tensor<4096x4096xf32> {
  %o = kernel.graph_defined ins(%x, %w) grid [32, 16] loop [16] {
  ^bb0(%xa: tensor<4096x1024xf16>, %wa: tensor<1024x4096xf16>):
    %xt = threadblock.load %xa grid_map [0, _] loop_map [1] : (tensor<4096x1024xf16>) -> !threadblock.tile<128x64xf16>
    %wt = threadblock.load %wa grid_map [_, 1] loop_map [0] : (tensor<1024x4096xf16>) -> !threadblock.tile<64x256xf16>
    %p = threadblock.matmul %xt, %wt : (!threadblock.tile<128x64xf16>, !threadblock.tile<64x256xf16>) -> !threadblock.tile<128x256xf32>
    %s = threadblock.accumulate %p : (!threadblock.tile<128x256xf32>) -> !threadblock.tile<128x256xf32>
    threadblock.store %s grid_map [0, 1] : !threadblock.tile<128x256xf32>
  } : (tensor<4096x1024xf16>, tensor<1024x4096xf16>) -> tensor<4096x4096xf32>
  func.return %o : tensor<4096x4096xf32>
}
