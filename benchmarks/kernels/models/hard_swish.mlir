// A product and hard swish.
func.func @hard_swish(%x: tensor<32x4096xf16>, %w: tensor<4096x1024xf16> {kernel.constant}) -> tensor<32x1024xf16> {
  %0 = kernel.matmul %x, %w : (tensor<32x4096xf16>, tensor<4096x1024xf16>) -> tensor<32x1024xf16>
  %1 = kernel.constant {value = 3.000000e+00 : f32} : tensor<1x1xf16>
  %2 = kernel.add %0, %1 : (tensor<32x1024xf16>, tensor<1x1xf16>) -> tensor<32x1024xf16>
  %3 = kernel.clamp %2 {min = 0.000000e+00 : f32, max = 6.000000e+00 : f32} : (tensor<32x1024xf16>) -> tensor<32x1024xf16>
  %4 = kernel.mul %0, %3 : (tensor<32x1024xf16>, tensor<32x1024xf16>) -> tensor<32x1024xf16>
  %5 = kernel.scale %4 {factor = 0.166666672 : f32} : (tensor<32x1024xf16>) -> tensor<32x1024xf16>
  func.return %5 : tensor<32x1024xf16>
}
