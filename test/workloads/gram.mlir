// All inner products of the rows of one tensor: both operands of the matmul are X.
func.func @gram(%x: tensor<512x1024xf16>) -> tensor<512x512xf16> {
  %t = kernel.transpose %x {permutation = array<i64: 1, 0>} : (tensor<512x1024xf16>) -> tensor<1024x512xf16>
  %o = kernel.matmul %x, %t : (tensor<512x1024xf16>, tensor<1024x512xf16>) -> tensor<512x512xf16>
  func.return %o : tensor<512x512xf16>
}
