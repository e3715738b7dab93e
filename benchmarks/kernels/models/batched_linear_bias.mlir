// A batched product with a bias and a leaky ReLU.
func.func @batched_linear_bias(%a: tensor<64x128x96xf16>, %b: tensor<64x96x160xf16>, %c: tensor<64x1x160xf16>) -> tensor<64x128x160xf16> {
  %0 = kernel.matmul %a, %b : (tensor<64x128x96xf16>, tensor<64x96x160xf16>) -> tensor<64x128x160xf16>
  %1 = kernel.add %0, %c : (tensor<64x128x160xf16>, tensor<64x1x160xf16>) -> tensor<64x128x160xf16>
  %2 = kernel.scale %1 {factor = 1.000000e-01 : f32} : (tensor<64x128x160xf16>) -> tensor<64x128x160xf16>
  %3 = kernel.constant {value = 0.000000e+00 : f32} : tensor<1x1x1xf16>
  %4 = kernel.compare %1, %3 {predicate = "gt"} : (tensor<64x128x160xf16>, tensor<1x1x1xf16>) -> tensor<64x128x160xf16>
  %5 = kernel.select %4, %1, %2 : (tensor<64x128x160xf16>, tensor<64x128x160xf16>, tensor<64x128x160xf16>) -> tensor<64x128x160xf16>
  func.return %5 : tensor<64x128x160xf16>
}
