// Mamba's causal convolution of width 4 with SiLU: 2 x 2,048 tokens, 3,072 channels.
func.func @mamba_short_conv(%x: tensor<2x2051x3072xbf16>, %w: tensor<4x3072xbf16>, %b: tensor<3072xbf16>) -> tensor<2x2048x3072xbf16> {
  %0 = kernel.cast %b : (tensor<3072xbf16>) -> tensor<3072xf32>
  %1 = kernel.slice %x {offsets = array<i64: 0, 0, 0>, sizes = array<i64: 2, 2048, 3072>, strides = array<i64: 1, 1, 1>} : (tensor<2x2051x3072xbf16>) -> tensor<2x2048x3072xbf16>
  %2 = kernel.cast %1 : (tensor<2x2048x3072xbf16>) -> tensor<2x2048x3072xf32>
  %3 = kernel.slice %w {offsets = array<i64: 0, 0>, sizes = array<i64: 1, 3072>, strides = array<i64: 1, 1>} : (tensor<4x3072xbf16>) -> tensor<1x3072xbf16>
  %4 = kernel.reshape %3 : (tensor<1x3072xbf16>) -> tensor<3072xbf16>
  %5 = kernel.cast %4 : (tensor<3072xbf16>) -> tensor<3072xf32>
  %6 = kernel.mul %2, %5 : (tensor<2x2048x3072xf32>, tensor<3072xf32>) -> tensor<2x2048x3072xf32>
  %7 = kernel.add %0, %6 : (tensor<3072xf32>, tensor<2x2048x3072xf32>) -> tensor<2x2048x3072xf32>
  %8 = kernel.slice %x {offsets = array<i64: 0, 1, 0>, sizes = array<i64: 2, 2048, 3072>, strides = array<i64: 1, 1, 1>} : (tensor<2x2051x3072xbf16>) -> tensor<2x2048x3072xbf16>
  %9 = kernel.cast %8 : (tensor<2x2048x3072xbf16>) -> tensor<2x2048x3072xf32>
  %10 = kernel.slice %w {offsets = array<i64: 1, 0>, sizes = array<i64: 1, 3072>, strides = array<i64: 1, 1>} : (tensor<4x3072xbf16>) -> tensor<1x3072xbf16>
  %11 = kernel.reshape %10 : (tensor<1x3072xbf16>) -> tensor<3072xbf16>
  %12 = kernel.cast %11 : (tensor<3072xbf16>) -> tensor<3072xf32>
  %13 = kernel.mul %9, %12 : (tensor<2x2048x3072xf32>, tensor<3072xf32>) -> tensor<2x2048x3072xf32>
  %14 = kernel.add %7, %13 : (tensor<2x2048x3072xf32>, tensor<2x2048x3072xf32>) -> tensor<2x2048x3072xf32>
  %15 = kernel.slice %x {offsets = array<i64: 0, 2, 0>, sizes = array<i64: 2, 2048, 3072>, strides = array<i64: 1, 1, 1>} : (tensor<2x2051x3072xbf16>) -> tensor<2x2048x3072xbf16>
  %16 = kernel.cast %15 : (tensor<2x2048x3072xbf16>) -> tensor<2x2048x3072xf32>
  %17 = kernel.slice %w {offsets = array<i64: 2, 0>, sizes = array<i64: 1, 3072>, strides = array<i64: 1, 1>} : (tensor<4x3072xbf16>) -> tensor<1x3072xbf16>
  %18 = kernel.reshape %17 : (tensor<1x3072xbf16>) -> tensor<3072xbf16>
  %19 = kernel.cast %18 : (tensor<3072xbf16>) -> tensor<3072xf32>
  %20 = kernel.mul %16, %19 : (tensor<2x2048x3072xf32>, tensor<3072xf32>) -> tensor<2x2048x3072xf32>
  %21 = kernel.add %14, %20 : (tensor<2x2048x3072xf32>, tensor<2x2048x3072xf32>) -> tensor<2x2048x3072xf32>
  %22 = kernel.slice %x {offsets = array<i64: 0, 3, 0>, sizes = array<i64: 2, 2048, 3072>, strides = array<i64: 1, 1, 1>} : (tensor<2x2051x3072xbf16>) -> tensor<2x2048x3072xbf16>
  %23 = kernel.cast %22 : (tensor<2x2048x3072xbf16>) -> tensor<2x2048x3072xf32>
  %24 = kernel.slice %w {offsets = array<i64: 3, 0>, sizes = array<i64: 1, 3072>, strides = array<i64: 1, 1>} : (tensor<4x3072xbf16>) -> tensor<1x3072xbf16>
  %25 = kernel.reshape %24 : (tensor<1x3072xbf16>) -> tensor<3072xbf16>
  %26 = kernel.cast %25 : (tensor<3072xbf16>) -> tensor<3072xf32>
  %27 = kernel.mul %23, %26 : (tensor<2x2048x3072xf32>, tensor<3072xf32>) -> tensor<2x2048x3072xf32>
  %28 = kernel.add %21, %27 : (tensor<2x2048x3072xf32>, tensor<2x2048x3072xf32>) -> tensor<2x2048x3072xf32>
  %29 = kernel.silu %28 : (tensor<2x2048x3072xf32>) -> tensor<2x2048x3072xf32>
  %30 = kernel.cast %29 : (tensor<2x2048x3072xf32>) -> tensor<2x2048x3072xbf16>
  func.return %30 : tensor<2x2048x3072xbf16>
}

