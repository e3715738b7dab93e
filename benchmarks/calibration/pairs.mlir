// Programs over pairs of rows, and sums of short rows, of sizes that no table has.

// Sums of absolute differences of 24 coordinates, f32.
func.func @pairs_absolute(%x: tensor<1536x24xf32>, %y: tensor<1280x24xf32>) -> tensor<1536x1280xf32> {
  %0 = kernel.reshape %x : (tensor<1536x24xf32>) -> tensor<1536x1x24xf32>
  %1 = kernel.sub %0, %y : (tensor<1536x1x24xf32>, tensor<1280x24xf32>) -> tensor<1536x1280x24xf32>
  %2 = kernel.abs %1 : (tensor<1536x1280x24xf32>) -> tensor<1536x1280x24xf32>
  %3 = kernel.reduce_sum %2 {dims = array<i64: 2>} : (tensor<1536x1280x24xf32>) -> tensor<1536x1280x1xf32>
  %4 = kernel.reshape %3 : (tensor<1536x1280x1xf32>) -> tensor<1536x1280xf32>
  func.return %4 : tensor<1536x1280xf32>
}

// Largest differences of 48 coordinates, f16.
func.func @pairs_largest(%x: tensor<3000x48xf16>, %y: tensor<700x48xf16>) -> tensor<3000x700xf16> {
  %0 = kernel.reshape %x : (tensor<3000x48xf16>) -> tensor<3000x1x48xf16>
  %1 = kernel.sub %0, %y : (tensor<3000x1x48xf16>, tensor<700x48xf16>) -> tensor<3000x700x48xf16>
  %2 = kernel.abs %1 : (tensor<3000x700x48xf16>) -> tensor<3000x700x48xf16>
  %3 = kernel.reduce_max %2 {dims = array<i64: 2>} : (tensor<3000x700x48xf16>) -> tensor<3000x700x1xf16>
  %4 = kernel.reshape %3 : (tensor<3000x700x1xf16>) -> tensor<3000x700xf16>
  func.return %4 : tensor<3000x700xf16>
}

// Sums of absolute differences of 5 coordinates, f32.
func.func @pairs_few(%x: tensor<4096x5xf32>, %y: tensor<1000x5xf32>) -> tensor<4096x1000xf32> {
  %0 = kernel.reshape %x : (tensor<4096x5xf32>) -> tensor<4096x1x5xf32>
  %1 = kernel.sub %0, %y : (tensor<4096x1x5xf32>, tensor<1000x5xf32>) -> tensor<4096x1000x5xf32>
  %2 = kernel.abs %1 : (tensor<4096x1000x5xf32>) -> tensor<4096x1000x5xf32>
  %3 = kernel.reduce_sum %2 {dims = array<i64: 2>} : (tensor<4096x1000x5xf32>) -> tensor<4096x1000x1xf32>
  %4 = kernel.reshape %3 : (tensor<4096x1000x1xf32>) -> tensor<4096x1000xf32>
  func.return %4 : tensor<4096x1000xf32>
}

// The logarithm of sums of 24 Gaussians of 16 coordinates, f32.
func.func @mixture_24(%x: tensor<10240x16xf32>, %y: tensor<24x16xf32>, %w: tensor<24x16xf32>) -> tensor<10240x1xf32> {
  %0 = kernel.reshape %x : (tensor<10240x16xf32>) -> tensor<10240x1x16xf32>
  %1 = kernel.sub %0, %y : (tensor<10240x1x16xf32>, tensor<24x16xf32>) -> tensor<10240x24x16xf32>
  %2 = kernel.square %1 : (tensor<10240x24x16xf32>) -> tensor<10240x24x16xf32>
  %3 = kernel.mul %2, %w : (tensor<10240x24x16xf32>, tensor<24x16xf32>) -> tensor<10240x24x16xf32>
  %4 = kernel.reduce_sum %3 {dims = array<i64: 2>} : (tensor<10240x24x16xf32>) -> tensor<10240x24x1xf32>
  %5 = kernel.reshape %4 : (tensor<10240x24x1xf32>) -> tensor<10240x24xf32>
  %6 = kernel.scale %5 {factor = -5.000000e-01 : f32} : (tensor<10240x24xf32>) -> tensor<10240x24xf32>
  %7 = kernel.reduce_max %6 {dims = array<i64: 1>} : (tensor<10240x24xf32>) -> tensor<10240x1xf32>
  %8 = kernel.sub %6, %7 : (tensor<10240x24xf32>, tensor<10240x1xf32>) -> tensor<10240x24xf32>
  %9 = kernel.exp %8 : (tensor<10240x24xf32>) -> tensor<10240x24xf32>
  %10 = kernel.reduce_sum %9 {dims = array<i64: 1>} : (tensor<10240x24xf32>) -> tensor<10240x1xf32>
  %11 = kernel.log %10 : (tensor<10240x1xf32>) -> tensor<10240x1xf32>
  %12 = kernel.add %7, %11 : (tensor<10240x1xf32>, tensor<10240x1xf32>) -> tensor<10240x1xf32>
  func.return %12 : tensor<10240x1xf32>
}

