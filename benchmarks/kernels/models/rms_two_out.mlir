// RMSNorm with a gain, then keys and values of 512 columns, 32 rows, bf16.
func.func @rms_two_out(%x: tensor<32x2048xbf16>, %g: tensor<2048xbf16>, %k: tensor<2048x512xbf16> {kernel.constant}, %v: tensor<2048x512xbf16> {kernel.constant}) -> (tensor<32x512xbf16>, tensor<32x512xbf16>) {
  %0 = kernel.reshape %g : (tensor<2048xbf16>) -> tensor<2048xbf16>
  %1 = kernel.rms_norm %x, %0 {eps = 1.000000e-06 : f32} : (tensor<32x2048xbf16>, tensor<2048xbf16>) -> tensor<32x2048xbf16>
  %2 = kernel.matmul %1, %k : (tensor<32x2048xbf16>, tensor<2048x512xbf16>) -> tensor<32x512xbf16>
  %3 = kernel.matmul %1, %v : (tensor<32x2048xbf16>, tensor<2048x512xbf16>) -> tensor<32x512xbf16>
  func.return %2, %3 : tensor<32x512xbf16>, tensor<32x512xbf16>
}
