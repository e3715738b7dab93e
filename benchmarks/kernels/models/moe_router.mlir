// DeepSeek's router: a norm, a product, sigmoid.
func.func @moe_router(%x: tensor<32x7168xf16>, %g: tensor<7168xf16>, %w: tensor<7168x256xf16> {kernel.constant}) -> tensor<32x256xf16> {
  %0 = kernel.cast %x : (tensor<32x7168xf16>) -> tensor<32x7168xf32>
  %1 = kernel.cast %x : (tensor<32x7168xf16>) -> tensor<32x7168xf32>
  %2 = kernel.square %1 : (tensor<32x7168xf32>) -> tensor<32x7168xf32>
  %3 = kernel.reduce_mean %2 {dims = array<i64: 1>} : (tensor<32x7168xf32>) -> tensor<32x1xf32>
  %4 = kernel.constant {value = 1.000000e-06 : f32} : tensor<1x1xf32>
  %5 = kernel.add %3, %4 : (tensor<32x1xf32>, tensor<1x1xf32>) -> tensor<32x1xf32>
  %6 = kernel.rsqrt %5 : (tensor<32x1xf32>) -> tensor<32x1xf32>
  %7 = kernel.mul %0, %6 : (tensor<32x7168xf32>, tensor<32x1xf32>) -> tensor<32x7168xf32>
  %8 = kernel.cast %7 : (tensor<32x7168xf32>) -> tensor<32x7168xf16>
  %9 = kernel.mul %8, %g : (tensor<32x7168xf16>, tensor<7168xf16>) -> tensor<32x7168xf16>
  %10 = kernel.matmul %9, %w : (tensor<32x7168xf16>, tensor<7168x256xf16>) -> tensor<32x256xf16>
  %11 = kernel.sigmoid %10 : (tensor<32x256xf16>) -> tensor<32x256xf16>
  func.return %11 : tensor<32x256xf16>
}
