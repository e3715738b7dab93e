// A uGraph written by hand, beside the program that it computes.
func.func @program(%x: tensor<16x256xf16>, %w: tensor<256x128xf16>) -> tensor<16x128xf16> {
  %m = kernel.matmul %x, %w : (tensor<16x256xf16>, tensor<256x128xf16>) -> tensor<16x128xf16>
  %o = kernel.relu %m : (tensor<16x128xf16>) -> tensor<16x128xf16>
  func.return %o : tensor<16x128xf16>
}

// Two blocks, each with 64 columns of the result; four iterations over the depth. The function is
// applied once, to the sum: behind the loop.
func.func @by_hand(%x: tensor<16x256xf16>, %w: tensor<256x128xf16>) -> tensor<16x128xf16> {
  %o = kernel.graph_defined ins(%x, %w) grid [2] loop [4] {
  ^bb0(%xa: tensor<16x256xf16>, %wa: tensor<256x128xf16>):
    %xt = threadblock.load %xa grid_map [_] loop_map [1] : (tensor<16x256xf16>) -> !threadblock.tile<16x64xf16>
    %wt = threadblock.load %wa grid_map [1] loop_map [0] : (tensor<256x128xf16>) -> !threadblock.tile<64x64xf16>
    %p = threadblock.matmul %xt, %wt : (!threadblock.tile<16x64xf16>, !threadblock.tile<64x64xf16>) -> !threadblock.tile<16x64xf32>
    %s = threadblock.accumulate %p : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x64xf32>
    %r = threadblock.relu %s : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x64xf32>
    %t = threadblock.cast %r : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x64xf16>
    threadblock.store %t grid_map [1] : !threadblock.tile<16x64xf16>
  } : (tensor<16x256xf16>, tensor<256x128xf16>) -> tensor<16x128xf16>
  func.return %o : tensor<16x128xf16>
}

// The same with the function inside the loop, which is wrong: a sum of positive parts is not the
// positive part of the sum.
func.func @wrong(%x: tensor<16x256xf16>, %w: tensor<256x128xf16>) -> tensor<16x128xf16> {
  %o = kernel.graph_defined ins(%x, %w) grid [2] loop [4] {
  ^bb0(%xa: tensor<16x256xf16>, %wa: tensor<256x128xf16>):
    %xt = threadblock.load %xa grid_map [_] loop_map [1] : (tensor<16x256xf16>) -> !threadblock.tile<16x64xf16>
    %wt = threadblock.load %wa grid_map [1] loop_map [0] : (tensor<256x128xf16>) -> !threadblock.tile<64x64xf16>
    %p = threadblock.matmul %xt, %wt : (!threadblock.tile<16x64xf16>, !threadblock.tile<64x64xf16>) -> !threadblock.tile<16x64xf32>
    %r = threadblock.relu %p : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x64xf32>
    %s = threadblock.accumulate %r : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x64xf32>
    %t = threadblock.cast %s : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x64xf16>
    threadblock.store %t grid_map [1] : !threadblock.tile<16x64xf16>
  } : (tensor<16x256xf16>, tensor<256x128xf16>) -> tensor<16x128xf16>
  func.return %o : tensor<16x128xf16>
}
