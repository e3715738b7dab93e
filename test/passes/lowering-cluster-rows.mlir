// Rows that lie over the blocks of a cluster: what these keep, and how they find the rows' sums.
// RUN: mirage-opt %s --sink-reductions --fuse-thread-graphs --split-cross-block-sums --select-mma --select-copies --assign-layouts --software-pipeline | filecheck %s
// RUN: mirage-opt %s --sink-reductions --fuse-thread-graphs --split-cross-block-sums --select-mma --select-copies --assign-layouts --software-pipeline --plan-memory --overlap-launches --lower-to-nvvm | filecheck %s --check-prefix=LOWERED
// RUN: mirage-opt %s --sink-reductions --fuse-thread-graphs --split-cross-block-sums --select-mma --select-copies --assign-layouts --software-pipeline --plan-memory --overlap-launches --lower-to-nvvm --check-lowered-kernels 2>&1 | filecheck %s --check-prefix=RUNS

// RUNS: @rms_norm: 1 kernel runs without a fault
// RUNS: @softmax: 1 kernel runs without a fault
// RUNS: @centred: 1 kernel runs without a fault

module attributes {kernel.target = #kernel.target<"H200">} {

// All that follows the sum is one thread graph, so that nothing waits for it in registers.
// A block writes its part of the sum to both, once the other has started; both have written behind
// the barrier. None is needed before a block ends.
// CHECK-LABEL: func.func @rms_norm
// CHECK:         grid [3, 2] schedule <threads = 128
// CHECK:         %[[X:.*]] = threadblock.load %{{.*}} grid_map [0, 1] {layout = #threadblock.global}
// CHECK-NEXT:    %[[G:.*]] = threadblock.load %{{.*}} grid_map [_, 0] {layout = #threadblock.global}
// CHECK:         threadblock.section "prologue"
// CHECK-NEXT:    threadblock.arrive_cluster started
// CHECK-NEXT:    thread.graph ins(%[[X]])
// CHECK:         threadblock.section "epilogue"
// CHECK:         %[[PART:.*]] = threadblock.reduce_sum {{.*}}copies = 4
// CHECK-NEXT:    threadblock.await_cluster
// CHECK-NEXT:    threadblock.barrier{{$}}
// CHECK-NEXT:    %[[SUM:.*]] = threadblock.convert_layout %[[PART]] {layout = #threadblock.shared<{shape = [1, 1], order = [1, 0], blocks = 2}>, delivered}
// CHECK-NEXT:    threadblock.barrier cluster
// CHECK-NEXT:    thread.graph ins(%[[SUM]], %[[X]], %[[G]])
// CHECK-NOT:     threadblock.barrier
// CHECK:         threadblock.store
// CHECK-NEXT:  }
// LOWERED-LABEL: llvm.func @rms_norm_kernel_0
// LOWERED:         nvvm.cluster.arrive.relaxed
// LOWERED:         nvvm.cluster.wait
// LOWERED:         nvvm.read.ptx.sreg.cluster.ctarank
// LOWERED:         nvvm.mapa
// LOWERED-NEXT:    nvvm.mapa
// LOWERED-COUNT-2: llvm.store {{.*}} !llvm.ptr<7>
// LOWERED:         nvvm.cluster.arrive
// LOWERED-NEXT:    nvvm.cluster.wait
// LOWERED-NOT:     nvvm.cluster
func.func @rms_norm(%x: tensor<3x8192xf16>, %g: tensor<8192xf16>) -> tensor<3x8192xf16> {
  %o = kernel.graph_defined ins(%x, %g) grid [3, 2] {
  ^bb0(%xa: tensor<3x8192xf16>, %ga: tensor<8192xf16>):
    %t = threadblock.load %xa grid_map [0, 1] : (tensor<3x8192xf16>) -> !threadblock.tile<1x4096xf16>
    %w = threadblock.load %ga grid_map [_, 0] : (tensor<8192xf16>) -> !threadblock.tile<4096xf16>
    %s = threadblock.square %t : (!threadblock.tile<1x4096xf16>) -> !threadblock.tile<1x4096xf32>
    %r = threadblock.reduce_sum %s {dims = array<i64: 1>} : (!threadblock.tile<1x4096xf32>) -> !threadblock.tile<1x1xf32>
    %a = threadblock.accumulate %r across [1] : (!threadblock.tile<1x1xf32>) -> !threadblock.tile<1x1xf32>
    %m = threadblock.scale %a {factor = 1.220703125e-04 : f32} : (!threadblock.tile<1x1xf32>) -> !threadblock.tile<1x1xf32>
    %i = threadblock.rsqrt %m : (!threadblock.tile<1x1xf32>) -> !threadblock.tile<1x1xf32>
    %p = threadblock.mul %t, %w : (!threadblock.tile<1x4096xf16>, !threadblock.tile<4096xf16>) -> !threadblock.tile<1x4096xf32>
    %y = threadblock.mul %i, %p : (!threadblock.tile<1x1xf32>, !threadblock.tile<1x4096xf32>) -> !threadblock.tile<1x4096xf32>
    %h = threadblock.cast %y : (!threadblock.tile<1x4096xf32>) -> !threadblock.tile<1x4096xf16>
    threadblock.store %h grid_map [0, 1] : !threadblock.tile<1x4096xf16>
  } : (tensor<3x8192xf16>, tensor<8192xf16>) -> tensor<3x8192xf16>
  func.return %o : tensor<3x8192xf16>
}

// What it computes waits for the second sum, in f32: 16 KB are 128 bytes for each of 128 threads.
// Nobody has to wait before the second sum is written: the blocks have met.
// ptxas leaves room for eight blocks on a multiprocessor.
// LOWERED-LABEL: llvm.func @softmax_kernel_0
// LOWERED-SAME:    nvvm.minctasm = 8
// CHECK-LABEL: func.func @softmax
// CHECK:         grid [3, 2] schedule <threads = 128
// CHECK:         threadblock.load %{{.*}} {layout = #threadblock.global}
// CHECK:         threadblock.reduce_max
// CHECK-NEXT:    threadblock.await_cluster
// CHECK-NEXT:    threadblock.barrier{{$}}
// CHECK-NEXT:    threadblock.convert_layout {{.*}}combine = max}>, delivered}
// CHECK-NEXT:    threadblock.barrier cluster
// CHECK:         threadblock.reduce_sum
// CHECK-NEXT:    threadblock.barrier{{$}}
// CHECK-NEXT:    threadblock.convert_layout {{.*}}delivered}
// CHECK-NEXT:    threadblock.barrier cluster
// CHECK-NOT:     threadblock.barrier
// CHECK:         threadblock.store
func.func @softmax(%x: tensor<3x8192xf16>) -> tensor<3x8192xf16> {
  %o = kernel.graph_defined ins(%x) grid [3, 2] {
  ^bb0(%xa: tensor<3x8192xf16>):
    %t = threadblock.load %xa grid_map [0, 1] : (tensor<3x8192xf16>) -> !threadblock.tile<1x4096xf16>
    %r = threadblock.reduce_max %t {dims = array<i64: 1>} : (!threadblock.tile<1x4096xf16>) -> !threadblock.tile<1x1xf32>
    %m = threadblock.accumulate %r across [1] {kind = "max"} : (!threadblock.tile<1x1xf32>) -> !threadblock.tile<1x1xf32>
    %d = threadblock.sub %t, %m : (!threadblock.tile<1x4096xf16>, !threadblock.tile<1x1xf32>) -> !threadblock.tile<1x4096xf32>
    %e = threadblock.exp %d : (!threadblock.tile<1x4096xf32>) -> !threadblock.tile<1x4096xf32>
    %q = threadblock.reduce_sum %e {dims = array<i64: 1>} : (!threadblock.tile<1x4096xf32>) -> !threadblock.tile<1x1xf32>
    %a = threadblock.accumulate %q across [1] : (!threadblock.tile<1x1xf32>) -> !threadblock.tile<1x1xf32>
    %y = threadblock.div %e, %a : (!threadblock.tile<1x4096xf32>, !threadblock.tile<1x1xf32>) -> !threadblock.tile<1x4096xf32>
    %h = threadblock.cast %y : (!threadblock.tile<1x4096xf32>) -> !threadblock.tile<1x4096xf16>
    threadblock.store %h grid_map [0, 1] : !threadblock.tile<1x4096xf16>
  } : (tensor<3x8192xf16>) -> tensor<3x8192xf16>
  func.return %o : tensor<3x8192xf16>
}

// The difference is computed again behind the second sum: it would wait in registers.
// CHECK-LABEL: func.func @centred
// CHECK:         %[[X:.*]] = threadblock.load
// CHECK:         %[[MEAN:.*]] = threadblock.convert_layout {{.*}}delivered}
// CHECK-NEXT:    threadblock.barrier cluster
// CHECK-NEXT:    thread.graph ins(%[[X]], %[[MEAN]])
// CHECK:         %[[SUM:.*]] = threadblock.convert_layout {{.*}}delivered}
// CHECK-NEXT:    threadblock.barrier cluster
// CHECK-NEXT:    thread.graph ins(%[[SUM]], %[[X]], %[[MEAN]])
func.func @centred(%x: tensor<3x8192xf16>) -> tensor<3x8192xf16> {
  %o = kernel.graph_defined ins(%x) grid [3, 2] {
  ^bb0(%xa: tensor<3x8192xf16>):
    %t = threadblock.load %xa grid_map [0, 1] : (tensor<3x8192xf16>) -> !threadblock.tile<1x4096xf16>
    %r = threadblock.reduce_sum %t {dims = array<i64: 1>} : (!threadblock.tile<1x4096xf16>) -> !threadblock.tile<1x1xf32>
    %s = threadblock.scale %r {factor = 1.220703125e-04 : f32} : (!threadblock.tile<1x1xf32>) -> !threadblock.tile<1x1xf32>
    %m = threadblock.accumulate %s across [1] : (!threadblock.tile<1x1xf32>) -> !threadblock.tile<1x1xf32>
    %d = threadblock.sub %t, %m : (!threadblock.tile<1x4096xf16>, !threadblock.tile<1x1xf32>) -> !threadblock.tile<1x4096xf32>
    %e = threadblock.square %d : (!threadblock.tile<1x4096xf32>) -> !threadblock.tile<1x4096xf32>
    %q = threadblock.reduce_sum %e {dims = array<i64: 1>} : (!threadblock.tile<1x4096xf32>) -> !threadblock.tile<1x1xf32>
    %a = threadblock.accumulate %q across [1] : (!threadblock.tile<1x1xf32>) -> !threadblock.tile<1x1xf32>
    %i = threadblock.rsqrt %a : (!threadblock.tile<1x1xf32>) -> !threadblock.tile<1x1xf32>
    %y = threadblock.mul %d, %i : (!threadblock.tile<1x4096xf32>, !threadblock.tile<1x1xf32>) -> !threadblock.tile<1x4096xf32>
    %h = threadblock.cast %y : (!threadblock.tile<1x4096xf32>) -> !threadblock.tile<1x4096xf16>
    threadblock.store %h grid_map [0, 1] : !threadblock.tile<1x4096xf16>
  } : (tensor<3x8192xf16>) -> tensor<3x8192xf16>
  func.return %o : tensor<3x8192xf16>
}

}
