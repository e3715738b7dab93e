// Two LoRA branches of one input beside its product: 64 rows.
func.func @lora_two(%x: tensor<64x2048xf16>, %w: tensor<2048x2048xf16> {kernel.constant}, %a: tensor<2048x16xf16> {kernel.constant}, %b: tensor<16x2048xf16> {kernel.constant}, %c: tensor<2048x16xf16> {kernel.constant}, %d: tensor<16x2048xf16> {kernel.constant}) -> tensor<64x2048xf16> {
  %0 = kernel.matmul %x, %w : (tensor<64x2048xf16>, tensor<2048x2048xf16>) -> tensor<64x2048xf16>
  %1 = kernel.matmul %x, %a : (tensor<64x2048xf16>, tensor<2048x16xf16>) -> tensor<64x16xf16>
  %2 = kernel.matmul %1, %b : (tensor<64x16xf16>, tensor<16x2048xf16>) -> tensor<64x2048xf16>
  %3 = kernel.add %0, %2 : (tensor<64x2048xf16>, tensor<64x2048xf16>) -> tensor<64x2048xf16>
  %4 = kernel.matmul %x, %c : (tensor<64x2048xf16>, tensor<2048x16xf16>) -> tensor<64x16xf16>
  %5 = kernel.matmul %4, %d : (tensor<64x16xf16>, tensor<16x2048xf16>) -> tensor<64x2048xf16>
  %6 = kernel.add %3, %5 : (tensor<64x2048xf16>, tensor<64x2048xf16>) -> tensor<64x2048xf16>
  func.return %6 : tensor<64x2048xf16>
}
