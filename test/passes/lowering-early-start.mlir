// RUN: mirage-opt %s --sink-reductions --fuse-thread-graphs --split-cross-block-sums="target=sm_90a" --select-mma --select-copies --assign-layouts="target=sm_90a" --software-pipeline="target=sm_90a" --plan-memory="target=sm_90a" --overlap-launches="target=sm_90a" | filecheck %s --check-prefix=MEMORY
// RUN: mirage-opt %s --sink-reductions --fuse-thread-graphs --split-cross-block-sums="target=sm_90a" --select-mma --select-copies --assign-layouts="target=sm_90a" --software-pipeline="target=sm_90a" --plan-memory="target=sm_90a" --overlap-launches="target=sm_90a" --lower-to-nvvm="target=sm_90a" | filecheck %s --check-prefix=NVVM
// RUN: mirage-opt %s --sink-reductions --fuse-thread-graphs --split-cross-block-sums="target=sm_90a" --select-mma --select-copies --assign-layouts="target=sm_90a" --software-pipeline="target=sm_90a" --plan-memory="target=sm_90a" --overlap-launches="target=sm_90a" --lower-to-nvvm="target=sm_90a" --check-lowered-kernels 2>&1 | filecheck %s

// CHECK: remark: @norm_linear: 2 kernels run without a fault

// The second kernel has sixteen buffers; of the two blocks each has constant tiles of twelve
// iterations, 96 KB, on their way at first.
// Its memory leaves room for blocks of the first kernel of the next call.
// MEMORY-LABEL: func.func @norm_linear
// MEMORY:         stages = 16
// MEMORY:           threadblock.fill_buffers iterations 16 at_start 12 %wt :
// MEMORY:           threadblock.refill_buffers ahead 7 %

// The first kernel lets the second one start before it waits for the call before, which may still
// read what this call writes.
// NVVM-LABEL: llvm.func @norm_linear_kernel_0
// NVVM:           grid_dep_action launch_dependents
// NVVM:           nvvm.prefetch
// NVVM:           grid_dep_action wait
// NVVM:           llvm.load
// NVVM:           llvm.return

// The second one starts copies of six constant tiles, and then of one for each that has come; these
// have barriers of their own. A thread that computes has the others copied: of %y.
// NVVM-LABEL: llvm.func @norm_linear_kernel_1
// NVVM-COUNT-16:  nvvm.mbarrier.init
// NVVM:           nvvm.fence.mbarrier.init
// NVVM:           scf.for
// NVVM:           nvvm.mbarrier.arrive.expect_tx
// NVVM:           nvvm.cp.async.bulk.tensor
// NVVM-COUNT-16:  nvvm.mbarrier.init
// NVVM:           nvvm.fence.mbarrier.init
// NVVM-COUNT-16:  nvvm.mbarrier.init
// NVVM:           "nvvm.barrier"() <{operandSegmentSizes = array<i32: 0, 0, 0>}>
// NVVM-NOT:       grid_dep_action
// NVVM:           scf.for
// NVVM:           nvvm.mbarrier.try_wait.parity
// NVVM:           nvvm.mbarrier.arrive.expect_tx
// NVVM:           nvvm.cp.async.bulk.tensor
// NVVM-NOT:       nvvm.cp.async.bulk.tensor
// NVVM:           grid_dep_action wait
// NVVM:           scf.for
// NVVM:           nvvm.mbarrier.try_wait.parity
// NVVM:           nvvm.cp.async.bulk.tensor
// NVVM:           nvvm.cp.async.bulk.tensor
// NVVM:           grid_dep_action wait
// NVVM-NEXT:      grid_dep_action launch_dependents
// NVVM:           scf.for
// NVVM:           nvvm.mbarrier.arrive.expect_tx
// NVVM:           nvvm.cp.async.bulk.tensor
// NVVM-NOT:       nvvm.cp.async.bulk.tensor
// NVVM:           scf.for
// NVVM:           nvvm.mbarrier.try_wait.parity
// NVVM:           nvvm.mbarrier.try_wait.parity
func.func @norm_linear(%x: tensor<16x1280xf16>, %w: tensor<1280x128xf16> {kernel.constant}) -> tensor<16x128xf16> {
  %y = kernel.graph_defined ins(%x) grid [16] {
  ^bb0(%xa: tensor<16x1280xf16>):
    %t = threadblock.load %xa grid_map [0] : (tensor<16x1280xf16>) -> !threadblock.tile<1x1280xf16>
    %s = threadblock.square %t : (!threadblock.tile<1x1280xf16>) -> !threadblock.tile<1x1280xf32>
    %n = threadblock.reduce_sum %s {dims = array<i64: 1>} : (!threadblock.tile<1x1280xf32>) -> !threadblock.tile<1x1xf32>
    %r = threadblock.rsqrt %n : (!threadblock.tile<1x1xf32>) -> !threadblock.tile<1x1xf32>
    %m = threadblock.mul %t, %r : (!threadblock.tile<1x1280xf16>, !threadblock.tile<1x1xf32>) -> !threadblock.tile<1x1280xf32>
    %c = threadblock.cast %m : (!threadblock.tile<1x1280xf32>) -> !threadblock.tile<1x1280xf16>
    threadblock.store %c grid_map [0] : !threadblock.tile<1x1280xf16>
  } : (tensor<16x1280xf16>) -> tensor<16x1280xf16>
  %o = kernel.graph_defined ins(%y, %w) grid [2] loop [20] {
  ^bb0(%ya: tensor<16x1280xf16>, %wa: tensor<1280x128xf16>):
    %yt = threadblock.load %ya grid_map [_] loop_map [1] : (tensor<16x1280xf16>) -> !threadblock.tile<16x64xf16>
    %wt = threadblock.load %wa grid_map [1] loop_map [0] : (tensor<1280x128xf16>) -> !threadblock.tile<64x64xf16>
    %p = threadblock.matmul %yt, %wt : (!threadblock.tile<16x64xf16>, !threadblock.tile<64x64xf16>) -> !threadblock.tile<16x64xf32>
    %a = threadblock.accumulate %p : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x64xf32>
    %c = threadblock.cast %a : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x64xf16>
    threadblock.store %c grid_map [1] : !threadblock.tile<16x64xf16>
  } : (tensor<16x1280xf16>, tensor<1280x128xf16>) -> tensor<16x128xf16>
  func.return %o : tensor<16x128xf16>
}
