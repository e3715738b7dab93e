// A Fourier neural operator's complex product of modes: 312 modes, 20 samples, 64 channels, f32.
func.func @fno_modes(%xr: tensor<312x20x64xf32>, %xi: tensor<312x20x64xf32>, %wr: tensor<312x64x64xf32> {kernel.constant}, %wi: tensor<312x64x64xf32> {kernel.constant}) -> (tensor<312x20x64xf32>, tensor<312x20x64xf32>) {
  %0 = kernel.matmul %xr, %wr : (tensor<312x20x64xf32>, tensor<312x64x64xf32>) -> tensor<312x20x64xf32>
  %1 = kernel.matmul %xi, %wi : (tensor<312x20x64xf32>, tensor<312x64x64xf32>) -> tensor<312x20x64xf32>
  %2 = kernel.sub %0, %1 : (tensor<312x20x64xf32>, tensor<312x20x64xf32>) -> tensor<312x20x64xf32>
  %3 = kernel.matmul %xr, %wi : (tensor<312x20x64xf32>, tensor<312x64x64xf32>) -> tensor<312x20x64xf32>
  %4 = kernel.matmul %xi, %wr : (tensor<312x20x64xf32>, tensor<312x64x64xf32>) -> tensor<312x20x64xf32>
  %5 = kernel.add %3, %4 : (tensor<312x20x64xf32>, tensor<312x20x64xf32>) -> tensor<312x20x64xf32>
  func.return %2, %5 : tensor<312x20x64xf32>, tensor<312x20x64xf32>
}

// A step of the Allen-Cahn equation, five points, f32.
func.func @allen_cahn(%u: tensor<2050x1538xf32>) -> tensor<2048x1536xf32> {
  %0 = kernel.slice %u {offsets = array<i64: 1, 0>, sizes = array<i64: 2048, 1538>, strides = array<i64: 1, 1>} : (tensor<2050x1538xf32>) -> tensor<2048x1538xf32>
  %1 = kernel.slice %0 {offsets = array<i64: 0, 1>, sizes = array<i64: 2048, 1536>, strides = array<i64: 1, 1>} : (tensor<2048x1538xf32>) -> tensor<2048x1536xf32>
  %2 = kernel.slice %u {offsets = array<i64: 0, 0>, sizes = array<i64: 2048, 1538>, strides = array<i64: 1, 1>} : (tensor<2050x1538xf32>) -> tensor<2048x1538xf32>
  %3 = kernel.slice %2 {offsets = array<i64: 0, 1>, sizes = array<i64: 2048, 1536>, strides = array<i64: 1, 1>} : (tensor<2048x1538xf32>) -> tensor<2048x1536xf32>
  %4 = kernel.slice %u {offsets = array<i64: 2, 0>, sizes = array<i64: 2048, 1538>, strides = array<i64: 1, 1>} : (tensor<2050x1538xf32>) -> tensor<2048x1538xf32>
  %5 = kernel.slice %4 {offsets = array<i64: 0, 1>, sizes = array<i64: 2048, 1536>, strides = array<i64: 1, 1>} : (tensor<2048x1538xf32>) -> tensor<2048x1536xf32>
  %6 = kernel.add %3, %5 : (tensor<2048x1536xf32>, tensor<2048x1536xf32>) -> tensor<2048x1536xf32>
  %7 = kernel.slice %u {offsets = array<i64: 1, 0>, sizes = array<i64: 2048, 1538>, strides = array<i64: 1, 1>} : (tensor<2050x1538xf32>) -> tensor<2048x1538xf32>
  %8 = kernel.slice %7 {offsets = array<i64: 0, 0>, sizes = array<i64: 2048, 1536>, strides = array<i64: 1, 1>} : (tensor<2048x1538xf32>) -> tensor<2048x1536xf32>
  %9 = kernel.add %6, %8 : (tensor<2048x1536xf32>, tensor<2048x1536xf32>) -> tensor<2048x1536xf32>
  %10 = kernel.slice %u {offsets = array<i64: 1, 0>, sizes = array<i64: 2048, 1538>, strides = array<i64: 1, 1>} : (tensor<2050x1538xf32>) -> tensor<2048x1538xf32>
  %11 = kernel.slice %10 {offsets = array<i64: 0, 2>, sizes = array<i64: 2048, 1536>, strides = array<i64: 1, 1>} : (tensor<2048x1538xf32>) -> tensor<2048x1536xf32>
  %12 = kernel.add %9, %11 : (tensor<2048x1536xf32>, tensor<2048x1536xf32>) -> tensor<2048x1536xf32>
  %13 = kernel.scale %1 {factor = 4.000000e+00 : f32} : (tensor<2048x1536xf32>) -> tensor<2048x1536xf32>
  %14 = kernel.sub %12, %13 : (tensor<2048x1536xf32>, tensor<2048x1536xf32>) -> tensor<2048x1536xf32>
  %15 = kernel.scale %14 {factor = 2.500000e-01 : f32} : (tensor<2048x1536xf32>) -> tensor<2048x1536xf32>
  %16 = kernel.add %15, %1 : (tensor<2048x1536xf32>, tensor<2048x1536xf32>) -> tensor<2048x1536xf32>
  %17 = kernel.mul %1, %1 : (tensor<2048x1536xf32>, tensor<2048x1536xf32>) -> tensor<2048x1536xf32>
  %18 = kernel.mul %17, %1 : (tensor<2048x1536xf32>, tensor<2048x1536xf32>) -> tensor<2048x1536xf32>
  %19 = kernel.sub %16, %18 : (tensor<2048x1536xf32>, tensor<2048x1536xf32>) -> tensor<2048x1536xf32>
  %20 = kernel.scale %19 {factor = 1.000000e-01 : f32} : (tensor<2048x1536xf32>) -> tensor<2048x1536xf32>
  %21 = kernel.add %1, %20 : (tensor<2048x1536xf32>, tensor<2048x1536xf32>) -> tensor<2048x1536xf32>
  func.return %21 : tensor<2048x1536xf32>
}

