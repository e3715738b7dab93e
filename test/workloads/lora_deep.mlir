// A Linear layer and its low-rank adapter at the hidden size of a model: GPT-3-7B with LoRA, 16 tokens.
func.func @lora_deep(%x: tensor<16x4096xf16>, %w: tensor<4096x4096xf16> {kernel.constant}, %a: tensor<4096x16xf16> {kernel.constant}, %b: tensor<16x4096xf16> {kernel.constant}) -> tensor<16x4096xf16> {
  %xw = kernel.matmul %x, %w : (tensor<16x4096xf16>, tensor<4096x4096xf16>) -> tensor<16x4096xf16>
  %xa = kernel.matmul %x, %a : (tensor<16x4096xf16>, tensor<4096x16xf16>) -> tensor<16x16xf16>
  %xab = kernel.matmul %xa, %b : (tensor<16x16xf16>, tensor<16x4096xf16>) -> tensor<16x4096xf16>
  %o = kernel.add %xw, %xab : (tensor<16x4096xf16>, tensor<16x4096xf16>) -> tensor<16x4096xf16>
  func.return %o : tensor<16x4096xf16>
}
