// Retention: scores times a decay, no softmax.
func.func @retention(%q: tensor<2x8x1024x128xf16>, %k: tensor<2x8x1024x128xf16>, %v: tensor<2x8x1024x128xf16>, %constant: tensor<1024x1024xf16>) -> tensor<2x8x1024x128xf16> {
  %0 = kernel.transpose %k {permutation = array<i64: 0, 1, 3, 2>} : (tensor<2x8x1024x128xf16>) -> tensor<2x8x128x1024xf16>
  %1 = kernel.matmul %q, %0 : (tensor<2x8x1024x128xf16>, tensor<2x8x128x1024xf16>) -> tensor<2x8x1024x1024xf16>
  %2 = kernel.mul %1, %constant : (tensor<2x8x1024x1024xf16>, tensor<1024x1024xf16>) -> tensor<2x8x1024x1024xf16>
  %3 = kernel.matmul %2, %v : (tensor<2x8x1024x1024xf16>, tensor<2x8x1024x128xf16>) -> tensor<2x8x1024x128xf16>
  func.return %3 : tensor<2x8x1024x128xf16>
}
