// Which blocks of a cluster go on behind a sum across blocks, and what the others wait for.
// RUN: mirage-opt %s --software-pipeline="target=H200" | filecheck %s
// RUN: mirage-opt %s --software-pipeline="target=H200" --plan-memory --overlap-launches --lower-to-nvvm --check-lowered-kernels 2>&1 | filecheck %s --check-prefix=RUNS

// RUNS: @totals: 1 kernel runs without a fault
// RUNS: @scaled_totals: 1 kernel runs without a fault

#l0 = #threadblock.registers<{register = [[0, 1], [0, 2], [4, 0], [8, 0]], lane = [[0, 4], [0, 8], [0, 16], [0, 32], [1, 0]], warp = [[2, 0]]}>
#l1 = #threadblock.registers<{register = [[4, 0], [8, 0]], lane = [[0, 4], [0, 8], [0, 16], [0, 32], [1, 0]], warp = [[2, 0]]}>
#l2 = #threadblock.shared<{shape = [16, 1], order = [1, 0], blocks = 2}>
#l3 = #threadblock.shared<{shape = [16, 64], order = [1, 0], blocks = 2}>
#l4 = #threadblock.registers<{register = [[4, 0], [8, 0]], lane = [[0, 0], [0, 0], [0, 0], [0, 0], [1, 0]], warp = [[2, 0]]}>
#l5 = #threadblock.shared<{shape = [1, 64], order = [1, 0], copies = 2, combine = max}>

// The threads of both blocks share each tile; a block may end when the other one reads no more of it.
// CHECK-LABEL: func.func @totals
// CHECK:         threadblock.section "epilogue"
// CHECK:         threadblock.barrier cluster
// CHECK-NEXT:    threadblock.continue_with "cluster"
// CHECK-NEXT:    threadblock.store
// CHECK-NEXT:    threadblock.arrive_cluster
// CHECK-NEXT:    threadblock.await_cluster
func.func @totals(%x: tensor<16x128xf32>) -> tensor<16x1xf32> {
  %o = kernel.graph_defined ins(%x) grid [1, 2] cluster [1, 2] schedule <threads = 64, cluster_reduction> {
  ^bb0(%xa: tensor<16x128xf32>):
    %t = threadblock.load %xa grid_map [_, 1] {layout = #threadblock.global} : (tensor<16x128xf32>) -> !threadblock.tile<16x64xf32>
    %e = thread.graph ins(%t) attributes {layout = #l0} {
    ^bb0(%0: f32):
      %1 = math.exp %0 : f32
      thread.store %1 : f32
    } : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x64xf32>
    %a = threadblock.accumulate %e across [1] {layout = #l1} : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x64xf32>
    %r = threadblock.reduce_sum %a {layout = #l2, dims = array<i64: 1>} : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x1xf32>
    threadblock.store %r grid_map [_, _] : !threadblock.tile<16x1xf32>
  } : (tensor<16x128xf32>) -> tensor<16x1xf32>
  func.return %o : tensor<16x1xf32>
}

// Columns of the total are reduced by threads of one block, the first; the other waits for it.
// CHECK-LABEL: func.func @scaled_totals
// CHECK:         threadblock.barrier cluster
// CHECK-NEXT:    threadblock.continue_with "first_block"
// CHECK-NEXT:    %r = threadblock.reduce_sum
// CHECK:         threadblock.store
// CHECK-NEXT:    threadblock.barrier cluster
func.func @scaled_totals(%x: tensor<32x64xf32>) -> tensor<16x64xf32> {
  %o = kernel.graph_defined ins(%x) grid [1, 2] cluster [1, 2] schedule <threads = 64> {
  ^bb0(%xa: tensor<32x64xf32>):
    %t = threadblock.load %xa grid_map [_, 0] {layout = #threadblock.global} : (tensor<32x64xf32>) -> !threadblock.tile<16x64xf32>
    %e = thread.graph ins(%t) attributes {layout = #l0} {
    ^bb0(%0: f32):
      %1 = math.exp %0 : f32
      thread.store %1 : f32
    } : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x64xf32>
    %a = threadblock.accumulate %e across [1] {layout = #l0} : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x64xf32>
    %a_1 = threadblock.convert_layout %a {layout = #l3} : !threadblock.tile<16x64xf32>
    %r = threadblock.reduce_sum %a_1 {layout = #l4, dims = array<i64: 1>} : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x1xf32>
    %d = thread.graph ins(%a_1, %r) attributes {layout = #l0} {
    ^bb0(%0: f32, %1: f32):
      %2 = arith.divf %0, %1 : f32
      thread.store %2 : f32
    } : (!threadblock.tile<16x64xf32>, !threadblock.tile<16x1xf32>) -> !threadblock.tile<16x64xf32>
    %s = threadblock.reduce_max %d {layout = #l5, dims = array<i64: 0>} : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<1x64xf32>
    %z = thread.graph ins(%d, %s) attributes {layout = #l0} {
    ^bb0(%0: f32, %1: f32):
      %2 = arith.divf %0, %1 : f32
      thread.store %2 : f32
    } : (!threadblock.tile<16x64xf32>, !threadblock.tile<1x64xf32>) -> !threadblock.tile<16x64xf32>
    threadblock.store %z grid_map [_, _] : !threadblock.tile<16x64xf32>
  } : (tensor<32x64xf32>) -> tensor<16x64xf32>
  func.return %o : tensor<16x64xf32>
}
