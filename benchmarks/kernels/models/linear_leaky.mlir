// A linear layer with a leaky ReLU of 512 rows.
func.func @linear_leaky(%x: tensor<512x2048xf16>, %w: tensor<2048x2048xf16> {kernel.constant}, %b: tensor<2048xf16>) -> tensor<512x2048xf16> {
  %0 = kernel.matmul %x, %w : (tensor<512x2048xf16>, tensor<2048x2048xf16>) -> tensor<512x2048xf16>
  %1 = kernel.add %0, %b : (tensor<512x2048xf16>, tensor<2048xf16>) -> tensor<512x2048xf16>
  %2 = kernel.scale %1 {factor = 2.000000e-01 : f32} : (tensor<512x2048xf16>) -> tensor<512x2048xf16>
  %3 = kernel.constant {value = 0.000000e+00 : f32} : tensor<1x1xf16>
  %4 = kernel.compare %1, %3 {predicate = "gt"} : (tensor<512x2048xf16>, tensor<1x1xf16>) -> tensor<512x2048xf16>
  %5 = kernel.select %4, %1, %2 : (tensor<512x2048xf16>, tensor<512x2048xf16>, tensor<512x2048xf16>) -> tensor<512x2048xf16>
  func.return %5 : tensor<512x2048xf16>
}
