// The MLP over patches of an MLP-Mixer.
func.func @mixer_tokens(%x: tensor<32x196x512xf16>, %w1: tensor<196x256xf16> {kernel.constant}, %b1: tensor<256xf16>, %w2: tensor<256x196xf16> {kernel.constant}, %b2: tensor<196xf16>) -> tensor<32x196x512xf16> {
  %0 = kernel.transpose %x {permutation = array<i64: 0, 2, 1>} : (tensor<32x196x512xf16>) -> tensor<32x512x196xf16>
  %1 = kernel.matmul %0, %w1 : (tensor<32x512x196xf16>, tensor<196x256xf16>) -> tensor<32x512x256xf16>
  %2 = kernel.add %1, %b1 : (tensor<32x512x256xf16>, tensor<256xf16>) -> tensor<32x512x256xf16>
  %3 = kernel.gelu %2 : (tensor<32x512x256xf16>) -> tensor<32x512x256xf16>
  %4 = kernel.matmul %3, %w2 : (tensor<32x512x256xf16>, tensor<256x196xf16>) -> tensor<32x512x196xf16>
  %5 = kernel.add %4, %b2 : (tensor<32x512x196xf16>, tensor<196xf16>) -> tensor<32x512x196xf16>
  %6 = kernel.transpose %5 {permutation = array<i64: 0, 2, 1>} : (tensor<32x512x196xf16>) -> tensor<32x196x512xf16>
  func.return %6 : tensor<32x196x512xf16>
}
