// Attention with normalized queries and keys, as models have it: Chameleon-7B, context 4096.
func.func @qknorm_attention_keys(%q: tensor<2x256x64xf16>, %k: tensor<2x4096x64xf16>, %v: tensor<2x4096x64xf16>, %gq: tensor<64xf16> {kernel.constant}, %gk: tensor<64xf16> {kernel.constant}) -> tensor<2x256x64xf16> {
  %qn = kernel.rms_norm %q, %gq {eps = 1.0e-05 : f32} : (tensor<2x256x64xf16>, tensor<64xf16>) -> tensor<2x256x64xf16>
  %kn = kernel.rms_norm %k, %gk {eps = 1.0e-05 : f32} : (tensor<2x4096x64xf16>, tensor<64xf16>) -> tensor<2x4096x64xf16>
  %kt = kernel.transpose %kn {permutation = array<i64: 0, 2, 1>} : (tensor<2x4096x64xf16>) -> tensor<2x64x4096xf16>
  %s = kernel.matmul %qn, %kt : (tensor<2x256x64xf16>, tensor<2x64x4096xf16>) -> tensor<2x256x4096xf16>
  %t = kernel.scale %s {factor = 0.125 : f32} : (tensor<2x256x4096xf16>) -> tensor<2x256x4096xf16>
  %p = kernel.softmax %t {dim = 2 : i64} : (tensor<2x256x4096xf16>) -> tensor<2x256x4096xf16>
  %o = kernel.matmul %p, %v : (tensor<2x256x4096xf16>, tensor<2x4096x64xf16>) -> tensor<2x256x64xf16>
  func.return %o : tensor<2x256x64xf16>
}
