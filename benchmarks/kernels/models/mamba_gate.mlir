// Mamba's gate: a norm of y times silu(z), then a product, 64 rows.
func.func @mamba_gate(%y: tensor<64x4096xf16>, %z: tensor<64x4096xf16>, %g: tensor<4096xf16>, %w: tensor<4096x2048xf16> {kernel.constant}) -> tensor<64x2048xf16> {
  %0 = kernel.silu %z : (tensor<64x4096xf16>) -> tensor<64x4096xf16>
  %1 = kernel.mul %y, %0 : (tensor<64x4096xf16>, tensor<64x4096xf16>) -> tensor<64x4096xf16>
  %2 = kernel.cast %1 : (tensor<64x4096xf16>) -> tensor<64x4096xf32>
  %3 = kernel.mul %2, %2 : (tensor<64x4096xf32>, tensor<64x4096xf32>) -> tensor<64x4096xf32>
  %4 = kernel.reduce_mean %3 {dims = array<i64: 1>} : (tensor<64x4096xf32>) -> tensor<64x1xf32>
  %5 = kernel.constant {value = 1.000000e-05 : f32} : tensor<1x1xf32>
  %6 = kernel.add %4, %5 : (tensor<64x1xf32>, tensor<1x1xf32>) -> tensor<64x1xf32>
  %7 = kernel.rsqrt %6 : (tensor<64x1xf32>) -> tensor<64x1xf32>
  %8 = kernel.mul %2, %7 : (tensor<64x4096xf32>, tensor<64x1xf32>) -> tensor<64x4096xf32>
  %9 = kernel.cast %8 : (tensor<64x4096xf32>) -> tensor<64x4096xf16>
  %10 = kernel.mul %9, %g : (tensor<64x4096xf16>, tensor<4096xf16>) -> tensor<64x4096xf16>
  %11 = kernel.matmul %10, %w : (tensor<64x4096xf16>, tensor<4096x2048xf16>) -> tensor<64x2048xf16>
  func.return %11 : tensor<64x2048xf16>
}
