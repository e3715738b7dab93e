// An MLP with biases and ReLU, small enough for one kernel: 64 rows, 256 wide inside.
func.func @mlp_relu(%x: tensor<64x128xf16>, %w1: tensor<128x256xf16> {kernel.constant}, %b1: tensor<256xf16> {kernel.constant}, %w2: tensor<256x128xf16> {kernel.constant}, %b2: tensor<128xf16> {kernel.constant}) -> tensor<64x128xf16> {
  %p = kernel.matmul %x, %w1 : (tensor<64x128xf16>, tensor<128x256xf16>) -> tensor<64x256xf16>
  %s = kernel.add %p, %b1 : (tensor<64x256xf16>, tensor<256xf16>) -> tensor<64x256xf16>
  %h = kernel.relu %s : (tensor<64x256xf16>) -> tensor<64x256xf16>
  %q = kernel.matmul %h, %w2 : (tensor<64x256xf16>, tensor<256x128xf16>) -> tensor<64x128xf16>
  %o = kernel.add %q, %b2 : (tensor<64x128xf16>, tensor<128xf16>) -> tensor<64x128xf16>
  func.return %o : tensor<64x128xf16>
}
