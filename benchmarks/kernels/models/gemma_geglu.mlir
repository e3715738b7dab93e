// Gemma's RMSNorm with 1 + gain, and its gated MLP, bf16.
func.func @gemma_geglu(%x: tensor<4x3072xbf16>, %g: tensor<3072xbf16>, %w1: tensor<3072x24576xbf16> {kernel.constant}, %w2: tensor<3072x24576xbf16> {kernel.constant}) -> tensor<4x24576xbf16> {
  %0 = kernel.cast %x : (tensor<4x3072xbf16>) -> tensor<4x3072xf32>
  %1 = kernel.cast %x : (tensor<4x3072xbf16>) -> tensor<4x3072xf32>
  %2 = kernel.square %1 : (tensor<4x3072xf32>) -> tensor<4x3072xf32>
  %3 = kernel.reduce_mean %2 {dims = array<i64: 1>} : (tensor<4x3072xf32>) -> tensor<4x1xf32>
  %4 = kernel.constant {value = 1.000000e-06 : f32} : tensor<1x1xf32>
  %5 = kernel.add %3, %4 : (tensor<4x1xf32>, tensor<1x1xf32>) -> tensor<4x1xf32>
  %6 = kernel.rsqrt %5 : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %7 = kernel.mul %0, %6 : (tensor<4x3072xf32>, tensor<4x1xf32>) -> tensor<4x3072xf32>
  %8 = kernel.cast %g : (tensor<3072xbf16>) -> tensor<3072xf32>
  %9 = kernel.constant {value = 1.000000e+00 : f32} : tensor<1xf32>
  %10 = kernel.add %8, %9 : (tensor<3072xf32>, tensor<1xf32>) -> tensor<3072xf32>
  %11 = kernel.mul %7, %10 : (tensor<4x3072xf32>, tensor<3072xf32>) -> tensor<4x3072xf32>
  %12 = kernel.cast %11 : (tensor<4x3072xf32>) -> tensor<4x3072xbf16>
  %13 = kernel.matmul %12, %w1 : (tensor<4x3072xbf16>, tensor<3072x24576xbf16>) -> tensor<4x24576xbf16>
  %14 = kernel.gelu %13 {approximate = "tanh"} : (tensor<4x24576xbf16>) -> tensor<4x24576xbf16>
  %15 = kernel.matmul %12, %w2 : (tensor<4x3072xbf16>, tensor<3072x24576xbf16>) -> tensor<4x24576xbf16>
  %16 = kernel.mul %14, %15 : (tensor<4x24576xbf16>, tensor<4x24576xbf16>) -> tensor<4x24576xbf16>
  func.return %16 : tensor<4x24576xbf16>
}
