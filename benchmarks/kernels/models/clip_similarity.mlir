// CLIP's similarities: two normalised embeddings, and a softmax of their products.
func.func @clip_similarity(%a: tensor<1024x768xf16>, %b: tensor<1024x768xf16>) -> tensor<1024x1024xf32> {
  %0 = kernel.cast %a : (tensor<1024x768xf16>) -> tensor<1024x768xf32>
  %1 = kernel.square %0 : (tensor<1024x768xf32>) -> tensor<1024x768xf32>
  %2 = kernel.reduce_sum %1 {dims = array<i64: 1>} : (tensor<1024x768xf32>) -> tensor<1024x1xf32>
  %3 = kernel.sqrt %2 : (tensor<1024x1xf32>) -> tensor<1024x1xf32>
  %4 = kernel.cast %3 : (tensor<1024x1xf32>) -> tensor<1024x1xf16>
  %5 = kernel.div %a, %4 : (tensor<1024x768xf16>, tensor<1024x1xf16>) -> tensor<1024x768xf16>
  %6 = kernel.cast %b : (tensor<1024x768xf16>) -> tensor<1024x768xf32>
  %7 = kernel.square %6 : (tensor<1024x768xf32>) -> tensor<1024x768xf32>
  %8 = kernel.reduce_sum %7 {dims = array<i64: 1>} : (tensor<1024x768xf32>) -> tensor<1024x1xf32>
  %9 = kernel.sqrt %8 : (tensor<1024x1xf32>) -> tensor<1024x1xf32>
  %10 = kernel.cast %9 : (tensor<1024x1xf32>) -> tensor<1024x1xf16>
  %11 = kernel.div %b, %10 : (tensor<1024x768xf16>, tensor<1024x1xf16>) -> tensor<1024x768xf16>
  %12 = kernel.transpose %11 {permutation = array<i64: 1, 0>} : (tensor<1024x768xf16>) -> tensor<768x1024xf16>
  %13 = kernel.matmul %5, %12 : (tensor<1024x768xf16>, tensor<768x1024xf16>) -> tensor<1024x1024xf16>
  %14 = kernel.cast %13 : (tensor<1024x1024xf16>) -> tensor<1024x1024xf32>
  %15 = kernel.scale %14 {factor = 1.000000e+02 : f32} : (tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %16 = kernel.softmax %15 {dim = 1 : i64} : (tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  func.return %16 : tensor<1024x1024xf32>
}
