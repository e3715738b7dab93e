// When threads wait for each other: a block's work in, before and behind the loop, and its barriers.
// RUN: mirage-opt %s --software-pipeline="target=A100" | filecheck %s

// All threads copy a part of each tile: a barrier at the top of the loop, with the copies of six later
// iterations still under way. Behind the loop one before what is written where the last tiles
// may still be read, and one between warps that write their parts of a column's sum and those that
// add them up. Nothing waits for what a thread has in its own registers.
#tile = #threadblock.shared<{shape = [16, 64], order = [1, 0]}>
#spread = #threadblock.registers<{register = [[0, 1], [0, 2], [0, 4], [8, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0]]}>
#columns = #threadblock.shared<{shape = [1, 64], order = [1, 0], copies = 2}>

// CHECK-LABEL: func.func @normalized
// CHECK:       ^{{.*}}(%xa: tensor<64x512xf16>):
// CHECK-NEXT:    threadblock.barrier {{.*}}loop{{.*}}pending 6
// CHECK-NEXT:    %t = threadblock.load {{.*}} {layout = #threadblock.shared<{shape = [16, 64], order = [1, 0]}>
// CHECK-NEXT:    %e = thread.graph ins(%t)
// CHECK-NOT:     threadblock.barrier
// CHECK:         %s = threadblock.accumulate %e
// CHECK-NEXT:    threadblock.barrier {{.*}}post
// CHECK-NEXT:    %r = threadblock.reduce_sum %s {layout = #threadblock.shared<{shape = [1, 64], order = [1, 0], copies = 2}>
// CHECK-NEXT:    threadblock.barrier {{.*}}post
// CHECK-NEXT:    %z = thread.graph ins(%s, %r)
// CHECK-NOT:     threadblock.barrier
// CHECK:       func.return
func.func @normalized(%x: tensor<64x512xf16>) -> tensor<64x64xf32> {
  %o = kernel.graph_defined ins(%x) grid [4] loop [8] schedule <threads = 64> {
  ^bb0(%xa: tensor<64x512xf16>):
    %t = threadblock.load %xa grid_map [0] loop_map [1] {layout = #tile} : (tensor<64x512xf16>) -> !threadblock.tile<16x64xf16>
    %e = thread.graph ins(%t) attributes {layout = #spread} {
    ^bb0(%a: f16):
      %w = arith.extf %a : f16 to f32
      %q = arith.mulf %w, %w : f32
      thread.store %q : f32
    } : (!threadblock.tile<16x64xf16>) -> !threadblock.tile<16x64xf32>
    %s = threadblock.accumulate %e {layout = #spread} : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x64xf32>
    %r = threadblock.reduce_sum %s {layout = #columns, dims = array<i64: 0>} : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<1x64xf32>
    %z = thread.graph ins(%s, %r) attributes {layout = #spread} {
    ^bb0(%a: f32, %b: f32):
      %q = arith.divf %a, %b : f32
      thread.store %q : f32
    } : (!threadblock.tile<16x64xf32>, !threadblock.tile<1x64xf32>) -> !threadblock.tile<16x64xf32>
    threadblock.store %z grid_map [0] : !threadblock.tile<16x64xf32>
  } : (tensor<64x512xf16>) -> tensor<64x64xf32>
  func.return %o : tensor<64x64xf32>
}
