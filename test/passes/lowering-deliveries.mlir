// RUN: mirage-opt %s --sink-reductions --fuse-thread-graphs --split-cross-block-sums --select-mma --select-copies --assign-layouts --software-pipeline --plan-memory | filecheck %s
// RUN: mirage-opt %s --sink-reductions --fuse-thread-graphs --split-cross-block-sums --select-mma --select-copies --assign-layouts --software-pipeline --plan-memory --overlap-launches --lower-to-nvvm --check-lowered-kernels 2>&1 >/dev/null | filecheck %s --check-prefix=RUNS

// Two blocks add up their parts of a small sum: each says that it has started, and behind its loop writes
// its part into the memory of both, in room that the loop's tiles leave. None waits before it ends.
// CHECK-LABEL: func.func @small
// CHECK:         section "prologue"
// CHECK-NEXT:    threadblock.arrive_cluster started
// CHECK:         section "epilogue"
// CHECK:         threadblock.await_cluster
// CHECK-NEXT:    threadblock.convert_layout {{.*}}blocks = 2}>, buffer = {{.*}}, delivered}
// CHECK-NEXT:    threadblock.barrier cluster
// CHECK-NEXT:    threadblock.continue_with "cluster"
// CHECK:         threadblock.store
// CHECK-NEXT:  }
// RUNS:        @small: 1 kernel runs without a fault
func.func @small(%x: tensor<8x1024xf16>, %w: tensor<1024x64xf16> {kernel.constant}) -> tensor<8x64xf16> {
  %y = kernel.graph_defined ins(%x, %w) grid [1, 2] loop [5] {
  ^bb0(%a: tensor<8x1024xf16>, %b: tensor<1024x64xf16>):
    %c = threadblock.load %a grid_map [_, 1] loop_map [1] : (tensor<8x1024xf16>) -> !threadblock.tile<8x112xf16>
    %d = threadblock.load %b grid_map [1, 0] loop_map [0] : (tensor<1024x64xf16>) -> !threadblock.tile<112x64xf16>
    %e = threadblock.matmul %c, %d : (!threadblock.tile<8x112xf16>, !threadblock.tile<112x64xf16>) -> !threadblock.tile<8x64xf32>
    %f = threadblock.accumulate %e across [1] : (!threadblock.tile<8x64xf32>) -> !threadblock.tile<8x64xf32>
    %g = threadblock.cast %f : (!threadblock.tile<8x64xf32>) -> !threadblock.tile<8x64xf16>
    threadblock.store %g grid_map [1, _] : !threadblock.tile<8x64xf16>
  } : (tensor<8x1024xf16>, tensor<1024x64xf16>) -> tensor<8x64xf16>
  func.return %y : tensor<8x64xf16>
}

// Of a large sum blocks keep their parts where the loop's tiles were, and read what they need in each
// other's memory: they wait before they end.
// CHECK-LABEL: func.func @large
// CHECK-NOT:     started
// CHECK:         threadblock.convert_layout {{.*}}blocks = 2}>, buffer = #threadblock.buffer<offset = 0>}
// CHECK-NEXT:    threadblock.barrier cluster
// CHECK:         threadblock.arrive_cluster
// CHECK-NEXT:    threadblock.store
// CHECK-NEXT:    threadblock.await_cluster
// RUNS:        @large: 1 kernel runs without a fault
func.func @large(%x: tensor<128x512xf16>, %w: tensor<512x64xf16> {kernel.constant}) -> tensor<128x64xf16> {
  %y = kernel.graph_defined ins(%x, %w) grid [1, 2] loop [4] {
  ^bb0(%a: tensor<128x512xf16>, %b: tensor<512x64xf16>):
    %c = threadblock.load %a grid_map [_, 1] loop_map [1] : (tensor<128x512xf16>) -> !threadblock.tile<128x64xf16>
    %d = threadblock.load %b grid_map [1, 0] loop_map [0] : (tensor<512x64xf16>) -> !threadblock.tile<64x64xf16>
    %e = threadblock.matmul %c, %d : (!threadblock.tile<128x64xf16>, !threadblock.tile<64x64xf16>) -> !threadblock.tile<128x64xf32>
    %f = threadblock.accumulate %e across [1] : (!threadblock.tile<128x64xf32>) -> !threadblock.tile<128x64xf32>
    %g = threadblock.cast %f : (!threadblock.tile<128x64xf32>) -> !threadblock.tile<128x64xf16>
    threadblock.store %g grid_map [1, _] : !threadblock.tile<128x64xf16>
  } : (tensor<128x512xf16>, tensor<512x64xf16>) -> tensor<128x64xf16>
  func.return %y : tensor<128x64xf16>
}
