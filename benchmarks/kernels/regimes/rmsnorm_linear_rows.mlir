// RMSNorm and a linear layer on many rows.
func.func @rows_512_f16(%x: tensor<512x4096xf16>, %g: tensor<4096xf16> {kernel.constant}, %w: tensor<4096x6144xf16> {kernel.constant}) -> tensor<512x6144xf16> {
  %n = kernel.rms_norm %x, %g {eps = 1.0e-05 : f32} : (tensor<512x4096xf16>, tensor<4096xf16>) -> tensor<512x4096xf16>
  %y = kernel.matmul %n, %w : (tensor<512x4096xf16>, tensor<4096x6144xf16>) -> tensor<512x6144xf16>
  func.return %y : tensor<512x6144xf16>
}

func.func @rows_512_bf16(%x: tensor<512x4096xbf16>, %g: tensor<4096xbf16> {kernel.constant}, %w: tensor<4096x6144xbf16> {kernel.constant}) -> tensor<512x6144xbf16> {
  %n = kernel.rms_norm %x, %g {eps = 1.0e-05 : f32} : (tensor<512x4096xbf16>, tensor<4096xbf16>) -> tensor<512x4096xbf16>
  %y = kernel.matmul %n, %w : (tensor<512x4096xbf16>, tensor<4096x6144xbf16>) -> tensor<512x6144xbf16>
  func.return %y : tensor<512x6144xbf16>
}

func.func @rows_2048_f16(%x: tensor<2048x4096xf16>, %g: tensor<4096xf16> {kernel.constant}, %w: tensor<4096x6144xf16> {kernel.constant}) -> tensor<2048x6144xf16> {
  %n = kernel.rms_norm %x, %g {eps = 1.0e-05 : f32} : (tensor<2048x4096xf16>, tensor<4096xf16>) -> tensor<2048x4096xf16>
  %y = kernel.matmul %n, %w : (tensor<2048x4096xf16>, tensor<4096x6144xf16>) -> tensor<2048x6144xf16>
  func.return %y : tensor<2048x6144xf16>
}
