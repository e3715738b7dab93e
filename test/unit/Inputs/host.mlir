// A function of kernels, and one of the host with a scalar and another call.
func.func private @print(f32)
func.func @kernels(%x: tensor<16x64xf16>, %w: tensor<64x32xf16>) -> tensor<16x32xf16> {
  %o = kernel.graph_defined ins(%x, %w) grid [2] {
  ^bb0(%0: tensor<16x64xf16>, %1: tensor<64x32xf16>):
    %2 = threadblock.load %0 grid_map [_] : (tensor<16x64xf16>) -> !threadblock.tile<16x64xf16>
    %3 = threadblock.load %1 grid_map [1] : (tensor<64x32xf16>) -> !threadblock.tile<64x16xf16>
    %4 = threadblock.matmul %2, %3 : (!threadblock.tile<16x64xf16>, !threadblock.tile<64x16xf16>) -> !threadblock.tile<16x16xf32>
    %5 = threadblock.cast %4 : (!threadblock.tile<16x16xf32>) -> !threadblock.tile<16x16xf16>
    threadblock.store %5 grid_map [1] : !threadblock.tile<16x16xf16>
  } : (tensor<16x64xf16>, tensor<64x32xf16>) -> tensor<16x32xf16>
  func.return %o : tensor<16x32xf16>
}
func.func @host(%x: tensor<16x64xf16>, %w: tensor<64x32xf16>, %s: f32) -> tensor<16x32xf16> {
  func.call @print(%s) : (f32) -> ()
  %o = func.call @kernels(%x, %w) : (tensor<16x64xf16>, tensor<64x32xf16>) -> tensor<16x32xf16>
  func.return %o : tensor<16x32xf16>
}
