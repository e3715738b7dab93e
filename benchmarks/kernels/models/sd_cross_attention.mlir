// Cross attention of Stable Diffusion: 4,096 positions, 77 words.
func.func @sd_cross_attention(%q: tensor<2x8x4096x40xf16>, %k: tensor<2x8x77x40xf16>, %v: tensor<2x8x77x40xf16>) -> tensor<2x8x4096x40xf16> {
  %0 = kernel.scale %q {factor = 0.158113882 : f32} : (tensor<2x8x4096x40xf16>) -> tensor<2x8x4096x40xf16>
  %1 = kernel.transpose %k {permutation = array<i64: 0, 1, 3, 2>} : (tensor<2x8x77x40xf16>) -> tensor<2x8x40x77xf16>
  %2 = kernel.matmul %0, %1 : (tensor<2x8x4096x40xf16>, tensor<2x8x40x77xf16>) -> tensor<2x8x4096x77xf16>
  %3 = kernel.softmax %2 {dim = 3 : i64} : (tensor<2x8x4096x77xf16>) -> tensor<2x8x4096x77xf16>
  %4 = kernel.matmul %3, %v : (tensor<2x8x4096x77xf16>, tensor<2x8x77x40xf16>) -> tensor<2x8x4096x40xf16>
  func.return %4 : tensor<2x8x4096x40xf16>
}
