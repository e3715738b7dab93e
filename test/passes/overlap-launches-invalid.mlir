// A schedule that someone edited.
// RUN: mirage-opt %s --verify-diagnostics --overlap-launches

#tile = #threadblock.shared<{shape = [16, 32], order = [1, 0]}>
#halves = #threadblock.registers<{register = [[0, 1], [0, 2], [0, 4], [8, 0]], lane = [[0, 8], [0, 16], [1, 0], [2, 0], [4, 0]]}>

func.func @no_fill(%x: tensor<16x64xf16>) -> tensor<16x32xf32> {
  // expected-error @+1 {{'kernel.graph_defined' op has producer warps, and no threadblock.fill_buffers for them}}
  %y = kernel.graph_defined ins(%x) grid [1] loop [2] schedule <threads = 32, producer_warps = 1, stages = 2> memory <shared_bytes = 2048, results = [-1]> {
  ^bb0(%a: tensor<16x64xf16>):
    %t = threadblock.load %a grid_map [_] loop_map [1] {layout = #tile, buffer = #threadblock.buffer<offset = 0>, copy = "tensor"} : (tensor<16x64xf16>) -> !threadblock.tile<16x32xf16>
    threadblock.section "prologue"
    threadblock.section "main_loop"
    threadblock.await_tiles %t : !threadblock.tile<16x32xf16>
    %s = threadblock.accumulate %t {layout = #halves} : (!threadblock.tile<16x32xf16>) -> !threadblock.tile<16x32xf32>
    threadblock.section "epilogue"
    threadblock.store %s grid_map [_] : !threadblock.tile<16x32xf32>
  } : (tensor<16x64xf16>) -> tensor<16x32xf32>
  func.return %y : tensor<16x32xf32>
}
