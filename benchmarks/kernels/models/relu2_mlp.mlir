// An MLP of one token with squared ReLU.
func.func @relu2_mlp(%x: tensor<1x4096xf16>, %w1: tensor<4096x11008xf16> {kernel.constant}, %w2: tensor<11008x4096xf16> {kernel.constant}) -> tensor<1x4096xf16> {
  %0 = kernel.matmul %x, %w1 : (tensor<1x4096xf16>, tensor<4096x11008xf16>) -> tensor<1x11008xf16>
  %1 = kernel.relu %0 : (tensor<1x11008xf16>) -> tensor<1x11008xf16>
  %2 = kernel.square %1 : (tensor<1x11008xf16>) -> tensor<1x11008xf16>
  %3 = kernel.matmul %2, %w2 : (tensor<1x11008xf16>, tensor<11008x4096xf16>) -> tensor<1x4096xf16>
  func.return %3 : tensor<1x4096xf16>
}
