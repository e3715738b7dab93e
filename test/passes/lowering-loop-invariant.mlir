// RUN: mirage-opt %s --sink-reductions --fuse-thread-graphs --split-cross-block-sums="target=sm_90a" --select-mma --select-copies --assign-layouts="target=sm_90a" --software-pipeline="target=sm_90a stages=2" | filecheck %s --check-prefix=SCHEDULE
// RUN: mirage-opt %s --sink-reductions --fuse-thread-graphs --split-cross-block-sums="target=sm_90a" --select-mma --select-copies --assign-layouts="target=sm_90a" --software-pipeline="target=sm_90a stages=2" | mirage-opt | filecheck %s --check-prefix=SCHEDULE
// RUN: mirage-opt %s --sink-reductions --fuse-thread-graphs --split-cross-block-sums="target=sm_90a" --select-mma --select-copies --assign-layouts="target=sm_90a" --software-pipeline="target=sm_90a stages=2" --plan-memory="target=sm_90a" --overlap-launches="target=sm_90a" --lower-to-nvvm="target=sm_90a" | filecheck %s --check-prefix=NVVM

// The producer copies loop-invariant tiles too; its first reader waits for it, here behind the loop.
// SCHEDULE-LABEL: func.func @scaled
// SCHEDULE:         %bt = threadblock.load
// SCHEDULE-SAME:    copy = "tensor"
// SCHEDULE:         threadblock.await_tiles
// SCHEDULE-NOT:     threadblock.await_tile "
// SCHEDULE:         threadblock.release_tiles
// SCHEDULE:         threadblock.await_tile %bt
// SCHEDULE-NEXT:    threadblock.matmul %{{.*}}, %bt

// Two barriers say that buffers have their constant tiles, one that this tile has come; two that
// buffers are full, two that they are empty.
// NVVM-LABEL: llvm.func @scaled_kernel_0
// NVVM-COUNT-3:   nvvm.mbarrier.init
// NVVM:           nvvm.fence.mbarrier.init
// NVVM:           nvvm.mbarrier.arrive.expect_tx
// NVVM:           nvvm.cp.async.bulk.tensor
// NVVM-COUNT-4:   nvvm.mbarrier.init
// NVVM-NOT:       nvvm.cp.async.shared.global
// NVVM-NOT:       nvvm.cp.async.wait.group
func.func @scaled(%x: tensor<16x256xf16>, %a: tensor<256x16xf16> {kernel.constant}, %b: tensor<16x64xf16> {kernel.constant}) -> tensor<16x64xf32> {
  %o = kernel.graph_defined ins(%x, %a, %b) grid [1] loop [4] {
  ^bb0(%xa: tensor<16x256xf16>, %aa: tensor<256x16xf16>, %ba: tensor<16x64xf16>):
    %xt = threadblock.load %xa grid_map [_] loop_map [1] : (tensor<16x256xf16>) -> !threadblock.tile<16x64xf16>
    %at = threadblock.load %aa grid_map [_] loop_map [0] : (tensor<256x16xf16>) -> !threadblock.tile<64x16xf16>
    %bt = threadblock.load %ba grid_map [_] loop_map [_] : (tensor<16x64xf16>) -> !threadblock.tile<16x64xf16>
    %p = threadblock.matmul %xt, %at : (!threadblock.tile<16x64xf16>, !threadblock.tile<64x16xf16>) -> !threadblock.tile<16x16xf32>
    %s = threadblock.accumulate %p : (!threadblock.tile<16x16xf32>) -> !threadblock.tile<16x16xf32>
    %c = threadblock.cast %s : (!threadblock.tile<16x16xf32>) -> !threadblock.tile<16x16xf16>
    %q = threadblock.matmul %c, %bt : (!threadblock.tile<16x16xf16>, !threadblock.tile<16x64xf16>) -> !threadblock.tile<16x64xf32>
    threadblock.store %q grid_map [_] : !threadblock.tile<16x64xf32>
  } : (tensor<16x256xf16>, tensor<256x16xf16>, tensor<16x64xf16>) -> tensor<16x64xf32>
  func.return %o : tensor<16x64xf32>
}
