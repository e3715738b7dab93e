// Where in the block's shared memory each tile lies.
// RUN: mirage-opt %s --plan-memory="target=A100" | filecheck %s

// Eight stages of 2048 bytes. A barrier stands behind the loop, so the sums of columns, two copies of
// 256 bytes, take the place of the tiles.
#tile = #threadblock.shared<{shape = [16, 64], order = [1, 0]}>
#spread = #threadblock.registers<{register = [[0, 1], [0, 2], [0, 4], [8, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0]]}>
#columns = #threadblock.shared<{shape = [1, 64], order = [1, 0], copies = 2}>

// CHECK-LABEL: func.func @together
// CHECK:         kernel.graph_defined {{.*}} 16384
// CHECK:         threadblock.load {{.*}} {layout = #threadblock.shared<{shape = [16, 64], order = [1, 0]}>, {{.*}}offset = 0
// CHECK:         threadblock.reduce_sum {{.*}} {layout = #threadblock.shared<{shape = [1, 64], order = [1, 0], copies = 2}>, {{.*}}offset = 0
func.func @together(%x: tensor<64x512xf16>) -> tensor<64x64xf32> {
  %o = kernel.graph_defined ins(%x) grid [4] loop [8] schedule <threads = 64, stages = 8> {
  ^bb0(%xa: tensor<64x512xf16>):
    %t = threadblock.load %xa grid_map [0] loop_map [1] {layout = #tile} : (tensor<64x512xf16>) -> !threadblock.tile<16x64xf16>
    threadblock.section "prologue"
    threadblock.issue_copies iteration 0 %t : !threadblock.tile<16x64xf16>
    threadblock.section "main_loop"
    threadblock.barrier pending 6
    %e = thread.graph ins(%t) attributes {layout = #spread} {
    ^bb0(%a: f16):
      %w = arith.extf %a : f16 to f32
      %q = arith.mulf %w, %w : f32
      thread.store %q : f32
    } : (!threadblock.tile<16x64xf16>) -> !threadblock.tile<16x64xf32>
    %s = threadblock.accumulate %e {layout = #spread} : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x64xf32>
    threadblock.section "epilogue"
    threadblock.barrier
    %r = threadblock.reduce_sum %s {layout = #columns, dims = array<i64: 0>} : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<1x64xf32>
    threadblock.barrier
    %z = thread.graph ins(%s, %r) attributes {layout = #spread} {
    ^bb0(%a: f32, %b: f32):
      %q = arith.divf %a, %b : f32
      thread.store %q : f32
    } : (!threadblock.tile<16x64xf32>, !threadblock.tile<1x64xf32>) -> !threadblock.tile<16x64xf32>
    threadblock.store %z grid_map [0] : !threadblock.tile<16x64xf32>
  } : (tensor<64x512xf16>) -> tensor<64x64xf32>
  func.return %o : tensor<64x64xf32>
}

// Without that barrier some threads may still read tiles: both have room.
// CHECK-LABEL: func.func @apart
// CHECK:         kernel.graph_defined {{.*}} 16896
func.func @apart(%x: tensor<64x512xf16>) -> tensor<64x64xf32> {
  %o = kernel.graph_defined ins(%x) grid [4] loop [8] schedule <threads = 64, stages = 8> {
  ^bb0(%xa: tensor<64x512xf16>):
    %t = threadblock.load %xa grid_map [0] loop_map [1] {layout = #tile} : (tensor<64x512xf16>) -> !threadblock.tile<16x64xf16>
    threadblock.section "prologue"
    threadblock.issue_copies iteration 0 %t : !threadblock.tile<16x64xf16>
    threadblock.section "main_loop"
    threadblock.barrier pending 6
    %e = thread.graph ins(%t) attributes {layout = #spread} {
    ^bb0(%a: f16):
      %w = arith.extf %a : f16 to f32
      %q = arith.mulf %w, %w : f32
      thread.store %q : f32
    } : (!threadblock.tile<16x64xf16>) -> !threadblock.tile<16x64xf32>
    %s = threadblock.accumulate %e {layout = #spread} : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x64xf32>
    threadblock.section "epilogue"
    %r = threadblock.reduce_sum %s {layout = #columns, dims = array<i64: 0>} : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<1x64xf32>
    threadblock.barrier
    %z = thread.graph ins(%s, %r) attributes {layout = #spread} {
    ^bb0(%a: f32, %b: f32):
      %q = arith.divf %a, %b : f32
      thread.store %q : f32
    } : (!threadblock.tile<16x64xf32>, !threadblock.tile<1x64xf32>) -> !threadblock.tile<16x64xf32>
    threadblock.store %z grid_map [0] : !threadblock.tile<16x64xf32>
  } : (tensor<64x512xf16>) -> tensor<64x64xf32>
  func.return %o : tensor<64x64xf32>
}
