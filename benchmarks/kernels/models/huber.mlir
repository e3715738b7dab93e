// Huber's loss of rows, f32.
func.func @huber(%x: tensor<64x4096xf32>) -> tensor<64xf32> {
  %0 = kernel.abs %x : (tensor<64x4096xf32>) -> tensor<64x4096xf32>
  %1 = kernel.scale %x {factor = 5.000000e-01 : f32} : (tensor<64x4096xf32>) -> tensor<64x4096xf32>
  %2 = kernel.mul %1, %x : (tensor<64x4096xf32>, tensor<64x4096xf32>) -> tensor<64x4096xf32>
  %3 = kernel.constant {value = 5.000000e-01 : f32} : tensor<1x1xf32>
  %4 = kernel.sub %0, %3 : (tensor<64x4096xf32>, tensor<1x1xf32>) -> tensor<64x4096xf32>
  %5 = kernel.constant {value = 1.000000e+00 : f32} : tensor<1x1xf32>
  %6 = kernel.compare %0, %5 {predicate = "lt"} : (tensor<64x4096xf32>, tensor<1x1xf32>) -> tensor<64x4096xf32>
  %7 = kernel.select %6, %2, %4 : (tensor<64x4096xf32>, tensor<64x4096xf32>, tensor<64x4096xf32>) -> tensor<64x4096xf32>
  %8 = kernel.reduce_mean %7 {dims = array<i64: 1>} : (tensor<64x4096xf32>) -> tensor<64x1xf32>
  %9 = kernel.reshape %8 : (tensor<64x1xf32>) -> tensor<64xf32>
  func.return %9 : tensor<64xf32>
}
