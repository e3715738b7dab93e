// Rows that are no multiples of 16 bytes.
func.func @matmul_ragged(%x: tensor<127x4093xf16>, %w: tensor<4093x4099xf16> {kernel.constant}) -> tensor<127x4099xf16> {
  %y = kernel.matmul %x, %w : (tensor<127x4093xf16>, tensor<4093x4099xf16>) -> tensor<127x4099xf16>
  func.return %y : tensor<127x4099xf16>
}
