// A diffusion transformer's modulated LayerNorm, and the first product of its MLP.
func.func @dit_modulate_up(%x: tensor<8x256x1152xf16>, %shift: tensor<8x1x1152xf16>, %scale: tensor<8x1x1152xf16>, %w: tensor<1152x4608xf16> {kernel.constant}, %wb: tensor<4608xf16> {kernel.constant}) -> tensor<8x256x4608xf16> {
  %0 = kernel.layer_norm %x {eps = 1.000000e-06 : f32} : (tensor<8x256x1152xf16>) -> tensor<8x256x1152xf16>
  %1 = kernel.constant {value = 1.000000e+00 : f32} : tensor<1x1x1xf16>
  %2 = kernel.add %scale, %1 : (tensor<8x1x1152xf16>, tensor<1x1x1xf16>) -> tensor<8x1x1152xf16>
  %3 = kernel.mul %0, %2 : (tensor<8x256x1152xf16>, tensor<8x1x1152xf16>) -> tensor<8x256x1152xf16>
  %4 = kernel.add %3, %shift : (tensor<8x256x1152xf16>, tensor<8x1x1152xf16>) -> tensor<8x256x1152xf16>
  %5 = kernel.matmul %4, %w : (tensor<8x256x1152xf16>, tensor<1152x4608xf16>) -> tensor<8x256x4608xf16>
  %6 = kernel.add %5, %wb : (tensor<8x256x4608xf16>, tensor<4608xf16>) -> tensor<8x256x4608xf16>
  %7 = kernel.gelu %6 {approximate = "tanh"} : (tensor<8x256x4608xf16>) -> tensor<8x256x4608xf16>
  func.return %7 : tensor<8x256x4608xf16>
}
