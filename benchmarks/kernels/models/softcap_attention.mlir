// Gemma-2's attention with capped scores.
func.func @softcap_attention(%q: tensor<8x16x1x256xf16>, %k: tensor<8x16x2048x256xf16>, %v: tensor<8x16x2048x256xf16>) -> tensor<8x16x1x256xf16> {
  %0 = kernel.transpose %k {permutation = array<i64: 0, 1, 3, 2>} : (tensor<8x16x2048x256xf16>) -> tensor<8x16x256x2048xf16>
  %1 = kernel.matmul %q, %0 : (tensor<8x16x1x256xf16>, tensor<8x16x256x2048xf16>) -> tensor<8x16x1x2048xf16>
  %2 = kernel.cast %1 : (tensor<8x16x1x2048xf16>) -> tensor<8x16x1x2048xf32>
  %3 = kernel.scale %2 {factor = 6.250000e-02 : f32} : (tensor<8x16x1x2048xf32>) -> tensor<8x16x1x2048xf32>
  %4 = kernel.scale %3 {factor = 2.000000e-02 : f32} : (tensor<8x16x1x2048xf32>) -> tensor<8x16x1x2048xf32>
  %5 = kernel.tanh %4 : (tensor<8x16x1x2048xf32>) -> tensor<8x16x1x2048xf32>
  %6 = kernel.scale %5 {factor = 5.000000e+01 : f32} : (tensor<8x16x1x2048xf32>) -> tensor<8x16x1x2048xf32>
  %7 = kernel.softmax %6 {dim = 3 : i64} : (tensor<8x16x1x2048xf32>) -> tensor<8x16x1x2048xf32>
  %8 = kernel.cast %7 : (tensor<8x16x1x2048xf32>) -> tensor<8x16x1x2048xf16>
  %9 = kernel.matmul %8, %v : (tensor<8x16x1x2048xf16>, tensor<8x16x2048x256xf16>) -> tensor<8x16x1x256xf16>
  func.return %9 : tensor<8x16x1x256xf16>
}
