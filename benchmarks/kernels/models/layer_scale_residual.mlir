// A product, a bias, a scale of channels and a residual: 788 rows of CaiT.
func.func @layer_scale_residual(%x: tensor<788x1536xf16>, %w: tensor<1536x384xf16> {kernel.constant}, %b: tensor<384xf16>, %s: tensor<384xf16>, %r: tensor<788x384xf16>) -> tensor<788x384xf16> {
  %0 = kernel.matmul %x, %w : (tensor<788x1536xf16>, tensor<1536x384xf16>) -> tensor<788x384xf16>
  %1 = kernel.add %0, %b : (tensor<788x384xf16>, tensor<384xf16>) -> tensor<788x384xf16>
  %2 = kernel.mul %s, %1 : (tensor<384xf16>, tensor<788x384xf16>) -> tensor<788x384xf16>
  %3 = kernel.add %r, %2 : (tensor<788x384xf16>, tensor<788x384xf16>) -> tensor<788x384xf16>
  func.return %3 : tensor<788x384xf16>
}
