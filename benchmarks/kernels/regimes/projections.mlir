// Products of one RMSNorm with a gain, side by side.
func.func @rows_1_f16(%x: tensor<1x4096xf16>, %g: tensor<4096xf16> {kernel.constant}, %wq: tensor<4096x4096xf16> {kernel.constant}, %wk: tensor<4096x1024xf16> {kernel.constant}, %wv: tensor<4096x1024xf16> {kernel.constant}) -> (tensor<1x4096xf16>, tensor<1x1024xf16>, tensor<1x1024xf16>) {
  %n = kernel.rms_norm %x, %g {eps = 1.0e-05 : f32} : (tensor<1x4096xf16>, tensor<4096xf16>) -> tensor<1x4096xf16>
  %q = kernel.matmul %n, %wq : (tensor<1x4096xf16>, tensor<4096x4096xf16>) -> tensor<1x4096xf16>
  %k = kernel.matmul %n, %wk : (tensor<1x4096xf16>, tensor<4096x1024xf16>) -> tensor<1x1024xf16>
  %v = kernel.matmul %n, %wv : (tensor<1x4096xf16>, tensor<4096x1024xf16>) -> tensor<1x1024xf16>
  func.return %q, %k, %v : tensor<1x4096xf16>, tensor<1x1024xf16>, tensor<1x1024xf16>
}

func.func @rows_16_f16(%x: tensor<16x4096xf16>, %g: tensor<4096xf16> {kernel.constant}, %wq: tensor<4096x4096xf16> {kernel.constant}, %wk: tensor<4096x1024xf16> {kernel.constant}, %wv: tensor<4096x1024xf16> {kernel.constant}) -> (tensor<16x4096xf16>, tensor<16x1024xf16>, tensor<16x1024xf16>) {
  %n = kernel.rms_norm %x, %g {eps = 1.0e-05 : f32} : (tensor<16x4096xf16>, tensor<4096xf16>) -> tensor<16x4096xf16>
  %q = kernel.matmul %n, %wq : (tensor<16x4096xf16>, tensor<4096x4096xf16>) -> tensor<16x4096xf16>
  %k = kernel.matmul %n, %wk : (tensor<16x4096xf16>, tensor<4096x1024xf16>) -> tensor<16x1024xf16>
  %v = kernel.matmul %n, %wv : (tensor<16x4096xf16>, tensor<4096x1024xf16>) -> tensor<16x1024xf16>
  func.return %q, %k, %v : tensor<16x4096xf16>, tensor<16x1024xf16>, tensor<16x1024xf16>
}

func.func @rows_8_bf16(%x: tensor<8x4096xbf16>, %g: tensor<4096xbf16> {kernel.constant}, %wq: tensor<4096x4096xbf16> {kernel.constant}, %wk: tensor<4096x1024xbf16> {kernel.constant}, %wv: tensor<4096x1024xbf16> {kernel.constant}) -> (tensor<8x4096xbf16>, tensor<8x1024xbf16>, tensor<8x1024xbf16>) {
  %n = kernel.rms_norm %x, %g {eps = 1.0e-05 : f32} : (tensor<8x4096xbf16>, tensor<4096xbf16>) -> tensor<8x4096xbf16>
  %q = kernel.matmul %n, %wq : (tensor<8x4096xbf16>, tensor<4096x4096xbf16>) -> tensor<8x4096xbf16>
  %k = kernel.matmul %n, %wk : (tensor<8x4096xbf16>, tensor<4096x1024xbf16>) -> tensor<8x1024xbf16>
  %v = kernel.matmul %n, %wv : (tensor<8x4096xbf16>, tensor<4096x1024xbf16>) -> tensor<8x1024xbf16>
  func.return %q, %k, %v : tensor<8x4096xbf16>, tensor<8x1024xbf16>, tensor<8x1024xbf16>
}

func.func @two_rows_8(%x: tensor<8x4096xf16>, %g: tensor<4096xf16> {kernel.constant}, %wa: tensor<4096x1024xf16> {kernel.constant}, %wb: tensor<4096x1024xf16> {kernel.constant}) -> (tensor<8x1024xf16>, tensor<8x1024xf16>) {
  %n = kernel.rms_norm %x, %g {eps = 1.0e-05 : f32} : (tensor<8x4096xf16>, tensor<4096xf16>) -> tensor<8x4096xf16>
  %a = kernel.matmul %n, %wa : (tensor<8x4096xf16>, tensor<4096x1024xf16>) -> tensor<8x1024xf16>
  %b = kernel.matmul %n, %wb : (tensor<8x4096xf16>, tensor<4096x1024xf16>) -> tensor<8x1024xf16>
  func.return %a, %b : tensor<8x1024xf16>, tensor<8x1024xf16>
}
