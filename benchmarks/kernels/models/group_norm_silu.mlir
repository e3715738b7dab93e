// GroupNorm with SiLU, as in a U-Net.
func.func @group_norm_silu(%x: tensor<8x32x16x1024xf16>, %g: tensor<32x16xf16>, %b: tensor<32x16xf16>) -> tensor<8x32x16x1024xf16> {
  %0 = kernel.cast %x : (tensor<8x32x16x1024xf16>) -> tensor<8x32x16x1024xf32>
  %1 = kernel.reduce_mean %0 {dims = array<i64: 2, 3>} : (tensor<8x32x16x1024xf32>) -> tensor<8x32x1x1xf32>
  %2 = kernel.cast %x : (tensor<8x32x16x1024xf16>) -> tensor<8x32x16x1024xf32>
  %3 = kernel.sub %2, %1 : (tensor<8x32x16x1024xf32>, tensor<8x32x1x1xf32>) -> tensor<8x32x16x1024xf32>
  %4 = kernel.square %3 : (tensor<8x32x16x1024xf32>) -> tensor<8x32x16x1024xf32>
  %5 = kernel.reduce_mean %4 {dims = array<i64: 2, 3>} : (tensor<8x32x16x1024xf32>) -> tensor<8x32x1x1xf32>
  %6 = kernel.cast %x : (tensor<8x32x16x1024xf16>) -> tensor<8x32x16x1024xf32>
  %7 = kernel.sub %6, %1 : (tensor<8x32x16x1024xf32>, tensor<8x32x1x1xf32>) -> tensor<8x32x16x1024xf32>
  %8 = kernel.constant {value = 1.000000e-05 : f32} : tensor<1x1x1x1xf32>
  %9 = kernel.add %5, %8 : (tensor<8x32x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<8x32x1x1xf32>
  %10 = kernel.rsqrt %9 : (tensor<8x32x1x1xf32>) -> tensor<8x32x1x1xf32>
  %11 = kernel.mul %7, %10 : (tensor<8x32x16x1024xf32>, tensor<8x32x1x1xf32>) -> tensor<8x32x16x1024xf32>
  %12 = kernel.cast %g : (tensor<32x16xf16>) -> tensor<32x16xf32>
  %13 = kernel.reshape %12 : (tensor<32x16xf32>) -> tensor<32x16x1xf32>
  %14 = kernel.mul %11, %13 : (tensor<8x32x16x1024xf32>, tensor<32x16x1xf32>) -> tensor<8x32x16x1024xf32>
  %15 = kernel.cast %b : (tensor<32x16xf16>) -> tensor<32x16xf32>
  %16 = kernel.reshape %15 : (tensor<32x16xf32>) -> tensor<32x16x1xf32>
  %17 = kernel.add %14, %16 : (tensor<8x32x16x1024xf32>, tensor<32x16x1xf32>) -> tensor<8x32x16x1024xf32>
  %18 = kernel.silu %17 : (tensor<8x32x16x1024xf32>) -> tensor<8x32x16x1024xf32>
  %19 = kernel.cast %18 : (tensor<8x32x16x1024xf32>) -> tensor<8x32x16x1024xf16>
  func.return %19 : tensor<8x32x16x1024xf16>
}
