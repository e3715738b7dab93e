// Schedules that no pass writes.
// RUN: mirage-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{has pending -1, which is below 0}}
threadblock.barrier pending -1

// -----

// expected-error @+1 {{has ahead -2, which is below 0}}
threadblock.issue_copies ahead -2

// -----

// expected-error @+1 {{is of one iteration, or some ahead, not both}}
threadblock.issue_copies iteration 0 ahead 2

// -----

%x = "test.op"() : () -> !threadblock.tile<16x64xf16>
// expected-error @+1 {{is of tiles 0 iterations ahead: 1 is the least}}
threadblock.fetch_tiles ahead 0 %x : !threadblock.tile<16x64xf16>

// -----

%x = "test.op"() : () -> !threadblock.tile<16x64xf16>
// expected-error @+1 {{starts with 3 iterations, of 2 that have buffers}}
threadblock.fill_buffers iterations 2 at_start 3 %x : !threadblock.tile<16x64xf16>

// -----

// expected-error @+1 {{is with "second_block", which is none of "cluster", "first_block", "last_block"}}
threadblock.continue_with "second_block"

// -----

func.func @unknown_section(%x: tensor<64xf32>) {
  %y = kernel.graph_defined ins(%x) grid [1] {
  ^bb0(%a: tensor<64xf32>):
    // expected-error @+1 {{is "preface", which is none of "producer", "prologue", "main_loop", "epilogue"}}
    threadblock.section "preface"
    %b = threadblock.load %a grid_map [0] : (tensor<64xf32>) -> !threadblock.tile<64xf32>
    threadblock.store %b grid_map [0] : !threadblock.tile<64xf32>
  } : (tensor<64xf32>) -> tensor<64xf32>
  func.return
}

// -----

func.func @order(%x: tensor<64xf32>) {
  %y = kernel.graph_defined ins(%x) grid [1] {
  ^bb0(%a: tensor<64xf32>):
    // expected-error @+1 {{is one of sections epilogue, prologue: each comes once, in the order producer, prologue, main_loop, epilogue}}
    threadblock.section "epilogue"
    %b = threadblock.load %a grid_map [0] : (tensor<64xf32>) -> !threadblock.tile<64xf32>
    threadblock.section "prologue"
    threadblock.store %b grid_map [0] : !threadblock.tile<64xf32>
  } : (tensor<64xf32>) -> tensor<64xf32>
  func.return
}
