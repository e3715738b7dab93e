// Attention of Swin: 256 windows of 49 patches, with a bias of positions.
func.func @swin_attention(%q: tensor<256x3x49x32xf16>, %k: tensor<256x3x49x32xf16>, %v: tensor<256x3x49x32xf16>, %bias: tensor<3x49x49xf16>) -> tensor<256x3x49x32xf16> {
  %0 = kernel.scale %q {factor = 0.176776692 : f32} : (tensor<256x3x49x32xf16>) -> tensor<256x3x49x32xf16>
  %1 = kernel.transpose %k {permutation = array<i64: 0, 1, 3, 2>} : (tensor<256x3x49x32xf16>) -> tensor<256x3x32x49xf16>
  %2 = kernel.matmul %0, %1 : (tensor<256x3x49x32xf16>, tensor<256x3x32x49xf16>) -> tensor<256x3x49x49xf16>
  %3 = kernel.add %2, %bias : (tensor<256x3x49x49xf16>, tensor<3x49x49xf16>) -> tensor<256x3x49x49xf16>
  %4 = kernel.softmax %3 {dim = 3 : i64} : (tensor<256x3x49x49xf16>) -> tensor<256x3x49x49xf16>
  %5 = kernel.matmul %4, %v : (tensor<256x3x49x49xf16>, tensor<256x3x49x32xf16>) -> tensor<256x3x49x32xf16>
  func.return %5 : tensor<256x3x49x32xf16>
}
