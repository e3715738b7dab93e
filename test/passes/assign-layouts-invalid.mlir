// RUN: mirage-opt %s --split-input-file --verify-diagnostics --select-mma --assign-layouts

func.func @half_a_warp(%x: tensor<40x7xf32>) -> tensor<40x7xf32> {
  // expected-error @below {{threads is 16: they are whole warps of 32, up to 1024}}
  %o = kernel.graph_defined ins(%x) grid [1] schedule <threads = 16> {
  ^bb0(%xa: tensor<40x7xf32>):
    %t = threadblock.load %xa grid_map [_] : (tensor<40x7xf32>) -> !threadblock.tile<40x7xf32>
    threadblock.store %t grid_map [_] : !threadblock.tile<40x7xf32>
  } : (tensor<40x7xf32>) -> tensor<40x7xf32>
  func.return %o : tensor<40x7xf32>
}
