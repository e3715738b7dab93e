// Attention that is not a softmax of scaled scores alone, few queries, windows, decoding.
func.func @cosine_attention(%q: tensor<8x12x512x64xf16>, %k: tensor<8x12x512x64xf16>, %v: tensor<8x12x512x64xf16>) -> tensor<8x12x512x64xf16> {
  %0 = kernel.cast %q : (tensor<8x12x512x64xf16>) -> tensor<8x12x512x64xf32>
  %1 = kernel.cast %q : (tensor<8x12x512x64xf16>) -> tensor<8x12x512x64xf32>
  %2 = kernel.square %1 : (tensor<8x12x512x64xf32>) -> tensor<8x12x512x64xf32>
  %3 = kernel.reduce_sum %2 {dims = array<i64: 3>} : (tensor<8x12x512x64xf32>) -> tensor<8x12x512x1xf32>
  %4 = kernel.constant {value = 1.000000e-06 : f32} : tensor<1x1x1x1xf32>
  %5 = kernel.add %3, %4 : (tensor<8x12x512x1xf32>, tensor<1x1x1x1xf32>) -> tensor<8x12x512x1xf32>
  %6 = kernel.rsqrt %5 : (tensor<8x12x512x1xf32>) -> tensor<8x12x512x1xf32>
  %7 = kernel.mul %0, %6 : (tensor<8x12x512x64xf32>, tensor<8x12x512x1xf32>) -> tensor<8x12x512x64xf32>
  %8 = kernel.cast %7 : (tensor<8x12x512x64xf32>) -> tensor<8x12x512x64xf16>
  %9 = kernel.cast %k : (tensor<8x12x512x64xf16>) -> tensor<8x12x512x64xf32>
  %10 = kernel.cast %k : (tensor<8x12x512x64xf16>) -> tensor<8x12x512x64xf32>
  %11 = kernel.square %10 : (tensor<8x12x512x64xf32>) -> tensor<8x12x512x64xf32>
  %12 = kernel.reduce_sum %11 {dims = array<i64: 3>} : (tensor<8x12x512x64xf32>) -> tensor<8x12x512x1xf32>
  %13 = kernel.constant {value = 1.000000e-06 : f32} : tensor<1x1x1x1xf32>
  %14 = kernel.add %12, %13 : (tensor<8x12x512x1xf32>, tensor<1x1x1x1xf32>) -> tensor<8x12x512x1xf32>
  %15 = kernel.rsqrt %14 : (tensor<8x12x512x1xf32>) -> tensor<8x12x512x1xf32>
  %16 = kernel.mul %9, %15 : (tensor<8x12x512x64xf32>, tensor<8x12x512x1xf32>) -> tensor<8x12x512x64xf32>
  %17 = kernel.cast %16 : (tensor<8x12x512x64xf32>) -> tensor<8x12x512x64xf16>
  %18 = kernel.transpose %17 {permutation = array<i64: 0, 1, 3, 2>} : (tensor<8x12x512x64xf16>) -> tensor<8x12x64x512xf16>
  %19 = kernel.matmul %8, %18 : (tensor<8x12x512x64xf16>, tensor<8x12x64x512xf16>) -> tensor<8x12x512x512xf16>
  %20 = kernel.cast %19 : (tensor<8x12x512x512xf16>) -> tensor<8x12x512x512xf32>
  %21 = kernel.scale %20 {factor = 1.000000e+01 : f32} : (tensor<8x12x512x512xf32>) -> tensor<8x12x512x512xf32>
  %22 = kernel.softmax %21 {dim = 3 : i64} : (tensor<8x12x512x512xf32>) -> tensor<8x12x512x512xf32>
  %23 = kernel.cast %22 : (tensor<8x12x512x512xf32>) -> tensor<8x12x512x512xf16>
  %24 = kernel.matmul %23, %v : (tensor<8x12x512x512xf16>, tensor<8x12x512x64xf16>) -> tensor<8x12x512x64xf16>
  func.return %24 : tensor<8x12x512x64xf16>
}

