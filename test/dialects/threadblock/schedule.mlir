// What the lowering adds between the operators of a threadblock graph; custom and generic form.
// RUN: %roundtrip
// RUN: %generic-roundtrip

// CHECK-LABEL: func.func @schedule(
func.func @schedule() {
  %a, %m = "test.op"() : () -> (!threadblock.tile<16x64xf32>, !threadblock.tile<16x1xf32>)
  // CHECK:      %s = threadblock.convert_layout %a {layout = #threadblock.global} : !threadblock.tile<16x64xf32>
  %s = threadblock.convert_layout %a {layout = #threadblock.global} : !threadblock.tile<16x64xf32>
  // CHECK-NEXT: %r = threadblock.convert_layout %a relative %m : !threadblock.tile<16x1xf32> {layout = #threadblock.global} : !threadblock.tile<16x64xf32>
  %r = threadblock.convert_layout %a relative %m : !threadblock.tile<16x1xf32> {layout = #threadblock.global} : !threadblock.tile<16x64xf32>
  // CHECK-NEXT: threadblock.barrier "loop" pending 6
  threadblock.barrier "loop" pending 6
  // CHECK-NEXT: threadblock.barrier "post" cluster
  threadblock.barrier "post" cluster
  // CHECK-NEXT: threadblock.await_tiles
  threadblock.await_tiles
  // CHECK-NEXT: threadblock.await_tile "post" %a : !threadblock.tile<16x64xf32>
  threadblock.await_tile "post" %a : !threadblock.tile<16x64xf32>
  // CHECK-NEXT: threadblock.release_tiles
  threadblock.release_tiles
  // CHECK-NEXT: threadblock.store_partial_sum 0 %a : !threadblock.tile<16x64xf32>
  threadblock.store_partial_sum 0 %a : !threadblock.tile<16x64xf32>
  // CHECK-NEXT: threadblock.store_partial_sum 1 %a rescale %m : !threadblock.tile<16x64xf32>, !threadblock.tile<16x1xf32>
  threadblock.store_partial_sum 1 %a rescale %m : !threadblock.tile<16x64xf32>, !threadblock.tile<16x1xf32>
  func.return
}
