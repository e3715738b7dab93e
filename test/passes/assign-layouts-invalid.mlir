// RUN: mirage-opt %s --split-input-file --verify-diagnostics --assign-layouts

func.func @half_a_warp(%x: tensor<40x7xf32>) -> tensor<40x7xf32> {
  // expected-error @below {{has 16 threads: a block has whole warps of 32}}
  %o = kernel.graph_defined ins(%x) grid [1] attributes {threads = 16 : i64} {
  ^bb0(%xa: tensor<40x7xf32>):
    %t = threadblock.load %xa grid_map [_] : (tensor<40x7xf32>) -> !threadblock.tile<40x7xf32>
    threadblock.store %t grid_map [_] : !threadblock.tile<40x7xf32>
  } : (tensor<40x7xf32>) -> tensor<40x7xf32>
  func.return %o : tensor<40x7xf32>
}
