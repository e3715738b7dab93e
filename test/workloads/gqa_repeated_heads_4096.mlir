// Decoding with grouped heads as models write it, keys and values repeated for each head of a group: context 4096.
func.func @gqa_repeated_heads_4096(%q: tensor<1x16x1x128xf16>, %k: tensor<1x2x4096x128xf16>, %v: tensor<1x2x4096x128xf16>) -> tensor<1x16x1x128xf16> {
  %kr = kernel.repeat_interleave %k {dim = 1 : i64, times = 8 : i64} : (tensor<1x2x4096x128xf16>) -> tensor<1x16x4096x128xf16>
  %vr = kernel.repeat_interleave %v {dim = 1 : i64, times = 8 : i64} : (tensor<1x2x4096x128xf16>) -> tensor<1x16x4096x128xf16>
  %kt = kernel.transpose %kr {permutation = array<i64: 0, 1, 3, 2>} : (tensor<1x16x4096x128xf16>) -> tensor<1x16x128x4096xf16>
  %s = kernel.matmul %q, %kt : (tensor<1x16x1x128xf16>, tensor<1x16x128x4096xf16>) -> tensor<1x16x1x4096xf16>
  %t = kernel.scale %s {factor = 0.0883883461 : f32} : (tensor<1x16x1x4096xf16>) -> tensor<1x16x1x4096xf16>
  %p = kernel.softmax %t {dim = 3 : i64} : (tensor<1x16x1x4096xf16>) -> tensor<1x16x1x4096xf16>
  %o = kernel.matmul %p, %vr : (tensor<1x16x1x4096xf16>, tensor<1x16x4096x128xf16>) -> tensor<1x16x1x128xf16>
  func.return %o : tensor<1x16x1x128xf16>
}
