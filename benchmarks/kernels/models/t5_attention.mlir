// T5's attention with a bias of positions.
func.func @t5_attention(%q: tensor<4x12x512x64xf16>, %k: tensor<4x12x512x64xf16>, %v: tensor<4x12x512x64xf16>, %bias: tensor<1x12x512x512xf16>) -> tensor<4x12x512x64xf16> {
  %0 = kernel.transpose %k {permutation = array<i64: 0, 1, 3, 2>} : (tensor<4x12x512x64xf16>) -> tensor<4x12x64x512xf16>
  %1 = kernel.matmul %q, %0 : (tensor<4x12x512x64xf16>, tensor<4x12x64x512xf16>) -> tensor<4x12x512x512xf16>
  %2 = kernel.cast %1 : (tensor<4x12x512x512xf16>) -> tensor<4x12x512x512xf32>
  %3 = kernel.cast %bias : (tensor<1x12x512x512xf16>) -> tensor<1x12x512x512xf32>
  %4 = kernel.add %2, %3 : (tensor<4x12x512x512xf32>, tensor<1x12x512x512xf32>) -> tensor<4x12x512x512xf32>
  %5 = kernel.softmax %4 {dim = 3 : i64} : (tensor<4x12x512x512xf32>) -> tensor<4x12x512x512xf32>
  %6 = kernel.cast %5 : (tensor<4x12x512x512xf32>) -> tensor<4x12x512x512xf16>
  %7 = kernel.matmul %6, %v : (tensor<4x12x512x512xf16>, tensor<4x12x512x64xf16>) -> tensor<4x12x512x64xf16>
  func.return %7 : tensor<4x12x512x64xf16>
}
