// The logarithm of a mixture's density: 16,384 points of 16 coordinates, 32 Gaussians with a diagonal covariance, f32.
func.func @gaussian_mixture(%x: tensor<16384x16xf32>, %mu: tensor<32x16xf32>, %lv: tensor<32x16xf32>, %lw: tensor<32xf32>) -> tensor<16384xf32> {
  %0 = kernel.reshape %x : (tensor<16384x16xf32>) -> tensor<16384x1x16xf32>
  %1 = kernel.sub %0, %mu : (tensor<16384x1x16xf32>, tensor<32x16xf32>) -> tensor<16384x32x16xf32>
  %2 = kernel.mul %1, %1 : (tensor<16384x32x16xf32>, tensor<16384x32x16xf32>) -> tensor<16384x32x16xf32>
  %3 = kernel.neg %lv : (tensor<32x16xf32>) -> tensor<32x16xf32>
  %4 = kernel.exp %3 : (tensor<32x16xf32>) -> tensor<32x16xf32>
  %5 = kernel.mul %2, %4 : (tensor<16384x32x16xf32>, tensor<32x16xf32>) -> tensor<16384x32x16xf32>
  %6 = kernel.add %5, %lv : (tensor<16384x32x16xf32>, tensor<32x16xf32>) -> tensor<16384x32x16xf32>
  %7 = kernel.reduce_sum %6 {dims = array<i64: 2>} : (tensor<16384x32x16xf32>) -> tensor<16384x32x1xf32>
  %8 = kernel.reshape %7 : (tensor<16384x32x1xf32>) -> tensor<16384x32xf32>
  %9 = kernel.scale %8 {factor = -5.000000e-01 : f32} : (tensor<16384x32xf32>) -> tensor<16384x32xf32>
  %10 = kernel.add %9, %lw : (tensor<16384x32xf32>, tensor<32xf32>) -> tensor<16384x32xf32>
  %11 = kernel.reduce_max %10 {dims = array<i64: 1>} : (tensor<16384x32xf32>) -> tensor<16384x1xf32>
  %12 = kernel.sub %10, %11 : (tensor<16384x32xf32>, tensor<16384x1xf32>) -> tensor<16384x32xf32>
  %13 = kernel.exp %12 : (tensor<16384x32xf32>) -> tensor<16384x32xf32>
  %14 = kernel.reduce_sum %13 {dims = array<i64: 1>} : (tensor<16384x32xf32>) -> tensor<16384x1xf32>
  %15 = kernel.log %14 : (tensor<16384x1xf32>) -> tensor<16384x1xf32>
  %16 = kernel.add %11, %15 : (tensor<16384x1xf32>, tensor<16384x1xf32>) -> tensor<16384x1xf32>
  %17 = kernel.reshape %16 : (tensor<16384x1xf32>) -> tensor<16384xf32>
  func.return %17 : tensor<16384xf32>
}

// Naive Bayes with Gaussian features: 65,536 points of 12 features, 20 classes, f32.
func.func @naive_bayes(%x: tensor<65536x12xf32>, %mu: tensor<20x12xf32>, %iv: tensor<20x12xf32>) -> tensor<65536x20xf32> {
  %0 = kernel.reshape %x : (tensor<65536x12xf32>) -> tensor<65536x1x12xf32>
  %1 = kernel.sub %0, %mu : (tensor<65536x1x12xf32>, tensor<20x12xf32>) -> tensor<65536x20x12xf32>
  %2 = kernel.mul %1, %1 : (tensor<65536x20x12xf32>, tensor<65536x20x12xf32>) -> tensor<65536x20x12xf32>
  %3 = kernel.mul %2, %iv : (tensor<65536x20x12xf32>, tensor<20x12xf32>) -> tensor<65536x20x12xf32>
  %4 = kernel.reduce_sum %3 {dims = array<i64: 2>} : (tensor<65536x20x12xf32>) -> tensor<65536x20x1xf32>
  %5 = kernel.reshape %4 : (tensor<65536x20x1xf32>) -> tensor<65536x20xf32>
  %6 = kernel.scale %5 {factor = -5.000000e-01 : f32} : (tensor<65536x20xf32>) -> tensor<65536x20xf32>
  %7 = kernel.reduce_max %6 {dims = array<i64: 1>} : (tensor<65536x20xf32>) -> tensor<65536x1xf32>
  %8 = kernel.sub %6, %7 : (tensor<65536x20xf32>, tensor<65536x1xf32>) -> tensor<65536x20xf32>
  %9 = kernel.exp %8 : (tensor<65536x20xf32>) -> tensor<65536x20xf32>
  %10 = kernel.reduce_sum %9 {dims = array<i64: 1>} : (tensor<65536x20xf32>) -> tensor<65536x1xf32>
  %11 = kernel.log %10 : (tensor<65536x1xf32>) -> tensor<65536x1xf32>
  %12 = kernel.add %7, %11 : (tensor<65536x1xf32>, tensor<65536x1xf32>) -> tensor<65536x1xf32>
  %13 = kernel.sub %6, %12 : (tensor<65536x20xf32>, tensor<65536x1xf32>) -> tensor<65536x20xf32>
  func.return %13 : tensor<65536x20xf32>
}

