// RMSNorm with a weight alone, many rows in f32: what only memory limits.
func.func @rmsnorm(%x: tensor<4096x1024xf32>, %g: tensor<1024xf32> {kernel.constant}) -> tensor<4096x1024xf32> {
  %y = kernel.rms_norm %x, %g {eps = 1.0e-05 : f32} : (tensor<4096x1024xf32>, tensor<1024xf32>) -> tensor<4096x1024xf32>
  func.return %y : tensor<4096x1024xf32>
}
