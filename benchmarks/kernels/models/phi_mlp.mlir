// Phi-2's MLP's first half: LayerNorm, product, bias and GELU by tanh, 256 rows.
func.func @phi_mlp(%x: tensor<256x2560xf16>, %g: tensor<2560xf16>, %b: tensor<2560xf16>, %w: tensor<2560x10240xf16> {kernel.constant}, %c: tensor<10240xf16>) -> tensor<256x10240xf16> {
  %0 = kernel.reshape %g : (tensor<2560xf16>) -> tensor<2560xf16>
  %1 = kernel.reshape %b : (tensor<2560xf16>) -> tensor<2560xf16>
  %2 = kernel.layer_norm %x, %0, %1 {eps = 1.000000e-05 : f32} : (tensor<256x2560xf16>, tensor<2560xf16>, tensor<2560xf16>) -> tensor<256x2560xf16>
  %3 = kernel.matmul %2, %w : (tensor<256x2560xf16>, tensor<2560x10240xf16>) -> tensor<256x10240xf16>
  %4 = kernel.add %3, %c : (tensor<256x10240xf16>, tensor<10240xf16>) -> tensor<256x10240xf16>
  %5 = kernel.gelu %4 {approximate = "tanh"} : (tensor<256x10240xf16>) -> tensor<256x10240xf16>
  func.return %5 : tensor<256x10240xf16>
}
