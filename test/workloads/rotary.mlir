// Rotary embedding of queries as models write it: 16 tokens, 32 heads of 128.
func.func @rotary(%x: tensor<32x16x128xf16>, %cos: tensor<16x128xf16> {kernel.constant}, %sin: tensor<16x128xf16> {kernel.constant}) -> tensor<32x16x128xf16> {
  %o_a = kernel.slice %x {offsets = array<i64: 0, 0, 0>, sizes = array<i64: 32, 16, 64>, strides = array<i64: 1, 1, 1>} : (tensor<32x16x128xf16>) -> tensor<32x16x64xf16>
  %o_b = kernel.slice %x {offsets = array<i64: 0, 0, 64>, sizes = array<i64: 32, 16, 64>, strides = array<i64: 1, 1, 1>} : (tensor<32x16x128xf16>) -> tensor<32x16x64xf16>
  %o_m = kernel.scale %o_b {factor = -1.0 : f32} : (tensor<32x16x64xf16>) -> tensor<32x16x64xf16>
  %o_h = kernel.concat %o_m, %o_a {dim = 2 : i64} : (tensor<32x16x64xf16>, tensor<32x16x64xf16>) -> tensor<32x16x128xf16>
  %o_c = kernel.mul %x, %cos : (tensor<32x16x128xf16>, tensor<16x128xf16>) -> tensor<32x16x128xf16>
  %o_s = kernel.mul %o_h, %sin : (tensor<32x16x128xf16>, tensor<16x128xf16>) -> tensor<32x16x128xf16>
  %o = kernel.add %o_c, %o_s : (tensor<32x16x128xf16>, tensor<32x16x128xf16>) -> tensor<32x16x128xf16>
  func.return %o : tensor<32x16x128xf16>
}
