// A linear layer with a parametric ReLU.
func.func @linear_prelu(%x: tensor<16x4096xf16>, %w: tensor<4096x4096xf16> {kernel.constant}, %a: tensor<4096xf16>) -> tensor<16x4096xf16> {
  %0 = kernel.matmul %x, %w : (tensor<16x4096xf16>, tensor<4096x4096xf16>) -> tensor<16x4096xf16>
  %1 = kernel.mul %a, %0 : (tensor<4096xf16>, tensor<16x4096xf16>) -> tensor<16x4096xf16>
  %2 = kernel.constant {value = 0.000000e+00 : f32} : tensor<1x1xf16>
  %3 = kernel.compare %0, %2 {predicate = "gt"} : (tensor<16x4096xf16>, tensor<1x1xf16>) -> tensor<16x4096xf16>
  %4 = kernel.select %3, %0, %1 : (tensor<16x4096xf16>, tensor<16x4096xf16>, tensor<16x4096xf16>) -> tensor<16x4096xf16>
  func.return %4 : tensor<16x4096xf16>
}
