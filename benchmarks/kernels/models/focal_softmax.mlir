// A softmax over 1,000 classes with a temperature, and its logarithm: 256 rows.
func.func @focal_softmax(%x: tensor<256x1000xf16>, %t: tensor<1x1xf32>) -> tensor<256x1000xf32> {
  %0 = kernel.cast %x : (tensor<256x1000xf16>) -> tensor<256x1000xf32>
  %1 = kernel.mul %0, %t : (tensor<256x1000xf32>, tensor<1x1xf32>) -> tensor<256x1000xf32>
  %2 = kernel.reduce_max %1 {dims = array<i64: 1>} : (tensor<256x1000xf32>) -> tensor<256x1xf32>
  %3 = kernel.sub %1, %2 : (tensor<256x1000xf32>, tensor<256x1xf32>) -> tensor<256x1000xf32>
  %4 = kernel.exp %3 : (tensor<256x1000xf32>) -> tensor<256x1000xf32>
  %5 = kernel.reduce_sum %4 {dims = array<i64: 1>} : (tensor<256x1000xf32>) -> tensor<256x1xf32>
  %6 = kernel.log %5 : (tensor<256x1xf32>) -> tensor<256x1xf32>
  %7 = kernel.add %2, %6 : (tensor<256x1xf32>, tensor<256x1xf32>) -> tensor<256x1xf32>
  %8 = kernel.sub %1, %7 : (tensor<256x1000xf32>, tensor<256x1xf32>) -> tensor<256x1000xf32>
  func.return %8 : tensor<256x1000xf32>
}
