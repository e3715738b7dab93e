// Rows scaled to their largest element.
func.func @quantize_scale(%x: tensor<256x8192xf16>) -> (tensor<256x8192xf16>, tensor<256x1xf32>) {
  %0 = kernel.cast %x : (tensor<256x8192xf16>) -> tensor<256x8192xf32>
  %1 = kernel.abs %0 : (tensor<256x8192xf32>) -> tensor<256x8192xf32>
  %2 = kernel.reduce_max %1 {dims = array<i64: 1>} : (tensor<256x8192xf32>) -> tensor<256x1xf32>
  %3 = kernel.scale %2 {factor = 0.00223214296 : f32} : (tensor<256x1xf32>) -> tensor<256x1xf32>
  %4 = kernel.cast %x : (tensor<256x8192xf16>) -> tensor<256x8192xf32>
  %5 = kernel.div %4, %3 : (tensor<256x8192xf32>, tensor<256x1xf32>) -> tensor<256x8192xf32>
  %6 = kernel.clamp %5 {min = -4.480000e+02 : f32, max = 4.480000e+02 : f32} : (tensor<256x8192xf32>) -> tensor<256x8192xf32>
  %7 = kernel.cast %6 : (tensor<256x8192xf32>) -> tensor<256x8192xf16>
  func.return %7, %3 : tensor<256x8192xf16>, tensor<256x1xf32>
}
