// Producers copy the tiles of constant inputs from packed copies, which hold one tile after the other.
// RUN: mirage-opt %s --pack-constants="target=H200" | filecheck %s
// RUN: mirage-opt %s --pack-constants="target=H200" --overlap-launches --lower-to-nvvm --check-lowered-kernels 2>&1 | filecheck %s --check-prefix=LOWERED

#rows = #threadblock.shared<{shape = [16, 64], order = [1, 0], swizzle = 128, element_bits = 16}>
#columns = #threadblock.shared<{shape = [64, 64], order = [1, 0], swizzle = 128, element_bits = 16}>
#acc = #threadblock.registers<{register = [[1, 0], [0, 8], [8, 0]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = [[0, 16], [0, 32]]}>

// %x is no constant input: its tiles are copied from where they are.
// CHECK-LABEL: func.func @linear
// CHECK:         %xt = threadblock.load {{.*}}, copy = "tensor"}
// CHECK:         %wt = threadblock.load {{.*}}, copy = "tensor", packed}

// LOWERED:     @linear: 1 kernel runs without a fault
// LOWERED:     #kernel.tensor_map<tensor = "input:0"
// LOWERED-SAME: #kernel.tensor_map<tensor = "packed:0"
// LOWERED-SAME: #kernel.packing<tensor = "input:1", shape = [512, 128]
func.func @linear(%x: tensor<16x512xf16>, %w: tensor<512x128xf16> {kernel.constant}) -> tensor<16x128xf16> attributes {kernel.workspace = #kernel.workspace<>} {
  %o = kernel.graph_defined ins(%x, %w) grid [2] loop [8] schedule <threads = 128, producer_warps = 1, stages = 3> memory <shared_bytes = 30792, mbarrier_offset = 30720, results = [-1]> {
  ^bb0(%xa: tensor<16x512xf16>, %wa: tensor<512x128xf16>):
    %xt = threadblock.load %xa grid_map [_] loop_map [1] {layout = #rows, buffer = #threadblock.buffer<offset = 24576>, copy = "tensor"} : (tensor<16x512xf16>) -> !threadblock.tile<16x64xf16>
    %wt = threadblock.load %wa grid_map [1] loop_map [0] {layout = #columns, buffer = #threadblock.buffer<offset = 0>, copy = "tensor"} : (tensor<512x128xf16>) -> !threadblock.tile<64x64xf16>
    threadblock.section "producer"
    threadblock.fill_buffers iterations 3 %xt, %wt : !threadblock.tile<16x64xf16>, !threadblock.tile<64x64xf16>
    threadblock.refill_buffers ahead 14 %xt, %wt : !threadblock.tile<16x64xf16>, !threadblock.tile<64x64xf16>
    threadblock.section "prologue"
    threadblock.section "main_loop"
    threadblock.await_tiles %xt, %wt : !threadblock.tile<16x64xf16>, !threadblock.tile<64x64xf16>
    %p = threadblock.matmul %xt, %wt {layout = #acc, mma = "wgmma", warps = array<i64: 1, 1, 1>, swapped} : (!threadblock.tile<16x64xf16>, !threadblock.tile<64x64xf16>) -> !threadblock.tile<16x64xf32>
    %a = threadblock.accumulate %p {layout = #acc} : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x64xf32>
    threadblock.await_mma pending 1 %a : !threadblock.tile<16x64xf32>
    threadblock.release_tiles behind 1 %xt, %wt : !threadblock.tile<16x64xf16>, !threadblock.tile<64x64xf16>
    threadblock.section "epilogue"
    threadblock.await_mma pending 0 %a : !threadblock.tile<16x64xf32>
    %c = thread.graph ins(%a) attributes {layout = #acc} {
    ^bb0(%0: f32):
      %1 = arith.truncf %0 : f32 to f16
      thread.store %1 : f16
    } : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x64xf16>
    threadblock.store %c grid_map [1] : !threadblock.tile<16x64xf16>
  } : (tensor<16x512xf16>, tensor<512x128xf16>) -> tensor<16x128xf16>
  func.return %o : tensor<16x128xf16>
}

// Threads that copy tiles themselves read them from where they are.
#tile = #threadblock.shared<{shape = [16, 32], order = [1, 0]}>
#halves = #threadblock.registers<{register = [[0, 1], [0, 2], [0, 4], [8, 0]], lane = [[0, 8], [0, 16], [1, 0], [2, 0], [4, 0]]}>

// CHECK-LABEL: func.func @without_producer
// CHECK-NOT:     packed
// CHECK:         func.return
func.func @without_producer(%w: tensor<16x64xf32> {kernel.constant}) -> tensor<16x32xf32> attributes {kernel.workspace = #kernel.workspace<>} {
  %y = kernel.graph_defined ins(%w) grid [1] loop [2] schedule <threads = 32, stages = 2> memory <shared_bytes = 4096, results = [-1]> {
  ^bb0(%a: tensor<16x64xf32>):
    %t = threadblock.load %a grid_map [_] loop_map [1] {layout = #tile, buffer = #threadblock.buffer<offset = 0>, copy = "async"} : (tensor<16x64xf32>) -> !threadblock.tile<16x32xf32>
    threadblock.section "prologue"
    threadblock.issue_copies iteration 0 %t : !threadblock.tile<16x32xf32>
    threadblock.section "main_loop"
    threadblock.barrier pending 0
    threadblock.issue_copies ahead 1 %t : !threadblock.tile<16x32xf32>
    %s = threadblock.accumulate %t {layout = #halves} : (!threadblock.tile<16x32xf32>) -> !threadblock.tile<16x32xf32>
    threadblock.section "epilogue"
    threadblock.store %s grid_map [_] : !threadblock.tile<16x32xf32>
  } : (tensor<16x64xf32>) -> tensor<16x32xf32>
  func.return %y : tensor<16x32xf32>
}