// The probabilities of 18 classes by 10 features, f32.
func.func @classes_18(%x: tensor<50000x10xf32>, %y: tensor<18x10xf32>, %w: tensor<18x10xf32>) -> tensor<50000x18xf32> {
  %0 = kernel.reshape %x : (tensor<50000x10xf32>) -> tensor<50000x1x10xf32>
  %1 = kernel.sub %0, %y : (tensor<50000x1x10xf32>, tensor<18x10xf32>) -> tensor<50000x18x10xf32>
  %2 = kernel.square %1 : (tensor<50000x18x10xf32>) -> tensor<50000x18x10xf32>
  %3 = kernel.mul %2, %w : (tensor<50000x18x10xf32>, tensor<18x10xf32>) -> tensor<50000x18x10xf32>
  %4 = kernel.reduce_sum %3 {dims = array<i64: 2>} : (tensor<50000x18x10xf32>) -> tensor<50000x18x1xf32>
  %5 = kernel.reshape %4 : (tensor<50000x18x1xf32>) -> tensor<50000x18xf32>
  %6 = kernel.scale %5 {factor = -5.000000e-01 : f32} : (tensor<50000x18xf32>) -> tensor<50000x18xf32>
  %7 = kernel.softmax %6 {dim = 1 : i64} : (tensor<50000x18xf32>) -> tensor<50000x18xf32>
  func.return %7 : tensor<50000x18xf32>
}

// Soft assignments to 96 codes of 8 numbers, f32.
func.func @codes_96(%x: tensor<7680x8xf32>, %y: tensor<96x8xf32>, %w: tensor<96x8xf32>) -> tensor<7680x96xf32> {
  %0 = kernel.reshape %x : (tensor<7680x8xf32>) -> tensor<7680x1x8xf32>
  %1 = kernel.sub %0, %y : (tensor<7680x1x8xf32>, tensor<96x8xf32>) -> tensor<7680x96x8xf32>
  %2 = kernel.square %1 : (tensor<7680x96x8xf32>) -> tensor<7680x96x8xf32>
  %3 = kernel.mul %2, %w : (tensor<7680x96x8xf32>, tensor<96x8xf32>) -> tensor<7680x96x8xf32>
  %4 = kernel.reduce_sum %3 {dims = array<i64: 2>} : (tensor<7680x96x8xf32>) -> tensor<7680x96x1xf32>
  %5 = kernel.reshape %4 : (tensor<7680x96x1xf32>) -> tensor<7680x96xf32>
  %6 = kernel.scale %5 {factor = -5.000000e-01 : f32} : (tensor<7680x96xf32>) -> tensor<7680x96xf32>
  %7 = kernel.softmax %6 {dim = 1 : i64} : (tensor<7680x96xf32>) -> tensor<7680x96xf32>
  func.return %7 : tensor<7680x96xf32>
}

// Soft assignments to 64 codes of 32 numbers, f16.
func.func @codes_64_f16(%x: tensor<8192x32xf16>, %y: tensor<64x32xf16>, %w: tensor<64x32xf16>) -> tensor<8192x64xf16> {
  %0 = kernel.reshape %x : (tensor<8192x32xf16>) -> tensor<8192x1x32xf16>
  %1 = kernel.sub %0, %y : (tensor<8192x1x32xf16>, tensor<64x32xf16>) -> tensor<8192x64x32xf16>
  %2 = kernel.square %1 : (tensor<8192x64x32xf16>) -> tensor<8192x64x32xf16>
  %3 = kernel.mul %2, %w : (tensor<8192x64x32xf16>, tensor<64x32xf16>) -> tensor<8192x64x32xf16>
  %4 = kernel.reduce_sum %3 {dims = array<i64: 2>} : (tensor<8192x64x32xf16>) -> tensor<8192x64x1xf16>
  %5 = kernel.reshape %4 : (tensor<8192x64x1xf16>) -> tensor<8192x64xf16>
  %6 = kernel.scale %5 {factor = -5.000000e-01 : f32} : (tensor<8192x64xf16>) -> tensor<8192x64xf16>
  %7 = kernel.softmax %6 {dim = 1 : i64} : (tensor<8192x64xf16>) -> tensor<8192x64xf16>
  func.return %7 : tensor<8192x64xf16>
}