func.func @sigmoid_attention(%q: tensor<16x16x1024x64xf16>, %k: tensor<16x16x1024x64xf16>, %v: tensor<16x16x1024x64xf16>) -> tensor<16x16x1024x64xf16> {
  %0 = kernel.transpose %k {permutation = array<i64: 0, 1, 3, 2>} : (tensor<16x16x1024x64xf16>) -> tensor<16x16x64x1024xf16>
  %1 = kernel.matmul %q, %0 : (tensor<16x16x1024x64xf16>, tensor<16x16x64x1024xf16>) -> tensor<16x16x1024x1024xf16>
  %2 = kernel.cast %1 : (tensor<16x16x1024x1024xf16>) -> tensor<16x16x1024x1024xf32>
  %3 = kernel.scale %2 {factor = 1.250000e-01 : f32} : (tensor<16x16x1024x1024xf32>) -> tensor<16x16x1024x1024xf32>
  %4 = kernel.constant {value = 6.900000e+00 : f32} : tensor<1x1x1x1xf32>
  %5 = kernel.sub %3, %4 : (tensor<16x16x1024x1024xf32>, tensor<1x1x1x1xf32>) -> tensor<16x16x1024x1024xf32>
  %6 = kernel.sigmoid %5 : (tensor<16x16x1024x1024xf32>) -> tensor<16x16x1024x1024xf32>
  %7 = kernel.cast %6 : (tensor<16x16x1024x1024xf32>) -> tensor<16x16x1024x1024xf16>
  %8 = kernel.matmul %7, %v : (tensor<16x16x1024x1024xf16>, tensor<16x16x1024x64xf16>) -> tensor<16x16x1024x64xf16>
  func.return %8 : tensor<16x16x1024x64xf16>
}

func.func @perceiver(%q: tensor<8x256x64xf16>, %k: tensor<8x8192x64xf16>, %v: tensor<8x8192x64xf16>) -> tensor<8x256x64xf16> {
  %0 = kernel.transpose %k {permutation = array<i64: 0, 2, 1>} : (tensor<8x8192x64xf16>) -> tensor<8x64x8192xf16>
  %1 = kernel.matmul %q, %0 : (tensor<8x256x64xf16>, tensor<8x64x8192xf16>) -> tensor<8x256x8192xf16>
  %2 = kernel.cast %1 : (tensor<8x256x8192xf16>) -> tensor<8x256x8192xf32>
  %3 = kernel.scale %2 {factor = 1.250000e-01 : f32} : (tensor<8x256x8192xf32>) -> tensor<8x256x8192xf32>
  %4 = kernel.softmax %3 {dim = 2 : i64} : (tensor<8x256x8192xf32>) -> tensor<8x256x8192xf32>
  %5 = kernel.cast %4 : (tensor<8x256x8192xf32>) -> tensor<8x256x8192xf16>
  %6 = kernel.matmul %5, %v : (tensor<8x256x8192xf16>, tensor<8x8192x64xf16>) -> tensor<8x256x64xf16>
  func.return %6 : tensor<8x256x64xf16>
}

func.func @gemma_decode(%q: tensor<32x8x256xbf16>, %k: tensor<32x1x2048x256xbf16>, %v: tensor<32x1x2048x256xbf16>) -> tensor<32x1x8x256xbf16> {
  %0 = kernel.reshape %q : (tensor<32x8x256xbf16>) -> tensor<32x1x8x256xbf16>
  %1 = kernel.transpose %k {permutation = array<i64: 0, 1, 3, 2>} : (tensor<32x1x2048x256xbf16>) -> tensor<32x1x256x2048xbf16>
  %2 = kernel.matmul %0, %1 : (tensor<32x1x8x256xbf16>, tensor<32x1x256x2048xbf16>) -> tensor<32x1x8x2048xbf16>
  %3 = kernel.cast %2 : (tensor<32x1x8x2048xbf16>) -> tensor<32x1x8x2048xf32>
  %4 = kernel.scale %3 {factor = 6.250000e-02 : f32} : (tensor<32x1x8x2048xf32>) -> tensor<32x1x8x2048xf32>
  %5 = kernel.softmax %4 {dim = 3 : i64} : (tensor<32x1x8x2048xf32>) -> tensor<32x1x8x2048xf32>
  %6 = kernel.cast %5 : (tensor<32x1x8x2048xf32>) -> tensor<32x1x8x2048xbf16>
  %7 = kernel.matmul %6, %v : (tensor<32x1x8x2048xbf16>, tensor<32x1x2048x256xbf16>) -> tensor<32x1x8x256xbf16>
  func.return %7 : tensor<32x1x8x256xbf16>
}

