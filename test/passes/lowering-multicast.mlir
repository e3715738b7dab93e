// RUN: mirage-opt %s --sink-reductions --fuse-thread-graphs --split-cross-block-sums="target=sm_90a" --select-mma --select-copies --assign-layouts="target=sm_90a" --software-pipeline="target=sm_90a stages=3" | filecheck %s --check-prefix=SCHEDULE
// RUN: mirage-opt %s --sink-reductions --fuse-thread-graphs --split-cross-block-sums="target=sm_90a" --select-mma --select-copies --assign-layouts="target=sm_90a" --software-pipeline="target=sm_90a stages=3" --plan-memory="target=sm_90a" --overlap-launches="target=sm_90a" --lower-to-nvvm="target=sm_90a" | filecheck %s --check-prefix=NVVM
// RUN: mirage-opt %s --sink-reductions --fuse-thread-graphs --split-cross-block-sums="target=sm_80" --select-mma --select-copies --assign-layouts="target=sm_80" --software-pipeline="target=sm_80" --plan-memory="target=sm_80" --overlap-launches="target=sm_80" --lower-to-nvvm="target=sm_80" | filecheck %s --check-prefix=ALONE

// Two blocks with the same columns: the right side is theirs together, and each copies half of it.
// SCHEDULE-LABEL: func.func @linear
// SCHEDULE:         grid [2, 1] cluster [2, 1] loop [8]
// SCHEDULE:         threadblock.load %xa
// SCHEDULE-NOT:     multicast
// SCHEDULE:         threadblock.load %wa
// SCHEDULE-SAME:    copy = "tensor", multicast = 2 : i64

// Blocks fill their own buffers first, before they know of each other; then each waits until both
// have read what it overwrites: eight arrivals of two times four warps. Nobody leaves before that.
// NVVM-LABEL: llvm.func @linear_kernel_0
// NVVM-SAME:    nvvm.cluster_dim = array<i32: 2, 1, 1>
// NVVM:         %[[eight:.*]] = arith.constant 8 : i32
// NVVM:         nvvm.cp.async.bulk.tensor{{.*}}isCTAOnly = true
// NVVM:         "nvvm.mbarrier.init"(%{{.*}}, %[[eight]])
// NVVM:         nvvm.cluster.arrive
// NVVM-NEXT:    nvvm.cluster.wait
// NVVM:         nvvm.mbarrier.try_wait.parity
// NVVM:         nvvm.mbarrier.arrive.expect_tx
// NVVM:         nvvm.cp.async.bulk.tensor{{.*}}isCTAOnly = true
// NVVM:         %[[both:.*]] = arith.constant 3 : i16
// NVVM:         nvvm.read.ptx.sreg.cluster.ctarank
// NVVM:         nvvm.cp.async.bulk.tensor{{.*}}%[[both]], {{.*}}isCTAOnly = false
// NVVM:         nvvm.mbarrier.try_wait.parity
// NVVM:         nvvm.mbarrier.try_wait.parity
// NVVM:         nvvm.mapa
// NVVM-NEXT:    "nvvm.mbarrier.arrive"(%{{.*}}) <{scope = #nvvm.mem_scope<cta>, relaxed = false}> : (!llvm.ptr<7>) -> ()
// NVVM:         #kernel.tensor_map<tensor = "input:0"{{.*}}box = [64, 64]{{.*}}#kernel.tensor_map<tensor = "input:1"{{.*}}box = [64, 64]

// Without tensor copies blocks share nothing.
// ALONE-LABEL: llvm.func @linear_kernel_0
// ALONE-NOT:     cluster
func.func @linear(%x: tensor<128x512xf16>, %w: tensor<512x128xf16>) -> tensor<128x128xf16> {
  %o = kernel.graph_defined ins(%x, %w) grid [2, 1] cluster [2, 1] loop [8] {
  ^bb0(%xa: tensor<128x512xf16>, %wa: tensor<512x128xf16>):
    %xt = threadblock.load %xa grid_map [0, _] loop_map [1] : (tensor<128x512xf16>) -> !threadblock.tile<64x64xf16>
    %wt = threadblock.load %wa grid_map [_, 1] loop_map [0] : (tensor<512x128xf16>) -> !threadblock.tile<64x128xf16>
    %p = threadblock.matmul %xt, %wt : (!threadblock.tile<64x64xf16>, !threadblock.tile<64x128xf16>) -> !threadblock.tile<64x128xf32>
    %a = threadblock.accumulate %p : (!threadblock.tile<64x128xf32>) -> !threadblock.tile<64x128xf32>
    %c = threadblock.cast %a : (!threadblock.tile<64x128xf32>) -> !threadblock.tile<64x128xf16>
    threadblock.store %c grid_map [0, 1] : !threadblock.tile<64x128xf16>
  } : (tensor<128x512xf16>, tensor<512x128xf16>) -> tensor<128x128xf16>
  func.return %o : tensor<128x128xf16>
}

// Four blocks read the same columns: without a cluster each fetches its own.
// SCHEDULE-LABEL: func.func @alone
// SCHEDULE:         grid [32, 4] loop [64]
// SCHEDULE-NOT:     multicast
func.func @alone(%x: tensor<256x4096xf16>, %w: tensor<4096x4096xf16>) -> tensor<256x4096xf32> {
  %o = kernel.graph_defined ins(%x, %w) grid [32, 4] loop [64] {
  ^bb0(%xa: tensor<256x4096xf16>, %wa: tensor<4096x4096xf16>):
    %xt = threadblock.load %xa grid_map [_, 0] loop_map [1] : (tensor<256x4096xf16>) -> !threadblock.tile<64x64xf16>
    %wt = threadblock.load %wa grid_map [1, _] loop_map [0] : (tensor<4096x4096xf16>) -> !threadblock.tile<64x128xf16>
    %p = threadblock.matmul %xt, %wt : (!threadblock.tile<64x64xf16>, !threadblock.tile<64x128xf16>) -> !threadblock.tile<64x128xf32>
    %a = threadblock.accumulate %p : (!threadblock.tile<64x128xf32>) -> !threadblock.tile<64x128xf32>
    threadblock.store %a grid_map [1, 0] : !threadblock.tile<64x128xf32>
  } : (tensor<256x4096xf16>, tensor<4096x4096xf16>) -> tensor<256x4096xf32>
  func.return %o : tensor<256x4096xf32>
}
