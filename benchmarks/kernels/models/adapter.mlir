// A bottleneck adapter with its residual connection and LayerNorm.
func.func @adapter(%x: tensor<32x2048xf16>, %w1: tensor<2048x32xf16> {kernel.constant}, %w2: tensor<32x2048xf16> {kernel.constant}, %g: tensor<2048xf16>, %b: tensor<2048xf16>) -> tensor<32x2048xf16> {
  %0 = kernel.matmul %x, %w1 : (tensor<32x2048xf16>, tensor<2048x32xf16>) -> tensor<32x32xf16>
  %1 = kernel.gelu %0 : (tensor<32x32xf16>) -> tensor<32x32xf16>
  %2 = kernel.matmul %1, %w2 : (tensor<32x32xf16>, tensor<32x2048xf16>) -> tensor<32x2048xf16>
  %3 = kernel.add %x, %2 : (tensor<32x2048xf16>, tensor<32x2048xf16>) -> tensor<32x2048xf16>
  %4 = kernel.reshape %g : (tensor<2048xf16>) -> tensor<2048xf16>
  %5 = kernel.reshape %b : (tensor<2048xf16>) -> tensor<2048xf16>
  %6 = kernel.layer_norm %3, %4, %5 {eps = 1.000000e-05 : f32} : (tensor<32x2048xf16>, tensor<2048xf16>, tensor<2048xf16>) -> tensor<32x2048xf16>
  func.return %6 : tensor<32x2048xf16>
}
