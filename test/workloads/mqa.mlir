// Attention with one head of keys and values for all queries, context 4096.
func.func @mqa(%q: tensor<1x1024x64xf16>, %k: tensor<1x64x4096xf16>, %v: tensor<1x4096x64xf16>) -> tensor<1x1024x64xf16> {
  %s = kernel.matmul %q, %k : (tensor<1x1024x64xf16>, tensor<1x64x4096xf16>) -> tensor<1x1024x4096xf16>
  %p = kernel.softmax %s {dim = 2 : i64} : (tensor<1x1024x4096xf16>) -> tensor<1x1024x4096xf16>
  %o = kernel.matmul %p, %v : (tensor<1x1024x4096xf16>, tensor<1x4096x64xf16>) -> tensor<1x1024x64xf16>
  func.return %o : tensor<1x1024x64xf16>
}
