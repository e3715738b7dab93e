// DeepSeek's latent attention of one token, weights absorbed.
func.func @mla_decode(%qc: tensor<4x128x512xf16>, %qr: tensor<4x128x64xf16>, %c: tensor<4x2048x512xf16>, %r: tensor<4x2048x64xf16>) -> tensor<4x128x512xf16> {
  %0 = kernel.transpose %c {permutation = array<i64: 0, 2, 1>} : (tensor<4x2048x512xf16>) -> tensor<4x512x2048xf16>
  %1 = kernel.matmul %qc, %0 : (tensor<4x128x512xf16>, tensor<4x512x2048xf16>) -> tensor<4x128x2048xf16>
  %2 = kernel.transpose %r {permutation = array<i64: 0, 2, 1>} : (tensor<4x2048x64xf16>) -> tensor<4x64x2048xf16>
  %3 = kernel.matmul %qr, %2 : (tensor<4x128x64xf16>, tensor<4x64x2048xf16>) -> tensor<4x128x2048xf16>
  %4 = kernel.add %1, %3 : (tensor<4x128x2048xf16>, tensor<4x128x2048xf16>) -> tensor<4x128x2048xf16>
  %5 = kernel.cast %4 : (tensor<4x128x2048xf16>) -> tensor<4x128x2048xf32>
  %6 = kernel.scale %5 {factor = 7.000000e-02 : f32} : (tensor<4x128x2048xf32>) -> tensor<4x128x2048xf32>
  %7 = kernel.softmax %6 {dim = 2 : i64} : (tensor<4x128x2048xf32>) -> tensor<4x128x2048xf32>
  %8 = kernel.cast %7 : (tensor<4x128x2048xf32>) -> tensor<4x128x2048xf16>
  %9 = kernel.matmul %8, %c : (tensor<4x128x2048xf16>, tensor<4x2048x512xf16>) -> tensor<4x128x512xf16>
  func.return %9 : tensor<4x128x512xf16>
}
