// DeepSeek's norm of compressed queries, and their product.
func.func @mla_q_up(%x: tensor<16x1536xf16>, %g: tensor<1536xf16>, %w: tensor<1536x24576xf16> {kernel.constant}) -> tensor<16x24576xf16> {
  %0 = kernel.cast %x : (tensor<16x1536xf16>) -> tensor<16x1536xf32>
  %1 = kernel.cast %x : (tensor<16x1536xf16>) -> tensor<16x1536xf32>
  %2 = kernel.square %1 : (tensor<16x1536xf32>) -> tensor<16x1536xf32>
  %3 = kernel.reduce_mean %2 {dims = array<i64: 1>} : (tensor<16x1536xf32>) -> tensor<16x1xf32>
  %4 = kernel.constant {value = 1.000000e-06 : f32} : tensor<1x1xf32>
  %5 = kernel.add %3, %4 : (tensor<16x1xf32>, tensor<1x1xf32>) -> tensor<16x1xf32>
  %6 = kernel.rsqrt %5 : (tensor<16x1xf32>) -> tensor<16x1xf32>
  %7 = kernel.mul %0, %6 : (tensor<16x1536xf32>, tensor<16x1xf32>) -> tensor<16x1536xf32>
  %8 = kernel.cast %7 : (tensor<16x1536xf32>) -> tensor<16x1536xf16>
  %9 = kernel.mul %8, %g : (tensor<16x1536xf16>, tensor<1536xf16>) -> tensor<16x1536xf16>
  %10 = kernel.matmul %9, %w : (tensor<16x1536xf16>, tensor<1536x24576xf16>) -> tensor<16x24576xf16>
  func.return %10 : tensor<16x24576xf16>
}
