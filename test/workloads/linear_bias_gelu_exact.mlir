// Linear with a bias, then GELU by the error function, 8 tokens.
func.func @linear_bias_gelu_exact(%x: tensor<8x4096xf16>, %w: tensor<4096x4096xf16> {kernel.constant}, %b: tensor<4096xf16> {kernel.constant}) -> tensor<8x4096xf16> {
  %y = kernel.matmul %x, %w : (tensor<8x4096xf16>, tensor<4096x4096xf16>) -> tensor<8x4096xf16>
  %z = kernel.add %y, %b : (tensor<8x4096xf16>, tensor<4096xf16>) -> tensor<8x4096xf16>
  %o = kernel.gelu %z {approximate = "none"} : (tensor<8x4096xf16>) -> tensor<8x4096xf16>
  func.return %o : tensor<8x4096xf16>
}
