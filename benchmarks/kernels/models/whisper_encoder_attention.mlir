// Attention of Whisper's encoder: 1,500 frames, 8 heads.
func.func @whisper_encoder_attention(%q: tensor<1x8x1500x64xf16>, %k: tensor<1x8x1500x64xf16>, %v: tensor<1x8x1500x64xf16>) -> tensor<1x8x1500x64xf16> {
  %0 = kernel.scale %q {factor = 1.250000e-01 : f32} : (tensor<1x8x1500x64xf16>) -> tensor<1x8x1500x64xf16>
  %1 = kernel.transpose %k {permutation = array<i64: 0, 1, 3, 2>} : (tensor<1x8x1500x64xf16>) -> tensor<1x8x64x1500xf16>
  %2 = kernel.matmul %0, %1 : (tensor<1x8x1500x64xf16>, tensor<1x8x64x1500xf16>) -> tensor<1x8x1500x1500xf16>
  %3 = kernel.softmax %2 {dim = 3 : i64} : (tensor<1x8x1500x1500xf16>) -> tensor<1x8x1500x1500xf16>
  %4 = kernel.matmul %3, %v : (tensor<1x8x1500x1500xf16>, tensor<1x8x1500x64xf16>) -> tensor<1x8x1500x64xf16>
  func.return %4 : tensor<1x8x1500x64xf16>
}
