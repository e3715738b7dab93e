// LayerNorm without parameters, f32.
func.func @layer_norm_f32(%x: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %0 = kernel.layer_norm %x {eps = 1.000000e-05 : f32} : (tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  func.return %0 : tensor<4096x4096xf32>
}
