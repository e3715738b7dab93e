// Causal attention of nanoGPT: 1,024 tokens, 12 heads, a mask that is a buffer.
func.func @nanogpt_attention(%q: tensor<4x12x1024x64xf16>, %k: tensor<4x12x1024x64xf16>, %v: tensor<4x12x1024x64xf16>, %bias: tensor<1x1x1024x1024xf32>) -> tensor<4x12x1024x64xf16> {
  %0 = kernel.transpose %k {permutation = array<i64: 0, 1, 3, 2>} : (tensor<4x12x1024x64xf16>) -> tensor<4x12x64x1024xf16>
  %1 = kernel.matmul %q, %0 : (tensor<4x12x1024x64xf16>, tensor<4x12x64x1024xf16>) -> tensor<4x12x1024x1024xf16>
  %2 = kernel.scale %1 {factor = 1.250000e-01 : f32} : (tensor<4x12x1024x1024xf16>) -> tensor<4x12x1024x1024xf16>
  %3 = kernel.constant {value = 0xff800000 : f32} : tensor<f16>
  %4 = kernel.constant {value = 0.000000e+00 : f32} : tensor<1x1x1x1xf32>
  %5 = kernel.compare %bias, %4 {predicate = "eq"} : (tensor<1x1x1024x1024xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x1024x1024xf32>
  %6 = kernel.cast %5 : (tensor<1x1x1024x1024xf32>) -> tensor<1x1x1024x1024xf16>
  %7 = kernel.select %6, %3, %2 : (tensor<1x1x1024x1024xf16>, tensor<f16>, tensor<4x12x1024x1024xf16>) -> tensor<4x12x1024x1024xf16>
  %8 = kernel.softmax %7 {dim = 3 : i64} : (tensor<4x12x1024x1024xf16>) -> tensor<4x12x1024x1024xf16>
  %9 = kernel.matmul %8, %v : (tensor<4x12x1024x1024xf16>, tensor<4x12x1024x64xf16>) -> tensor<4x12x1024x64xf16>
  func.return %9 : tensor<4x12x1024x64xf16>
}
