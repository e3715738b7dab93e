// Softmax over rows alone.
func.func @softmax(%x: tensor<256x4096xf16>) -> tensor<256x4096xf16> {
  %o = kernel.softmax %x {dim = 1 : i64} : (tensor<256x4096xf16>) -> tensor<256x4096xf16>
  func.return %o : tensor<256x4096xf16>
}