func.func @qknorm_decode(%q: tensor<4x8x1x128xbf16>, %k: tensor<4x8x1024x128xbf16>, %v: tensor<4x8x1024x128xbf16>) -> tensor<4x8x1x128xbf16> {
  %0 = kernel.cast %q : (tensor<4x8x1x128xbf16>) -> tensor<4x8x1x128xf32>
  %1 = kernel.cast %q : (tensor<4x8x1x128xbf16>) -> tensor<4x8x1x128xf32>
  %2 = kernel.square %1 : (tensor<4x8x1x128xf32>) -> tensor<4x8x1x128xf32>
  %3 = kernel.reduce_mean %2 {dims = array<i64: 3>} : (tensor<4x8x1x128xf32>) -> tensor<4x8x1x1xf32>
  %4 = kernel.constant {value = 1.000000e-06 : f32} : tensor<1x1x1x1xf32>
  %5 = kernel.add %3, %4 : (tensor<4x8x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<4x8x1x1xf32>
  %6 = kernel.rsqrt %5 : (tensor<4x8x1x1xf32>) -> tensor<4x8x1x1xf32>
  %7 = kernel.mul %0, %6 : (tensor<4x8x1x128xf32>, tensor<4x8x1x1xf32>) -> tensor<4x8x1x128xf32>
  %8 = kernel.cast %7 : (tensor<4x8x1x128xf32>) -> tensor<4x8x1x128xbf16>
  %9 = kernel.cast %k : (tensor<4x8x1024x128xbf16>) -> tensor<4x8x1024x128xf32>
  %10 = kernel.cast %k : (tensor<4x8x1024x128xbf16>) -> tensor<4x8x1024x128xf32>
  %11 = kernel.square %10 : (tensor<4x8x1024x128xf32>) -> tensor<4x8x1024x128xf32>
  %12 = kernel.reduce_mean %11 {dims = array<i64: 3>} : (tensor<4x8x1024x128xf32>) -> tensor<4x8x1024x1xf32>
  %13 = kernel.constant {value = 1.000000e-06 : f32} : tensor<1x1x1x1xf32>
  %14 = kernel.add %12, %13 : (tensor<4x8x1024x1xf32>, tensor<1x1x1x1xf32>) -> tensor<4x8x1024x1xf32>
  %15 = kernel.rsqrt %14 : (tensor<4x8x1024x1xf32>) -> tensor<4x8x1024x1xf32>
  %16 = kernel.mul %9, %15 : (tensor<4x8x1024x128xf32>, tensor<4x8x1024x1xf32>) -> tensor<4x8x1024x128xf32>
  %17 = kernel.cast %16 : (tensor<4x8x1024x128xf32>) -> tensor<4x8x1024x128xbf16>
  %18 = kernel.transpose %17 {permutation = array<i64: 0, 1, 3, 2>} : (tensor<4x8x1024x128xbf16>) -> tensor<4x8x128x1024xbf16>
  %19 = kernel.matmul %8, %18 : (tensor<4x8x1x128xbf16>, tensor<4x8x128x1024xbf16>) -> tensor<4x8x1x1024xbf16>
  %20 = kernel.cast %19 : (tensor<4x8x1x1024xbf16>) -> tensor<4x8x1x1024xf32>
  %21 = kernel.scale %20 {factor = 8.800000e-02 : f32} : (tensor<4x8x1x1024xf32>) -> tensor<4x8x1x1024xf32>
  %22 = kernel.softmax %21 {dim = 3 : i64} : (tensor<4x8x1x1024xf32>) -> tensor<4x8x1x1024xf32>
  %23 = kernel.cast %22 : (tensor<4x8x1x1024xf32>) -> tensor<4x8x1x1024xbf16>
  %24 = kernel.matmul %23, %v : (tensor<4x8x1x1024xbf16>, tensor<4x8x1024x128xbf16>) -> tensor<4x8x1x128xbf16>
  func.return %24 : tensor<4x8x1x128xbf16>
}

func.func @swin2_windows(%q: tensor<256x64x32xf16>, %k: tensor<256x64x32xf16>, %v: tensor<256x64x32xf16>) -> tensor<256x64x32xf16> {
  %0 = kernel.cast %q : (tensor<256x64x32xf16>) -> tensor<256x64x32xf32>
  %1 = kernel.cast %q : (tensor<256x64x32xf16>) -> tensor<256x64x32xf32>
  %2 = kernel.square %1 : (tensor<256x64x32xf32>) -> tensor<256x64x32xf32>
  %3 = kernel.reduce_sum %2 {dims = array<i64: 2>} : (tensor<256x64x32xf32>) -> tensor<256x64x1xf32>
  %4 = kernel.constant {value = 1.000000e-06 : f32} : tensor<1x1x1xf32>
  %5 = kernel.add %3, %4 : (tensor<256x64x1xf32>, tensor<1x1x1xf32>) -> tensor<256x64x1xf32>
  %6 = kernel.rsqrt %5 : (tensor<256x64x1xf32>) -> tensor<256x64x1xf32>
  %7 = kernel.mul %0, %6 : (tensor<256x64x32xf32>, tensor<256x64x1xf32>) -> tensor<256x64x32xf32>
  %8 = kernel.cast %7 : (tensor<256x64x32xf32>) -> tensor<256x64x32xf16>
  %9 = kernel.cast %k : (tensor<256x64x32xf16>) -> tensor<256x64x32xf32>
  %10 = kernel.cast %k : (tensor<256x64x32xf16>) -> tensor<256x64x32xf32>
  %11 = kernel.square %10 : (tensor<256x64x32xf32>) -> tensor<256x64x32xf32>
  %12 = kernel.reduce_sum %11 {dims = array<i64: 2>} : (tensor<256x64x32xf32>) -> tensor<256x64x1xf32>
  %13 = kernel.constant {value = 1.000000e-06 : f32} : tensor<1x1x1xf32>
  %14 = kernel.add %12, %13 : (tensor<256x64x1xf32>, tensor<1x1x1xf32>) -> tensor<256x64x1xf32>
  %15 = kernel.rsqrt %14 : (tensor<256x64x1xf32>) -> tensor<256x64x1xf32>
  %16 = kernel.mul %9, %15 : (tensor<256x64x32xf32>, tensor<256x64x1xf32>) -> tensor<256x64x32xf32>
  %17 = kernel.cast %16 : (tensor<256x64x32xf32>) -> tensor<256x64x32xf16>
  %18 = kernel.transpose %17 {permutation = array<i64: 0, 2, 1>} : (tensor<256x64x32xf16>) -> tensor<256x32x64xf16>
  %19 = kernel.matmul %8, %18 : (tensor<256x64x32xf16>, tensor<256x32x64xf16>) -> tensor<256x64x64xf16>
  %20 = kernel.cast %19 : (tensor<256x64x64xf16>) -> tensor<256x64x64xf32>
  %21 = kernel.scale %20 {factor = 8.000000e+00 : f32} : (tensor<256x64x64xf32>) -> tensor<256x64x64xf32>
  %22 = kernel.softmax %21 {dim = 2 : i64} : (tensor<256x64x64xf32>) -> tensor<256x64x64xf32>
  %23 = kernel.cast %22 : (tensor<256x64x64xf32>) -> tensor<256x64x64xf16>
  %24 = kernel.matmul %23, %v : (tensor<256x64x64xf16>, tensor<256x64x32xf16>) -> tensor<256x64x32xf16>
  func.return %24 : tensor<256x64x32xf16>
}

func.func @bert_base(%q: tensor<32x12x128x64xf16>, %k: tensor<32x12x128x64xf16>, %v: tensor<32x12x128x64xf16>, %m: tensor<32x1x1x128xf16>) -> tensor<32x12x128x64xf16> {
  %0 = kernel.transpose %k {permutation = array<i64: 0, 1, 3, 2>} : (tensor<32x12x128x64xf16>) -> tensor<32x12x64x128xf16>
  %1 = kernel.matmul %q, %0 : (tensor<32x12x128x64xf16>, tensor<32x12x64x128xf16>) -> tensor<32x12x128x128xf16>
  %2 = kernel.cast %1 : (tensor<32x12x128x128xf16>) -> tensor<32x12x128x128xf32>
  %3 = kernel.scale %2 {factor = 1.250000e-01 : f32} : (tensor<32x12x128x128xf32>) -> tensor<32x12x128x128xf32>
  %4 = kernel.cast %m : (tensor<32x1x1x128xf16>) -> tensor<32x1x1x128xf32>
  %5 = kernel.add %3, %4 : (tensor<32x12x128x128xf32>, tensor<32x1x1x128xf32>) -> tensor<32x12x128x128xf32>
  %6 = kernel.softmax %5 {dim = 3 : i64} : (tensor<32x12x128x128xf32>) -> tensor<32x12x128x128xf32>
  %7 = kernel.cast %6 : (tensor<32x12x128x128xf32>) -> tensor<32x12x128x128xf16>
  %8 = kernel.matmul %7, %v : (tensor<32x12x128x128xf16>, tensor<32x12x128x64xf16>) -> tensor<32x12x128x64xf16>
  func.return %8 : tensor<32x12x128x64xf16>
}

func.func @attention_f32(%q: tensor<8x512x64xf32>, %k: tensor<8x512x64xf32>, %v: tensor<8x512x64xf32>) -> tensor<8x512x64xf32> {
  %0 = kernel.transpose %k {permutation = array<i64: 0, 2, 1>} : (tensor<8x512x64xf32>) -> tensor<8x64x512xf32>
  %1 = kernel.matmul %q, %0 : (tensor<8x512x64xf32>, tensor<8x64x512xf32>) -> tensor<8x512x512xf32>
  %2 = kernel.scale %1 {factor = 1.250000e-01 : f32} : (tensor<8x512x512xf32>) -> tensor<8x512x512xf32>
  %3 = kernel.softmax %2 {dim = 2 : i64} : (tensor<8x512x512xf32>) -> tensor<8x512x512xf32>
  %4 = kernel.matmul %3, %v : (tensor<8x512x512xf32>, tensor<8x512x64xf32>) -> tensor<8x512x64xf32>
  func.return %4 : tensor<8x512x64xf32>
}

func.func @mamba2_chunk(%C: tensor<64x64x128xf16>, %B: tensor<64x64x128xf16>, %decay: tensor<64x64x64xf16>, %x: tensor<64x64x64xf16>) -> tensor<64x64x64xf16> {
  %0 = kernel.transpose %B {permutation = array<i64: 0, 2, 1>} : (tensor<64x64x128xf16>) -> tensor<64x128x64xf16>
  %1 = kernel.matmul %C, %0 : (tensor<64x64x128xf16>, tensor<64x128x64xf16>) -> tensor<64x64x64xf16>
  %2 = kernel.mul %1, %decay : (tensor<64x64x64xf16>, tensor<64x64x64xf16>) -> tensor<64x64x64xf16>
  %3 = kernel.matmul %2, %x : (tensor<64x64x64xf16>, tensor<64x64x64xf16>) -> tensor<64x64x64xf16>
  func.return %3 : tensor<64x64x64xf16>
}

func.func @weights_apply(%a: tensor<16x1024x1024xf16>, %v: tensor<16x1024x128xf16>) -> tensor<16x1024x128xf16> {
  %0 = kernel.matmul %a, %v : (tensor<16x1024x1024xf16>, tensor<16x1024x128xf16>) -> tensor<16x1024x128xf16>
  func.return %0 : tensor<16x1024x128xf16>
}
