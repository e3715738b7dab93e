// Scores of many small heads: 512 times 64x32 by 32x64, scaled.
func.func @qk_logits(%q: tensor<512x64x32xf16>, %k: tensor<512x64x32xf16>) -> tensor<512x64x64xf16> {
  %0 = kernel.transpose %k {permutation = array<i64: 0, 2, 1>} : (tensor<512x64x32xf16>) -> tensor<512x32x64xf16>
  %1 = kernel.matmul %q, %0 : (tensor<512x64x32xf16>, tensor<512x32x64xf16>) -> tensor<512x64x64xf16>
  %2 = kernel.scale %1 {factor = 1.767000e-01 : f32} : (tensor<512x64x64xf16>) -> tensor<512x64x64xf16>
  func.return %2 : tensor<512x64x64xf16>
}
