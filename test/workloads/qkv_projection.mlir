// RMSNorm and one matrix for queries, keys and values, whose columns are then taken apart: LLaMA-3-8B, 8 tokens.
func.func @qkv_projection(%x: tensor<8x4096xf16>, %g: tensor<4096xf16> {kernel.constant}, %w: tensor<4096x6144xf16> {kernel.constant}) -> (tensor<8x4096xf16>, tensor<8x1024xf16>, tensor<8x1024xf16>) {
  %y = kernel.rms_norm %x, %g {eps = 1.0e-05 : f32} : (tensor<8x4096xf16>, tensor<4096xf16>) -> tensor<8x4096xf16>
  %p = kernel.matmul %y, %w : (tensor<8x4096xf16>, tensor<4096x6144xf16>) -> tensor<8x6144xf16>
  %q = kernel.slice %p {offsets = array<i64: 0, 0>, sizes = array<i64: 8, 4096>, strides = array<i64: 1, 1>} : (tensor<8x6144xf16>) -> tensor<8x4096xf16>
  %k = kernel.slice %p {offsets = array<i64: 0, 4096>, sizes = array<i64: 8, 1024>, strides = array<i64: 1, 1>} : (tensor<8x6144xf16>) -> tensor<8x1024xf16>
  %v = kernel.slice %p {offsets = array<i64: 0, 5120>, sizes = array<i64: 8, 1024>, strides = array<i64: 1, 1>} : (tensor<8x6144xf16>) -> tensor<8x1024xf16>
  func.return %q, %k, %v : tensor<8x4096xf16>, tensor<8x1024xf16>, tensor<8x1024xf16>
}
