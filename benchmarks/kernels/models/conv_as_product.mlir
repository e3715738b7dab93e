// A convolution of one by one with a batch norm folded in and SiLU: 6,272 positions.
func.func @conv_as_product(%x: tensor<6272x192xf16>, %w: tensor<192x384xf16> {kernel.constant}, %s: tensor<384xf16>, %b: tensor<384xf16>) -> tensor<6272x384xf16> {
  %0 = kernel.matmul %x, %w : (tensor<6272x192xf16>, tensor<192x384xf16>) -> tensor<6272x384xf16>
  %1 = kernel.mul %0, %s : (tensor<6272x384xf16>, tensor<384xf16>) -> tensor<6272x384xf16>
  %2 = kernel.add %1, %b : (tensor<6272x384xf16>, tensor<384xf16>) -> tensor<6272x384xf16>
  %3 = kernel.silu %2 : (tensor<6272x384xf16>) -> tensor<6272x384xf16>
  func.return %3 : tensor<6272x384xf16>
}
