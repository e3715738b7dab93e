// The schedule and the memory plan of a kernel, as passes leave them out where they decide nothing.
// RUN: %roundtrip
// RUN: %generic-roundtrip

// CHECK-LABEL: func.func @f(
// CHECK-NEXT: kernel.graph_defined ins(%x) grid [8] schedule <threads = 64, stages = 1, raster_width = 4, persistent_blocks = 2, cluster_reduction> memory <shared_bytes = 1024, arrival_offset = 1020, results = [-1], counters_offset = 16> {
func.func @f(%x: tensor<64xf32>) -> tensor<64xf32> {
  %y = kernel.graph_defined ins(%x) grid [8] schedule <threads = 64, stages = 1, raster_width = 4, persistent_blocks = 2, cluster_reduction> memory <shared_bytes = 1024, arrival_offset = 1020, results = [-1], counters_offset = 16> {
  ^bb0(%a: tensor<64xf32>):
    %t = threadblock.load %a grid_map [0] : (tensor<64xf32>) -> !threadblock.tile<8xf32>
    threadblock.store %t grid_map [0] : !threadblock.tile<8xf32>
  } : (tensor<64xf32>) -> tensor<64xf32>
  func.return %y : tensor<64xf32>
}

// Fields in any order, and all that a pipeline has; sections say what happens once and what in each iteration.
// CHECK-LABEL: func.func @pipeline(
// CHECK: schedule <threads = 128, producer_warps = 1, stages = 5, max_registers = 168, stagger = 3, sums_in_workspace> memory <shared_bytes = 4096, mbarrier_offset = 3968, results = [0], partial_sums_offset = 256> {
func.func @pipeline(%x: tensor<64xf32>) -> tensor<8xf32> {
  %y = kernel.graph_defined ins(%x) grid [1] loop [8] schedule <sums_in_workspace, stagger = 3, max_registers = 168, stages = 5, producer_warps = 1, threads = 128> memory <results = [0], partial_sums_offset = 256, mbarrier_offset = 3968, shared_bytes = 4096> {
  ^bb0(%a: tensor<64xf32>):
    %t = threadblock.load %a grid_map [_] loop_map [0] : (tensor<64xf32>) -> !threadblock.tile<8xf32>
    // CHECK: threadblock.section "prologue"
    threadblock.section "prologue"
    // CHECK-NEXT: threadblock.section "main_loop"
    threadblock.section "main_loop"
    %s = threadblock.accumulate %t : (!threadblock.tile<8xf32>) -> !threadblock.tile<8xf32>
    threadblock.section "epilogue"
    threadblock.store %s grid_map [_] : !threadblock.tile<8xf32>
  } : (tensor<64xf32>) -> tensor<8xf32>
  func.return %y : tensor<8xf32>
}

// Tools that know the dialect by IRDL alone print the dictionary.
// CHECK-LABEL: "test.op"()
// CHECK-SAME: #threadblock.schedule<threads = 64, cluster_reduction>
"test.op"() {schedule = #threadblock.schedule<{threads = 64 : i64, cluster_reduction}>} : () -> ()