// States of the chunks of Mamba-2: 64 chunks of 128 tokens, 24 heads of 64, B shared by heads.
func.func @mamba2_chunk_state(%x: tensor<64x24x128x64xbf16>, %dt: tensor<64x24x128xf32>, %a_log: tensor<24xf32>, %b: tensor<64x1x128x128xbf16>) -> tensor<64x24x64x128xbf16> {
  %0 = kernel.scale %dt {factor = 1.000000e+00 : f32} : (tensor<64x24x128xf32>) -> tensor<64x24x128xf32>
  %1 = kernel.abs %0 : (tensor<64x24x128xf32>) -> tensor<64x24x128xf32>
  %2 = kernel.neg %1 : (tensor<64x24x128xf32>) -> tensor<64x24x128xf32>
  %3 = kernel.exp %2 : (tensor<64x24x128xf32>) -> tensor<64x24x128xf32>
  %4 = kernel.log1p %3 : (tensor<64x24x128xf32>) -> tensor<64x24x128xf32>
  %5 = kernel.relu %0 : (tensor<64x24x128xf32>) -> tensor<64x24x128xf32>
  %6 = kernel.add %5, %4 : (tensor<64x24x128xf32>, tensor<64x24x128xf32>) -> tensor<64x24x128xf32>
  %7 = kernel.scale %6 {factor = 1.000000e+00 : f32} : (tensor<64x24x128xf32>) -> tensor<64x24x128xf32>
  %8 = kernel.neg %7 : (tensor<64x24x128xf32>) -> tensor<64x24x128xf32>
  %9 = kernel.exp %a_log : (tensor<24xf32>) -> tensor<24xf32>
  %10 = kernel.reshape %9 : (tensor<24xf32>) -> tensor<24x1xf32>
  %11 = kernel.mul %8, %10 : (tensor<64x24x128xf32>, tensor<24x1xf32>) -> tensor<64x24x128xf32>
  %12 = kernel.scale %11 {factor = 2.000000e-02 : f32} : (tensor<64x24x128xf32>) -> tensor<64x24x128xf32>
  %13 = kernel.cumsum %12 {dim = 2 : i64} : (tensor<64x24x128xf32>) -> tensor<64x24x128xf32>
  %14 = kernel.slice %13 {offsets = array<i64: 0, 0, 127>, sizes = array<i64: 64, 24, 1>, strides = array<i64: 1, 1, 1>} : (tensor<64x24x128xf32>) -> tensor<64x24x1xf32>
  %15 = kernel.sub %14, %13 : (tensor<64x24x1xf32>, tensor<64x24x128xf32>) -> tensor<64x24x128xf32>
  %16 = kernel.exp %15 : (tensor<64x24x128xf32>) -> tensor<64x24x128xf32>
  %17 = kernel.mul %16, %7 : (tensor<64x24x128xf32>, tensor<64x24x128xf32>) -> tensor<64x24x128xf32>
  %18 = kernel.cast %x : (tensor<64x24x128x64xbf16>) -> tensor<64x24x128x64xf32>
  %19 = kernel.reshape %17 : (tensor<64x24x128xf32>) -> tensor<64x24x128x1xf32>
  %20 = kernel.mul %18, %19 : (tensor<64x24x128x64xf32>, tensor<64x24x128x1xf32>) -> tensor<64x24x128x64xf32>
  %21 = kernel.cast %20 : (tensor<64x24x128x64xf32>) -> tensor<64x24x128x64xbf16>
  %22 = kernel.transpose %21 {permutation = array<i64: 0, 1, 3, 2>} : (tensor<64x24x128x64xbf16>) -> tensor<64x24x64x128xbf16>
  %23 = kernel.matmul %22, %b : (tensor<64x24x64x128xbf16>, tensor<64x1x128x128xbf16>) -> tensor<64x24x64x128xbf16>
  func.return %23 : tensor<64x24x64x128xbf16>
}

