// A whole decoder layer of LLaMA-3-8B at decode: one token, a KV cache of 1024; the new key and value are results too.
func.func @llama3_decoder_layer(%x: tensor<1x4096xf16>, %g1: tensor<4096xf16> {kernel.constant}, %wq: tensor<4096x4096xf16> {kernel.constant}, %wk: tensor<4096x1024xf16> {kernel.constant}, %wv: tensor<4096x1024xf16> {kernel.constant}, %cos: tensor<1x128xf16>, %sin: tensor<1x128xf16>, %kc: tensor<1x8x1024x128xf16>, %vc: tensor<1x8x1024x128xf16>, %wo: tensor<4096x4096xf16> {kernel.constant}, %g2: tensor<4096xf16> {kernel.constant}, %w1: tensor<4096x14336xf16> {kernel.constant}, %w3: tensor<4096x14336xf16> {kernel.constant}, %w2: tensor<14336x4096xf16> {kernel.constant}) -> (tensor<1x4096xf16>, tensor<1x8x1x128xf16>, tensor<1x8x1x128xf16>) {
  %n = kernel.rms_norm %x, %g1 {eps = 1.0e-05 : f32} : (tensor<1x4096xf16>, tensor<4096xf16>) -> tensor<1x4096xf16>
  %qp = kernel.matmul %n, %wq : (tensor<1x4096xf16>, tensor<4096x4096xf16>) -> tensor<1x4096xf16>
  %kp = kernel.matmul %n, %wk : (tensor<1x4096xf16>, tensor<4096x1024xf16>) -> tensor<1x1024xf16>
  %vp = kernel.matmul %n, %wv : (tensor<1x4096xf16>, tensor<4096x1024xf16>) -> tensor<1x1024xf16>
  %qs = kernel.reshape %qp : (tensor<1x4096xf16>) -> tensor<1x1x32x128xf16>
  %qh = kernel.transpose %qs {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x1x32x128xf16>) -> tensor<1x32x1x128xf16>
  %ks = kernel.reshape %kp : (tensor<1x1024xf16>) -> tensor<1x1x8x128xf16>
  %kh = kernel.transpose %ks {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x1x8x128xf16>) -> tensor<1x8x1x128xf16>
  %vs = kernel.reshape %vp : (tensor<1x1024xf16>) -> tensor<1x1x8x128xf16>
  %vh = kernel.transpose %vs {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x1x8x128xf16>) -> tensor<1x8x1x128xf16>
  %q_a = kernel.slice %qh {offsets = array<i64: 0, 0, 0, 0>, sizes = array<i64: 1, 32, 1, 64>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x32x1x128xf16>) -> tensor<1x32x1x64xf16>
  %q_b = kernel.slice %qh {offsets = array<i64: 0, 0, 0, 64>, sizes = array<i64: 1, 32, 1, 64>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x32x1x128xf16>) -> tensor<1x32x1x64xf16>
  %q_m = kernel.scale %q_b {factor = -1.0 : f32} : (tensor<1x32x1x64xf16>) -> tensor<1x32x1x64xf16>
  %q_h = kernel.concat %q_m, %q_a {dim = 3 : i64} : (tensor<1x32x1x64xf16>, tensor<1x32x1x64xf16>) -> tensor<1x32x1x128xf16>
  %q_c = kernel.mul %qh, %cos : (tensor<1x32x1x128xf16>, tensor<1x128xf16>) -> tensor<1x32x1x128xf16>
  %q_s = kernel.mul %q_h, %sin : (tensor<1x32x1x128xf16>, tensor<1x128xf16>) -> tensor<1x32x1x128xf16>
  %q = kernel.add %q_c, %q_s : (tensor<1x32x1x128xf16>, tensor<1x32x1x128xf16>) -> tensor<1x32x1x128xf16>
  %kr_a = kernel.slice %kh {offsets = array<i64: 0, 0, 0, 0>, sizes = array<i64: 1, 8, 1, 64>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x8x1x128xf16>) -> tensor<1x8x1x64xf16>
  %kr_b = kernel.slice %kh {offsets = array<i64: 0, 0, 0, 64>, sizes = array<i64: 1, 8, 1, 64>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x8x1x128xf16>) -> tensor<1x8x1x64xf16>
  %kr_m = kernel.scale %kr_b {factor = -1.0 : f32} : (tensor<1x8x1x64xf16>) -> tensor<1x8x1x64xf16>
  %kr_h = kernel.concat %kr_m, %kr_a {dim = 3 : i64} : (tensor<1x8x1x64xf16>, tensor<1x8x1x64xf16>) -> tensor<1x8x1x128xf16>
  %kr_c = kernel.mul %kh, %cos : (tensor<1x8x1x128xf16>, tensor<1x128xf16>) -> tensor<1x8x1x128xf16>
  %kr_s = kernel.mul %kr_h, %sin : (tensor<1x8x1x128xf16>, tensor<1x128xf16>) -> tensor<1x8x1x128xf16>
  %kr = kernel.add %kr_c, %kr_s : (tensor<1x8x1x128xf16>, tensor<1x8x1x128xf16>) -> tensor<1x8x1x128xf16>
  %k = kernel.concat %kc, %kr {dim = 2 : i64} : (tensor<1x8x1024x128xf16>, tensor<1x8x1x128xf16>) -> tensor<1x8x1025x128xf16>
  %v = kernel.concat %vc, %vh {dim = 2 : i64} : (tensor<1x8x1024x128xf16>, tensor<1x8x1x128xf16>) -> tensor<1x8x1025x128xf16>
  %kg = kernel.repeat_interleave %k {dim = 1 : i64, times = 4 : i64} : (tensor<1x8x1025x128xf16>) -> tensor<1x32x1025x128xf16>
  %vg = kernel.repeat_interleave %v {dim = 1 : i64, times = 4 : i64} : (tensor<1x8x1025x128xf16>) -> tensor<1x32x1025x128xf16>
  %kt = kernel.transpose %kg {permutation = array<i64: 0, 1, 3, 2>} : (tensor<1x32x1025x128xf16>) -> tensor<1x32x128x1025xf16>
  %s = kernel.matmul %q, %kt : (tensor<1x32x1x128xf16>, tensor<1x32x128x1025xf16>) -> tensor<1x32x1x1025xf16>
  %t = kernel.scale %s {factor = 0.0883883461 : f32} : (tensor<1x32x1x1025xf16>) -> tensor<1x32x1x1025xf16>
  %p = kernel.softmax %t {dim = 3 : i64} : (tensor<1x32x1x1025xf16>) -> tensor<1x32x1x1025xf16>
  %a = kernel.matmul %p, %vg : (tensor<1x32x1x1025xf16>, tensor<1x32x1025x128xf16>) -> tensor<1x32x1x128xf16>
  %at = kernel.transpose %a {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x32x1x128xf16>) -> tensor<1x1x32x128xf16>
  %ar = kernel.reshape %at : (tensor<1x1x32x128xf16>) -> tensor<1x4096xf16>
  %ao = kernel.matmul %ar, %wo : (tensor<1x4096xf16>, tensor<4096x4096xf16>) -> tensor<1x4096xf16>
  %h = kernel.add %x, %ao : (tensor<1x4096xf16>, tensor<1x4096xf16>) -> tensor<1x4096xf16>
  %m = kernel.rms_norm %h, %g2 {eps = 1.0e-05 : f32} : (tensor<1x4096xf16>, tensor<4096xf16>) -> tensor<1x4096xf16>
  %gp = kernel.matmul %m, %w1 : (tensor<1x4096xf16>, tensor<4096x14336xf16>) -> tensor<1x14336xf16>
  %up = kernel.matmul %m, %w3 : (tensor<1x4096xf16>, tensor<4096x14336xf16>) -> tensor<1x14336xf16>
  %ga = kernel.silu %gp : (tensor<1x14336xf16>) -> tensor<1x14336xf16>
  %gu = kernel.mul %ga, %up : (tensor<1x14336xf16>, tensor<1x14336xf16>) -> tensor<1x14336xf16>
  %dn = kernel.matmul %gu, %w2 : (tensor<1x14336xf16>, tensor<14336x4096xf16>) -> tensor<1x4096xf16>
  %o = kernel.add %h, %dn : (tensor<1x4096xf16>, tensor<1x4096xf16>) -> tensor<1x4096xf16>
  func.return %o, %kr, %vh : tensor<1x4096xf16>, tensor<1x8x1x128xf16>, tensor<1x8x1x128xf16>
}
