// Two gates and their mixture.
func.func @gru_like(%x: tensor<128x1024xf16>, %wz: tensor<1024x1024xf16> {kernel.constant}, %wh: tensor<1024x1024xf16> {kernel.constant}) -> tensor<128x1024xf16> {
  %0 = kernel.matmul %x, %wz : (tensor<128x1024xf16>, tensor<1024x1024xf16>) -> tensor<128x1024xf16>
  %1 = kernel.sigmoid %0 : (tensor<128x1024xf16>) -> tensor<128x1024xf16>
  %2 = kernel.matmul %x, %wh : (tensor<128x1024xf16>, tensor<1024x1024xf16>) -> tensor<128x1024xf16>
  %3 = kernel.tanh %2 : (tensor<128x1024xf16>) -> tensor<128x1024xf16>
  %4 = kernel.mul %1, %3 : (tensor<128x1024xf16>, tensor<128x1024xf16>) -> tensor<128x1024xf16>
  %5 = kernel.constant {value = 1.000000e+00 : f32} : tensor<1x1xf16>
  %6 = kernel.sub %5, %1 : (tensor<1x1xf16>, tensor<128x1024xf16>) -> tensor<128x1024xf16>
  %7 = kernel.mul %6, %x : (tensor<128x1024xf16>, tensor<128x1024xf16>) -> tensor<128x1024xf16>
  %8 = kernel.add %4, %7 : (tensor<128x1024xf16>, tensor<128x1024xf16>) -> tensor<128x1024xf16>
  func.return %8 : tensor<128x1024xf16>
}
