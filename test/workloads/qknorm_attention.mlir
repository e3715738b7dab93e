// Attention with normalized queries and values: Chameleon-7B, context 4096.
func.func @qknorm_attention(%q: tensor<2x256x64xf16>, %k: tensor<2x64x4096xf16>, %v: tensor<2x4096x64xf16>) -> tensor<2x256x64xf16> {
  %qn = kernel.rms_norm %q {eps = 1.0e-05 : f32} : (tensor<2x256x64xf16>) -> tensor<2x256x64xf16>
  %vn = kernel.rms_norm %v {eps = 1.0e-05 : f32} : (tensor<2x4096x64xf16>) -> tensor<2x4096x64xf16>
  %s = kernel.matmul %qn, %k : (tensor<2x256x64xf16>, tensor<2x64x4096xf16>) -> tensor<2x256x4096xf16>
  %p = kernel.softmax %s {dim = 2 : i64} : (tensor<2x256x4096xf16>) -> tensor<2x256x4096xf16>
  %o = kernel.matmul %p, %vn : (tensor<2x256x4096xf16>, tensor<2x4096x64xf16>) -> tensor<2x256x64xf16>
  func.return %o : tensor<2x256x64xf16>
}
