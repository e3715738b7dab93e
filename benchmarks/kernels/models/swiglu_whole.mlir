// A whole gated MLP of 16 rows with its residual connection, bf16.
func.func @swiglu_whole(%x: tensor<16x5120xbf16>, %w1: tensor<5120x13824xbf16> {kernel.constant}, %w2: tensor<13824x5120xbf16> {kernel.constant}, %w3: tensor<5120x13824xbf16> {kernel.constant}, %r: tensor<16x5120xbf16>) -> tensor<16x5120xbf16> {
  %0 = kernel.matmul %x, %w1 : (tensor<16x5120xbf16>, tensor<5120x13824xbf16>) -> tensor<16x13824xbf16>
  %1 = kernel.silu %0 : (tensor<16x13824xbf16>) -> tensor<16x13824xbf16>
  %2 = kernel.matmul %x, %w3 : (tensor<16x5120xbf16>, tensor<5120x13824xbf16>) -> tensor<16x13824xbf16>
  %3 = kernel.mul %1, %2 : (tensor<16x13824xbf16>, tensor<16x13824xbf16>) -> tensor<16x13824xbf16>
  %4 = kernel.matmul %3, %w2 : (tensor<16x13824xbf16>, tensor<13824x5120xbf16>) -> tensor<16x5120xbf16>
  %5 = kernel.add %r, %4 : (tensor<16x5120xbf16>, tensor<16x5120xbf16>) -> tensor<16x5120xbf16>
  func.return %5 : tensor<16x5120xbf16>
}
