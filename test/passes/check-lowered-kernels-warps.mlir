// RUN: mirage-opt %s --sink-reductions --fuse-thread-graphs --split-cross-block-sums="target=sm_90a" --select-mma --select-copies --assign-layouts="target=sm_90a" --software-pipeline="target=sm_90a stages=2" --plan-memory="target=sm_90a" --overlap-launches="target=sm_90a" --lower-to-nvvm="target=sm_90a" > %t
// RUN: mirage-opt %t --check-lowered-kernels 2>&1 | filecheck %s
// RUN: sed '/nvvm.mbarrier.try_wait.parity/d' %t | not mirage-opt --check-lowered-kernels 2>&1 | filecheck %s --check-prefix=WAIT
// RUN: sed '/nvvm.mbarrier.arrive"/d' %t | not mirage-opt --check-lowered-kernels 2>&1 | filecheck %s --check-prefix=ARRIVE

// One warp copies tiles into two buffers, four multiply them; each of what follows lacks something.
// CHECK: remark: @linear: 1 kernel runs without a fault
// CHECK: nvvm.cp.async.bulk.tensor
// CHECK: nvvm.wgmma.mma_async
// WAIT: still writes: byte {{[0-9]+}} of shared memory in block (0, 0, 0) of linear_kernel_0
// ARRIVE: waits, and nobody goes on: thread {{.*}} which lacks 4 of 4 arrivals
func.func @linear(%x: tensor<64x320xf16>, %w: tensor<320x64xf16>) -> tensor<64x64xf16> {
  %o = kernel.graph_defined ins(%x, %w) grid [1] loop [5] {
  ^bb0(%xa: tensor<64x320xf16>, %wa: tensor<320x64xf16>):
    %xt = threadblock.load %xa grid_map [_] loop_map [1] : (tensor<64x320xf16>) -> !threadblock.tile<64x64xf16>
    %wt = threadblock.load %wa grid_map [_] loop_map [0] : (tensor<320x64xf16>) -> !threadblock.tile<64x64xf16>
    %p = threadblock.matmul %xt, %wt : (!threadblock.tile<64x64xf16>, !threadblock.tile<64x64xf16>) -> !threadblock.tile<64x64xf32>
    %a = threadblock.accumulate %p : (!threadblock.tile<64x64xf32>) -> !threadblock.tile<64x64xf32>
    %c = threadblock.cast %a : (!threadblock.tile<64x64xf32>) -> !threadblock.tile<64x64xf16>
    threadblock.store %c grid_map [_] : !threadblock.tile<64x64xf16>
  } : (tensor<64x320xf16>, tensor<320x64xf16>) -> tensor<64x64xf16>
  func.return %o : tensor<64x64xf16>
}
