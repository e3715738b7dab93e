// Attention of 257 patches.
func.func @vit_attention(%q: tensor<16x16x257x64xf16>, %k: tensor<16x16x257x64xf16>, %v: tensor<16x16x257x64xf16>) -> tensor<16x16x257x64xf16> {
  %0 = kernel.transpose %k {permutation = array<i64: 0, 1, 3, 2>} : (tensor<16x16x257x64xf16>) -> tensor<16x16x64x257xf16>
  %1 = kernel.matmul %q, %0 : (tensor<16x16x257x64xf16>, tensor<16x16x64x257xf16>) -> tensor<16x16x257x257xf16>
  %2 = kernel.cast %1 : (tensor<16x16x257x257xf16>) -> tensor<16x16x257x257xf32>
  %3 = kernel.scale %2 {factor = 1.250000e-01 : f32} : (tensor<16x16x257x257xf32>) -> tensor<16x16x257x257xf32>
  %4 = kernel.softmax %3 {dim = 3 : i64} : (tensor<16x16x257x257xf32>) -> tensor<16x16x257x257xf32>
  %5 = kernel.cast %4 : (tensor<16x16x257x257xf32>) -> tensor<16x16x257x257xf16>
  %6 = kernel.matmul %5, %v : (tensor<16x16x257x257xf16>, tensor<16x16x257x64xf16>) -> tensor<16x16x257x64xf16>
  func.return %6 : tensor<16x16x257x64xf16>
}
