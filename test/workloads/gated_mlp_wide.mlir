// The gated half of an MLP: LLaMA-3-8B, 8 tokens.
func.func @gated_mlp_wide(%x: tensor<8x4096xf16>, %w1: tensor<4096x14336xf16> {kernel.constant}, %w3: tensor<4096x14336xf16> {kernel.constant}) -> tensor<8x14336xf16> {
  %g = kernel.matmul %x, %w1 : (tensor<8x4096xf16>, tensor<4096x14336xf16>) -> tensor<8x14336xf16>
  %u = kernel.matmul %x, %w3 : (tensor<8x4096xf16>, tensor<4096x14336xf16>) -> tensor<8x14336xf16>
  %s = kernel.silu %g : (tensor<8x14336xf16>) -> tensor<8x14336xf16>
  %o = kernel.mul %s, %u : (tensor<8x14336xf16>, tensor<8x14336xf16>) -> tensor<8x14336xf16>
  func.return %o : tensor<8x14336xf16>
}
