// The gated GELU of T5: 512 tokens of 768 by 2,048.
func.func @t5_gated_gelu(%x: tensor<512x768xf16>, %w0: tensor<768x2048xf16> {kernel.constant}, %w1: tensor<768x2048xf16> {kernel.constant}) -> tensor<512x2048xf16> {
  %0 = kernel.matmul %x, %w0 : (tensor<512x768xf16>, tensor<768x2048xf16>) -> tensor<512x2048xf16>
  %1 = kernel.gelu %0 {approximate = "tanh"} : (tensor<512x2048xf16>) -> tensor<512x2048xf16>
  %2 = kernel.matmul %x, %w1 : (tensor<512x768xf16>, tensor<768x2048xf16>) -> tensor<512x2048xf16>
  %3 = kernel.mul %1, %2 : (tensor<512x2048xf16>, tensor<512x2048xf16>) -> tensor<512x2048xf16>
  func.return %3 : tensor<512x2048xf16>
}
