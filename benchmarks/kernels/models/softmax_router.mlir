// Probabilities of 64 experts for 4,096 tokens.
func.func @softmax_router(%x: tensor<4096x2048xf16>, %w: tensor<2048x64xf16> {kernel.constant}) -> tensor<4096x64xf32> {
  %0 = kernel.matmul %x, %w : (tensor<4096x2048xf16>, tensor<2048x64xf16>) -> tensor<4096x64xf16>
  %1 = kernel.cast %0 : (tensor<4096x64xf16>) -> tensor<4096x64xf32>
  %2 = kernel.softmax %1 {dim = 1 : i64} : (tensor<4096x64xf32>) -> tensor<4096x64xf32>
  func.return %2 : tensor<4096x64xf32>
}
