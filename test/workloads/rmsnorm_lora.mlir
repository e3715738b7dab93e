// RMSNorm, then a Linear layer with its low-rank adapter, 16 tokens.
func.func @rmsnorm_lora(%x: tensor<16x4096xf16>, %g: tensor<4096xf16> {kernel.constant}, %w: tensor<4096x4096xf16> {kernel.constant}, %a: tensor<4096x16xf16> {kernel.constant}, %b: tensor<16x4096xf16> {kernel.constant}) -> tensor<16x4096xf16> {
  %y = kernel.rms_norm %x, %g {eps = 1.0e-05 : f32} : (tensor<16x4096xf16>, tensor<4096xf16>) -> tensor<16x4096xf16>
  %xw = kernel.matmul %y, %w : (tensor<16x4096xf16>, tensor<4096x4096xf16>) -> tensor<16x4096xf16>
  %xa = kernel.matmul %y, %a : (tensor<16x4096xf16>, tensor<4096x16xf16>) -> tensor<16x16xf16>
  %xab = kernel.matmul %xa, %b : (tensor<16x16xf16>, tensor<16x4096xf16>) -> tensor<16x4096xf16>
  %o = kernel.add %xw, %xab : (tensor<16x4096xf16>, tensor<16x4096xf16>) -> tensor<16x4096xf16>
  func.return %o : tensor<16x4096xf16>
}
