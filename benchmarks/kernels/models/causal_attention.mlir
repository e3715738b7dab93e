// Causal attention of 2,048 tokens, 16 heads of 128.
func.func @causal_attention(%q: tensor<1x16x2048x128xf16>, %k: tensor<1x16x2048x128xf16>, %v: tensor<1x16x2048x128xf16>, %constant: tensor<2048x2048xf16>) -> tensor<1x16x2048x128xf16> {
  %0 = kernel.scale %q {factor = 0.0883883461 : f32} : (tensor<1x16x2048x128xf16>) -> tensor<1x16x2048x128xf16>
  %1 = kernel.transpose %k {permutation = array<i64: 0, 1, 3, 2>} : (tensor<1x16x2048x128xf16>) -> tensor<1x16x128x2048xf16>
  %2 = kernel.matmul %0, %1 : (tensor<1x16x2048x128xf16>, tensor<1x16x128x2048xf16>) -> tensor<1x16x2048x2048xf16>
  %3 = kernel.add %2, %constant : (tensor<1x16x2048x2048xf16>, tensor<2048x2048xf16>) -> tensor<1x16x2048x2048xf16>
  %4 = kernel.softmax %3 {dim = 3 : i64} : (tensor<1x16x2048x2048xf16>) -> tensor<1x16x2048x2048xf16>
  %5 = kernel.matmul %4, %v : (tensor<1x16x2048x2048xf16>, tensor<1x16x2048x128xf16>) -> tensor<1x16x2048x128xf16>
  func.return %5 : tensor<1x16x2048x128xf16>
}
