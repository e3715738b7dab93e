// Statistics of rows, of groups, of whole maps; losses.
func.func @logsumexp_rows(%x: tensor<2048x32000xbf16>) -> tensor<2048xf32> {
  %0 = kernel.cast %x : (tensor<2048x32000xbf16>) -> tensor<2048x32000xf32>
  %1 = kernel.reduce_max %0 {dims = array<i64: 1>} : (tensor<2048x32000xf32>) -> tensor<2048x1xf32>
  %2 = kernel.sub %0, %1 : (tensor<2048x32000xf32>, tensor<2048x1xf32>) -> tensor<2048x32000xf32>
  %3 = kernel.exp %2 : (tensor<2048x32000xf32>) -> tensor<2048x32000xf32>
  %4 = kernel.reduce_sum %3 {dims = array<i64: 1>} : (tensor<2048x32000xf32>) -> tensor<2048x1xf32>
  %5 = kernel.log %4 : (tensor<2048x1xf32>) -> tensor<2048x1xf32>
  %6 = kernel.add %1, %5 : (tensor<2048x1xf32>, tensor<2048x1xf32>) -> tensor<2048x1xf32>
  %7 = kernel.reshape %6 : (tensor<2048x1xf32>) -> tensor<2048xf32>
  func.return %7 : tensor<2048xf32>
}

