// Cross attention of a video model: 1,560 positions, 512 words, 12 heads of 128.
func.func @wan_cross_attention(%q: tensor<1x12x1560x128xf16>, %k: tensor<1x12x512x128xf16>, %v: tensor<1x12x512x128xf16>) -> tensor<1x12x1560x128xf16> {
  %0 = kernel.scale %q {factor = 0.0883883461 : f32} : (tensor<1x12x1560x128xf16>) -> tensor<1x12x1560x128xf16>
  %1 = kernel.transpose %k {permutation = array<i64: 0, 1, 3, 2>} : (tensor<1x12x512x128xf16>) -> tensor<1x12x128x512xf16>
  %2 = kernel.matmul %0, %1 : (tensor<1x12x1560x128xf16>, tensor<1x12x128x512xf16>) -> tensor<1x12x1560x512xf16>
  %3 = kernel.softmax %2 {dim = 3 : i64} : (tensor<1x12x1560x512xf16>) -> tensor<1x12x1560x512xf16>
  %4 = kernel.matmul %3, %v : (tensor<1x12x1560x512xf16>, tensor<1x12x512x128xf16>) -> tensor<1x12x1560x128xf16>
  func.return %4 : tensor<1x12x1560x128xf16>
}
