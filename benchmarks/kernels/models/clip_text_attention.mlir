// Causal attention of CLIP's text encoder: 64 texts of 77 words.
func.func @clip_text_attention(%q: tensor<64x8x77x64xf16>, %k: tensor<64x8x77x64xf16>, %v: tensor<64x8x77x64xf16>, %mask: tensor<77x77xf16>) -> tensor<64x8x77x64xf16> {
  %0 = kernel.transpose %k {permutation = array<i64: 0, 1, 3, 2>} : (tensor<64x8x77x64xf16>) -> tensor<64x8x64x77xf16>
  %1 = kernel.matmul %q, %0 : (tensor<64x8x77x64xf16>, tensor<64x8x64x77xf16>) -> tensor<64x8x77x77xf16>
  %2 = kernel.scale %1 {factor = 1.250000e-01 : f32} : (tensor<64x8x77x77xf16>) -> tensor<64x8x77x77xf16>
  %3 = kernel.add %2, %mask : (tensor<64x8x77x77xf16>, tensor<77x77xf16>) -> tensor<64x8x77x77xf16>
  %4 = kernel.softmax %3 {dim = 3 : i64} : (tensor<64x8x77x77xf16>) -> tensor<64x8x77x77xf16>
  %5 = kernel.matmul %4, %v : (tensor<64x8x77x77xf16>, tensor<64x8x77x64xf16>) -> tensor<64x8x77x64xf16>
  func.return %5 : tensor<64x8x77x64xf16>
}
