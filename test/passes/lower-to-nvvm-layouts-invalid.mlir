// RUN: mirage-opt --lower-to-nvvm --split-input-file --verify-diagnostics %s

// Layouts that passes wrote down, and that somebody changed, are errors where they do not fit.

func.func @not_in_registers(%x: tensor<64xf32>) -> tensor<64xf32> {
  %y = kernel.graph_defined ins(%x) grid [1] schedule <threads = 32, stages = 1> memory <results = [-1]> {
  ^bb0(%a: tensor<64xf32>):
    threadblock.section "prologue"
    %b = threadblock.load %a grid_map [0] {layout = #threadblock.global} : (tensor<64xf32>) -> !threadblock.tile<64xf32>
    // expected-error @+1 {{'thread.graph' op has a tile that is used in registers, and no such layout}}
    %c = thread.graph ins(%b) {
    ^bb0(%e: f32):
      %d = arith.mulf %e, %e : f32
      thread.store %d : f32
    } : (!threadblock.tile<64xf32>) -> !threadblock.tile<64xf32>
    threadblock.store %c grid_map [0] : !threadblock.tile<64xf32>
  } : (tensor<64xf32>) -> tensor<64xf32>
  func.return %y : tensor<64xf32>
}

// -----

func.func @no_place(%x: tensor<64xf32>) -> tensor<64xf32> {
  %y = kernel.graph_defined ins(%x) grid [1] schedule <threads = 32, stages = 1> memory <results = [-1]> {
  ^bb0(%a: tensor<64xf32>):
    threadblock.section "prologue"
    // expected-error @+1 {{'threadblock.load' op has no place in shared memory; run plan-memory first}}
    %b = threadblock.load %a grid_map [0] {layout = #threadblock.shared<{shape = [1, 64], order = [1, 0]}>} : (tensor<64xf32>) -> !threadblock.tile<64xf32>
    threadblock.store %b grid_map [0] : !threadblock.tile<64xf32>
  } : (tensor<64xf32>) -> tensor<64xf32>
  func.return %y : tensor<64xf32>
}
