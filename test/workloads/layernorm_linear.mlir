// LayerNorm, then Linear, 8 tokens.
func.func @layernorm_linear(%x: tensor<8x4096xf16>, %g: tensor<4096xf16> {kernel.constant}, %b: tensor<4096xf16> {kernel.constant}, %w: tensor<4096x4096xf16> {kernel.constant}) -> tensor<8x4096xf16> {
  %y = kernel.layer_norm %x, %g, %b {eps = 1.0e-05 : f32} : (tensor<8x4096xf16>, tensor<4096xf16>, tensor<4096xf16>) -> tensor<8x4096xf16>
  %o = kernel.matmul %y, %w : (tensor<8x4096xf16>, tensor<4096x4096xf16>) -> tensor<8x4096xf16>
  func.return %o : tensor<8x4096xf16>
}
