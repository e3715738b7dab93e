// LoRA on many rows.
func.func @rows_512(%x: tensor<512x4096xf16>, %w: tensor<4096x4096xf16> {kernel.constant}, %a: tensor<4096x16xf16> {kernel.constant}, %b: tensor<16x4096xf16> {kernel.constant}) -> tensor<512x4096xf16> {
  %y = kernel.matmul %x, %w : (tensor<512x4096xf16>, tensor<4096x4096xf16>) -> tensor<512x4096xf16>
  %l = kernel.matmul %x, %a : (tensor<512x4096xf16>, tensor<4096x16xf16>) -> tensor<512x16xf16>
  %m = kernel.matmul %l, %b : (tensor<512x16xf16>, tensor<16x4096xf16>) -> tensor<512x4096xf16>
  %z = kernel.add %y, %m : (tensor<512x4096xf16>, tensor<512x4096xf16>) -> tensor<512x4096xf16>
  func.return %z : tensor<512x4096xf16>
}

func.func @rows_2048(%x: tensor<2048x4096xf16>, %w: tensor<4096x4096xf16> {kernel.constant}, %a: tensor<4096x16xf16> {kernel.constant}, %b: tensor<16x4096xf16> {kernel.constant}) -> tensor<2048x4096xf16> {
  %y = kernel.matmul %x, %w : (tensor<2048x4096xf16>, tensor<4096x4096xf16>) -> tensor<2048x4096xf16>
  %l = kernel.matmul %x, %a : (tensor<2048x4096xf16>, tensor<4096x16xf16>) -> tensor<2048x16xf16>
  %m = kernel.matmul %l, %b : (tensor<2048x16xf16>, tensor<16x4096xf16>) -> tensor<2048x4096xf16>
  %z = kernel.add %y, %m : (tensor<2048x4096xf16>, tensor<2048x4096xf16>) -> tensor<2048x4096xf16>
  func.return %z : tensor<2048x4096xf16>
}
