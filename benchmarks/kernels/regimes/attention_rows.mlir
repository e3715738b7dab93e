// Attention of whole sequences, heads of 128.
func.func @heads_32_8_keys_1024(%q: tensor<8x4096x128xf16>, %k: tensor<8x1024x128xf16>, %v: tensor<8x1024x128xf16>) -> tensor<8x4096x128xf16> {
  %kt = kernel.transpose %k {permutation = array<i64: 0, 2, 1>} : (tensor<8x1024x128xf16>) -> tensor<8x128x1024xf16>
  %s = kernel.matmul %q, %kt : (tensor<8x4096x128xf16>, tensor<8x128x1024xf16>) -> tensor<8x4096x1024xf16>
  %scaled = kernel.scale %s {factor = 0.0883883461 : f32} : (tensor<8x4096x1024xf16>) -> tensor<8x4096x1024xf16>
  %p = kernel.softmax %scaled {dim = 2 : i64} : (tensor<8x4096x1024xf16>) -> tensor<8x4096x1024xf16>
  %y = kernel.matmul %p, %v : (tensor<8x4096x1024xf16>, tensor<8x1024x128xf16>) -> tensor<8x4096x128xf16>
  func.return %y : tensor<8x4096x128xf16>
}

func.func @heads_16_keys_2048(%q: tensor<16x2048x128xf16>, %k: tensor<16x2048x128xf16>, %v: tensor<16x2048x128xf16>) -> tensor<16x2048x128xf16> {
  %kt = kernel.transpose %k {permutation = array<i64: 0, 2, 1>} : (tensor<16x2048x128xf16>) -> tensor<16x128x2048xf16>
  %s = kernel.matmul %q, %kt : (tensor<16x2048x128xf16>, tensor<16x128x2048xf16>) -> tensor<16x2048x2048xf16>
  %scaled = kernel.scale %s {factor = 0.0883883461 : f32} : (tensor<16x2048x2048xf16>) -> tensor<16x2048x2048xf16>
  %p = kernel.softmax %scaled {dim = 2 : i64} : (tensor<16x2048x2048xf16>) -> tensor<16x2048x2048xf16>
  %y = kernel.matmul %p, %v : (tensor<16x2048x2048xf16>, tensor<16x2048x128xf16>) -> tensor<16x2048x128xf16>
  func.return %y : tensor<16x2048x128xf16>
}

func.func @heads_16_keys_8192(%q: tensor<16x8192x128xf16>, %k: tensor<16x8192x128xf16>, %v: tensor<16x8192x128xf16>) -> tensor<16x8192x128xf16> {
  %kt = kernel.transpose %k {permutation = array<i64: 0, 2, 1>} : (tensor<16x8192x128xf16>) -> tensor<16x128x8192xf16>
  %s = kernel.matmul %q, %kt : (tensor<16x8192x128xf16>, tensor<16x128x8192xf16>) -> tensor<16x8192x8192xf16>
  %scaled = kernel.scale %s {factor = 0.0883883461 : f32} : (tensor<16x8192x8192xf16>) -> tensor<16x8192x8192xf16>
  %p = kernel.softmax %scaled {dim = 2 : i64} : (tensor<16x8192x8192xf16>) -> tensor<16x8192x8192xf16>
  %y = kernel.matmul %p, %v : (tensor<16x8192x8192xf16>, tensor<16x8192x128xf16>) -> tensor<16x8192x128xf16>
  func.return %y : tensor<16x8192x128xf16>
}
