// Attention of windows of SAM: 25 windows of 196 positions, 12 heads, two biases.
func.func @sam_relative(%q: tensor<300x196x64xf16>, %k: tensor<300x196x64xf16>, %v: tensor<300x196x64xf16>, %a: tensor<300x14x14x14xf16>, %b: tensor<300x14x14x14xf16>) -> tensor<300x196x64xf16> {
  %0 = kernel.scale %q {factor = 1.250000e-01 : f32} : (tensor<300x196x64xf16>) -> tensor<300x196x64xf16>
  %1 = kernel.transpose %k {permutation = array<i64: 0, 2, 1>} : (tensor<300x196x64xf16>) -> tensor<300x64x196xf16>
  %2 = kernel.matmul %0, %1 : (tensor<300x196x64xf16>, tensor<300x64x196xf16>) -> tensor<300x196x196xf16>
  %3 = kernel.reshape %2 : (tensor<300x196x196xf16>) -> tensor<300x14x14x14x14xf16>
  %4 = kernel.reshape %a : (tensor<300x14x14x14xf16>) -> tensor<300x14x14x14x1xf16>
  %5 = kernel.add %3, %4 : (tensor<300x14x14x14x14xf16>, tensor<300x14x14x14x1xf16>) -> tensor<300x14x14x14x14xf16>
  %6 = kernel.reshape %b : (tensor<300x14x14x14xf16>) -> tensor<300x14x14x1x14xf16>
  %7 = kernel.add %5, %6 : (tensor<300x14x14x14x14xf16>, tensor<300x14x14x1x14xf16>) -> tensor<300x14x14x14x14xf16>
  %8 = kernel.reshape %7 : (tensor<300x14x14x14x14xf16>) -> tensor<300x196x196xf16>
  %9 = kernel.softmax %8 {dim = 2 : i64} : (tensor<300x196x196xf16>) -> tensor<300x196x196xf16>
  %10 = kernel.matmul %9, %v : (tensor<300x196x196xf16>, tensor<300x196x64xf16>) -> tensor<300x196x64xf16>
  func.return %10 : tensor<300x196x64xf16>
}
