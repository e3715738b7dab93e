// RMSNorm, then the gated half of an MLP: LLaMA-3-8B, 8 tokens.
func.func @rmsnorm_gated_mlp(%x: tensor<8x4096xf16>, %n: tensor<4096xf16> {kernel.constant}, %w1: tensor<4096x14336xf16> {kernel.constant}, %w3: tensor<4096x14336xf16> {kernel.constant}) -> tensor<8x14336xf16> {
  %y = kernel.rms_norm %x, %n {eps = 1.0e-05 : f32} : (tensor<8x4096xf16>, tensor<4096xf16>) -> tensor<8x4096xf16>
  %g = kernel.matmul %y, %w1 : (tensor<8x4096xf16>, tensor<4096x14336xf16>) -> tensor<8x14336xf16>
  %u = kernel.matmul %y, %w3 : (tensor<8x4096xf16>, tensor<4096x14336xf16>) -> tensor<8x14336xf16>
  %s = kernel.silu %g : (tensor<8x14336xf16>) -> tensor<8x14336xf16>
  %o = kernel.mul %s, %u : (tensor<8x14336xf16>, tensor<8x14336xf16>) -> tensor<8x14336xf16>
  func.return %o : tensor<8x14336xf16>
}
