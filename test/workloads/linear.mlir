// Linear alone, 16 tokens: what a library does.
func.func @linear(%x: tensor<16x4096xf16>, %w: tensor<4096x4096xf16> {kernel.constant}) -> tensor<16x4096xf16> {
  %o = kernel.matmul %x, %w : (tensor<16x4096xf16>, tensor<4096x4096xf16>) -> tensor<16x4096xf16>
  func.return %o : tensor<16x4096xf16>
}
