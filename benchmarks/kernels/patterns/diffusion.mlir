// Guidance and a DDIM step by log signal to noise: 32 latents of 4 x 128 x 128.
func.func @ddim_guidance(%x: tensor<32x4x128x128xf16>, %eps: tensor<64x4x128x128xf16>, %lam: tensor<32x1x1x1xf32>, %lam_next: tensor<32x1x1x1xf32>) -> tensor<32x4x128x128xf16> {
  %0 = kernel.cast %eps : (tensor<64x4x128x128xf16>) -> tensor<64x4x128x128xf32>
  %1 = kernel.slice %0 {offsets = array<i64: 0, 0, 0, 0>, sizes = array<i64: 32, 4, 128, 128>, strides = array<i64: 1, 1, 1, 1>} : (tensor<64x4x128x128xf32>) -> tensor<32x4x128x128xf32>
  %2 = kernel.slice %0 {offsets = array<i64: 32, 0, 0, 0>, sizes = array<i64: 32, 4, 128, 128>, strides = array<i64: 1, 1, 1, 1>} : (tensor<64x4x128x128xf32>) -> tensor<32x4x128x128xf32>
  %3 = kernel.sub %2, %1 : (tensor<32x4x128x128xf32>, tensor<32x4x128x128xf32>) -> tensor<32x4x128x128xf32>
  %4 = kernel.scale %3 {factor = 7.500000e+00 : f32} : (tensor<32x4x128x128xf32>) -> tensor<32x4x128x128xf32>
  %5 = kernel.add %1, %4 : (tensor<32x4x128x128xf32>, tensor<32x4x128x128xf32>) -> tensor<32x4x128x128xf32>
  %6 = kernel.sigmoid %lam : (tensor<32x1x1x1xf32>) -> tensor<32x1x1x1xf32>
  %7 = kernel.sqrt %6 : (tensor<32x1x1x1xf32>) -> tensor<32x1x1x1xf32>
  %8 = kernel.neg %lam : (tensor<32x1x1x1xf32>) -> tensor<32x1x1x1xf32>
  %9 = kernel.sigmoid %8 : (tensor<32x1x1x1xf32>) -> tensor<32x1x1x1xf32>
  %10 = kernel.sqrt %9 : (tensor<32x1x1x1xf32>) -> tensor<32x1x1x1xf32>
  %11 = kernel.cast %x : (tensor<32x4x128x128xf16>) -> tensor<32x4x128x128xf32>
  %12 = kernel.mul %10, %5 : (tensor<32x1x1x1xf32>, tensor<32x4x128x128xf32>) -> tensor<32x4x128x128xf32>
  %13 = kernel.sub %11, %12 : (tensor<32x4x128x128xf32>, tensor<32x4x128x128xf32>) -> tensor<32x4x128x128xf32>
  %14 = kernel.div %13, %7 : (tensor<32x4x128x128xf32>, tensor<32x1x1x1xf32>) -> tensor<32x4x128x128xf32>
  %15 = kernel.clamp %14 {min = -3.000000e+00 : f32, max = 3.000000e+00 : f32} : (tensor<32x4x128x128xf32>) -> tensor<32x4x128x128xf32>
  %16 = kernel.sigmoid %lam_next : (tensor<32x1x1x1xf32>) -> tensor<32x1x1x1xf32>
  %17 = kernel.sqrt %16 : (tensor<32x1x1x1xf32>) -> tensor<32x1x1x1xf32>
  %18 = kernel.mul %17, %15 : (tensor<32x1x1x1xf32>, tensor<32x4x128x128xf32>) -> tensor<32x4x128x128xf32>
  %19 = kernel.neg %lam_next : (tensor<32x1x1x1xf32>) -> tensor<32x1x1x1xf32>
  %20 = kernel.sigmoid %19 : (tensor<32x1x1x1xf32>) -> tensor<32x1x1x1xf32>
  %21 = kernel.sqrt %20 : (tensor<32x1x1x1xf32>) -> tensor<32x1x1x1xf32>
  %22 = kernel.mul %21, %5 : (tensor<32x1x1x1xf32>, tensor<32x4x128x128xf32>) -> tensor<32x4x128x128xf32>
  %23 = kernel.add %18, %22 : (tensor<32x4x128x128xf32>, tensor<32x4x128x128xf32>) -> tensor<32x4x128x128xf32>
  %24 = kernel.cast %23 : (tensor<32x4x128x128xf32>) -> tensor<32x4x128x128xf16>
  func.return %24 : tensor<32x4x128x128xf16>
}

