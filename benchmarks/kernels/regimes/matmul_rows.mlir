// Products of many rows: 4096 by 4096.
func.func @rows_128(%x: tensor<128x4096xf16>, %w: tensor<4096x4096xf16> {kernel.constant}) -> tensor<128x4096xf16> {
  %y = kernel.matmul %x, %w : (tensor<128x4096xf16>, tensor<4096x4096xf16>) -> tensor<128x4096xf16>
  func.return %y : tensor<128x4096xf16>
}

func.func @rows_256(%x: tensor<256x4096xf16>, %w: tensor<4096x4096xf16> {kernel.constant}) -> tensor<256x4096xf16> {
  %y = kernel.matmul %x, %w : (tensor<256x4096xf16>, tensor<4096x4096xf16>) -> tensor<256x4096xf16>
  func.return %y : tensor<256x4096xf16>
}

func.func @rows_512(%x: tensor<512x4096xf16>, %w: tensor<4096x4096xf16> {kernel.constant}) -> tensor<512x4096xf16> {
  %y = kernel.matmul %x, %w : (tensor<512x4096xf16>, tensor<4096x4096xf16>) -> tensor<512x4096xf16>
  func.return %y : tensor<512x4096xf16>
}

func.func @rows_1024(%x: tensor<1024x4096xf16>, %w: tensor<4096x4096xf16> {kernel.constant}) -> tensor<1024x4096xf16> {
  %y = kernel.matmul %x, %w : (tensor<1024x4096xf16>, tensor<4096x4096xf16>) -> tensor<1024x4096xf16>
  func.return %y : tensor<1024x4096xf16>
}

func.func @rows_4096(%x: tensor<4096x4096xf16>, %w: tensor<4096x4096xf16> {kernel.constant}) -> tensor<4096x4096xf16> {
  %y = kernel.matmul %x, %w : (tensor<4096x4096xf16>, tensor<4096x4096xf16>) -> tensor<4096x4096xf16>
  func.return %y : tensor<4096x4096xf16>
}
