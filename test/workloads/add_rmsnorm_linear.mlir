// A residual, RMSNorm with a weight, then Linear, 8 tokens; the residual is a result too.
func.func @add_rmsnorm_linear(%x: tensor<8x4096xf16>, %residual: tensor<8x4096xf16>, %g: tensor<4096xf16> {kernel.constant}, %w: tensor<4096x4096xf16> {kernel.constant}) -> (tensor<8x4096xf16>, tensor<8x4096xf16>) {
  %r = kernel.add %x, %residual : (tensor<8x4096xf16>, tensor<8x4096xf16>) -> tensor<8x4096xf16>
  %y = kernel.rms_norm %r, %g {eps = 1.0e-05 : f32} : (tensor<8x4096xf16>, tensor<4096xf16>) -> tensor<8x4096xf16>
  %o = kernel.matmul %y, %w : (tensor<8x4096xf16>, tensor<4096x4096xf16>) -> tensor<8x4096xf16>
  func.return %r, %o : tensor<8x4096xf16>, tensor<8x4096xf16>
}