// Additive attention's weights, 96 features, f16.
func.func @scores_tanh(%q: tensor<8x96x96xf16>, %k: tensor<8x320x96xf16>, %a: tensor<96xf16>) -> tensor<8x96x320xf16> {
  %0 = kernel.reshape %q : (tensor<8x96x96xf16>) -> tensor<8x96x1x96xf16>
  %1 = kernel.reshape %k : (tensor<8x320x96xf16>) -> tensor<8x1x320x96xf16>
  %2 = kernel.add %0, %1 : (tensor<8x96x1x96xf16>, tensor<8x1x320x96xf16>) -> tensor<8x96x320x96xf16>
  %3 = kernel.tanh %2 : (tensor<8x96x320x96xf16>) -> tensor<8x96x320x96xf16>
  %4 = kernel.mul %3, %a : (tensor<8x96x320x96xf16>, tensor<96xf16>) -> tensor<8x96x320x96xf16>
  %5 = kernel.reduce_sum %4 {dims = array<i64: 3>} : (tensor<8x96x320x96xf16>) -> tensor<8x96x320x1xf16>
  %6 = kernel.reshape %5 : (tensor<8x96x320x1xf16>) -> tensor<8x96x320xf16>
  %7 = kernel.softmax %6 {dim = 2 : i64} : (tensor<8x96x320xf16>) -> tensor<8x96x320xf16>
  func.return %7 : tensor<8x96x320xf16>
}

// GATv2's weights, 96 features, f32.
func.func @scores_leaky(%q: tensor<6x96x96xf32>, %k: tensor<6x320x96xf32>, %a: tensor<96xf32>) -> tensor<6x96x320xf32> {
  %0 = kernel.reshape %q : (tensor<6x96x96xf32>) -> tensor<6x96x1x96xf32>
  %1 = kernel.reshape %k : (tensor<6x320x96xf32>) -> tensor<6x1x320x96xf32>
  %2 = kernel.add %0, %1 : (tensor<6x96x1x96xf32>, tensor<6x1x320x96xf32>) -> tensor<6x96x320x96xf32>
  %9 = kernel.scale %2 {factor = 2.000000e-01 : f32} : (tensor<6x96x320x96xf32>) -> tensor<6x96x320x96xf32>
  %3 = kernel.max %2, %9 : (tensor<6x96x320x96xf32>, tensor<6x96x320x96xf32>) -> tensor<6x96x320x96xf32>
  %4 = kernel.mul %3, %a : (tensor<6x96x320x96xf32>, tensor<96xf32>) -> tensor<6x96x320x96xf32>
  %5 = kernel.reduce_sum %4 {dims = array<i64: 3>} : (tensor<6x96x320x96xf32>) -> tensor<6x96x320x1xf32>
  %6 = kernel.reshape %5 : (tensor<6x96x320x1xf32>) -> tensor<6x96x320xf32>
  %7 = kernel.softmax %6 {dim = 2 : i64} : (tensor<6x96x320xf32>) -> tensor<6x96x320xf32>
  func.return %7 : tensor<6x96x320xf32>
}

// Differences of pairs themselves, f16.
func.func @pairs_kept(%x: tensor<512x64xf16>, %y: tensor<192x64xf16>) -> tensor<512x192x64xf16> {
  %0 = kernel.reshape %x : (tensor<512x64xf16>) -> tensor<512x1x64xf16>
  %1 = kernel.sub %0, %y : (tensor<512x1x64xf16>, tensor<192x64xf16>) -> tensor<512x192x64xf16>
  %2 = kernel.relu %1 : (tensor<512x192x64xf16>) -> tensor<512x192x64xf16>
  func.return %2 : tensor<512x192x64xf16>
}

