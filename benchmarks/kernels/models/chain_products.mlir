// Four square matrices multiplied.
func.func @chain_products(%a: tensor<512x512xf16>, %b: tensor<512x512xf16>, %c: tensor<512x512xf16>, %d: tensor<512x512xf16>) -> tensor<512x512xf16> {
  %0 = kernel.matmul %a, %b : (tensor<512x512xf16>, tensor<512x512xf16>) -> tensor<512x512xf16>
  %1 = kernel.matmul %0, %c : (tensor<512x512xf16>, tensor<512x512xf16>) -> tensor<512x512xf16>
  %2 = kernel.matmul %1, %d : (tensor<512x512xf16>, tensor<512x512xf16>) -> tensor<512x512xf16>
  func.return %2 : tensor<512x512xf16>
}
