// A softmax with dropout by a given mask.
func.func @dropout_softmax(%s: tensor<8x1024x1024xf16>, %m: tensor<8x1024x1024xf16>) -> tensor<8x1024x1024xf16> {
  %0 = kernel.cast %s : (tensor<8x1024x1024xf16>) -> tensor<8x1024x1024xf32>
  %1 = kernel.softmax %0 {dim = 2 : i64} : (tensor<8x1024x1024xf32>) -> tensor<8x1024x1024xf32>
  %2 = kernel.cast %1 : (tensor<8x1024x1024xf32>) -> tensor<8x1024x1024xf16>
  %3 = kernel.mul %2, %m : (tensor<8x1024x1024xf16>, tensor<8x1024x1024xf16>) -> tensor<8x1024x1024xf16>
  %4 = kernel.scale %3 {factor = 1.250000e+00 : f32} : (tensor<8x1024x1024xf16>) -> tensor<8x1024x1024xf16>
  func.return %4 : tensor<8x1024x1024xf16>
}
