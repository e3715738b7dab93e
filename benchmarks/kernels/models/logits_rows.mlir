// Logits of 32 rows with a soft cap: 2,304 by 32,000.
func.func @logits_rows(%x: tensor<32x2304xf16>, %w: tensor<2304x32000xf16> {kernel.constant}) -> tensor<32x32000xf16> {
  %0 = kernel.matmul %x, %w : (tensor<32x2304xf16>, tensor<2304x32000xf16>) -> tensor<32x32000xf16>
  %1 = kernel.scale %0 {factor = 0.0333333351 : f32} : (tensor<32x32000xf16>) -> tensor<32x32000xf16>
  %2 = kernel.tanh %1 : (tensor<32x32000xf16>) -> tensor<32x32000xf16>
  %3 = kernel.scale %2 {factor = 3.000000e+01 : f32} : (tensor<32x32000xf16>) -> tensor<32x32000xf16>
  func.return %3 : tensor<32x32000xf16>
}
