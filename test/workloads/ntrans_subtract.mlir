// The normalized residual as the paper on nGPT writes it, with alpha per column, 128 tokens.
func.func @ntrans_subtract(%h: tensor<128x1024xf16>, %x: tensor<128x1024xf16>, %alpha: tensor<1024xf16> {kernel.constant}) -> tensor<128x1024xf16> {
  %n = kernel.rms_norm %h {eps = 1.0e-05 : f32} : (tensor<128x1024xf16>) -> tensor<128x1024xf16>
  %d = kernel.sub %n, %x : (tensor<128x1024xf16>, tensor<128x1024xf16>) -> tensor<128x1024xf16>
  %a = kernel.mul %alpha, %d : (tensor<1024xf16>, tensor<128x1024xf16>) -> tensor<128x1024xf16>
  %r = kernel.add %x, %a : (tensor<128x1024xf16>, tensor<128x1024xf16>) -> tensor<128x1024xf16>
  %o = kernel.rms_norm %r {eps = 1.0e-05 : f32} : (tensor<128x1024xf16>) -> tensor<128x1024xf16>
  func.return %o : tensor<128x1024xf16>
}
