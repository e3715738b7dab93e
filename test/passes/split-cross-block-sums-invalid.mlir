// RUN: mirage-opt %s --split-input-file --verify-diagnostics --split-cross-block-sums="target=H200"

// Of 16 blocks, which no cluster has, only the last one has the sum.
func.func @apart(%x: tensor<16x64xf32>) -> tensor<16x64xf32> {
  %o = kernel.graph_defined ins(%x) grid [16] {
  ^bb0(%a: tensor<16x64xf32>):
    %t = threadblock.load %a grid_map [1] : (tensor<16x64xf32>) -> !threadblock.tile<16x4xf32>
    %s = threadblock.reduce_sum %t {dims = array<i64: 1>} : (!threadblock.tile<16x4xf32>) -> !threadblock.tile<16x1xf32>
    %b = threadblock.accumulate %s across [0] : (!threadblock.tile<16x1xf32>) -> !threadblock.tile<16x1xf32>
    %z = threadblock.div %t, %b : (!threadblock.tile<16x4xf32>, !threadblock.tile<16x1xf32>) -> !threadblock.tile<16x4xf32>
    // expected-error @+2 {{'threadblock.store' op stores, in each of the blocks that share a sum, a tile of its own}}
    // expected-note @+1 {{only the last block has a sum across blocks that are no cluster}}
    threadblock.store %z grid_map [1] : !threadblock.tile<16x4xf32>
  } : (tensor<16x64xf32>) -> tensor<16x64xf32>
  func.return %o : tensor<16x64xf32>
}

// -----

// Blocks count themselves once.
func.func @twice(%x: tensor<16x64xf32>) -> tensor<16x1xf32> {
  %o = kernel.graph_defined ins(%x) grid [16] {
  ^bb0(%a: tensor<16x64xf32>):
    %t = threadblock.load %a grid_map [1] : (tensor<16x64xf32>) -> !threadblock.tile<16x4xf32>
    %s = threadblock.reduce_sum %t {dims = array<i64: 1>} : (!threadblock.tile<16x4xf32>) -> !threadblock.tile<16x1xf32>
    %b = threadblock.accumulate %s across [0] : (!threadblock.tile<16x1xf32>) -> !threadblock.tile<16x1xf32>
    %d = threadblock.sub %t, %b : (!threadblock.tile<16x4xf32>, !threadblock.tile<16x1xf32>) -> !threadblock.tile<16x4xf32>
    %e = threadblock.reduce_sum %d {dims = array<i64: 1>} : (!threadblock.tile<16x4xf32>) -> !threadblock.tile<16x1xf32>
    // expected-error @+2 {{'threadblock.accumulate' op sums across blocks what is made of another such sum}}
    // expected-note @+1 {{blocks that are no cluster have one sum, or several at once}}
    %f = threadblock.accumulate %e across [0] : (!threadblock.tile<16x1xf32>) -> !threadblock.tile<16x1xf32>
    threadblock.store %f grid_map [_] : !threadblock.tile<16x1xf32>
  } : (tensor<16x64xf32>) -> tensor<16x1xf32>
  func.return %o : tensor<16x1xf32>
}
