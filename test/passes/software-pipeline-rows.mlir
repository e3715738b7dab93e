// Where a loop that reads and writes whole rows issues its copies.
// RUN: mirage-opt %s --software-pipeline="target=A100" | filecheck %s
// RUN: mirage-opt %s --software-pipeline="target=A100" | mirage-opt | filecheck %s

#row = #threadblock.shared<{shape = [1, 512], order = [1, 0]}>
#rows = #threadblock.shared<{shape = [2, 512], order = [1, 0]}>
#thread_row = #threadblock.registers<{register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [0, 16], [0, 32], [0, 64], [0, 128]], warp = [[0, 256]]}>
#thread_rows = #threadblock.registers<{register = [[0, 1], [0, 2], [0, 4], [1, 0]], lane = [[0, 8], [0, 16], [0, 32], [0, 64], [0, 128]], warp = [[0, 256]]}>
#sum = #threadblock.shared<{shape = [1, 1], order = [1, 0], copies = 2}>
#sums = #threadblock.shared<{shape = [2, 1], order = [1, 0], copies = 2}>

// One row in each iteration: behind the loop's last barrier, where less is on its way.
// CHECK-LABEL: func.func @one_row
// CHECK:         threadblock.section "main_loop"
// CHECK-NEXT:    threadblock.barrier pending
// CHECK-NEXT:    %s = threadblock.reduce_sum %t
// CHECK-NEXT:    threadblock.barrier{{$}}
// CHECK-NEXT:    threadblock.issue_copies ahead {{[0-9]}} %t :
// CHECK-NEXT:    %z = thread.graph ins(%t, %s)
// CHECK:         threadblock.store %z
func.func @one_row(%x: tensor<64x512xf16>) -> tensor<64x512xf16> {
  %o = kernel.graph_defined ins(%x) grid [4] loop [16] schedule <threads = 64> {
  ^bb0(%xa: tensor<64x512xf16>):
    %t = threadblock.load %xa grid_map [0] loop_map [0] {layout = #row, copy = "async"} : (tensor<64x512xf16>) -> !threadblock.tile<1x512xf16>
    %s = threadblock.reduce_sum %t {layout = #sum, dims = array<i64: 1>} : (!threadblock.tile<1x512xf16>) -> !threadblock.tile<1x1xf32>
    %z = thread.graph ins(%t, %s) attributes {layout = #thread_row} {
    ^bb0(%a: f16, %b: f32):
      %w = arith.extf %a : f16 to f32
      %q = arith.mulf %w, %b : f32
      %r = arith.truncf %q : f32 to f16
      thread.store %r : f16
    } : (!threadblock.tile<1x512xf16>, !threadblock.tile<1x1xf32>) -> !threadblock.tile<1x512xf16>
    threadblock.store %z grid_map [0] loop_map [0] : !threadblock.tile<1x512xf16>
  } : (tensor<64x512xf16>) -> tensor<64x512xf16>
  func.return %o : tensor<64x512xf16>
}

// Several rows: at the top.
// CHECK-LABEL: func.func @two_rows
// CHECK:         threadblock.section "main_loop"
// CHECK-NEXT:    threadblock.barrier pending
// CHECK-NEXT:    threadblock.issue_copies ahead {{[0-9]}} %t :
// CHECK-NEXT:    %s = threadblock.reduce_sum %t
// CHECK-NEXT:    threadblock.barrier{{$}}
// CHECK-NEXT:    %z = thread.graph ins(%t, %s)
func.func @two_rows(%x: tensor<64x512xf16>) -> tensor<64x512xf16> {
  %o = kernel.graph_defined ins(%x) grid [4] loop [8] schedule <threads = 64> {
  ^bb0(%xa: tensor<64x512xf16>):
    %t = threadblock.load %xa grid_map [0] loop_map [0] {layout = #rows, copy = "async"} : (tensor<64x512xf16>) -> !threadblock.tile<2x512xf16>
    %s = threadblock.reduce_sum %t {layout = #sums, dims = array<i64: 1>} : (!threadblock.tile<2x512xf16>) -> !threadblock.tile<2x1xf32>
    %z = thread.graph ins(%t, %s) attributes {layout = #thread_rows} {
    ^bb0(%a: f16, %b: f32):
      %w = arith.extf %a : f16 to f32
      %q = arith.mulf %w, %b : f32
      %r = arith.truncf %q : f32 to f16
      thread.store %r : f16
    } : (!threadblock.tile<2x512xf16>, !threadblock.tile<2x1xf32>) -> !threadblock.tile<2x512xf16>
    threadblock.store %z grid_map [0] loop_map [0] : !threadblock.tile<2x512xf16>
  } : (tensor<64x512xf16>) -> tensor<64x512xf16>
  func.return %o : tensor<64x512xf16>
}
