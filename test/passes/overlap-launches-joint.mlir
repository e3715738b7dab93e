// Two kernels in one launch, which starts before the previous grid has ended if both may.
// RUN: mirage-opt %s --overlap-launches="target=H200" | filecheck %s

#rows = #threadblock.shared<{shape = [16, 64], order = [1, 0], swizzle = 128, element_bits = 16}>
#columns = #threadblock.shared<{shape = [64, 64], order = [1, 0], swizzle = 128, element_bits = 16}>
#acc = #threadblock.registers<{register = [[1, 0], [0, 8], [8, 0]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = [[0, 16], [0, 32]]}>

// Blocks of a launch have the shared memory of its largest kernel: no more than two of these fit, so that
// they are spread evenly wherever there is room first. Alone the second kernel starts after the previous
// grid, but lets what is called next start when its copies are on their way.
// CHECK-LABEL: func.func @joint
// CHECK:         memory <shared_bytes = 112640, {{.*}} overlap <starts_early, available = [1]> {
// CHECK:         memory <shared_bytes = 30792, {{.*}} overlap <starts_early, available = [1]> {
// CHECK-LABEL: func.func @alone
// CHECK-NOT:     starts_early
// CHECK:           threadblock.fill_buffers
// CHECK-NEXT:      threadblock.launch_dependents
// CHECK-NOT:     starts_early
// CHECK:         func.return
func.func @joint(%x: tensor<16x2048xf16>, %v: tensor<2048x8448xf16> {kernel.constant}, %w: tensor<2048x8448xf16> {kernel.constant}) -> (tensor<16x8448xf32>, tensor<16x8448xf32>) attributes {kernel.workspace = #kernel.workspace<>} {
  %o = kernel.graph_defined ins(%x, %v) grid [132] loop [32] schedule <threads = 128, producer_warps = 1, stages = 3> memory <shared_bytes = 112640, mbarrier_offset = 30720, results = [-1]> {
  ^bb0(%xa: tensor<16x2048xf16>, %wa: tensor<2048x8448xf16>):
    %xt = threadblock.load %xa grid_map [_] loop_map [1] {layout = #rows, buffer = #threadblock.buffer<offset = 24576>, copy = "tensor"} : (tensor<16x2048xf16>) -> !threadblock.tile<16x64xf16>
    %wt = threadblock.load %wa grid_map [1] loop_map [0] {layout = #columns, buffer = #threadblock.buffer<offset = 0>, copy = "tensor"} : (tensor<2048x8448xf16>) -> !threadblock.tile<64x64xf16>
    threadblock.section "producer"
    threadblock.fill_buffers iterations 3 %xt, %wt : !threadblock.tile<16x64xf16>, !threadblock.tile<64x64xf16>
    threadblock.refill_buffers ahead 62 %xt, %wt : !threadblock.tile<16x64xf16>, !threadblock.tile<64x64xf16>
    threadblock.section "prologue"
    threadblock.section "main_loop"
    threadblock.await_tiles %xt, %wt : !threadblock.tile<16x64xf16>, !threadblock.tile<64x64xf16>
    %p = threadblock.matmul %xt, %wt {layout = #acc, mma = "wgmma", warps = array<i64: 1, 1, 1>, swapped} : (!threadblock.tile<16x64xf16>, !threadblock.tile<64x64xf16>) -> !threadblock.tile<16x64xf32>
    %a = threadblock.accumulate %p {layout = #acc} : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x64xf32>
    threadblock.await_mma pending 1 %a : !threadblock.tile<16x64xf32>
    threadblock.release_tiles behind 1 %xt, %wt : !threadblock.tile<16x64xf16>, !threadblock.tile<64x64xf16>
    threadblock.section "epilogue"
    threadblock.await_mma pending 0 %a : !threadblock.tile<16x64xf32>
    threadblock.store %a grid_map [1] : !threadblock.tile<16x64xf32>
  } : (tensor<16x2048xf16>, tensor<2048x8448xf16>) -> tensor<16x8448xf32>
  %n = kernel.graph_defined ins(%x, %w) grid [132] loop [32] schedule <threads = 128, producer_warps = 1, stages = 3, joins_launch> memory <shared_bytes = 30792, mbarrier_offset = 30720, results = [-1]> {
  ^bb0(%xa: tensor<16x2048xf16>, %wa: tensor<2048x8448xf16>):
    %xt = threadblock.load %xa grid_map [_] loop_map [1] {layout = #rows, buffer = #threadblock.buffer<offset = 24576>, copy = "tensor"} : (tensor<16x2048xf16>) -> !threadblock.tile<16x64xf16>
    %wt = threadblock.load %wa grid_map [1] loop_map [0] {layout = #columns, buffer = #threadblock.buffer<offset = 0>, copy = "tensor"} : (tensor<2048x8448xf16>) -> !threadblock.tile<64x64xf16>
    threadblock.section "producer"
    threadblock.fill_buffers iterations 3 %xt, %wt : !threadblock.tile<16x64xf16>, !threadblock.tile<64x64xf16>
    threadblock.refill_buffers ahead 62 %xt, %wt : !threadblock.tile<16x64xf16>, !threadblock.tile<64x64xf16>
    threadblock.section "prologue"
    threadblock.section "main_loop"
    threadblock.await_tiles %xt, %wt : !threadblock.tile<16x64xf16>, !threadblock.tile<64x64xf16>
    %p = threadblock.matmul %xt, %wt {layout = #acc, mma = "wgmma", warps = array<i64: 1, 1, 1>, swapped} : (!threadblock.tile<16x64xf16>, !threadblock.tile<64x64xf16>) -> !threadblock.tile<16x64xf32>
    %a = threadblock.accumulate %p {layout = #acc} : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x64xf32>
    threadblock.await_mma pending 1 %a : !threadblock.tile<16x64xf32>
    threadblock.release_tiles behind 1 %xt, %wt : !threadblock.tile<16x64xf16>, !threadblock.tile<64x64xf16>
    threadblock.section "epilogue"
    threadblock.await_mma pending 0 %a : !threadblock.tile<16x64xf32>
    threadblock.store %a grid_map [1] : !threadblock.tile<16x64xf32>
  } : (tensor<16x2048xf16>, tensor<2048x8448xf16>) -> tensor<16x8448xf32>
  func.return %o, %n : tensor<16x8448xf32>, tensor<16x8448xf32>
}

func.func @alone(%x: tensor<16x2048xf16>, %w: tensor<2048x8448xf16> {kernel.constant}) -> tensor<16x8448xf32> attributes {kernel.workspace = #kernel.workspace<>} {
  %o = kernel.graph_defined ins(%x, %w) grid [132] loop [32] schedule <threads = 128, producer_warps = 1, stages = 3> memory <shared_bytes = 30792, mbarrier_offset = 30720, results = [-1]> {
  ^bb0(%xa: tensor<16x2048xf16>, %wa: tensor<2048x8448xf16>):
    %xt = threadblock.load %xa grid_map [_] loop_map [1] {layout = #rows, buffer = #threadblock.buffer<offset = 24576>, copy = "tensor"} : (tensor<16x2048xf16>) -> !threadblock.tile<16x64xf16>
    %wt = threadblock.load %wa grid_map [1] loop_map [0] {layout = #columns, buffer = #threadblock.buffer<offset = 0>, copy = "tensor"} : (tensor<2048x8448xf16>) -> !threadblock.tile<64x64xf16>
    threadblock.section "producer"
    threadblock.fill_buffers iterations 3 %xt, %wt : !threadblock.tile<16x64xf16>, !threadblock.tile<64x64xf16>
    threadblock.refill_buffers ahead 62 %xt, %wt : !threadblock.tile<16x64xf16>, !threadblock.tile<64x64xf16>
    threadblock.section "prologue"
    threadblock.section "main_loop"
    threadblock.await_tiles %xt, %wt : !threadblock.tile<16x64xf16>, !threadblock.tile<64x64xf16>
    %p = threadblock.matmul %xt, %wt {layout = #acc, mma = "wgmma", warps = array<i64: 1, 1, 1>, swapped} : (!threadblock.tile<16x64xf16>, !threadblock.tile<64x64xf16>) -> !threadblock.tile<16x64xf32>
    %a = threadblock.accumulate %p {layout = #acc} : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x64xf32>
    threadblock.await_mma pending 1 %a : !threadblock.tile<16x64xf32>
    threadblock.release_tiles behind 1 %xt, %wt : !threadblock.tile<16x64xf16>, !threadblock.tile<64x64xf16>
    threadblock.section "epilogue"
    threadblock.await_mma pending 0 %a : !threadblock.tile<16x64xf32>
    threadblock.store %a grid_map [1] : !threadblock.tile<16x64xf32>
  } : (tensor<16x2048xf16>, tensor<2048x8448xf16>) -> tensor<16x8448xf32>
  func.return %o : tensor<16x8448xf32>
}
