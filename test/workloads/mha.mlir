// Attention with as many heads of keys and values as of queries: 32 heads, 16 tokens, context 4096.
func.func @mha(%q: tensor<32x16x64xf16>, %k: tensor<32x64x4096xf16>, %v: tensor<32x4096x64xf16>) -> tensor<32x16x64xf16> {
  %s = kernel.matmul %q, %k : (tensor<32x16x64xf16>, tensor<32x64x4096xf16>) -> tensor<32x16x4096xf16>
  %p = kernel.softmax %s {dim = 2 : i64} : (tensor<32x16x4096xf16>) -> tensor<32x16x4096xf16>
  %o = kernel.matmul %p, %v : (tensor<32x16x4096xf16>, tensor<32x4096x64xf16>) -> tensor<32x16x64xf16>
  func.return %o : tensor<32x16x64xf16>
}