// A soft minimum of the distances to 100 codes: 8,448 vectors of 7 numbers, f32.
func.func @codebook(%x: tensor<256x33x7xf32>, %c: tensor<100x7xf32>) -> tensor<256x33xf32> {
  %0 = kernel.reshape %x : (tensor<256x33x7xf32>) -> tensor<256x33x1x7xf32>
  %1 = kernel.sub %0, %c : (tensor<256x33x1x7xf32>, tensor<100x7xf32>) -> tensor<256x33x100x7xf32>
  %2 = kernel.square %1 : (tensor<256x33x100x7xf32>) -> tensor<256x33x100x7xf32>
  %3 = kernel.reduce_sum %2 {dims = array<i64: 3>} : (tensor<256x33x100x7xf32>) -> tensor<256x33x100x1xf32>
  %4 = kernel.reshape %3 : (tensor<256x33x100x1xf32>) -> tensor<256x33x100xf32>
  %5 = kernel.neg %4 : (tensor<256x33x100xf32>) -> tensor<256x33x100xf32>
  %6 = kernel.reduce_max %5 {dims = array<i64: 2>} : (tensor<256x33x100xf32>) -> tensor<256x33x1xf32>
  %7 = kernel.sub %5, %6 : (tensor<256x33x100xf32>, tensor<256x33x1xf32>) -> tensor<256x33x100xf32>
  %8 = kernel.exp %7 : (tensor<256x33x100xf32>) -> tensor<256x33x100xf32>
  %9 = kernel.reduce_sum %8 {dims = array<i64: 2>} : (tensor<256x33x100xf32>) -> tensor<256x33x1xf32>
  %10 = kernel.log %9 : (tensor<256x33x1xf32>) -> tensor<256x33x1xf32>
  %11 = kernel.add %6, %10 : (tensor<256x33x1xf32>, tensor<256x33x1xf32>) -> tensor<256x33x1xf32>
  %12 = kernel.reshape %11 : (tensor<256x33x1xf32>) -> tensor<256x33xf32>
  %13 = kernel.neg %12 : (tensor<256x33xf32>) -> tensor<256x33xf32>
  func.return %13 : tensor<256x33xf32>
}

// Sums of absolute differences: 2,048 points by as many others, 16 coordinates, f32.
func.func @manhattan(%x: tensor<2048x16xf32>, %y: tensor<2048x16xf32>) -> tensor<2048x2048xf32> {
  %0 = kernel.reshape %x : (tensor<2048x16xf32>) -> tensor<2048x1x16xf32>
  %1 = kernel.sub %0, %y : (tensor<2048x1x16xf32>, tensor<2048x16xf32>) -> tensor<2048x2048x16xf32>
  %2 = kernel.abs %1 : (tensor<2048x2048x16xf32>) -> tensor<2048x2048x16xf32>
  %3 = kernel.reduce_sum %2 {dims = array<i64: 2>} : (tensor<2048x2048x16xf32>) -> tensor<2048x2048x1xf32>
  %4 = kernel.reshape %3 : (tensor<2048x2048x1xf32>) -> tensor<2048x2048xf32>
  func.return %4 : tensor<2048x2048xf32>
}

