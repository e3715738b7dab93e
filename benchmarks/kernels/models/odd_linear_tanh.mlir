// A linear layer of odd sizes with tanh.
func.func @odd_linear_tanh(%x: tensor<7x3333xf16>, %w: tensor<3333x2049xf16> {kernel.constant}, %b: tensor<2049xf16>) -> tensor<7x2049xf16> {
  %0 = kernel.matmul %x, %w : (tensor<7x3333xf16>, tensor<3333x2049xf16>) -> tensor<7x2049xf16>
  %1 = kernel.add %0, %b : (tensor<7x2049xf16>, tensor<2049xf16>) -> tensor<7x2049xf16>
  %2 = kernel.tanh %1 : (tensor<7x2049xf16>) -> tensor<7x2049xf16>
  func.return %2 : tensor<7x2049xf16>
}
