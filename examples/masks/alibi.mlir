// Causal attention with linear biases: a score is lower by slope times the distance of its key.
// The slope of head h is 0.5 * (h + 1) here.
// Source: Press, Smith and Lewis, "Train Short, Test Long" (2022), section 3.
//
//     mirage-opt examples/masks/alibi.mlir --superoptimize
func.func @alibi(%q: tensor<2x32x16xf16>, %k: tensor<2x32x16xf16>, %v: tensor<2x32x16xf16>) -> tensor<2x32x16xf16> {
  %n = kernel.iota {dim = 0 : i64} : tensor<32xf16>
  %i = kernel.reshape %n : (tensor<32xf16>) -> tensor<1x32x1xf16>
  %j = kernel.reshape %n : (tensor<32xf16>) -> tensor<1x1x32xf16>
  %h = kernel.iota {dim = 0 : i64} : tensor<2x1x1xf16>
  %half = kernel.constant {value = 0.5 : f32} : tensor<1x1x1xf16>
  %scaled = kernel.scale %h {factor = 0.5 : f32} : (tensor<2x1x1xf16>) -> tensor<2x1x1xf16>
  %slope = kernel.add %scaled, %half : (tensor<2x1x1xf16>, tensor<1x1x1xf16>) -> tensor<2x1x1xf16>
  %distance = kernel.sub %j, %i : (tensor<1x1x32xf16>, tensor<1x32x1xf16>) -> tensor<1x32x32xf16>
  %bias = kernel.mul %slope, %distance : (tensor<2x1x1xf16>, tensor<1x32x32xf16>) -> tensor<2x32x32xf16>
  %mask = kernel.compare %j, %i {predicate = "le"} : (tensor<1x1x32xf16>, tensor<1x32x1xf16>) -> tensor<1x32x32xf16>
  %kt = kernel.transpose %k {permutation = array<i64: 0, 2, 1>} : (tensor<2x32x16xf16>) -> tensor<2x16x32xf16>
  %s = kernel.matmul %q, %kt : (tensor<2x32x16xf16>, tensor<2x16x32xf16>) -> tensor<2x32x32xf16>
  %biased = kernel.add %s, %bias : (tensor<2x32x32xf16>, tensor<2x32x32xf16>) -> tensor<2x32x32xf16>
  %low = kernel.constant {value = 0xFF800000 : f32} : tensor<1x1x1xf16>
  %masked = kernel.select %mask, %biased, %low : (tensor<1x32x32xf16>, tensor<2x32x32xf16>, tensor<1x1x1xf16>) -> tensor<2x32x32xf16>
  %p = kernel.softmax %masked {dim = 2 : i64} : (tensor<2x32x32xf16>) -> tensor<2x32x32xf16>
  %o = kernel.matmul %p, %v : (tensor<2x32x32xf16>, tensor<2x32x16xf16>) -> tensor<2x32x16xf16>
  func.return %o : tensor<2x32x16xf16>
}
