// RUN: mirage-opt --lower-to-nvvm --split-input-file --verify-diagnostics %s

// What the passes before have written down is text, and may be wrong.

func.func @no_threads(%x: tensor<64xf32>) -> tensor<64xf32> {
  // expected-error @+1 {{'kernel.graph_defined' op has no schedule yet; run software-pipeline first}}
  %y = kernel.graph_defined ins(%x) grid [1] schedule <stages = 1> memory <results = [-1]> {
  ^bb0(%a: tensor<64xf32>):
    %b = threadblock.load %a grid_map [0] {layout = #threadblock.global} : (tensor<64xf32>) -> !threadblock.tile<64xf32>
    threadblock.store %b grid_map [0] : !threadblock.tile<64xf32>
  } : (tensor<64xf32>) -> tensor<64xf32>
  func.return %y : tensor<64xf32>
}

// -----

func.func @no_workspace(%x: tensor<64xf32>) -> tensor<64xf32> attributes {kernel.workspace = #kernel.workspace<>} {
  %y = kernel.graph_defined ins(%x) grid [1] schedule <threads = 32, stages = 1> memory <results = [-1]> {
  ^bb0(%a: tensor<64xf32>):
    %b = threadblock.load %a grid_map [_] {layout = #threadblock.global} : (tensor<64xf32>) -> !threadblock.tile<64xf32>
    threadblock.section "prologue"
    threadblock.section "epilogue"
    // expected-error @+1 {{'threadblock.continue_with' op adds up partial sums, but the schedule says of none (sums_in_workspace)}}
    threadblock.continue_with "last_block"
    threadblock.store %b grid_map [_] : !threadblock.tile<64xf32>
  } : (tensor<64xf32>) -> tensor<64xf32>
  func.return %y : tensor<64xf32>
}

// -----

func.func @no_barrier(%x: tensor<8x64xf32>) -> tensor<8x64xf32> attributes {kernel.workspace = #kernel.workspace<>} {
  %y = kernel.graph_defined ins(%x) grid [1] schedule <threads = 32, stages = 1> memory <shared_bytes = 2304, results = [-1]> {
  ^bb0(%a: tensor<8x64xf32>):
    %b = threadblock.load %a grid_map [_] {layout = #threadblock.global} : (tensor<8x64xf32>) -> !threadblock.tile<8x64xf32>
    threadblock.section "prologue"
    threadblock.section "epilogue"
    %c = threadblock.convert_layout %b {layout = #threadblock.shared<{shape = [8, 68], order = [1, 0], blocks = 2}>, buffer = #threadblock.buffer<offset = 0>} : !threadblock.tile<8x64xf32>
    threadblock.barrier cluster
    // expected-error @+1 {{'threadblock.continue_with' op has no barrier of the cluster behind what the first block does}}
    threadblock.continue_with "first_block"
    threadblock.store %b grid_map [_] : !threadblock.tile<8x64xf32>
  } : (tensor<8x64xf32>) -> tensor<8x64xf32>
  func.return %y : tensor<8x64xf32>
}
