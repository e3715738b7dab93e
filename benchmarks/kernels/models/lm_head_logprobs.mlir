// A last norm, the vocabulary, and logarithms of probabilities.
func.func @lm_head_logprobs(%x: tensor<64x4096xf16>, %g: tensor<4096xf16>, %w: tensor<4096x32000xf16> {kernel.constant}) -> tensor<64x32000xf32> {
  %0 = kernel.cast %x : (tensor<64x4096xf16>) -> tensor<64x4096xf32>
  %1 = kernel.cast %x : (tensor<64x4096xf16>) -> tensor<64x4096xf32>
  %2 = kernel.square %1 : (tensor<64x4096xf32>) -> tensor<64x4096xf32>
  %3 = kernel.reduce_mean %2 {dims = array<i64: 1>} : (tensor<64x4096xf32>) -> tensor<64x1xf32>
  %4 = kernel.constant {value = 1.000000e-06 : f32} : tensor<1x1xf32>
  %5 = kernel.add %3, %4 : (tensor<64x1xf32>, tensor<1x1xf32>) -> tensor<64x1xf32>
  %6 = kernel.rsqrt %5 : (tensor<64x1xf32>) -> tensor<64x1xf32>
  %7 = kernel.mul %0, %6 : (tensor<64x4096xf32>, tensor<64x1xf32>) -> tensor<64x4096xf32>
  %8 = kernel.cast %7 : (tensor<64x4096xf32>) -> tensor<64x4096xf16>
  %9 = kernel.mul %8, %g : (tensor<64x4096xf16>, tensor<4096xf16>) -> tensor<64x4096xf16>
  %10 = kernel.matmul %9, %w : (tensor<64x4096xf16>, tensor<4096x32000xf16>) -> tensor<64x32000xf16>
  %11 = kernel.cast %10 : (tensor<64x32000xf16>) -> tensor<64x32000xf32>
  %12 = kernel.reduce_max %11 {dims = array<i64: 1>} : (tensor<64x32000xf32>) -> tensor<64x1xf32>
  %13 = kernel.sub %11, %12 : (tensor<64x32000xf32>, tensor<64x1xf32>) -> tensor<64x32000xf32>
  %14 = kernel.exp %13 : (tensor<64x32000xf32>) -> tensor<64x32000xf32>
  %15 = kernel.reduce_sum %14 {dims = array<i64: 1>} : (tensor<64x32000xf32>) -> tensor<64x1xf32>
  %16 = kernel.log %15 : (tensor<64x1xf32>) -> tensor<64x1xf32>
  %17 = kernel.add %12, %16 : (tensor<64x1xf32>, tensor<64x1xf32>) -> tensor<64x1xf32>
  %18 = kernel.sub %11, %17 : (tensor<64x32000xf32>, tensor<64x1xf32>) -> tensor<64x32000xf32>
  func.return %18 : tensor<64x32000xf32>
}
