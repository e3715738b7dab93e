// Three layers of 256 with a ReLU, 512 rows.
func.func @small_mlp(%x: tensor<512x256xf16>, %a: tensor<256x256xf16> {kernel.constant}, %b: tensor<256x256xf16> {kernel.constant}, %c: tensor<256x256xf16> {kernel.constant}) -> tensor<512x256xf16> {
  %0 = kernel.matmul %x, %a : (tensor<512x256xf16>, tensor<256x256xf16>) -> tensor<512x256xf16>
  %1 = kernel.relu %0 : (tensor<512x256xf16>) -> tensor<512x256xf16>
  %2 = kernel.matmul %1, %b : (tensor<512x256xf16>, tensor<256x256xf16>) -> tensor<512x256xf16>
  %3 = kernel.relu %2 : (tensor<512x256xf16>) -> tensor<512x256xf16>
  %4 = kernel.matmul %3, %c : (tensor<512x256xf16>, tensor<256x256xf16>) -> tensor<512x256xf16>
  func.return %4 : tensor<512x256xf16>
}
