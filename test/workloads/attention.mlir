// Attention with the heads of a group as rows of Q: LLaMA-3-70B on one of four GPUs, context 4096.
func.func @attention(%q: tensor<2x256x64xf16>, %k: tensor<2x64x4096xf16>, %v: tensor<2x4096x64xf16>) -> tensor<2x256x64xf16> {
  %s = kernel.matmul %q, %k : (tensor<2x256x64xf16>, tensor<2x64x4096xf16>) -> tensor<2x256x4096xf16>
  %p = kernel.softmax %s {dim = 2 : i64} : (tensor<2x256x4096xf16>) -> tensor<2x256x4096xf16>
  %o = kernel.matmul %p, %v : (tensor<2x256x4096xf16>, tensor<2x4096x64xf16>) -> tensor<2x256x64xf16>
  func.return %o : tensor<2x256x64xf16>
}