func.func @infonce(%a: tensor<1024x512xf16>, %c: tensor<1024x512xf16>) -> tensor<1024xf32> {
  %0 = kernel.cast %a : (tensor<1024x512xf16>) -> tensor<1024x512xf32>
  %1 = kernel.cast %c : (tensor<1024x512xf16>) -> tensor<1024x512xf32>
  %2 = kernel.mul %0, %0 : (tensor<1024x512xf32>, tensor<1024x512xf32>) -> tensor<1024x512xf32>
  %3 = kernel.reduce_sum %2 {dims = array<i64: 1>} : (tensor<1024x512xf32>) -> tensor<1024x1xf32>
  %4 = kernel.constant {value = 1.000000e-06 : f32} : tensor<1x1xf32>
  %5 = kernel.add %3, %4 : (tensor<1024x1xf32>, tensor<1x1xf32>) -> tensor<1024x1xf32>
  %6 = kernel.rsqrt %5 : (tensor<1024x1xf32>) -> tensor<1024x1xf32>
  %7 = kernel.mul %0, %6 : (tensor<1024x512xf32>, tensor<1024x1xf32>) -> tensor<1024x512xf32>
  %8 = kernel.mul %1, %1 : (tensor<1024x512xf32>, tensor<1024x512xf32>) -> tensor<1024x512xf32>
  %9 = kernel.reduce_sum %8 {dims = array<i64: 1>} : (tensor<1024x512xf32>) -> tensor<1024x1xf32>
  %10 = kernel.constant {value = 1.000000e-06 : f32} : tensor<1x1xf32>
  %11 = kernel.add %9, %10 : (tensor<1024x1xf32>, tensor<1x1xf32>) -> tensor<1024x1xf32>
  %12 = kernel.rsqrt %11 : (tensor<1024x1xf32>) -> tensor<1024x1xf32>
  %13 = kernel.mul %1, %12 : (tensor<1024x512xf32>, tensor<1024x1xf32>) -> tensor<1024x512xf32>
  %14 = kernel.cast %7 : (tensor<1024x512xf32>) -> tensor<1024x512xf16>
  %15 = kernel.cast %13 : (tensor<1024x512xf32>) -> tensor<1024x512xf16>
  %16 = kernel.transpose %15 {permutation = array<i64: 1, 0>} : (tensor<1024x512xf16>) -> tensor<512x1024xf16>
  %17 = kernel.matmul %14, %16 : (tensor<1024x512xf16>, tensor<512x1024xf16>) -> tensor<1024x1024xf16>
  %18 = kernel.cast %17 : (tensor<1024x1024xf16>) -> tensor<1024x1024xf32>
  %19 = kernel.scale %18 {factor = 2.000000e+01 : f32} : (tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %20 = kernel.reduce_max %19 {dims = array<i64: 1>} : (tensor<1024x1024xf32>) -> tensor<1024x1xf32>
  %21 = kernel.sub %19, %20 : (tensor<1024x1024xf32>, tensor<1024x1xf32>) -> tensor<1024x1024xf32>
  %22 = kernel.exp %21 : (tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %23 = kernel.reduce_sum %22 {dims = array<i64: 1>} : (tensor<1024x1024xf32>) -> tensor<1024x1xf32>
  %24 = kernel.log %23 : (tensor<1024x1xf32>) -> tensor<1024x1xf32>
  %25 = kernel.add %20, %24 : (tensor<1024x1xf32>, tensor<1024x1xf32>) -> tensor<1024x1xf32>
  %26 = kernel.reshape %25 : (tensor<1024x1xf32>) -> tensor<1024xf32>
  func.return %26 : tensor<1024xf32>
}

func.func @add_layernorm2(%x: tensor<2048x5120xf16>, %r: tensor<2048x5120xf16>, %g: tensor<5120xf16>, %bb: tensor<5120xf16>) -> (tensor<2048x5120xf16>, tensor<2048x5120xf16>) {
  %0 = kernel.add %x, %r : (tensor<2048x5120xf16>, tensor<2048x5120xf16>) -> tensor<2048x5120xf16>
  %1 = kernel.reshape %g : (tensor<5120xf16>) -> tensor<5120xf16>
  %2 = kernel.reshape %bb : (tensor<5120xf16>) -> tensor<5120xf16>
  %3 = kernel.layer_norm %0, %1, %2 {eps = 1.000000e-05 : f32} : (tensor<2048x5120xf16>, tensor<5120xf16>, tensor<5120xf16>) -> tensor<2048x5120xf16>
  func.return %0, %3 : tensor<2048x5120xf16>, tensor<2048x5120xf16>
}

func.func @moe_combine(%y: tensor<256x8x1024xf16>, %g: tensor<256x8xf16>) -> tensor<256x1024xf16> {
  %0 = kernel.cast %y : (tensor<256x8x1024xf16>) -> tensor<256x8x1024xf32>
  %1 = kernel.cast %g : (tensor<256x8xf16>) -> tensor<256x8xf32>
  %2 = kernel.softmax %1 {dim = 1 : i64} : (tensor<256x8xf32>) -> tensor<256x8xf32>
  %3 = kernel.reshape %2 : (tensor<256x8xf32>) -> tensor<256x8x1xf32>
  %4 = kernel.mul %0, %3 : (tensor<256x8x1024xf32>, tensor<256x8x1xf32>) -> tensor<256x8x1024xf32>
  %5 = kernel.reduce_sum %4 {dims = array<i64: 1>} : (tensor<256x8x1024xf32>) -> tensor<256x1x1024xf32>
  %6 = kernel.reshape %5 : (tensor<256x1x1024xf32>) -> tensor<256x1024xf32>
  %7 = kernel.cast %6 : (tensor<256x1024xf32>) -> tensor<256x1024xf16>
  func.return %7 : tensor<256x1024xf16>
}

func.func @rope_like_scale(%x: tensor<2x32x4096x128xf16>, %s: tensor<2x32x4096x1xf16>) -> tensor<2x32x4096x128xf16> {
  %0 = kernel.cast %x : (tensor<2x32x4096x128xf16>) -> tensor<2x32x4096x128xf32>
  %1 = kernel.cast %x : (tensor<2x32x4096x128xf16>) -> tensor<2x32x4096x128xf32>
  %2 = kernel.square %1 : (tensor<2x32x4096x128xf32>) -> tensor<2x32x4096x128xf32>
  %3 = kernel.reduce_mean %2 {dims = array<i64: 3>} : (tensor<2x32x4096x128xf32>) -> tensor<2x32x4096x1xf32>
  %4 = kernel.constant {value = 1.000000e-06 : f32} : tensor<1x1x1x1xf32>
  %5 = kernel.add %3, %4 : (tensor<2x32x4096x1xf32>, tensor<1x1x1x1xf32>) -> tensor<2x32x4096x1xf32>
  %6 = kernel.rsqrt %5 : (tensor<2x32x4096x1xf32>) -> tensor<2x32x4096x1xf32>
  %7 = kernel.mul %0, %6 : (tensor<2x32x4096x128xf32>, tensor<2x32x4096x1xf32>) -> tensor<2x32x4096x128xf32>
  %8 = kernel.cast %s : (tensor<2x32x4096x1xf16>) -> tensor<2x32x4096x1xf32>
  %9 = kernel.mul %7, %8 : (tensor<2x32x4096x128xf32>, tensor<2x32x4096x1xf32>) -> tensor<2x32x4096x128xf32>
  %10 = kernel.cast %9 : (tensor<2x32x4096x128xf32>) -> tensor<2x32x4096x128xf16>
  func.return %10 : tensor<2x32x4096x128xf16>
}

func.func @squeeze_excite(%x: tensor<64x196x768xf16>, %w1: tensor<768x192xf16>, %w2: tensor<192x768xf16>) -> tensor<64x196x768xf16> {
  %0 = kernel.cast %x : (tensor<64x196x768xf16>) -> tensor<64x196x768xf32>
  %1 = kernel.reduce_mean %0 {dims = array<i64: 1>} : (tensor<64x196x768xf32>) -> tensor<64x1x768xf32>
  %2 = kernel.reshape %1 : (tensor<64x1x768xf32>) -> tensor<64x768xf32>
  %3 = kernel.cast %2 : (tensor<64x768xf32>) -> tensor<64x768xf16>
  %4 = kernel.matmul %3, %w1 : (tensor<64x768xf16>, tensor<768x192xf16>) -> tensor<64x192xf16>
  %5 = kernel.silu %4 : (tensor<64x192xf16>) -> tensor<64x192xf16>
  %6 = kernel.matmul %5, %w2 : (tensor<64x192xf16>, tensor<192x768xf16>) -> tensor<64x768xf16>
  %7 = kernel.sigmoid %6 : (tensor<64x768xf16>) -> tensor<64x768xf16>
  %8 = kernel.reshape %7 : (tensor<64x768xf16>) -> tensor<64x1x768xf16>
  %9 = kernel.mul %x, %8 : (tensor<64x196x768xf16>, tensor<64x1x768xf16>) -> tensor<64x196x768xf16>
  func.return %9 : tensor<64x196x768xf16>
}

func.func @film(%x: tensor<16x512x768xf16>, %c: tensor<16x256xf16>, %wg: tensor<256x768xf16>, %wb: tensor<256x768xf16>) -> tensor<16x512x768xf16> {
  %0 = kernel.matmul %c, %wg : (tensor<16x256xf16>, tensor<256x768xf16>) -> tensor<16x768xf16>
  %1 = kernel.constant {value = 1.000000e+00 : f32} : tensor<1x1xf16>
  %2 = kernel.add %0, %1 : (tensor<16x768xf16>, tensor<1x1xf16>) -> tensor<16x768xf16>
  %3 = kernel.reshape %2 : (tensor<16x768xf16>) -> tensor<16x1x768xf16>
  %4 = kernel.mul %x, %3 : (tensor<16x512x768xf16>, tensor<16x1x768xf16>) -> tensor<16x512x768xf16>
  %5 = kernel.matmul %c, %wb : (tensor<16x256xf16>, tensor<256x768xf16>) -> tensor<16x768xf16>
  %6 = kernel.reshape %5 : (tensor<16x768xf16>) -> tensor<16x1x768xf16>
  %7 = kernel.add %4, %6 : (tensor<16x512x768xf16>, tensor<16x1x768xf16>) -> tensor<16x512x768xf16>
  func.return %7 : tensor<16x512x768xf16>
}

func.func @gn_conv_silu(%x: tensor<8x320x1024xf16>, %g: tensor<320xf16>, %bb: tensor<320xf16>, %w: tensor<320x640xf16>) -> tensor<8x1024x640xf16> {
  %0 = kernel.cast %x : (tensor<8x320x1024xf16>) -> tensor<8x320x1024xf32>
  %1 = kernel.reshape %0 : (tensor<8x320x1024xf32>) -> tensor<8x32x10x1024xf32>
  %2 = kernel.reduce_mean %1 {dims = array<i64: 2, 3>} : (tensor<8x32x10x1024xf32>) -> tensor<8x32x1x1xf32>
  %3 = kernel.sub %1, %2 : (tensor<8x32x10x1024xf32>, tensor<8x32x1x1xf32>) -> tensor<8x32x10x1024xf32>
  %4 = kernel.square %3 : (tensor<8x32x10x1024xf32>) -> tensor<8x32x10x1024xf32>
  %5 = kernel.reduce_mean %4 {dims = array<i64: 2, 3>} : (tensor<8x32x10x1024xf32>) -> tensor<8x32x1x1xf32>
  %6 = kernel.sub %1, %2 : (tensor<8x32x10x1024xf32>, tensor<8x32x1x1xf32>) -> tensor<8x32x10x1024xf32>
  %7 = kernel.constant {value = 1.000000e-05 : f32} : tensor<1x1x1x1xf32>
  %8 = kernel.add %5, %7 : (tensor<8x32x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<8x32x1x1xf32>
  %9 = kernel.rsqrt %8 : (tensor<8x32x1x1xf32>) -> tensor<8x32x1x1xf32>
  %10 = kernel.mul %6, %9 : (tensor<8x32x10x1024xf32>, tensor<8x32x1x1xf32>) -> tensor<8x32x10x1024xf32>
  %11 = kernel.reshape %10 : (tensor<8x32x10x1024xf32>) -> tensor<8x320x1024xf32>
  %12 = kernel.reshape %g : (tensor<320xf16>) -> tensor<1x320xf16>
  %13 = kernel.reshape %12 : (tensor<1x320xf16>) -> tensor<1x320x1xf16>
  %14 = kernel.cast %13 : (tensor<1x320x1xf16>) -> tensor<1x320x1xf32>
  %15 = kernel.mul %11, %14 : (tensor<8x320x1024xf32>, tensor<1x320x1xf32>) -> tensor<8x320x1024xf32>
  %16 = kernel.reshape %bb : (tensor<320xf16>) -> tensor<1x320xf16>
  %17 = kernel.reshape %16 : (tensor<1x320xf16>) -> tensor<1x320x1xf16>
  %18 = kernel.cast %17 : (tensor<1x320x1xf16>) -> tensor<1x320x1xf32>
  %19 = kernel.add %15, %18 : (tensor<8x320x1024xf32>, tensor<1x320x1xf32>) -> tensor<8x320x1024xf32>
  %20 = kernel.silu %19 : (tensor<8x320x1024xf32>) -> tensor<8x320x1024xf32>
  %21 = kernel.cast %20 : (tensor<8x320x1024xf32>) -> tensor<8x320x1024xf16>
  %22 = kernel.transpose %21 {permutation = array<i64: 0, 2, 1>} : (tensor<8x320x1024xf16>) -> tensor<8x1024x320xf16>
  %23 = kernel.matmul %22, %w : (tensor<8x1024x320xf16>, tensor<320x640xf16>) -> tensor<8x1024x640xf16>
  func.return %23 : tensor<8x1024x640xf16>
}
