// A product, a bias, a residual and LayerNorm: 384 tokens of RoBERTa.
func.func @roberta_output(%x: tensor<384x3072xf16>, %w: tensor<3072x768xf16> {kernel.constant}, %b: tensor<768xf16>, %r: tensor<384x768xf16>, %g: tensor<768xf16>, %c: tensor<768xf16>) -> tensor<384x768xf16> {
  %0 = kernel.matmul %x, %w : (tensor<384x3072xf16>, tensor<3072x768xf16>) -> tensor<384x768xf16>
  %1 = kernel.add %0, %b : (tensor<384x768xf16>, tensor<768xf16>) -> tensor<384x768xf16>
  %2 = kernel.add %1, %r : (tensor<384x768xf16>, tensor<384x768xf16>) -> tensor<384x768xf16>
  %3 = kernel.reshape %g : (tensor<768xf16>) -> tensor<768xf16>
  %4 = kernel.reshape %c : (tensor<768xf16>) -> tensor<768xf16>
  %5 = kernel.layer_norm %2, %3, %4 {eps = 1.000000e-05 : f32} : (tensor<384x768xf16>, tensor<768xf16>, tensor<768xf16>) -> tensor<384x768xf16>
  func.return %5 : tensor<384x768xf16>
}