// Sums of unit vectors from 900 points to 1,100, f32.
func.func @forces(%x: tensor<900x4xf32>, %y: tensor<1100x4xf32>) -> tensor<900x4xf32> {
  %0 = kernel.reshape %x : (tensor<900x4xf32>) -> tensor<900x1x4xf32>
  %1 = kernel.sub %0, %y : (tensor<900x1x4xf32>, tensor<1100x4xf32>) -> tensor<900x1100x4xf32>
  %2 = kernel.square %1 : (tensor<900x1100x4xf32>) -> tensor<900x1100x4xf32>
  %3 = kernel.reduce_sum %2 {dims = array<i64: 2>} : (tensor<900x1100x4xf32>) -> tensor<900x1100x1xf32>
  %e = kernel.constant {value = 1.000000e-02 : f32} : tensor<1x1x1xf32>
  %4 = kernel.add %3, %e : (tensor<900x1100x1xf32>, tensor<1x1x1xf32>) -> tensor<900x1100x1xf32>
  %5 = kernel.rsqrt %4 : (tensor<900x1100x1xf32>) -> tensor<900x1100x1xf32>
  %6 = kernel.mul %1, %5 : (tensor<900x1100x4xf32>, tensor<900x1100x1xf32>) -> tensor<900x1100x4xf32>
  %7 = kernel.reduce_sum %6 {dims = array<i64: 1>} : (tensor<900x1100x4xf32>) -> tensor<900x1x4xf32>
  %8 = kernel.reshape %7 : (tensor<900x1x4xf32>) -> tensor<900x4xf32>
  func.return %8 : tensor<900x4xf32>
}

// Norms of rows of 32, f32.
func.func @short_norms_32(%x: tensor<60000x32xf32>) -> tensor<60000x32xf32> {
  %0 = kernel.square %x : (tensor<60000x32xf32>) -> tensor<60000x32xf32>
  %1 = kernel.reduce_sum %0 {dims = array<i64: 1>} : (tensor<60000x32xf32>) -> tensor<60000x1xf32>
  %2 = kernel.scale %1 {factor = 3.125000e-02 : f32} : (tensor<60000x1xf32>) -> tensor<60000x1xf32>
  %e = kernel.constant {value = 1.000000e-02 : f32} : tensor<1x1xf32>
  %3 = kernel.add %2, %e : (tensor<60000x1xf32>, tensor<1x1xf32>) -> tensor<60000x1xf32>
  %4 = kernel.rsqrt %3 : (tensor<60000x1xf32>) -> tensor<60000x1xf32>
  %5 = kernel.mul %x, %4 : (tensor<60000x32xf32>, tensor<60000x1xf32>) -> tensor<60000x32xf32>
  func.return %5 : tensor<60000x32xf32>
}

// Norms of rows of 128, f16.
func.func @short_norms_128(%x: tensor<24576x128xf16>) -> tensor<24576x128xf16> {
  %0 = kernel.square %x : (tensor<24576x128xf16>) -> tensor<24576x128xf16>
  %1 = kernel.reduce_sum %0 {dims = array<i64: 1>} : (tensor<24576x128xf16>) -> tensor<24576x1xf16>
  %2 = kernel.scale %1 {factor = 7.812500e-03 : f32} : (tensor<24576x1xf16>) -> tensor<24576x1xf16>
  %e = kernel.constant {value = 1.000000e-02 : f32} : tensor<1x1xf16>
  %3 = kernel.add %2, %e : (tensor<24576x1xf16>, tensor<1x1xf16>) -> tensor<24576x1xf16>
  %4 = kernel.rsqrt %3 : (tensor<24576x1xf16>) -> tensor<24576x1xf16>
  %5 = kernel.mul %x, %4 : (tensor<24576x128xf16>, tensor<24576x1xf16>) -> tensor<24576x128xf16>
  func.return %5 : tensor<24576x128xf16>
}

// Softmax of rows of 24, f16.
func.func @short_softmax_24(%x: tensor<80000x24xf16>) -> tensor<80000x24xf16> {
  %0 = kernel.softmax %x {dim = 1 : i64} : (tensor<80000x24xf16>) -> tensor<80000x24xf16>
  func.return %0 : tensor<80000x24xf16>
}

// Softmax of rows of 100, f32.
func.func @short_softmax_100(%x: tensor<20000x100xf32>) -> tensor<20000x100xf32> {
  %0 = kernel.softmax %x {dim = 1 : i64} : (tensor<20000x100xf32>) -> tensor<20000x100xf32>
  func.return %0 : tensor<20000x100xf32>
}
