// RUN: mirage-opt %s --sink-reductions --fuse-thread-graphs --split-cross-block-sums="target=sm_90a" --select-mma --select-copies --assign-layouts="target=sm_90a" --software-pipeline="target=sm_90a stages=3" | filecheck %s --check-prefix=SCHEDULE
// RUN: mirage-opt %s --sink-reductions --fuse-thread-graphs --split-cross-block-sums="target=sm_90a" --select-mma --select-copies --assign-layouts="target=sm_90a" --software-pipeline="target=sm_90a stages=3" --plan-memory="target=sm_90a" | filecheck %s --check-prefix=MEMORY
// RUN: mirage-opt %s --sink-reductions --fuse-thread-graphs --split-cross-block-sums="target=sm_90a" --select-mma --select-copies --assign-layouts="target=sm_90a" --software-pipeline="target=sm_90a stages=3" --plan-memory="target=sm_90a" --overlap-launches="target=sm_90a" --lower-to-nvvm="target=sm_90a" | filecheck %s --check-prefix=NVVM

// One warp copies; the others wait for an iteration's tiles, each for itself, and synchronize after the loop.
// SCHEDULE-LABEL: func.func @linear
// SCHEDULE:         schedule <threads = 128, producer_warps = 1, stages = 3
// SCHEDULE-NOT:     threadblock.barrier
// SCHEDULE:         threadblock.await_tiles
// SCHEDULE-NEXT:    threadblock.matmul
// SCHEDULE-NOT:     threadblock.barrier
// SCHEDULE:         threadblock.release_tiles
// SCHEDULE:         thread.graph
// SCHEDULE:         threadblock.barrier
// SCHEDULE:         threadblock.convert_layout

// A buffer of 64 x 64 and one of 16 x 64 elements, three times each, then nine barriers.
// MEMORY-LABEL: func.func @linear
// MEMORY:         memory <shared_bytes = 30792, mbarrier_offset = 30720,

// What is constant is copied before the previous grid has ended, the rest after it. The rows past
// the end of %x are zero in shared memory: no thread asks where it ends.
// NVVM-LABEL: llvm.func @linear_kernel_0
// NVVM-SAME:    llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, nvvm.grid_constant
// NVVM-SAME:    nvvm.maxntid = array<i32: 160>
// NVVM-SAME:    kernel.launch = #kernel.launch<grid = [2, 1, 1], threads = 160, shared_bytes = 30792, starts_early, arguments = ["input:0", "input:1", "output:0", "map:0", "map:1"]
// NVVM-COUNT-3:   nvvm.mbarrier.init
// NVVM:           nvvm.fence.mbarrier.init
// NVVM:           nvvm.mbarrier.arrive.expect_tx
// NVVM:           nvvm.cp.async.bulk.tensor
// NVVM-COUNT-3:   nvvm.mbarrier.init
// NVVM:           "nvvm.barrier"() <{operandSegmentSizes = array<i32: 0, 0, 0>}>
// NVVM:           grid_dep_action wait
// NVVM:           nvvm.mbarrier.try_wait.parity
// NVVM:           nvvm.mbarrier.arrive.expect_tx
// NVVM:           nvvm.cp.async.bulk.tensor
// NVVM:           grid_dep_action wait
// NVVM:           nvvm.mbarrier.arrive.expect_tx
// NVVM:           nvvm.cp.async.bulk.tensor
// NVVM-NOT:       nvvm.cp.async.shared.global
// NVVM:           nvvm.mbarrier.try_wait.parity
// NVVM:           "nvvm.mbarrier.arrive"
// NVVM:           grid_dep_action wait
// NVVM:           "nvvm.barrier"(%{{.*}}, %{{.*}}) <{operandSegmentSizes = array<i32: 1, 1, 0>}>
// NVVM:         [#kernel.tensor_map<tensor = "input:0", dims = [512, 13], strides = [1024], box = [64, 16], swizzle = 128, element = "f16">, #kernel.tensor_map<tensor = "input:1", dims = [128, 512], strides = [256], box = [64, 64], swizzle = 128, element = "f16">]
func.func @linear(%x: tensor<13x512xf16>, %w: tensor<512x128xf16> {kernel.constant}) -> tensor<13x128xf16> {
  %o = kernel.graph_defined ins(%x, %w) grid [2] loop [8] {
  ^bb0(%xa: tensor<13x512xf16>, %wa: tensor<512x128xf16>):
    %xt = threadblock.load %xa grid_map [_] loop_map [1] : (tensor<13x512xf16>) -> !threadblock.tile<16x64xf16>
    %wt = threadblock.load %wa grid_map [1] loop_map [0] : (tensor<512x128xf16>) -> !threadblock.tile<64x64xf16>
    %p = threadblock.matmul %xt, %wt : (!threadblock.tile<16x64xf16>, !threadblock.tile<64x64xf16>) -> !threadblock.tile<16x64xf32>
    %q = threadblock.square %xt : (!threadblock.tile<16x64xf16>) -> !threadblock.tile<16x64xf32>
    %s = threadblock.reduce_sum %q {dims = array<i64: 1>} : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x1xf32>
    %a = threadblock.accumulate %p : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x64xf32>
    %b = threadblock.accumulate %s : (!threadblock.tile<16x1xf32>) -> !threadblock.tile<16x1xf32>
    %r = threadblock.sqrt %b : (!threadblock.tile<16x1xf32>) -> !threadblock.tile<16x1xf32>
    %z = threadblock.div %a, %r : (!threadblock.tile<16x64xf32>, !threadblock.tile<16x1xf32>) -> !threadblock.tile<16x64xf32>
    %c = threadblock.cast %z : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x64xf16>
    threadblock.store %c grid_map [1] : !threadblock.tile<16x64xf16>
  } : (tensor<13x512xf16>, tensor<512x128xf16>) -> tensor<13x128xf16>
  func.return %o : tensor<13x128xf16>
}
