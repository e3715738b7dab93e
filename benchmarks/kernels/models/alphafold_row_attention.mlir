// Attention with a bias and a gate: 64 rows of 96 residues, 8 heads of 32.
func.func @alphafold_row_attention(%q: tensor<64x8x96x32xf16>, %k: tensor<64x8x96x32xf16>, %v: tensor<64x8x96x32xf16>, %bias: tensor<8x96x96xf16>, %gate: tensor<64x8x96x32xf16>) -> tensor<64x8x96x32xf16> {
  %0 = kernel.scale %q {factor = 0.176776692 : f32} : (tensor<64x8x96x32xf16>) -> tensor<64x8x96x32xf16>
  %1 = kernel.transpose %k {permutation = array<i64: 0, 1, 3, 2>} : (tensor<64x8x96x32xf16>) -> tensor<64x8x32x96xf16>
  %2 = kernel.matmul %0, %1 : (tensor<64x8x96x32xf16>, tensor<64x8x32x96xf16>) -> tensor<64x8x96x96xf16>
  %3 = kernel.add %2, %bias : (tensor<64x8x96x96xf16>, tensor<8x96x96xf16>) -> tensor<64x8x96x96xf16>
  %4 = kernel.softmax %3 {dim = 3 : i64} : (tensor<64x8x96x96xf16>) -> tensor<64x8x96x96xf16>
  %5 = kernel.matmul %4, %v : (tensor<64x8x96x96xf16>, tensor<64x8x96x32xf16>) -> tensor<64x8x96x32xf16>
  %6 = kernel.sigmoid %gate : (tensor<64x8x96x32xf16>) -> tensor<64x8x96x32xf16>
  %7 = kernel.mul %6, %5 : (tensor<64x8x96x32xf16>, tensor<64x8x96x32xf16>) -> tensor<64x8x96x32xf16>
  func.return %7 : tensor<64x8x96x32xf16>
}