// A decode step of Gated DeltaNet: 32 sequences, 16 heads, states of 128 by 128 in f32.
func.func @gated_deltanet_step(%state: tensor<32x16x128x128xf32>, %q: tensor<32x16x128xbf16>, %k: tensor<32x16x128xbf16>, %v: tensor<32x16x128xbf16>, %g: tensor<32x16xf32>, %beta: tensor<32x16xbf16>) -> (tensor<32x16x128x128xf32>, tensor<32x16x128xbf16>) {
  %0 = kernel.cast %k : (tensor<32x16x128xbf16>) -> tensor<32x16x128xf32>
  %1 = kernel.scale %0 {factor = 0.0883883461 : f32} : (tensor<32x16x128xf32>) -> tensor<32x16x128xf32>
  %2 = kernel.scale %g {factor = 1.000000e+00 : f32} : (tensor<32x16xf32>) -> tensor<32x16xf32>
  %3 = kernel.abs %2 : (tensor<32x16xf32>) -> tensor<32x16xf32>
  %4 = kernel.neg %3 : (tensor<32x16xf32>) -> tensor<32x16xf32>
  %5 = kernel.exp %4 : (tensor<32x16xf32>) -> tensor<32x16xf32>
  %6 = kernel.log1p %5 : (tensor<32x16xf32>) -> tensor<32x16xf32>
  %7 = kernel.relu %2 : (tensor<32x16xf32>) -> tensor<32x16xf32>
  %8 = kernel.add %7, %6 : (tensor<32x16xf32>, tensor<32x16xf32>) -> tensor<32x16xf32>
  %9 = kernel.scale %8 {factor = 1.000000e+00 : f32} : (tensor<32x16xf32>) -> tensor<32x16xf32>
  %10 = kernel.neg %9 : (tensor<32x16xf32>) -> tensor<32x16xf32>
  %11 = kernel.exp %10 : (tensor<32x16xf32>) -> tensor<32x16xf32>
  %12 = kernel.reshape %11 : (tensor<32x16xf32>) -> tensor<32x16x1xf32>
  %13 = kernel.reshape %12 : (tensor<32x16x1xf32>) -> tensor<32x16x1x1xf32>
  %14 = kernel.mul %state, %13 : (tensor<32x16x128x128xf32>, tensor<32x16x1x1xf32>) -> tensor<32x16x128x128xf32>
  %15 = kernel.reshape %1 : (tensor<32x16x128xf32>) -> tensor<32x16x128x1xf32>
  %16 = kernel.mul %14, %15 : (tensor<32x16x128x128xf32>, tensor<32x16x128x1xf32>) -> tensor<32x16x128x128xf32>
  %17 = kernel.reduce_sum %16 {dims = array<i64: 2>} : (tensor<32x16x128x128xf32>) -> tensor<32x16x1x128xf32>
  %18 = kernel.reshape %17 : (tensor<32x16x1x128xf32>) -> tensor<32x16x128xf32>
  %19 = kernel.cast %v : (tensor<32x16x128xbf16>) -> tensor<32x16x128xf32>
  %20 = kernel.sub %19, %18 : (tensor<32x16x128xf32>, tensor<32x16x128xf32>) -> tensor<32x16x128xf32>
  %21 = kernel.cast %beta : (tensor<32x16xbf16>) -> tensor<32x16xf32>
  %22 = kernel.sigmoid %21 : (tensor<32x16xf32>) -> tensor<32x16xf32>
  %23 = kernel.reshape %22 : (tensor<32x16xf32>) -> tensor<32x16x1xf32>
  %24 = kernel.mul %20, %23 : (tensor<32x16x128xf32>, tensor<32x16x1xf32>) -> tensor<32x16x128xf32>
  %25 = kernel.reshape %1 : (tensor<32x16x128xf32>) -> tensor<32x16x128x1xf32>
  %26 = kernel.reshape %24 : (tensor<32x16x128xf32>) -> tensor<32x16x1x128xf32>
  %27 = kernel.mul %25, %26 : (tensor<32x16x128x1xf32>, tensor<32x16x1x128xf32>) -> tensor<32x16x128x128xf32>
  %28 = kernel.add %14, %27 : (tensor<32x16x128x128xf32>, tensor<32x16x128x128xf32>) -> tensor<32x16x128x128xf32>
  %29 = kernel.cast %q : (tensor<32x16x128xbf16>) -> tensor<32x16x128xf32>
  %30 = kernel.reshape %29 : (tensor<32x16x128xf32>) -> tensor<32x16x128x1xf32>
  %31 = kernel.mul %28, %30 : (tensor<32x16x128x128xf32>, tensor<32x16x128x1xf32>) -> tensor<32x16x128x128xf32>
  %32 = kernel.reduce_sum %31 {dims = array<i64: 2>} : (tensor<32x16x128x128xf32>) -> tensor<32x16x1x128xf32>
  %33 = kernel.reshape %32 : (tensor<32x16x1x128xf32>) -> tensor<32x16x128xf32>
  %34 = kernel.cast %33 : (tensor<32x16x128xf32>) -> tensor<32x16x128xbf16>
  func.return %28, %34 : tensor<32x16x128x128xf32>, tensor<32x16x128xbf16>
}

