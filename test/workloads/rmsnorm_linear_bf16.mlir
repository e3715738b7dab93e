// RMSNorm with a weight, then Linear: Qwen2.5-0.5B's gate projection, one token, in bf16.
func.func @rmsnorm_linear_bf16(%x: tensor<1x896xbf16>, %g: tensor<896xbf16> {kernel.constant}, %w: tensor<896x4864xbf16> {kernel.constant}) -> tensor<1x4864xbf16> {
  %y = kernel.rms_norm %x, %g {eps = 1.0e-06 : f32} : (tensor<1x896xbf16>, tensor<896xbf16>) -> tensor<1x896xbf16>
  %o = kernel.matmul %y, %w : (tensor<1x896xbf16>, tensor<896x4864xbf16>) -> tensor<1x4864xbf16>
  func.return %o : tensor<1x4864xbf16>
}
