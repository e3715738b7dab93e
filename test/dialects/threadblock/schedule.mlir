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
  // CHECK-NEXT: threadblock.barrier{{$}}
  threadblock.barrier
  // CHECK-NEXT: threadblock.barrier pending 6{{$}}
  threadblock.barrier pending 6
  // CHECK-NEXT: threadblock.barrier pending 0 async_proxy_fence{{$}}
  threadblock.barrier pending 0 async_proxy_fence
  // CHECK-NEXT: threadblock.barrier cluster{{$}}
  threadblock.barrier cluster
  // CHECK-NEXT: threadblock.clear_padding{{$}}
  threadblock.clear_padding
  // CHECK-NEXT: threadblock.issue_copies %a : !threadblock.tile<16x64xf32>{{$}}
  threadblock.issue_copies %a : !threadblock.tile<16x64xf32>
  // CHECK-NEXT: threadblock.issue_copies iteration 1 %a, %m : !threadblock.tile<16x64xf32>, !threadblock.tile<16x1xf32>{{$}}
  threadblock.issue_copies iteration 1 %a, %m : !threadblock.tile<16x64xf32>, !threadblock.tile<16x1xf32>
  // CHECK-NEXT: threadblock.issue_copies iteration 0 uncommitted %m : !threadblock.tile<16x1xf32>{{$}}
  threadblock.issue_copies iteration 0 uncommitted %m : !threadblock.tile<16x1xf32>
  // CHECK-NEXT: threadblock.issue_copies ahead 2 %a : !threadblock.tile<16x64xf32>{{$}}
  threadblock.issue_copies ahead 2 %a : !threadblock.tile<16x64xf32>
  // CHECK-NEXT: threadblock.issue_copies ahead 2{{$}}
  threadblock.issue_copies ahead 2
  // CHECK-NEXT: threadblock.store_fetched ahead 1 %a, %m : !threadblock.tile<16x64xf32>, !threadblock.tile<16x1xf32>{{$}}
  threadblock.store_fetched ahead 1 %a, %m : !threadblock.tile<16x64xf32>, !threadblock.tile<16x1xf32>
  // CHECK-NEXT: threadblock.fetch_tiles ahead 2 %a : !threadblock.tile<16x64xf32>{{$}}
  threadblock.fetch_tiles ahead 2 %a : !threadblock.tile<16x64xf32>
  // CHECK-NEXT: threadblock.await_tiles %a, %m : !threadblock.tile<16x64xf32>, !threadblock.tile<16x1xf32>{{$}}
  threadblock.await_tiles %a, %m : !threadblock.tile<16x64xf32>, !threadblock.tile<16x1xf32>
  // CHECK-NEXT: threadblock.await_tile %a : !threadblock.tile<16x64xf32>{{$}}
  threadblock.await_tile %a : !threadblock.tile<16x64xf32>
  // CHECK-NEXT: threadblock.await_mma pending 1 %a : !threadblock.tile<16x64xf32>{{$}}
  threadblock.await_mma pending 1 %a : !threadblock.tile<16x64xf32>
  // CHECK-NEXT: threadblock.start_deferred{{$}}
  threadblock.start_deferred
  // CHECK-NEXT: threadblock.await_order{{$}}
  threadblock.await_order
  // CHECK-NEXT: threadblock.arrive_order{{$}}
  threadblock.arrive_order
  // CHECK-NEXT: threadblock.release_tiles %a : !threadblock.tile<16x64xf32>{{$}}
  threadblock.release_tiles %a : !threadblock.tile<16x64xf32>
  // CHECK-NEXT: threadblock.release_tiles behind 1 async_proxy_fence %a : !threadblock.tile<16x64xf32>{{$}}
  threadblock.release_tiles behind 1 async_proxy_fence %a : !threadblock.tile<16x64xf32>
  // CHECK-NEXT: threadblock.fill_buffers iterations 7 at_start 3 %a, %m : !threadblock.tile<16x64xf32>, !threadblock.tile<16x1xf32>{{$}}
  threadblock.fill_buffers iterations 7 at_start 3 %a, %m : !threadblock.tile<16x64xf32>, !threadblock.tile<16x1xf32>
  // CHECK-NEXT: threadblock.fill_buffers iterations 7 %a : !threadblock.tile<16x64xf32>{{$}}
  threadblock.fill_buffers iterations 7 %a : !threadblock.tile<16x64xf32>
  // CHECK-NEXT: threadblock.refill_buffers ahead 6 %a, %m : !threadblock.tile<16x64xf32>, !threadblock.tile<16x1xf32>{{$}}
  threadblock.refill_buffers ahead 6 %a, %m : !threadblock.tile<16x64xf32>, !threadblock.tile<16x1xf32>
  // CHECK-NEXT: threadblock.await_release %a : !threadblock.tile<16x64xf32>{{$}}
  threadblock.await_release %a : !threadblock.tile<16x64xf32>
  // CHECK-NEXT: threadblock.continue_with "last_block"{{$}}
  threadblock.continue_with "last_block"
  // CHECK-NEXT: threadblock.arrive_cluster started{{$}}
  threadblock.arrive_cluster started
  // CHECK-NEXT: threadblock.arrive_cluster{{$}}
  threadblock.arrive_cluster
  // CHECK-NEXT: threadblock.await_cluster{{$}}
  threadblock.await_cluster
  // CHECK-NEXT: threadblock.store_partial_sum 0 %a : !threadblock.tile<16x64xf32>
  threadblock.store_partial_sum 0 %a : !threadblock.tile<16x64xf32>
  // CHECK-NEXT: threadblock.store_partial_sum 1 %a rescale %m : !threadblock.tile<16x64xf32>, !threadblock.tile<16x1xf32>
  threadblock.store_partial_sum 1 %a rescale %m : !threadblock.tile<16x64xf32>, !threadblock.tile<16x1xf32>
  func.return
}