// The kernel of S5 at irregular steps: 512 channels, 32 complex states, 1,024 steps.
func.func @s5_kernel(%step: tensor<1024xf32>, %log_dt: tensor<512x1x1xf32>, %a_log: tensor<512x32x1xf32>, %a_im: tensor<512x32x1xf32>, %c_re: tensor<512x32x1xf32>, %c_im: tensor<512x32x1xf32>) -> tensor<512x1024xf32> {
  %0 = kernel.scale %step {factor = 1.000000e+00 : f32} : (tensor<1024xf32>) -> tensor<1024xf32>
  %1 = kernel.abs %0 : (tensor<1024xf32>) -> tensor<1024xf32>
  %2 = kernel.neg %1 : (tensor<1024xf32>) -> tensor<1024xf32>
  %3 = kernel.exp %2 : (tensor<1024xf32>) -> tensor<1024xf32>
  %4 = kernel.log1p %3 : (tensor<1024xf32>) -> tensor<1024xf32>
  %5 = kernel.relu %0 : (tensor<1024xf32>) -> tensor<1024xf32>
  %6 = kernel.add %5, %4 : (tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
  %7 = kernel.scale %6 {factor = 1.000000e+00 : f32} : (tensor<1024xf32>) -> tensor<1024xf32>
  %8 = kernel.cumsum %7 {dim = 0 : i64} : (tensor<1024xf32>) -> tensor<1024xf32>
  %9 = kernel.scale %log_dt {factor = 5.000000e-01 : f32} : (tensor<512x1x1xf32>) -> tensor<512x1x1xf32>
  %10 = kernel.constant {value = 4.000000e+00 : f32} : tensor<1x1x1xf32>
  %11 = kernel.sub %9, %10 : (tensor<512x1x1xf32>, tensor<1x1x1xf32>) -> tensor<512x1x1xf32>
  %12 = kernel.exp %11 : (tensor<512x1x1xf32>) -> tensor<512x1x1xf32>
  %13 = kernel.exp %a_log : (tensor<512x32x1xf32>) -> tensor<512x32x1xf32>
  %14 = kernel.neg %13 : (tensor<512x32x1xf32>) -> tensor<512x32x1xf32>
  %15 = kernel.mul %14, %12 : (tensor<512x32x1xf32>, tensor<512x1x1xf32>) -> tensor<512x32x1xf32>
  %16 = kernel.mul %15, %8 : (tensor<512x32x1xf32>, tensor<1024xf32>) -> tensor<512x32x1024xf32>
  %17 = kernel.exp %16 : (tensor<512x32x1024xf32>) -> tensor<512x32x1024xf32>
  %18 = kernel.mul %a_im, %12 : (tensor<512x32x1xf32>, tensor<512x1x1xf32>) -> tensor<512x32x1xf32>
  %19 = kernel.mul %18, %8 : (tensor<512x32x1xf32>, tensor<1024xf32>) -> tensor<512x32x1024xf32>
  %20 = kernel.cos %19 : (tensor<512x32x1024xf32>) -> tensor<512x32x1024xf32>
  %21 = kernel.mul %c_re, %20 : (tensor<512x32x1xf32>, tensor<512x32x1024xf32>) -> tensor<512x32x1024xf32>
  %22 = kernel.sin %19 : (tensor<512x32x1024xf32>) -> tensor<512x32x1024xf32>
  %23 = kernel.mul %c_im, %22 : (tensor<512x32x1xf32>, tensor<512x32x1024xf32>) -> tensor<512x32x1024xf32>
  %24 = kernel.sub %21, %23 : (tensor<512x32x1024xf32>, tensor<512x32x1024xf32>) -> tensor<512x32x1024xf32>
  %25 = kernel.mul %17, %24 : (tensor<512x32x1024xf32>, tensor<512x32x1024xf32>) -> tensor<512x32x1024xf32>
  %26 = kernel.reduce_sum %25 {dims = array<i64: 1>} : (tensor<512x32x1024xf32>) -> tensor<512x1x1024xf32>
  %27 = kernel.reshape %26 : (tensor<512x1x1024xf32>) -> tensor<512x1024xf32>
  %28 = kernel.scale %27 {factor = 2.000000e+00 : f32} : (tensor<512x1024xf32>) -> tensor<512x1024xf32>
  func.return %28 : tensor<512x1024xf32>
}
