// InstanceNorm of images.
func.func @instance_norm(%x: tensor<8x64x3136xf16>, %g: tensor<64xf16>, %b: tensor<64xf16>) -> tensor<8x64x3136xf16> {
  %0 = kernel.cast %x : (tensor<8x64x3136xf16>) -> tensor<8x64x3136xf32>
  %1 = kernel.reduce_mean %0 {dims = array<i64: 2>} : (tensor<8x64x3136xf32>) -> tensor<8x64x1xf32>
  %2 = kernel.cast %x : (tensor<8x64x3136xf16>) -> tensor<8x64x3136xf32>
  %3 = kernel.sub %2, %1 : (tensor<8x64x3136xf32>, tensor<8x64x1xf32>) -> tensor<8x64x3136xf32>
  %4 = kernel.square %3 : (tensor<8x64x3136xf32>) -> tensor<8x64x3136xf32>
  %5 = kernel.reduce_mean %4 {dims = array<i64: 2>} : (tensor<8x64x3136xf32>) -> tensor<8x64x1xf32>
  %6 = kernel.cast %x : (tensor<8x64x3136xf16>) -> tensor<8x64x3136xf32>
  %7 = kernel.sub %6, %1 : (tensor<8x64x3136xf32>, tensor<8x64x1xf32>) -> tensor<8x64x3136xf32>
  %8 = kernel.constant {value = 1.000000e-05 : f32} : tensor<1x1x1xf32>
  %9 = kernel.add %5, %8 : (tensor<8x64x1xf32>, tensor<1x1x1xf32>) -> tensor<8x64x1xf32>
  %10 = kernel.rsqrt %9 : (tensor<8x64x1xf32>) -> tensor<8x64x1xf32>
  %11 = kernel.mul %7, %10 : (tensor<8x64x3136xf32>, tensor<8x64x1xf32>) -> tensor<8x64x3136xf32>
  %12 = kernel.cast %g : (tensor<64xf16>) -> tensor<64xf32>
  %13 = kernel.reshape %12 : (tensor<64xf32>) -> tensor<64x1xf32>
  %14 = kernel.mul %11, %13 : (tensor<8x64x3136xf32>, tensor<64x1xf32>) -> tensor<8x64x3136xf32>
  %15 = kernel.cast %b : (tensor<64xf16>) -> tensor<64xf32>
  %16 = kernel.reshape %15 : (tensor<64xf32>) -> tensor<64x1xf32>
  %17 = kernel.add %14, %16 : (tensor<8x64x3136xf32>, tensor<64x1xf32>) -> tensor<8x64x3136xf32>
  %18 = kernel.cast %17 : (tensor<8x64x3136xf32>) -> tensor<8x64x3136xf16>
  func.return %18 : tensor<8x64x3136xf16>
}
