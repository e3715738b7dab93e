// Speculative decoding: 8 queries a sequence on 2,048 keys, 32 heads on 8, batch 4.
func.func @gqa_verify(%q: tensor<4x32x8x128xf16>, %k: tensor<4x8x2048x128xf16>, %v: tensor<4x8x2048x128xf16>) -> tensor<4x32x8x128xf16> {
  %0 = kernel.scale %q {factor = 0.0883883461 : f32} : (tensor<4x32x8x128xf16>) -> tensor<4x32x8x128xf16>
  %1 = kernel.reshape %0 : (tensor<4x32x8x128xf16>) -> tensor<4x8x4x8x128xf16>
  %2 = kernel.reshape %k : (tensor<4x8x2048x128xf16>) -> tensor<4x8x1x2048x128xf16>
  %3 = kernel.reshape %v : (tensor<4x8x2048x128xf16>) -> tensor<4x8x1x2048x128xf16>
  %4 = kernel.transpose %2 {permutation = array<i64: 0, 1, 2, 4, 3>} : (tensor<4x8x1x2048x128xf16>) -> tensor<4x8x1x128x2048xf16>
  %5 = kernel.matmul %1, %4 : (tensor<4x8x4x8x128xf16>, tensor<4x8x1x128x2048xf16>) -> tensor<4x8x4x8x2048xf16>
  %6 = kernel.softmax %5 {dim = 4 : i64} : (tensor<4x8x4x8x2048xf16>) -> tensor<4x8x4x8x2048xf16>
  %7 = kernel.matmul %6, %3 : (tensor<4x8x4x8x2048xf16>, tensor<4x8x1x2048x128xf16>) -> tensor<4x8x4x8x128xf16>
  %8 = kernel.reshape %7 : (tensor<4x8x4x8x128xf16>) -> tensor<4x32x8x128xf16>
  func.return %8 : tensor<4x32x8x128xf16>
}
