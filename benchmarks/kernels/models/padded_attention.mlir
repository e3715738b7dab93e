// Attention of BERT under a mask of padding: 8 sentences of 384 tokens.
func.func @padded_attention(%q: tensor<8x12x384x64xf16>, %k: tensor<8x12x384x64xf16>, %v: tensor<8x12x384x64xf16>, %mask: tensor<8x384xf16>) -> tensor<8x12x384x64xf16> {
  %0 = kernel.transpose %k {permutation = array<i64: 0, 1, 3, 2>} : (tensor<8x12x384x64xf16>) -> tensor<8x12x64x384xf16>
  %1 = kernel.matmul %q, %0 : (tensor<8x12x384x64xf16>, tensor<8x12x64x384xf16>) -> tensor<8x12x384x384xf16>
  %2 = kernel.scale %1 {factor = 1.250000e-01 : f32} : (tensor<8x12x384x384xf16>) -> tensor<8x12x384x384xf16>
  %3 = kernel.reshape %mask : (tensor<8x384xf16>) -> tensor<8x1x384xf16>
  %4 = kernel.reshape %3 : (tensor<8x1x384xf16>) -> tensor<8x1x1x384xf16>
  %5 = kernel.constant {value = 0xff800000 : f32} : tensor<f16>
  %6 = kernel.constant {value = 0.000000e+00 : f32} : tensor<1x1x1x1xf16>
  %7 = kernel.compare %4, %6 {predicate = "eq"} : (tensor<8x1x1x384xf16>, tensor<1x1x1x1xf16>) -> tensor<8x1x1x384xf16>
  %8 = kernel.select %7, %5, %2 : (tensor<8x1x1x384xf16>, tensor<f16>, tensor<8x12x384x384xf16>) -> tensor<8x12x384x384xf16>
  %9 = kernel.softmax %8 {dim = 3 : i64} : (tensor<8x12x384x384xf16>) -> tensor<8x12x384x384xf16>
  %10 = kernel.matmul %9, %v : (tensor<8x12x384x384xf16>, tensor<8x12x384x64xf16>) -> tensor<8x12x384x64xf16>
  func.return %10 : tensor<8x12x384x64xf16>
}
