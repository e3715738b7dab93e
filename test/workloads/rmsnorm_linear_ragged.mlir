// RMSNorm, then Linear, at sizes that no tile divides: hidden size 2560, 3 tokens, 1003 columns.
func.func @rmsnorm_linear_ragged(%x: tensor<3x2560xf16>, %w: tensor<2560x1003xf16> {kernel.constant}) -> tensor<3x1003xf16> {
  %y = kernel.rms_norm %x {eps = 1.0e-05 : f32} : (tensor<3x2560xf16>) -> tensor<3x2560xf16>
  %o = kernel.matmul %y, %w : (tensor<3x2560xf16>, tensor<2560x1003xf16>) -> tensor<3x1003xf16>
  func.return %o : tensor<3x1003xf16>
}
