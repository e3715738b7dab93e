// Attention, then its output projection: 32 heads, 16 tokens, context 1024.
func.func @attention_projection(%q: tensor<32x16x64xf16>, %k: tensor<32x64x1024xf16>, %v: tensor<32x1024x64xf16>, %w: tensor<2048x2048xf16> {kernel.constant}) -> tensor<16x2048xf16> {
  %s = kernel.matmul %q, %k : (tensor<32x16x64xf16>, tensor<32x64x1024xf16>) -> tensor<32x16x1024xf16>
  %p = kernel.softmax %s {dim = 2 : i64} : (tensor<32x16x1024xf16>) -> tensor<32x16x1024xf16>
  %a = kernel.matmul %p, %v : (tensor<32x16x1024xf16>, tensor<32x1024x64xf16>) -> tensor<32x16x64xf16>
  %t = kernel.transpose %a {permutation = array<i64: 1, 0, 2>} : (tensor<32x16x64xf16>) -> tensor<16x32x64xf16>
  %r = kernel.reshape %t : (tensor<16x32x64xf16>) -> tensor<16x2048xf16>
  %o = kernel.matmul %r, %w : (tensor<16x2048xf16>, tensor<2048x2048xf16>) -> tensor<16x2048xf16>
  func.return %o : tensor<16x2048xf16>
}
