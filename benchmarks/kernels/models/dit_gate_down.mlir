// The second product of a diffusion transformer's MLP, gated, with its residual connection.
func.func @dit_gate_down(%x: tensor<8x256x1152xf16>, %gate: tensor<8x1x1152xf16>, %h: tensor<8x256x4608xf16>, %w: tensor<4608x1152xf16> {kernel.constant}, %wb: tensor<1152xf16> {kernel.constant}) -> tensor<8x256x1152xf16> {
  %0 = kernel.matmul %h, %w : (tensor<8x256x4608xf16>, tensor<4608x1152xf16>) -> tensor<8x256x1152xf16>
  %1 = kernel.add %0, %wb : (tensor<8x256x1152xf16>, tensor<1152xf16>) -> tensor<8x256x1152xf16>
  %2 = kernel.mul %gate, %1 : (tensor<8x1x1152xf16>, tensor<8x256x1152xf16>) -> tensor<8x256x1152xf16>
  %3 = kernel.add %x, %2 : (tensor<8x256x1152xf16>, tensor<8x256x1152xf16>) -> tensor<8x256x1152xf16>
  func.return %3 : tensor<8x256x1152xf16>
}