// Kernel regression: 4,096 points, 512 centres of 8 coordinates, 32 values of each, f32.
func.func @nadaraya_watson(%x: tensor<4096x8xf32>, %c: tensor<512x8xf32>, %v: tensor<512x32xf32>) -> tensor<4096x32xf32> {
  %0 = kernel.reshape %x : (tensor<4096x8xf32>) -> tensor<4096x1x8xf32>
  %1 = kernel.sub %0, %c : (tensor<4096x1x8xf32>, tensor<512x8xf32>) -> tensor<4096x512x8xf32>
  %2 = kernel.square %1 : (tensor<4096x512x8xf32>) -> tensor<4096x512x8xf32>
  %3 = kernel.reduce_sum %2 {dims = array<i64: 2>} : (tensor<4096x512x8xf32>) -> tensor<4096x512x1xf32>
  %4 = kernel.reshape %3 : (tensor<4096x512x1xf32>) -> tensor<4096x512xf32>
  %5 = kernel.neg %4 : (tensor<4096x512xf32>) -> tensor<4096x512xf32>
  %6 = kernel.softmax %5 {dim = 1 : i64} : (tensor<4096x512xf32>) -> tensor<4096x512xf32>
  %7 = kernel.matmul %6, %v : (tensor<4096x512xf32>, tensor<512x32xf32>) -> tensor<4096x32xf32>
  func.return %7 : tensor<4096x32xf32>
}

// Attention by squared distances of 64 points of each of 512 residues, as in AlphaFold, f32.
func.func @point_attention(%q: tensor<512x64x3xf32>, %k: tensor<512x64x3xf32>, %g: tensor<64xf32>) -> tensor<512x512xf32> {
  %0 = kernel.reshape %q : (tensor<512x64x3xf32>) -> tensor<512x1x64x3xf32>
  %1 = kernel.reshape %k : (tensor<512x64x3xf32>) -> tensor<1x512x64x3xf32>
  %2 = kernel.sub %0, %1 : (tensor<512x1x64x3xf32>, tensor<1x512x64x3xf32>) -> tensor<512x512x64x3xf32>
  %3 = kernel.square %2 : (tensor<512x512x64x3xf32>) -> tensor<512x512x64x3xf32>
  %4 = kernel.reduce_sum %3 {dims = array<i64: 3>} : (tensor<512x512x64x3xf32>) -> tensor<512x512x64x1xf32>
  %5 = kernel.reshape %4 : (tensor<512x512x64x1xf32>) -> tensor<512x512x64xf32>
  %6 = kernel.neg %5 : (tensor<512x512x64xf32>) -> tensor<512x512x64xf32>
  %7 = kernel.relu %g : (tensor<64xf32>) -> tensor<64xf32>
  %8 = kernel.abs %g : (tensor<64xf32>) -> tensor<64xf32>
  %9 = kernel.neg %8 : (tensor<64xf32>) -> tensor<64xf32>
  %10 = kernel.exp %9 : (tensor<64xf32>) -> tensor<64xf32>
  %11 = kernel.log1p %10 : (tensor<64xf32>) -> tensor<64xf32>
  %12 = kernel.add %7, %11 : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %13 = kernel.mul %6, %12 : (tensor<512x512x64xf32>, tensor<64xf32>) -> tensor<512x512x64xf32>
  %14 = kernel.reduce_sum %13 {dims = array<i64: 2>} : (tensor<512x512x64xf32>) -> tensor<512x512x1xf32>
  %15 = kernel.reshape %14 : (tensor<512x512x1xf32>) -> tensor<512x512xf32>
  %16 = kernel.softmax %15 {dim = 1 : i64} : (tensor<512x512xf32>) -> tensor<512x512xf32>
  func.return %16 : tensor<512x512xf32>
}

