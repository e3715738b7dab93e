// Attention of 2048 keys under a mask that selects scores.
func.func @selected_attention(%q: tensor<16x2048x128xf16>, %k: tensor<16x2048x128xf16>, %v: tensor<16x2048x128xf16>, %m: tensor<2048x2048xf16>) -> tensor<16x2048x128xf16> {
  %kt = kernel.transpose %k {permutation = array<i64: 0, 2, 1>} : (tensor<16x2048x128xf16>) -> tensor<16x128x2048xf16>
  %s0 = kernel.matmul %q, %kt : (tensor<16x2048x128xf16>, tensor<16x128x2048xf16>) -> tensor<16x2048x2048xf16>
  %s = kernel.scale %s0 {factor = 0.0883 : f32} : (tensor<16x2048x2048xf16>) -> tensor<16x2048x2048xf16>
  %low = kernel.constant {value = -30000.0 : f32} : tensor<1x1x1xf16>
  %a = kernel.select %m, %s, %low : (tensor<2048x2048xf16>, tensor<16x2048x2048xf16>, tensor<1x1x1xf16>) -> tensor<16x2048x2048xf16>
  %p = kernel.softmax %a {dim = 2 : i64} : (tensor<16x2048x2048xf16>) -> tensor<16x2048x2048xf16>
  %o = kernel.matmul %p, %v : (tensor<16x2048x2048xf16>, tensor<16x2048x128xf16>) -> tensor<16x2048x128xf16>
  func.return %o : tensor<16x2048x128xf16>
}
