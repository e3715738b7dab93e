// The gradients of RMSNorm, of its input by rows and of its weight by columns, from 1 / sqrt(mean + eps).
func.func @rmsnorm_backward(%dy: tensor<2048x1024xf32>, %x: tensor<2048x1024xf32>, %g: tensor<1024xf32> {kernel.constant}, %rstd: tensor<2048x1xf32>) -> (tensor<2048x1024xf32>, tensor<1x1024xf32>) {
  %n = kernel.mul %x, %rstd : (tensor<2048x1024xf32>, tensor<2048x1xf32>) -> tensor<2048x1024xf32>
  %gdy = kernel.mul %dy, %g : (tensor<2048x1024xf32>, tensor<1024xf32>) -> tensor<2048x1024xf32>
  %t = kernel.mul %n, %gdy : (tensor<2048x1024xf32>, tensor<2048x1024xf32>) -> tensor<2048x1024xf32>
  %c = kernel.reduce_mean %t {dims = array<i64: 1>} : (tensor<2048x1024xf32>) -> tensor<2048x1xf32>
  %nc = kernel.mul %n, %c : (tensor<2048x1024xf32>, tensor<2048x1xf32>) -> tensor<2048x1024xf32>
  %d = kernel.sub %gdy, %nc : (tensor<2048x1024xf32>, tensor<2048x1024xf32>) -> tensor<2048x1024xf32>
  %dx = kernel.mul %d, %rstd : (tensor<2048x1024xf32>, tensor<2048x1xf32>) -> tensor<2048x1024xf32>
  %p = kernel.mul %dy, %n : (tensor<2048x1024xf32>, tensor<2048x1024xf32>) -> tensor<2048x1024xf32>
  %dg = kernel.reduce_sum %p {dims = array<i64: 0>} : (tensor<2048x1024xf32>) -> tensor<1x1024xf32>
  func.return %dx, %dg : tensor<2048x1024xf32>, tensor<1x1024xf32>
}
