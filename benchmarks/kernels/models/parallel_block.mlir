// Two products of one LayerNorm, one of them with GELU.
func.func @parallel_block(%x: tensor<8x2048xf16>, %r: tensor<8x2048xf16>, %g: tensor<2048xf16>, %w1: tensor<2048x6144xf16> {kernel.constant}, %w2: tensor<2048x6144xf16> {kernel.constant}) -> (tensor<8x6144xf16>, tensor<8x6144xf16>) {
  %0 = kernel.add %x, %r : (tensor<8x2048xf16>, tensor<8x2048xf16>) -> tensor<8x2048xf16>
  %1 = kernel.reshape %g : (tensor<2048xf16>) -> tensor<2048xf16>
  %2 = kernel.layer_norm %0, %1 {eps = 1.000000e-05 : f32} : (tensor<8x2048xf16>, tensor<2048xf16>) -> tensor<8x2048xf16>
  %3 = kernel.matmul %2, %w1 : (tensor<8x2048xf16>, tensor<2048x6144xf16>) -> tensor<8x6144xf16>
  %4 = kernel.matmul %2, %w2 : (tensor<8x2048xf16>, tensor<2048x6144xf16>) -> tensor<8x6144xf16>
  %5 = kernel.gelu %4 : (tensor<8x6144xf16>) -> tensor<8x6144xf16>
  func.return %3, %5 : tensor<8x6144xf16>, tensor<8x6144xf16>
}
