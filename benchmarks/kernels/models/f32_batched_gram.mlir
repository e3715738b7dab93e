// A batched product of rows in f32, and a sum.
func.func @f32_batched_gram(%a: tensor<12x64x64xf32>, %b: tensor<12x64x64xf32>) -> tensor<12x64x64xf32> {
  %0 = kernel.transpose %b {permutation = array<i64: 0, 2, 1>} : (tensor<12x64x64xf32>) -> tensor<12x64x64xf32>
  %1 = kernel.matmul %a, %0 : (tensor<12x64x64xf32>, tensor<12x64x64xf32>) -> tensor<12x64x64xf32>
  %2 = kernel.add %1, %a : (tensor<12x64x64xf32>, tensor<12x64x64xf32>) -> tensor<12x64x64xf32>
  func.return %2 : tensor<12x64x64xf32>
}
