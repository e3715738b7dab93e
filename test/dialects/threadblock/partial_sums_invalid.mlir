// Partial sums that nobody stores, or that are stored as another one's.
// RUN: mirage-opt %s --verify-diagnostics --split-input-file

func.func @within(%in: tensor<16x64xf32>) -> tensor<16x64xf32> {
  %o = kernel.graph_defined ins(%in) grid [1] {
  ^bb0(%xa: tensor<16x64xf32>):
    %x = threadblock.load %xa grid_map [_] : (tensor<16x64xf32>) -> !threadblock.tile<16x64xf32>
    // expected-error @below {{'threadblock.accumulate' op is partial sum 0, and sums across no blocks}}
    %a = threadblock.accumulate %x {partial_sum = 0 : i64} : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x64xf32>
    threadblock.store %a grid_map [_] : !threadblock.tile<16x64xf32>
  } : (tensor<16x64xf32>) -> tensor<16x64xf32>
  func.return %o : tensor<16x64xf32>
}

// -----

func.func @not_stored(%in: tensor<16x2048xf32>) -> tensor<16x64xf32> {
  %o = kernel.graph_defined ins(%in) grid [32] schedule <sums_in_workspace> {
  ^bb0(%xa: tensor<16x2048xf32>):
    %x = threadblock.load %xa grid_map [1] : (tensor<16x2048xf32>) -> !threadblock.tile<16x64xf32>
    threadblock.store_partial_sum 1 %x : !threadblock.tile<16x64xf32>
    // expected-error @below {{'threadblock.accumulate' op is partial sum 0, which 0 operations store}}
    %a = threadblock.accumulate %x across [0] {partial_sum = 0 : i64} : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x64xf32>
    threadblock.store %a grid_map [_] : !threadblock.tile<16x64xf32>
  } : (tensor<16x2048xf32>) -> tensor<16x64xf32>
  func.return %o : tensor<16x64xf32>
}

// -----

func.func @another(%in: tensor<16x2048xf32>) -> tensor<16x64xf32> {
  %o = kernel.graph_defined ins(%in) grid [32] schedule <sums_in_workspace> {
  ^bb0(%xa: tensor<16x2048xf32>):
    %x = threadblock.load %xa grid_map [1] : (tensor<16x2048xf32>) -> !threadblock.tile<16x64xf32>
    %y = threadblock.square %x : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x64xf32>
    threadblock.store_partial_sum 0 %y : !threadblock.tile<16x64xf32>
    // expected-error @below {{'threadblock.accumulate' op is partial sum 0, and what is stored as that is another}}
    %a = threadblock.accumulate %x across [0] {partial_sum = 0 : i64} : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x64xf32>
    threadblock.store %a grid_map [_] : !threadblock.tile<16x64xf32>
  } : (tensor<16x2048xf32>) -> tensor<16x64xf32>
  func.return %o : tensor<16x64xf32>
}

// -----

func.func @cluster(%in: tensor<16x256xf32>) -> tensor<16x64xf32> {
  %o = kernel.graph_defined ins(%in) grid [4] {
  ^bb0(%xa: tensor<16x256xf32>):
    %x = threadblock.load %xa grid_map [1] : (tensor<16x256xf32>) -> !threadblock.tile<16x64xf32>
    threadblock.store_partial_sum 0 %x : !threadblock.tile<16x64xf32>
    // expected-error @below {{'threadblock.accumulate' op is partial sum 0 of a graph without sums_in_workspace}}
    %a = threadblock.accumulate %x across [0] {partial_sum = 0 : i64} : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x64xf32>
    threadblock.store %a grid_map [_] : !threadblock.tile<16x64xf32>
  } : (tensor<16x256xf32>) -> tensor<16x64xf32>
  func.return %o : tensor<16x64xf32>
}

// -----

%x = "test.op"() : () -> !threadblock.tile<16x64xf32>
// expected-error @below {{has no attribute 'online_maximum'}}
%m = threadblock.reduce_sum %x {dims = array<i64: 1>, online_maximum} : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x1xf32>

// -----

func.func @state(%in: tensor<16x64xf32>) -> tensor<16x64xf32> {
  %o = kernel.graph_defined ins(%in) grid [1] {
  ^bb0(%xa: tensor<16x64xf32>):
    %x = threadblock.load %xa grid_map [_] : (tensor<16x64xf32>) -> !threadblock.tile<16x64xf32>
    // expected-error @below {{is the state of an online softmax, which takes kind = "max"}}
    %a = threadblock.accumulate %x {state} : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x64xf32>
    threadblock.store %a grid_map [_] : !threadblock.tile<16x64xf32>
  } : (tensor<16x64xf32>) -> tensor<16x64xf32>
  func.return %o : tensor<16x64xf32>
}
