// Decoding where the new key and value are put behind those of a cache of 1024: LLaMA-3-8B, 8 KV heads with 4 query heads each.
func.func @kv_cache_attention(%q: tensor<1x32x1x128xf16>, %kc: tensor<1x8x1024x128xf16>, %vc: tensor<1x8x1024x128xf16>, %kn: tensor<1x8x1x128xf16>, %vn: tensor<1x8x1x128xf16>) -> tensor<1x32x1x128xf16> {
  %k = kernel.concat %kc, %kn {dim = 2 : i64} : (tensor<1x8x1024x128xf16>, tensor<1x8x1x128xf16>) -> tensor<1x8x1025x128xf16>
  %v = kernel.concat %vc, %vn {dim = 2 : i64} : (tensor<1x8x1024x128xf16>, tensor<1x8x1x128xf16>) -> tensor<1x8x1025x128xf16>
  %kr = kernel.repeat_interleave %k {dim = 1 : i64, times = 4 : i64} : (tensor<1x8x1025x128xf16>) -> tensor<1x32x1025x128xf16>
  %vr = kernel.repeat_interleave %v {dim = 1 : i64, times = 4 : i64} : (tensor<1x8x1025x128xf16>) -> tensor<1x32x1025x128xf16>
  %kt = kernel.transpose %kr {permutation = array<i64: 0, 1, 3, 2>} : (tensor<1x32x1025x128xf16>) -> tensor<1x32x128x1025xf16>
  %s = kernel.matmul %q, %kt : (tensor<1x32x1x128xf16>, tensor<1x32x128x1025xf16>) -> tensor<1x32x1x1025xf16>
  %t = kernel.scale %s {factor = 0.0883883461 : f32} : (tensor<1x32x1x1025xf16>) -> tensor<1x32x1x1025xf16>
  %p = kernel.softmax %t {dim = 3 : i64} : (tensor<1x32x1x1025xf16>) -> tensor<1x32x1x1025xf16>
  %o = kernel.matmul %p, %vr : (tensor<1x32x1x1025xf16>, tensor<1x32x1025x128xf16>) -> tensor<1x32x1x128xf16>
  func.return %o : tensor<1x32x1x128xf16>
}
