// RWKV's mixture of a token and the one before, a product, sigmoid.
func.func @rwkv_mix(%x: tensor<32x4096xf16>, %prev: tensor<32x4096xf16>, %mu: tensor<4096xf16>, %w: tensor<4096x8192xf16> {kernel.constant}, %b: tensor<8192xf16>) -> tensor<32x8192xf16> {
  %0 = kernel.mul %x, %mu : (tensor<32x4096xf16>, tensor<4096xf16>) -> tensor<32x4096xf16>
  %1 = kernel.constant {value = 1.000000e+00 : f32} : tensor<1xf16>
  %2 = kernel.sub %1, %mu : (tensor<1xf16>, tensor<4096xf16>) -> tensor<4096xf16>
  %3 = kernel.mul %prev, %2 : (tensor<32x4096xf16>, tensor<4096xf16>) -> tensor<32x4096xf16>
  %4 = kernel.add %0, %3 : (tensor<32x4096xf16>, tensor<32x4096xf16>) -> tensor<32x4096xf16>
  %5 = kernel.matmul %4, %w : (tensor<32x4096xf16>, tensor<4096x8192xf16>) -> tensor<32x8192xf16>
  %6 = kernel.add %5, %b : (tensor<32x8192xf16>, tensor<8192xf16>) -> tensor<32x8192xf16>
  %7 = kernel.sigmoid %6 : (tensor<32x8192xf16>) -> tensor<32x8192xf16>
  func.return %7 : tensor<32x8192xf16>
}