// Flux's queries: RMSNorm of heads and interleaved rotary embedding, 24 heads, 2,304 patches.
func.func @flux_norm_rope(%q: tensor<1x24x2304x128xbf16>, %g: tensor<128xbf16>, %cos: tensor<2304x64xf32>, %sin: tensor<2304x64xf32>) -> tensor<1x24x2304x128xbf16> {
  %0 = kernel.cast %q : (tensor<1x24x2304x128xbf16>) -> tensor<1x24x2304x128xf32>
  %1 = kernel.rms_norm %0 {eps = 1.000000e-06 : f32} : (tensor<1x24x2304x128xf32>) -> tensor<1x24x2304x128xf32>
  %2 = kernel.cast %g : (tensor<128xbf16>) -> tensor<128xf32>
  %3 = kernel.mul %1, %2 : (tensor<1x24x2304x128xf32>, tensor<128xf32>) -> tensor<1x24x2304x128xf32>
  %4 = kernel.reshape %3 : (tensor<1x24x2304x128xf32>) -> tensor<1x24x2304x64x2xf32>
  %5 = kernel.slice %4 {offsets = array<i64: 0, 0, 0, 0, 0>, sizes = array<i64: 1, 24, 2304, 64, 1>, strides = array<i64: 1, 1, 1, 1, 1>} : (tensor<1x24x2304x64x2xf32>) -> tensor<1x24x2304x64x1xf32>
  %6 = kernel.slice %4 {offsets = array<i64: 0, 0, 0, 0, 1>, sizes = array<i64: 1, 24, 2304, 64, 1>, strides = array<i64: 1, 1, 1, 1, 1>} : (tensor<1x24x2304x64x2xf32>) -> tensor<1x24x2304x64x1xf32>
  %7 = kernel.reshape %5 : (tensor<1x24x2304x64x1xf32>) -> tensor<1x24x2304x64xf32>
  %8 = kernel.reshape %6 : (tensor<1x24x2304x64x1xf32>) -> tensor<1x24x2304x64xf32>
  %9 = kernel.mul %7, %cos : (tensor<1x24x2304x64xf32>, tensor<2304x64xf32>) -> tensor<1x24x2304x64xf32>
  %10 = kernel.mul %8, %sin : (tensor<1x24x2304x64xf32>, tensor<2304x64xf32>) -> tensor<1x24x2304x64xf32>
  %11 = kernel.sub %9, %10 : (tensor<1x24x2304x64xf32>, tensor<1x24x2304x64xf32>) -> tensor<1x24x2304x64xf32>
  %12 = kernel.mul %7, %sin : (tensor<1x24x2304x64xf32>, tensor<2304x64xf32>) -> tensor<1x24x2304x64xf32>
  %13 = kernel.mul %8, %cos : (tensor<1x24x2304x64xf32>, tensor<2304x64xf32>) -> tensor<1x24x2304x64xf32>
  %14 = kernel.add %12, %13 : (tensor<1x24x2304x64xf32>, tensor<1x24x2304x64xf32>) -> tensor<1x24x2304x64xf32>
  %15 = kernel.reshape %11 : (tensor<1x24x2304x64xf32>) -> tensor<1x24x2304x64x1xf32>
  %16 = kernel.reshape %14 : (tensor<1x24x2304x64xf32>) -> tensor<1x24x2304x64x1xf32>
  %17 = kernel.concat %15, %16 {dim = 4 : i64} : (tensor<1x24x2304x64x1xf32>, tensor<1x24x2304x64x1xf32>) -> tensor<1x24x2304x64x2xf32>
  %18 = kernel.reshape %17 : (tensor<1x24x2304x64x2xf32>) -> tensor<1x24x2304x128xf32>
  %19 = kernel.cast %18 : (tensor<1x24x2304x128xf32>) -> tensor<1x24x2304x128xbf16>
  func.return %19 : tensor<1x24x2304x128xbf16>
}
