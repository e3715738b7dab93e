// A vision transformer's LayerNorm, first product, and GELU.
func.func @vit_mlp_up(%x: tensor<2056x1024xf16>, %g: tensor<1024xf16>, %b: tensor<1024xf16>, %w: tensor<1024x4096xf16> {kernel.constant}, %wb: tensor<4096xf16> {kernel.constant}) -> tensor<2056x4096xf16> {
  %0 = kernel.reshape %g : (tensor<1024xf16>) -> tensor<1024xf16>
  %1 = kernel.reshape %b : (tensor<1024xf16>) -> tensor<1024xf16>
  %2 = kernel.layer_norm %x, %0, %1 {eps = 1.000000e-05 : f32} : (tensor<2056x1024xf16>, tensor<1024xf16>, tensor<1024xf16>) -> tensor<2056x1024xf16>
  %3 = kernel.matmul %2, %w : (tensor<2056x1024xf16>, tensor<1024x4096xf16>) -> tensor<2056x4096xf16>
  %4 = kernel.add %3, %wb : (tensor<2056x4096xf16>, tensor<4096xf16>) -> tensor<2056x4096xf16>
  %5 = kernel.gelu %4 : (tensor<2056x4096xf16>) -> tensor<2056x4096xf16>
  func.return %5 : tensor<2056x4096xf16>
}
