// Rows beyond shared memory.
func.func @softmax_65537_f16(%x: tensor<512x65537xf16>) -> tensor<512x65537xf16> {
  %y = kernel.softmax %x {dim = 1 : i64} : (tensor<512x65537xf16>) -> tensor<512x65537xf16>
  func.return %y : tensor<512x65537xf16>
}

func.func @rmsnorm_65536_f16(%x: tensor<512x65536xf16>, %g: tensor<65536xf16> {kernel.constant}) -> tensor<512x65536xf16> {
  %y = kernel.rms_norm %x, %g {eps = 1.0e-05 : f32} : (tensor<512x65536xf16>, tensor<65536xf16>) -> tensor<512x65536xf16>
  func.return %y : tensor<512x65536xf16>
}

func.func @softmax_65537_f32(%x: tensor<512x65537xf32>) -> tensor<512x65537xf32> {
  %y = kernel.softmax %x {dim = 1 : i64} : (tensor<512x65537xf32>) -> tensor<512x65537xf32>
  func.return %y : tensor<512x65537xf32>
}

func.func @rmsnorm_65536_f32(%x: tensor<512x65536xf32>, %g: tensor<65536xf32> {kernel.constant}) -> tensor<512x65536xf32> {
  %y = kernel.rms_norm %x, %g {eps = 1.0e-05 : f32} : (tensor<512x65536xf32>, tensor<65536xf32>) -> tensor<512x65536xf32>
  func.return %y : tensor<512x65536xf32>
}
