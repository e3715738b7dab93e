// A diffusion transformer's LayerNorm, whose two vectors are computed, and its QKV.
func.func @adaptive_layernorm_linear(%x: tensor<4096x1152xf16>, %scale: tensor<1152xf16>, %shift: tensor<1152xf16>, %w: tensor<1152x3456xf16> {kernel.constant}) -> tensor<4096x3456xf16> {
  %n = kernel.layer_norm %x, %scale, %shift {eps = 1.0e-05 : f32} : (tensor<4096x1152xf16>, tensor<1152xf16>, tensor<1152xf16>) -> tensor<4096x1152xf16>
  %y = kernel.matmul %n, %w : (tensor<4096x1152xf16>, tensor<1152x3456xf16>) -> tensor<4096x3456xf16>
  func.return %y : tensor<4096x3456xf16>
}
