// The first half of a gated MLP: silu(x W) * (x V), both matmuls from one x.
func.func @gated_mlp(%x: tensor<16x256xf16>, %w: tensor<256x512xf16> {kernel.constant}, %v: tensor<256x512xf16> {kernel.constant}) -> tensor<16x512xf16> {
  %a = kernel.matmul %x, %w : (tensor<16x256xf16>, tensor<256x512xf16>) -> tensor<16x512xf16>
  %b = kernel.matmul %x, %v : (tensor<16x256xf16>, tensor<256x512xf16>) -> tensor<16x512xf16>
  %g = kernel.silu %a : (tensor<16x512xf16>) -> tensor<16x512xf16>
  %o = kernel.mul %g, %b : (tensor<16x512xf16>, tensor<16x512xf16>) -> tensor<16x512xf16>
  func.return %o : tensor<16x512xf16>
}
