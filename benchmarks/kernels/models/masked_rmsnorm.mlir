// RMSNorm of the rows under a mask, others as they are.
func.func @masked_rmsnorm(%x: tensor<4x1024x2048xf16>, %g: tensor<2048xf16>, %m: tensor<4x1024x1xf16>) -> tensor<4x1024x2048xf16> {
  %0 = kernel.cast %x : (tensor<4x1024x2048xf16>) -> tensor<4x1024x2048xf32>
  %1 = kernel.cast %x : (tensor<4x1024x2048xf16>) -> tensor<4x1024x2048xf32>
  %2 = kernel.square %1 : (tensor<4x1024x2048xf32>) -> tensor<4x1024x2048xf32>
  %3 = kernel.reduce_mean %2 {dims = array<i64: 2>} : (tensor<4x1024x2048xf32>) -> tensor<4x1024x1xf32>
  %4 = kernel.constant {value = 1.000000e-06 : f32} : tensor<1x1x1xf32>
  %5 = kernel.add %3, %4 : (tensor<4x1024x1xf32>, tensor<1x1x1xf32>) -> tensor<4x1024x1xf32>
  %6 = kernel.rsqrt %5 : (tensor<4x1024x1xf32>) -> tensor<4x1024x1xf32>
  %7 = kernel.mul %0, %6 : (tensor<4x1024x2048xf32>, tensor<4x1024x1xf32>) -> tensor<4x1024x2048xf32>
  %8 = kernel.cast %7 : (tensor<4x1024x2048xf32>) -> tensor<4x1024x2048xf16>
  %9 = kernel.mul %8, %g : (tensor<4x1024x2048xf16>, tensor<2048xf16>) -> tensor<4x1024x2048xf16>
  %10 = kernel.constant {value = 5.000000e-01 : f32} : tensor<1x1x1xf16>
  %11 = kernel.compare %m, %10 {predicate = "gt"} : (tensor<4x1024x1xf16>, tensor<1x1x1xf16>) -> tensor<4x1024x1xf16>
  %12 = kernel.select %11, %9, %x : (tensor<4x1024x1xf16>, tensor<4x1024x2048xf16>, tensor<4x1024x2048xf16>) -> tensor<4x1024x2048xf16>
  func.return %12 : tensor<4x1024x2048xf16>
}
