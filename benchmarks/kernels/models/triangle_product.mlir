// The triangle update: 128 channels of 128 by 128 products.
func.func @triangle_product(%a: tensor<128x128x128xf16>, %b: tensor<128x128x128xf16>) -> tensor<128x128x128xf16> {
  %0 = kernel.transpose %b {permutation = array<i64: 0, 2, 1>} : (tensor<128x128x128xf16>) -> tensor<128x128x128xf16>
  %1 = kernel.matmul %a, %0 : (tensor<128x128x128xf16>, tensor<128x128x128xf16>) -> tensor<128x128x128xf16>
  func.return %1 : tensor<128x128x128xf16>
}
