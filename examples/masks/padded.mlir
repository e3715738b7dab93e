// Attention with keys that are padded from 32 to 48: no query sees key 32 or later.
//
//     mirage-opt examples/masks/padded.mlir --superoptimize
func.func @padded(%q: tensor<2x32x16xf16>, %k: tensor<2x48x16xf16>, %v: tensor<2x48x16xf16>) -> tensor<2x32x16xf16> {
  %j = kernel.iota {dim = 2 : i64} : tensor<1x1x48xf16>
  %length = kernel.constant {value = 32.0 : f32} : tensor<1x1x1xf16>
  %mask = kernel.compare %j, %length {predicate = "lt"} : (tensor<1x1x48xf16>, tensor<1x1x1xf16>) -> tensor<1x1x48xf16>
  %kt = kernel.transpose %k {permutation = array<i64: 0, 2, 1>} : (tensor<2x48x16xf16>) -> tensor<2x16x48xf16>
  %s = kernel.matmul %q, %kt : (tensor<2x32x16xf16>, tensor<2x16x48xf16>) -> tensor<2x32x48xf16>
  %low = kernel.constant {value = 0xFF800000 : f32} : tensor<1x1x1xf16>
  %masked = kernel.select %mask, %s, %low : (tensor<1x1x48xf16>, tensor<2x32x48xf16>, tensor<1x1x1xf16>) -> tensor<2x32x48xf16>
  %p = kernel.softmax %masked {dim = 2 : i64} : (tensor<2x32x48xf16>) -> tensor<2x32x48xf16>
  %o = kernel.matmul %p, %v : (tensor<2x32x48xf16>, tensor<2x48x16xf16>) -> tensor<2x32x16xf16>
  func.return %o : tensor<2x32x16xf16>
}
