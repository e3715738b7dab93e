// Decoding with grouped heads: LLaMA-3-70B on one of four GPUs, 16 query heads, 2 KV heads, one token.
func.func @gqa(%q: tensor<1x16x1x128xf16>, %k: tensor<1x2x4096x128xf16>, %v: tensor<1x2x4096x128xf16>) -> tensor<1x16x1x128xf16> {
  %qg = kernel.reshape %q : (tensor<1x16x1x128xf16>) -> tensor<1x2x8x128xf16>
  %kt = kernel.transpose %k {permutation = array<i64: 0, 1, 3, 2>} : (tensor<1x2x4096x128xf16>) -> tensor<1x2x128x4096xf16>
  %s = kernel.matmul %qg, %kt : (tensor<1x2x8x128xf16>, tensor<1x2x128x4096xf16>) -> tensor<1x2x8x4096xf16>
  %t = kernel.scale %s {factor = 0.0883883461 : f32} : (tensor<1x2x8x4096xf16>) -> tensor<1x2x8x4096xf16>
  %p = kernel.softmax %t {dim = 3 : i64} : (tensor<1x2x8x4096xf16>) -> tensor<1x2x8x4096xf16>
  %og = kernel.matmul %p, %v : (tensor<1x2x8x4096xf16>, tensor<1x2x4096x128xf16>) -> tensor<1x2x8x128xf16>
  %o = kernel.reshape %og : (tensor<1x2x8x128xf16>) -> tensor<1x16x1x128xf16>
  func.return %o : tensor<1x16x1x128xf16>
}
