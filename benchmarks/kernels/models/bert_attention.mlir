// BERT's attention under a mask of tokens.
func.func @bert_attention(%q: tensor<16x12x128x64xf16>, %k: tensor<16x12x128x64xf16>, %v: tensor<16x12x128x64xf16>, %m: tensor<16x1x1x128xf16>) -> tensor<16x12x128x64xf16> {
  %0 = kernel.transpose %k {permutation = array<i64: 0, 1, 3, 2>} : (tensor<16x12x128x64xf16>) -> tensor<16x12x64x128xf16>
  %1 = kernel.matmul %q, %0 : (tensor<16x12x128x64xf16>, tensor<16x12x64x128xf16>) -> tensor<16x12x128x128xf16>
  %2 = kernel.cast %1 : (tensor<16x12x128x128xf16>) -> tensor<16x12x128x128xf32>
  %3 = kernel.scale %2 {factor = 1.250000e-01 : f32} : (tensor<16x12x128x128xf32>) -> tensor<16x12x128x128xf32>
  %4 = kernel.constant {value = -6.550400e+04 : f32} : tensor<f32>
  %5 = kernel.constant {value = 5.000000e-01 : f32} : tensor<1x1x1x1xf16>
  %6 = kernel.compare %m, %5 {predicate = "gt"} : (tensor<16x1x1x128xf16>, tensor<1x1x1x1xf16>) -> tensor<16x1x1x128xf16>
  %7 = kernel.cast %6 : (tensor<16x1x1x128xf16>) -> tensor<16x1x1x128xf32>
  %8 = kernel.select %7, %3, %4 : (tensor<16x1x1x128xf32>, tensor<16x12x128x128xf32>, tensor<f32>) -> tensor<16x12x128x128xf32>
  %9 = kernel.softmax %8 {dim = 3 : i64} : (tensor<16x12x128x128xf32>) -> tensor<16x12x128x128xf32>
  %10 = kernel.cast %9 : (tensor<16x12x128x128xf32>) -> tensor<16x12x128x128xf16>
  %11 = kernel.matmul %10, %v : (tensor<16x12x128x128xf16>, tensor<16x12x128x64xf16>) -> tensor<16x12x128x64xf16>
  func.return %11 : tensor<16x12x128x64xf16>
}
