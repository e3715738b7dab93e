// A slice, shapes, a table of one number.
func.func @f(%a: tensor<6x8xf32>) -> (tensor<2x2x4xf32>, tensor<16xf32>) {
  %s = tensor.extract_slice %a[1, 0] [2, 8] [2, 1] : tensor<6x8xf32> to tensor<2x8xf32>
  %t = arith.constant dense<1.5> : tensor<2x8xf32>
  %p = arith.addf %s, %t : tensor<2x8xf32>
  %x = tensor.expand_shape %p [[0], [1, 2]] output_shape [2, 2, 4] : tensor<2x8xf32> into tensor<2x2x4xf32>
  %y = tensor.collapse_shape %x [[0, 1, 2]] : tensor<2x2x4xf32> into tensor<16xf32>
  func.return %x, %y : tensor<2x2x4xf32>, tensor<16xf32>
}
