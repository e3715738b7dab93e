// Two layers of a recommender's top: 2,048 rows, 512 to 256 to 128.
func.func @dlrm_top(%x: tensor<2048x512xf16>, %a: tensor<512x256xf16> {kernel.constant}, %b: tensor<256xf16>, %c: tensor<256x128xf16> {kernel.constant}, %d: tensor<128xf16>) -> tensor<2048x128xf16> {
  %0 = kernel.matmul %x, %a : (tensor<2048x512xf16>, tensor<512x256xf16>) -> tensor<2048x256xf16>
  %1 = kernel.add %0, %b : (tensor<2048x256xf16>, tensor<256xf16>) -> tensor<2048x256xf16>
  %2 = kernel.relu %1 : (tensor<2048x256xf16>) -> tensor<2048x256xf16>
  %3 = kernel.matmul %2, %c : (tensor<2048x256xf16>, tensor<256x128xf16>) -> tensor<2048x128xf16>
  %4 = kernel.add %3, %d : (tensor<2048x128xf16>, tensor<128xf16>) -> tensor<2048x128xf16>
  %5 = kernel.relu %4 : (tensor<2048x128xf16>) -> tensor<2048x128xf16>
  func.return %5 : tensor<2048x128xf16>
}
