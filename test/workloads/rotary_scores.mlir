// A projection, rotary embedding, then the scores against keys of a cache: 16 tokens, 32 heads of 128, context 1024.
func.func @rotary_scores(%x: tensor<16x4096xf16>, %w: tensor<4096x4096xf16> {kernel.constant}, %cos: tensor<16x128xf16> {kernel.constant}, %sin: tensor<16x128xf16> {kernel.constant}, %k: tensor<32x128x1024xf16>) -> tensor<32x16x1024xf16> {
  %y = kernel.matmul %x, %w : (tensor<16x4096xf16>, tensor<4096x4096xf16>) -> tensor<16x4096xf16>
  %h = kernel.reshape %y : (tensor<16x4096xf16>) -> tensor<16x32x128xf16>
  %q = kernel.transpose %h {permutation = array<i64: 1, 0, 2>} : (tensor<16x32x128xf16>) -> tensor<32x16x128xf16>
  %r_a = kernel.slice %q {offsets = array<i64: 0, 0, 0>, sizes = array<i64: 32, 16, 64>, strides = array<i64: 1, 1, 1>} : (tensor<32x16x128xf16>) -> tensor<32x16x64xf16>
  %r_b = kernel.slice %q {offsets = array<i64: 0, 0, 64>, sizes = array<i64: 32, 16, 64>, strides = array<i64: 1, 1, 1>} : (tensor<32x16x128xf16>) -> tensor<32x16x64xf16>
  %r_m = kernel.scale %r_b {factor = -1.0 : f32} : (tensor<32x16x64xf16>) -> tensor<32x16x64xf16>
  %r_h = kernel.concat %r_m, %r_a {dim = 2 : i64} : (tensor<32x16x64xf16>, tensor<32x16x64xf16>) -> tensor<32x16x128xf16>
  %r_c = kernel.mul %q, %cos : (tensor<32x16x128xf16>, tensor<16x128xf16>) -> tensor<32x16x128xf16>
  %r_s = kernel.mul %r_h, %sin : (tensor<32x16x128xf16>, tensor<16x128xf16>) -> tensor<32x16x128xf16>
  %r = kernel.add %r_c, %r_s : (tensor<32x16x128xf16>, tensor<32x16x128xf16>) -> tensor<32x16x128xf16>
  %s = kernel.matmul %r, %k : (tensor<32x16x128xf16>, tensor<32x128x1024xf16>) -> tensor<32x16x1024xf16>
  %o = kernel.scale %s {factor = 0.0883883461 : f32} : (tensor<32x16x1024xf16>) -> tensor<32x16x1024xf16>
  func.return %o : tensor<32x16x1024xf16>
}
