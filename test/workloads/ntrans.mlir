// The normalized residual of nGPT-1B, 8 tokens.
func.func @ntrans(%h: tensor<8x4096xf16>, %x: tensor<8x4096xf16>, %alpha: tensor<8x4096xf16>) -> tensor<8x4096xf16> {
  %n = kernel.rms_norm %h {eps = 1.0e-05 : f32} : (tensor<8x4096xf16>) -> tensor<8x4096xf16>
  %d = kernel.add %n, %x : (tensor<8x4096xf16>, tensor<8x4096xf16>) -> tensor<8x4096xf16>
  %a = kernel.mul %alpha, %d : (tensor<8x4096xf16>, tensor<8x4096xf16>) -> tensor<8x4096xf16>
  %r = kernel.add %x, %a : (tensor<8x4096xf16>, tensor<8x4096xf16>) -> tensor<8x4096xf16>
  %o = kernel.rms_norm %r {eps = 1.0e-05 : f32} : (tensor<8x4096xf16>) -> tensor<8x4096xf16>
  func.return %o : tensor<8x4096xf16>
}