// SIREN: two layers of sines and a last one of 3: 16,384 points.
func.func @siren(%x: tensor<16384x256xf16>, %w1: tensor<256x256xf16> {kernel.constant}, %b1: tensor<256xf16>, %w2: tensor<256x256xf16> {kernel.constant}, %b2: tensor<256xf16>, %w3: tensor<256x3xf16> {kernel.constant}, %b3: tensor<3xf16>) -> tensor<16384x3xf16> {
  %0 = kernel.matmul %x, %w1 : (tensor<16384x256xf16>, tensor<256x256xf16>) -> tensor<16384x256xf16>
  %1 = kernel.add %0, %b1 : (tensor<16384x256xf16>, tensor<256xf16>) -> tensor<16384x256xf16>
  %2 = kernel.cast %1 : (tensor<16384x256xf16>) -> tensor<16384x256xf32>
  %3 = kernel.sin %2 : (tensor<16384x256xf32>) -> tensor<16384x256xf32>
  %4 = kernel.cast %3 : (tensor<16384x256xf32>) -> tensor<16384x256xf16>
  %5 = kernel.matmul %4, %w2 : (tensor<16384x256xf16>, tensor<256x256xf16>) -> tensor<16384x256xf16>
  %6 = kernel.add %5, %b2 : (tensor<16384x256xf16>, tensor<256xf16>) -> tensor<16384x256xf16>
  %7 = kernel.cast %6 : (tensor<16384x256xf16>) -> tensor<16384x256xf32>
  %8 = kernel.sin %7 : (tensor<16384x256xf32>) -> tensor<16384x256xf32>
  %9 = kernel.cast %8 : (tensor<16384x256xf32>) -> tensor<16384x256xf16>
  %10 = kernel.matmul %9, %w3 : (tensor<16384x256xf16>, tensor<256x3xf16>) -> tensor<16384x3xf16>
  %11 = kernel.add %10, %b3 : (tensor<16384x3xf16>, tensor<3xf16>) -> tensor<16384x3xf16>
  func.return %11 : tensor<16384x3xf16>
}

// AlphaFold's outer product mean: 128 sequences, 80 residues, 32 channels, to 128.
func.func @outer_product_mean(%a: tensor<128x80x32xf16>, %b: tensor<128x80x32xf16>, %w: tensor<1024x128xf16> {kernel.constant}, %bias: tensor<128xf16>) -> tensor<80x80x128xf16> {
  %0 = kernel.scale %a {factor = 0.0883883461 : f32} : (tensor<128x80x32xf16>) -> tensor<128x80x32xf16>
  %1 = kernel.reshape %0 : (tensor<128x80x32xf16>) -> tensor<128x80x32x1xf16>
  %2 = kernel.reshape %1 : (tensor<128x80x32x1xf16>) -> tensor<128x80x32x1x1xf16>
  %3 = kernel.transpose %2 {permutation = array<i64: 1, 3, 2, 4, 0>} : (tensor<128x80x32x1x1xf16>) -> tensor<80x1x32x1x128xf16>
  %4 = kernel.reshape %b : (tensor<128x80x32xf16>) -> tensor<128x80x32x1xf16>
  %5 = kernel.reshape %4 : (tensor<128x80x32x1xf16>) -> tensor<128x80x32x1x1xf16>
  %6 = kernel.transpose %5 {permutation = array<i64: 3, 1, 4, 2, 0>} : (tensor<128x80x32x1x1xf16>) -> tensor<1x80x1x32x128xf16>
  %7 = kernel.transpose %3 {permutation = array<i64: 0, 2, 4, 1, 3>} : (tensor<80x1x32x1x128xf16>) -> tensor<80x32x128x1x1xf16>
  %8 = kernel.reshape %7 : (tensor<80x32x128x1x1xf16>) -> tensor<1x2560x128xf16>
  %9 = kernel.transpose %6 {permutation = array<i64: 4, 1, 3, 0, 2>} : (tensor<1x80x1x32x128xf16>) -> tensor<128x80x32x1x1xf16>
  %10 = kernel.reshape %9 : (tensor<128x80x32x1x1xf16>) -> tensor<1x128x2560xf16>
  %11 = kernel.matmul %8, %10 : (tensor<1x2560x128xf16>, tensor<1x128x2560xf16>) -> tensor<1x2560x2560xf16>
  %12 = kernel.reshape %11 : (tensor<1x2560x2560xf16>) -> tensor<80x32x1x80x32xf16>
  %13 = kernel.transpose %12 {permutation = array<i64: 0, 3, 1, 4, 2>} : (tensor<80x32x1x80x32xf16>) -> tensor<80x80x32x32x1xf16>
  %14 = kernel.reshape %13 : (tensor<80x80x32x32x1xf16>) -> tensor<80x80x32x32xf16>
  %15 = kernel.reshape %14 : (tensor<80x80x32x32xf16>) -> tensor<80x80x1024xf16>
  %16 = kernel.matmul %15, %w : (tensor<80x80x1024xf16>, tensor<1024x128xf16>) -> tensor<80x80x128xf16>
  %17 = kernel.add %16, %bias : (tensor<80x80x128xf16>, tensor<128xf16>) -> tensor<80x80x128xf16>
  func.return %17 : tensor<80x80x128xf16>
}