// Graph attention by a network of sums of pairs (GATv2): 4 heads, 256 nodes, 64 features, f32.
func.func @gatv2(%l: tensor<4x256x64xf32>, %r: tensor<4x256x64xf32>, %a: tensor<64xf32>, %adj: tensor<256x256xf32>) -> tensor<4x256x64xf32> {
  %0 = kernel.reshape %l : (tensor<4x256x64xf32>) -> tensor<4x256x1x64xf32>
  %1 = kernel.reshape %r : (tensor<4x256x64xf32>) -> tensor<4x1x256x64xf32>
  %2 = kernel.add %0, %1 : (tensor<4x256x1x64xf32>, tensor<4x1x256x64xf32>) -> tensor<4x256x256x64xf32>
  %3 = kernel.scale %2 {factor = 2.000000e-01 : f32} : (tensor<4x256x256x64xf32>) -> tensor<4x256x256x64xf32>
  %4 = kernel.constant {value = 0.000000e+00 : f32} : tensor<1x1x1x1xf32>
  %5 = kernel.compare %2, %4 {predicate = "gt"} : (tensor<4x256x256x64xf32>, tensor<1x1x1x1xf32>) -> tensor<4x256x256x64xf32>
  %6 = kernel.select %5, %2, %3 : (tensor<4x256x256x64xf32>, tensor<4x256x256x64xf32>, tensor<4x256x256x64xf32>) -> tensor<4x256x256x64xf32>
  %7 = kernel.mul %6, %a : (tensor<4x256x256x64xf32>, tensor<64xf32>) -> tensor<4x256x256x64xf32>
  %8 = kernel.reduce_sum %7 {dims = array<i64: 3>} : (tensor<4x256x256x64xf32>) -> tensor<4x256x256x1xf32>
  %9 = kernel.reshape %8 : (tensor<4x256x256x1xf32>) -> tensor<4x256x256xf32>
  %10 = kernel.add %9, %adj : (tensor<4x256x256xf32>, tensor<256x256xf32>) -> tensor<4x256x256xf32>
  %11 = kernel.softmax %10 {dim = 2 : i64} : (tensor<4x256x256xf32>) -> tensor<4x256x256xf32>
  %12 = kernel.matmul %11, %r : (tensor<4x256x256xf32>, tensor<4x256x64xf32>) -> tensor<4x256x64xf32>
  func.return %12 : tensor<4x256x64xf32>
}

// Additive attention: 64 queries and 256 keys of 128 features in 8 sequences, f16.
func.func @additive_attention(%q: tensor<8x64x128xf16>, %k: tensor<8x256x128xf16>, %v: tensor<128xf16>, %x: tensor<8x256x128xf16>) -> tensor<8x64x128xf16> {
  %0 = kernel.reshape %q : (tensor<8x64x128xf16>) -> tensor<8x64x1x128xf16>
  %1 = kernel.reshape %k : (tensor<8x256x128xf16>) -> tensor<8x1x256x128xf16>
  %2 = kernel.add %0, %1 : (tensor<8x64x1x128xf16>, tensor<8x1x256x128xf16>) -> tensor<8x64x256x128xf16>
  %3 = kernel.tanh %2 : (tensor<8x64x256x128xf16>) -> tensor<8x64x256x128xf16>
  %4 = kernel.cast %3 : (tensor<8x64x256x128xf16>) -> tensor<8x64x256x128xf32>
  %5 = kernel.cast %v : (tensor<128xf16>) -> tensor<128xf32>
  %6 = kernel.mul %4, %5 : (tensor<8x64x256x128xf32>, tensor<128xf32>) -> tensor<8x64x256x128xf32>
  %7 = kernel.reduce_sum %6 {dims = array<i64: 3>} : (tensor<8x64x256x128xf32>) -> tensor<8x64x256x1xf32>
  %8 = kernel.reshape %7 : (tensor<8x64x256x1xf32>) -> tensor<8x64x256xf32>
  %9 = kernel.softmax %8 {dim = 2 : i64} : (tensor<8x64x256xf32>) -> tensor<8x64x256xf32>
  %10 = kernel.cast %9 : (tensor<8x64x256xf32>) -> tensor<8x64x256xf16>
  %11 = kernel.matmul %10, %x : (tensor<8x64x256xf16>, tensor<8x256x128xf16>) -> tensor<8x64x128xf16>
  func.return %11 : tensor<8x64x128xf16>
}

