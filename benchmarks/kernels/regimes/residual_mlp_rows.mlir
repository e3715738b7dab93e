// Residual, RMSNorm and a gated MLP: Qwen3-8B.
func.func @rows_16(%x: tensor<16x4096xf16>, %residual: tensor<16x4096xf16>, %g: tensor<4096xf16> {kernel.constant}, %w1: tensor<4096x12288xf16> {kernel.constant}, %w3: tensor<4096x12288xf16> {kernel.constant}) -> (tensor<16x4096xf16>, tensor<16x12288xf16>) {
  %s = kernel.add %x, %residual : (tensor<16x4096xf16>, tensor<16x4096xf16>) -> tensor<16x4096xf16>
  %n = kernel.rms_norm %s, %g {eps = 1.0e-05 : f32} : (tensor<16x4096xf16>, tensor<4096xf16>) -> tensor<16x4096xf16>
  %a = kernel.matmul %n, %w1 : (tensor<16x4096xf16>, tensor<4096x12288xf16>) -> tensor<16x12288xf16>
  %b = kernel.matmul %n, %w3 : (tensor<16x4096xf16>, tensor<4096x12288xf16>) -> tensor<16x12288xf16>
  %c = kernel.silu %a : (tensor<16x12288xf16>) -> tensor<16x12288xf16>
  %d = kernel.mul %c, %b : (tensor<16x12288xf16>, tensor<16x12288xf16>) -> tensor<16x12288xf16>
  func.return %s, %d : tensor<16x4096xf16>, tensor<16x12288xf16>
}

func.func @rows_512(%x: tensor<512x4096xf16>, %residual: tensor<512x4096xf16>, %g: tensor<4096xf16> {kernel.constant}, %w1: tensor<4096x12288xf16> {kernel.constant}, %w3: tensor<4096x12288xf16> {kernel.constant}) -> (tensor<512x4096xf16>, tensor<512x12288xf16>) {
  %s = kernel.add %x, %residual : (tensor<512x4096xf16>, tensor<512x4096xf16>) -> tensor<512x4096xf16>
  %n = kernel.rms_norm %s, %g {eps = 1.0e-05 : f32} : (tensor<512x4096xf16>, tensor<4096xf16>) -> tensor<512x4096xf16>
  %a = kernel.matmul %n, %w1 : (tensor<512x4096xf16>, tensor<4096x12288xf16>) -> tensor<512x12288xf16>
  %b = kernel.matmul %n, %w3 : (tensor<512x4096xf16>, tensor<4096x12288xf16>) -> tensor<512x12288xf16>
  %c = kernel.silu %a : (tensor<512x12288xf16>) -> tensor<512x12288xf16>
  %d = kernel.mul %c, %b : (tensor<512x12288xf16>, tensor<512x12288xf16>) -> tensor<512x12288xf16>
  func.return %s, %d : tensor<512x4096xf16>, tensor<512x12288xf16>
}
