// Pairwise products of features of a recommender: 2,048 rows of 26 features.
func.func @deepfm_interaction(%e: tensor<2048x26x64xf16>) -> tensor<2048x26x26xf16> {
  %0 = kernel.transpose %e {permutation = array<i64: 0, 2, 1>} : (tensor<2048x26x64xf16>) -> tensor<2048x64x26xf16>
  %1 = kernel.matmul %e, %0 : (tensor<2048x26x64xf16>, tensor<2048x64x26xf16>) -> tensor<2048x26x26xf16>
  func.return %1 : tensor<2048x26x26xf16>
}
