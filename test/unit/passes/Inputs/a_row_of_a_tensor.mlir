// A row of a tensor.
func.func @f(%a: tensor<6x8xf32>) -> tensor<8xf32> {
  %s = tensor.extract_slice %a[3, 0] [1, 8] [1, 1] : tensor<6x8xf32> to tensor<8xf32>
  func.return %s : tensor<8xf32>
}
