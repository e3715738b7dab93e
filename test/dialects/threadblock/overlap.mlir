// What overlap-launches writes: waits for the previous grid, and what may run before; custom and generic form.
// RUN: %roundtrip
// RUN: %generic-roundtrip

// CHECK-LABEL: func.func @operations(
func.func @operations() {
  %a, %m = "test.op"() : () -> (!threadblock.tile<16x64xf32>, !threadblock.tile<16x1xf32>)
  // CHECK:      threadblock.await_previous_grid{{$}}
  threadblock.await_previous_grid
  // CHECK-NEXT: threadblock.launch_dependents{{$}}
  threadblock.launch_dependents
  // CHECK-NEXT: threadblock.prefetch_tiles lines 16 %a, %m : !threadblock.tile<16x64xf32>, !threadblock.tile<16x1xf32>{{$}}
  threadblock.prefetch_tiles lines 16 %a, %m : !threadblock.tile<16x64xf32>, !threadblock.tile<16x1xf32>
  // CHECK-NEXT: threadblock.prefetch_tiles lines 8 first_blocks 2048 %a : !threadblock.tile<16x64xf32>{{$}}
  threadblock.prefetch_tiles lines 8 first_blocks 2048 %a : !threadblock.tile<16x64xf32>
  // CHECK-NEXT: threadblock.one_thread {
  // CHECK-NEXT:   threadblock.await_previous_grid
  // CHECK-NEXT:   threadblock.fill_buffers iterations 4 %a : !threadblock.tile<16x64xf32>
  // CHECK-NEXT: }
  threadblock.one_thread {
    threadblock.await_previous_grid
    threadblock.fill_buffers iterations 4 %a : !threadblock.tile<16x64xf32>
  }
  func.return
}

// What a kernel copies before the wait is available; what it reads in place, or stores, comes after it.
// CHECK-LABEL: func.func @graph(
// CHECK:         overlap <starts_early, available = [1], occupancy_limit_bytes = 1024>
func.func @graph(%x: tensor<64xf32>, %w: tensor<64xf32>) {
  %y = kernel.graph_defined ins(%x, %w) grid [1] overlap <available = [1], starts_early, occupancy_limit_bytes = 1024> {
  ^bb0(%xa: tensor<64xf32>, %wa: tensor<64xf32>):
    %a = threadblock.load %xa grid_map [_] : (tensor<64xf32>) -> !threadblock.tile<64xf32>
    %b = threadblock.load %wa grid_map [_] : (tensor<64xf32>) -> !threadblock.tile<64xf32>
    threadblock.section "prologue"
    threadblock.prefetch_tiles lines 1 %a : !threadblock.tile<64xf32>
    threadblock.issue_copies uncommitted %b : !threadblock.tile<64xf32>
    threadblock.await_previous_grid
    threadblock.issue_copies %a : !threadblock.tile<64xf32>
    %c = threadblock.add %a, %b : (!threadblock.tile<64xf32>, !threadblock.tile<64xf32>) -> !threadblock.tile<64xf32>
    threadblock.store %c grid_map [_] : !threadblock.tile<64xf32>
  } : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  func.return
}
