// Attention of 384 new tokens on 1,024, 24 heads on 8 of 128.
func.func @group_query_prefill(%q: tensor<1x24x384x128xf16>, %k: tensor<1x8x1024x128xf16>, %v: tensor<1x8x1024x128xf16>) -> tensor<1x24x384x128xf16> {
  %0 = kernel.scale %q {factor = 0.0883883461 : f32} : (tensor<1x24x384x128xf16>) -> tensor<1x24x384x128xf16>
  %1 = kernel.reshape %0 : (tensor<1x24x384x128xf16>) -> tensor<1x8x3x384x128xf16>
  %2 = kernel.reshape %k : (tensor<1x8x1024x128xf16>) -> tensor<1x8x1x1024x128xf16>
  %3 = kernel.reshape %v : (tensor<1x8x1024x128xf16>) -> tensor<1x8x1x1024x128xf16>
  %4 = kernel.transpose %2 {permutation = array<i64: 0, 1, 2, 4, 3>} : (tensor<1x8x1x1024x128xf16>) -> tensor<1x8x1x128x1024xf16>
  %5 = kernel.matmul %1, %4 : (tensor<1x8x3x384x128xf16>, tensor<1x8x1x128x1024xf16>) -> tensor<1x8x3x384x1024xf16>
  %6 = kernel.softmax %5 {dim = 4 : i64} : (tensor<1x8x3x384x1024xf16>) -> tensor<1x8x3x384x1024xf16>
  %7 = kernel.matmul %6, %3 : (tensor<1x8x3x384x1024xf16>, tensor<1x8x1x1024x128xf16>) -> tensor<1x8x3x384x128xf16>
  %8 = kernel.reshape %7 : (tensor<1x8x3x384x128xf16>) -> tensor<1x24x384x128xf16>
  func.return %8 : tensor<1x24x384x128xf16>
}
