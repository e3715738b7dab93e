// Queries, keys and values with biases behind one norm: 8 rows of Qwen2.5-7B, bf16.
func.func @qwen_qkv_bias(%x: tensor<8x3584xbf16>, %g: tensor<3584xbf16>, %q: tensor<3584x3584xbf16> {kernel.constant}, %k: tensor<3584x512xbf16> {kernel.constant}, %v: tensor<3584x512xbf16> {kernel.constant}, %a: tensor<3584xbf16>, %b: tensor<512xbf16>, %c: tensor<512xbf16>) -> (tensor<8x3584xbf16>, tensor<8x512xbf16>, tensor<8x512xbf16>) {
  %0 = kernel.reshape %g : (tensor<3584xbf16>) -> tensor<3584xbf16>
  %1 = kernel.rms_norm %x, %0 {eps = 1.000000e-06 : f32} : (tensor<8x3584xbf16>, tensor<3584xbf16>) -> tensor<8x3584xbf16>
  %2 = kernel.matmul %1, %q : (tensor<8x3584xbf16>, tensor<3584x3584xbf16>) -> tensor<8x3584xbf16>
  %3 = kernel.add %2, %a : (tensor<8x3584xbf16>, tensor<3584xbf16>) -> tensor<8x3584xbf16>
  %4 = kernel.matmul %1, %k : (tensor<8x3584xbf16>, tensor<3584x512xbf16>) -> tensor<8x512xbf16>
  %5 = kernel.add %4, %b : (tensor<8x512xbf16>, tensor<512xbf16>) -> tensor<8x512xbf16>
  %6 = kernel.matmul %1, %v : (tensor<8x3584xbf16>, tensor<3584x512xbf16>) -> tensor<8x512xbf16>
  %7 = kernel.add %6, %c : (tensor<8x512xbf16>, tensor<512xbf16>) -> tensor<8x512xbf16>
  func.return %3, %5, %7 : tensor<8x3584xbf16>, tensor<8x512xbf16>, tensor<8x512xbf16>
}
