// A batched product of 96 times 50x128 by 128x200.
func.func @batched_rows(%a: tensor<96x50x128xf16>, %b: tensor<96x128x200xf16>) -> tensor<96x50x200xf16> {
  %0 = kernel.matmul %a, %b : (tensor<96x50x128xf16>, tensor<96x128x200xf16>) -> tensor<96x50x200xf16>
  func.return %0 : tensor<96x50x200xf16>
}
