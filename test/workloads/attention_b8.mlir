// Attention with the heads of a group as rows of Q: LLaMA-3-70B on one of four GPUs, batch 8, context 4096.
func.func @attention_b8(%q: tensor<16x256x64xf16>, %k: tensor<16x64x4096xf16>, %v: tensor<16x4096x64xf16>) -> tensor<16x256x64xf16> {
  %s = kernel.matmul %q, %k : (tensor<16x256x64xf16>, tensor<16x64x4096xf16>) -> tensor<16x256x4096xf16>
  %p = kernel.softmax %s {dim = 2 : i64} : (tensor<16x256x4096xf16>) -> tensor<16x256x4096xf16>
  %o = kernel.matmul %p, %v : (tensor<16x256x4096xf16>, tensor<16x4096x64xf16>) -> tensor<16x256x64xf16>
  func.return %o : tensor<16x256x64xf16>
}
