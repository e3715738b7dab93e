// Kernels that do not wait for the previous grid, which may still write what they read.
// RUN: mirage-opt %s --split-input-file --verify-diagnostics

func.func @copies(%x: tensor<64xf32>, %w: tensor<64xf32>) {
  %y = kernel.graph_defined ins(%x, %w) grid [1] overlap <starts_early, available = [1]> {
  ^bb0(%xa: tensor<64xf32>, %wa: tensor<64xf32>):
    %a = threadblock.load %xa grid_map [_] : (tensor<64xf32>) -> !threadblock.tile<64xf32>
    %b = threadblock.load %wa grid_map [_] : (tensor<64xf32>) -> !threadblock.tile<64xf32>
    threadblock.section "prologue"
    // expected-error @+1 {{reads input 0 before the previous grid has ended}}
    threadblock.issue_copies %a : !threadblock.tile<64xf32>
    threadblock.await_previous_grid
    %c = threadblock.add %a, %b : (!threadblock.tile<64xf32>, !threadblock.tile<64xf32>) -> !threadblock.tile<64xf32>
    threadblock.store %c grid_map [_] : !threadblock.tile<64xf32>
  } : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  func.return
}

// -----

func.func @in_place(%x: tensor<64xf32>, %w: tensor<64xf32>) {
  %y = kernel.graph_defined ins(%x, %w) grid [1] overlap <starts_early, available = [1]> {
  ^bb0(%xa: tensor<64xf32>, %wa: tensor<64xf32>):
    %a = threadblock.load %xa grid_map [_] {layout = #threadblock.global} : (tensor<64xf32>) -> !threadblock.tile<64xf32>
    %b = threadblock.load %wa grid_map [_] : (tensor<64xf32>) -> !threadblock.tile<64xf32>
    threadblock.section "prologue"
    // expected-error @+1 {{reads input 0 before the previous grid has ended}}
    %c = threadblock.add %a, %b : (!threadblock.tile<64xf32>, !threadblock.tile<64xf32>) -> !threadblock.tile<64xf32>
    threadblock.await_previous_grid
    threadblock.store %c grid_map [_] : !threadblock.tile<64xf32>
  } : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  func.return
}

// -----

func.func @never(%x: tensor<64xf32>, %w: tensor<64xf32>) {
  %y = kernel.graph_defined ins(%x, %w) grid [1] overlap <starts_early, available = [1]> {
  ^bb0(%xa: tensor<64xf32>, %wa: tensor<64xf32>):
    %a = threadblock.load %xa grid_map [_] : (tensor<64xf32>) -> !threadblock.tile<64xf32>
    %b = threadblock.load %wa grid_map [_] : (tensor<64xf32>) -> !threadblock.tile<64xf32>
    threadblock.section "prologue"
    %c = threadblock.add %a, %b : (!threadblock.tile<64xf32>, !threadblock.tile<64xf32>) -> !threadblock.tile<64xf32>
    // expected-error @+1 {{writes a tensor before the previous grid has ended}}
    threadblock.store %c grid_map [_] : !threadblock.tile<64xf32>
  } : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  func.return
}

// -----

func.func @one_thread(%x: tensor<64xf32>, %w: tensor<64xf32>) {
  %y = kernel.graph_defined ins(%x, %w) grid [1] overlap <starts_early, available = [1]> {
  ^bb0(%xa: tensor<64xf32>, %wa: tensor<64xf32>):
    %a = threadblock.load %xa grid_map [_] : (tensor<64xf32>) -> !threadblock.tile<64xf32>
    %b = threadblock.load %wa grid_map [_] : (tensor<64xf32>) -> !threadblock.tile<64xf32>
    threadblock.section "prologue"
    threadblock.one_thread {
      // expected-error @+1 {{reads input 0 before the previous grid has ended}}
      threadblock.fill_buffers iterations 1 %a : !threadblock.tile<64xf32>
      threadblock.await_previous_grid
    }
    threadblock.await_previous_grid
    %c = threadblock.add %a, %b : (!threadblock.tile<64xf32>, !threadblock.tile<64xf32>) -> !threadblock.tile<64xf32>
    threadblock.store %c grid_map [_] : !threadblock.tile<64xf32>
  } : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  func.return
}

// -----

func.func @number(%x: tensor<64xf32>, %w: tensor<64xf32>) {
  // expected-error @+1 {{has 2 inputs, and none is number 2}}
  %y = kernel.graph_defined ins(%x, %w) grid [1] overlap <starts_early, available = [2]> {
  ^bb0(%xa: tensor<64xf32>, %wa: tensor<64xf32>):
    %a = threadblock.load %xa grid_map [_] : (tensor<64xf32>) -> !threadblock.tile<64xf32>
    %b = threadblock.load %wa grid_map [_] : (tensor<64xf32>) -> !threadblock.tile<64xf32>
    threadblock.section "prologue"
    threadblock.await_previous_grid
    %c = threadblock.add %a, %b : (!threadblock.tile<64xf32>, !threadblock.tile<64xf32>) -> !threadblock.tile<64xf32>
    threadblock.store %c grid_map [_] : !threadblock.tile<64xf32>
  } : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  func.return
}

// -----

func.func @late(%x: tensor<64xf32>, %w: tensor<64xf32>) {
  // expected-error @+1 {{available is of kernels with starts_early}}
  %y = kernel.graph_defined ins(%x, %w) grid [1] overlap <available = [1]> {
  ^bb0(%xa: tensor<64xf32>, %wa: tensor<64xf32>):
    %a = threadblock.load %xa grid_map [_] : (tensor<64xf32>) -> !threadblock.tile<64xf32>
    %b = threadblock.load %wa grid_map [_] : (tensor<64xf32>) -> !threadblock.tile<64xf32>
    threadblock.section "prologue"
    %c = threadblock.add %a, %b : (!threadblock.tile<64xf32>, !threadblock.tile<64xf32>) -> !threadblock.tile<64xf32>
    threadblock.store %c grid_map [_] : !threadblock.tile<64xf32>
  } : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  func.return
}

// -----

%x = "test.op"() : () -> !threadblock.tile<16x64xf16>
// expected-error @+1 {{prefetches with lines 0, which is below 1}}
threadblock.prefetch_tiles lines 0 %x : !threadblock.tile<16x64xf16>
