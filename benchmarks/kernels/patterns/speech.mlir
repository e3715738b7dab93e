// Zipformer's BiasNorm and SwooshR: 6,400 frames of 512.
func.func @zipformer_bias_norm(%x: tensor<6400x512xf16>, %bias: tensor<512xf16>, %log_scale: tensor<1xf32>) -> tensor<6400x512xf16> {
  %0 = kernel.cast %x : (tensor<6400x512xf16>) -> tensor<6400x512xf32>
  %1 = kernel.cast %bias : (tensor<512xf16>) -> tensor<512xf32>
  %2 = kernel.sub %0, %1 : (tensor<6400x512xf32>, tensor<512xf32>) -> tensor<6400x512xf32>
  %3 = kernel.square %2 : (tensor<6400x512xf32>) -> tensor<6400x512xf32>
  %4 = kernel.reduce_mean %3 {dims = array<i64: 1>} : (tensor<6400x512xf32>) -> tensor<6400x1xf32>
  %5 = kernel.rsqrt %4 : (tensor<6400x1xf32>) -> tensor<6400x1xf32>
  %6 = kernel.exp %log_scale : (tensor<1xf32>) -> tensor<1xf32>
  %7 = kernel.mul %5, %6 : (tensor<6400x1xf32>, tensor<1xf32>) -> tensor<6400x1xf32>
  %8 = kernel.mul %0, %7 : (tensor<6400x512xf32>, tensor<6400x1xf32>) -> tensor<6400x512xf32>
  %9 = kernel.constant {value = 1.000000e+00 : f32} : tensor<1x1xf32>
  %10 = kernel.sub %8, %9 : (tensor<6400x512xf32>, tensor<1x1xf32>) -> tensor<6400x512xf32>
  %11 = kernel.scale %10 {factor = 1.000000e+00 : f32} : (tensor<6400x512xf32>) -> tensor<6400x512xf32>
  %12 = kernel.abs %11 : (tensor<6400x512xf32>) -> tensor<6400x512xf32>
  %13 = kernel.neg %12 : (tensor<6400x512xf32>) -> tensor<6400x512xf32>
  %14 = kernel.exp %13 : (tensor<6400x512xf32>) -> tensor<6400x512xf32>
  %15 = kernel.log1p %14 : (tensor<6400x512xf32>) -> tensor<6400x512xf32>
  %16 = kernel.relu %11 : (tensor<6400x512xf32>) -> tensor<6400x512xf32>
  %17 = kernel.add %16, %15 : (tensor<6400x512xf32>, tensor<6400x512xf32>) -> tensor<6400x512xf32>
  %18 = kernel.scale %17 {factor = 1.000000e+00 : f32} : (tensor<6400x512xf32>) -> tensor<6400x512xf32>
  %19 = kernel.scale %8 {factor = 8.000000e-02 : f32} : (tensor<6400x512xf32>) -> tensor<6400x512xf32>
  %20 = kernel.sub %18, %19 : (tensor<6400x512xf32>, tensor<6400x512xf32>) -> tensor<6400x512xf32>
  %21 = kernel.constant {value = 0.313261688 : f32} : tensor<1x1xf32>
  %22 = kernel.sub %20, %21 : (tensor<6400x512xf32>, tensor<1x1xf32>) -> tensor<6400x512xf32>
  %23 = kernel.cast %22 : (tensor<6400x512xf32>) -> tensor<6400x512xf16>
  func.return %23 : tensor<6400x512xf16>
}

// The joint network of a transducer: 4 x 100 frames, 32 labels, 1,025 word pieces.
func.func @rnnt_joint(%enc: tensor<4x100x640xf16>, %pred: tensor<4x32x640xf16>, %w: tensor<640x1025xf16> {kernel.constant}, %b: tensor<1025xf16>) -> tensor<4x100x32x1025xf16> {
  %0 = kernel.reshape %enc : (tensor<4x100x640xf16>) -> tensor<4x100x1x640xf16>
  %1 = kernel.reshape %pred : (tensor<4x32x640xf16>) -> tensor<4x1x32x640xf16>
  %2 = kernel.add %0, %1 : (tensor<4x100x1x640xf16>, tensor<4x1x32x640xf16>) -> tensor<4x100x32x640xf16>
  %3 = kernel.tanh %2 : (tensor<4x100x32x640xf16>) -> tensor<4x100x32x640xf16>
  %4 = kernel.matmul %3, %w : (tensor<4x100x32x640xf16>, tensor<640x1025xf16>) -> tensor<4x100x32x1025xf16>
  %5 = kernel.add %4, %b : (tensor<4x100x32x1025xf16>, tensor<1025xf16>) -> tensor<4x100x32x1025xf16>
  %6 = kernel.cast %5 : (tensor<4x100x32x1025xf16>) -> tensor<4x100x32x1025xf32>
  %7 = kernel.reduce_max %6 {dims = array<i64: 3>} : (tensor<4x100x32x1025xf32>) -> tensor<4x100x32x1xf32>
  %8 = kernel.sub %6, %7 : (tensor<4x100x32x1025xf32>, tensor<4x100x32x1xf32>) -> tensor<4x100x32x1025xf32>
  %9 = kernel.exp %8 : (tensor<4x100x32x1025xf32>) -> tensor<4x100x32x1025xf32>
  %10 = kernel.reduce_sum %9 {dims = array<i64: 3>} : (tensor<4x100x32x1025xf32>) -> tensor<4x100x32x1xf32>
  %11 = kernel.log %10 : (tensor<4x100x32x1xf32>) -> tensor<4x100x32x1xf32>
  %12 = kernel.add %7, %11 : (tensor<4x100x32x1xf32>, tensor<4x100x32x1xf32>) -> tensor<4x100x32x1xf32>
  %13 = kernel.sub %6, %12 : (tensor<4x100x32x1025xf32>, tensor<4x100x32x1xf32>) -> tensor<4x100x32x1025xf32>
  %14 = kernel.cast %13 : (tensor<4x100x32x1025xf32>) -> tensor<4x100x32x1025xf16>
  func.return %14 : tensor<4x100x32x1025xf16>
}
