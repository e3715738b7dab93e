// Attention of DINOv2: 8 pictures of 1,370 patches, 12 heads.
func.func @dino_attention(%q: tensor<8x12x1370x64xf16>, %k: tensor<8x12x1370x64xf16>, %v: tensor<8x12x1370x64xf16>) -> tensor<8x12x1370x64xf16> {
  %0 = kernel.scale %q {factor = 1.250000e-01 : f32} : (tensor<8x12x1370x64xf16>) -> tensor<8x12x1370x64xf16>
  %1 = kernel.transpose %k {permutation = array<i64: 0, 1, 3, 2>} : (tensor<8x12x1370x64xf16>) -> tensor<8x12x64x1370xf16>
  %2 = kernel.matmul %0, %1 : (tensor<8x12x1370x64xf16>, tensor<8x12x64x1370xf16>) -> tensor<8x12x1370x1370xf16>
  %3 = kernel.softmax %2 {dim = 3 : i64} : (tensor<8x12x1370x1370xf16>) -> tensor<8x12x1370x1370xf16>
  %4 = kernel.matmul %3, %v : (tensor<8x12x1370x1370xf16>, tensor<8x12x1370x64xf16>) -> tensor<8x12x1370x64xf16>
  func.return %4 : tensor<8x12x1370x64xf16>
}