// Accelerations of 1,024 bodies, f32.
func.func @gravity(%p: tensor<1024x3xf32>, %q: tensor<1024x3xf32>, %m: tensor<1024xf32>) -> tensor<1024x3xf32> {
  %0 = kernel.reshape %q : (tensor<1024x3xf32>) -> tensor<1x1024x3xf32>
  %1 = kernel.reshape %p : (tensor<1024x3xf32>) -> tensor<1024x1x3xf32>
  %2 = kernel.sub %0, %1 : (tensor<1x1024x3xf32>, tensor<1024x1x3xf32>) -> tensor<1024x1024x3xf32>
  %3 = kernel.mul %2, %2 : (tensor<1024x1024x3xf32>, tensor<1024x1024x3xf32>) -> tensor<1024x1024x3xf32>
  %4 = kernel.reduce_sum %3 {dims = array<i64: 2>} : (tensor<1024x1024x3xf32>) -> tensor<1024x1024x1xf32>
  %5 = kernel.constant {value = 1.000000e-02 : f32} : tensor<1x1x1xf32>
  %6 = kernel.add %4, %5 : (tensor<1024x1024x1xf32>, tensor<1x1x1xf32>) -> tensor<1024x1024x1xf32>
  %7 = kernel.reshape %m : (tensor<1024xf32>) -> tensor<1x1024xf32>
  %8 = kernel.reshape %7 : (tensor<1x1024xf32>) -> tensor<1x1024x1xf32>
  %9 = kernel.mul %2, %8 : (tensor<1024x1024x3xf32>, tensor<1x1024x1xf32>) -> tensor<1024x1024x3xf32>
  %10 = kernel.rsqrt %6 : (tensor<1024x1024x1xf32>) -> tensor<1024x1024x1xf32>
  %11 = kernel.mul %9, %10 : (tensor<1024x1024x3xf32>, tensor<1024x1024x1xf32>) -> tensor<1024x1024x3xf32>
  %12 = kernel.div %11, %6 : (tensor<1024x1024x3xf32>, tensor<1024x1024x1xf32>) -> tensor<1024x1024x3xf32>
  %13 = kernel.reduce_sum %12 {dims = array<i64: 1>} : (tensor<1024x1024x3xf32>) -> tensor<1024x1x3xf32>
  %14 = kernel.reshape %13 : (tensor<1024x1x3xf32>) -> tensor<1024x3xf32>
  func.return %14 : tensor<1024x3xf32>
}

// A layer of radial basis functions on edges: 1,024 rows, 256 inputs, 8 centres, bf16.
func.func @kan_rbf(%x: tensor<1024x256xbf16>, %w: tensor<1024x256x8xbf16>, %c: tensor<8xbf16>) -> tensor<1024xbf16> {
  %0 = kernel.reshape %x : (tensor<1024x256xbf16>) -> tensor<1024x256x1xbf16>
  %1 = kernel.sub %0, %c : (tensor<1024x256x1xbf16>, tensor<8xbf16>) -> tensor<1024x256x8xbf16>
  %2 = kernel.scale %1 {factor = 2.000000e+00 : f32} : (tensor<1024x256x8xbf16>) -> tensor<1024x256x8xbf16>
  %3 = kernel.square %2 : (tensor<1024x256x8xbf16>) -> tensor<1024x256x8xbf16>
  %4 = kernel.neg %3 : (tensor<1024x256x8xbf16>) -> tensor<1024x256x8xbf16>
  %5 = kernel.exp %4 : (tensor<1024x256x8xbf16>) -> tensor<1024x256x8xbf16>
  %6 = kernel.mul %5, %w : (tensor<1024x256x8xbf16>, tensor<1024x256x8xbf16>) -> tensor<1024x256x8xbf16>
  %7 = kernel.reduce_sum %6 {dims = array<i64: 2, 1>} : (tensor<1024x256x8xbf16>) -> tensor<1024x1x1xbf16>
  %8 = kernel.reshape %7 : (tensor<1024x1x1xbf16>) -> tensor<1024xbf16>
  func.return %8 : tensor<1024xbf16>
}
