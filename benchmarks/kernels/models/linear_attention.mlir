// Linear attention with elu + 1.
func.func @linear_attention(%q: tensor<4x16x1024x64xf16>, %k: tensor<4x16x1024x64xf16>, %v: tensor<4x16x1024x64xf16>) -> tensor<4x16x1024x64xf16> {
  %0 = kernel.cast %q : (tensor<4x16x1024x64xf16>) -> tensor<4x16x1024x64xf32>
  %1 = kernel.constant {value = 0.000000e+00 : f32} : tensor<1x1x1x1xf32>
  %2 = kernel.min %0, %1 : (tensor<4x16x1024x64xf32>, tensor<1x1x1x1xf32>) -> tensor<4x16x1024x64xf32>
  %3 = kernel.scale %2 {factor = 1.000000e+00 : f32} : (tensor<4x16x1024x64xf32>) -> tensor<4x16x1024x64xf32>
  %4 = kernel.expm1 %3 : (tensor<4x16x1024x64xf32>) -> tensor<4x16x1024x64xf32>
  %5 = kernel.relu %0 : (tensor<4x16x1024x64xf32>) -> tensor<4x16x1024x64xf32>
  %6 = kernel.scale %5 {factor = 1.000000e+00 : f32} : (tensor<4x16x1024x64xf32>) -> tensor<4x16x1024x64xf32>
  %7 = kernel.scale %4 {factor = 1.000000e+00 : f32} : (tensor<4x16x1024x64xf32>) -> tensor<4x16x1024x64xf32>
  %8 = kernel.add %6, %7 : (tensor<4x16x1024x64xf32>, tensor<4x16x1024x64xf32>) -> tensor<4x16x1024x64xf32>
  %9 = kernel.constant {value = 1.000000e+00 : f32} : tensor<1x1x1x1xf32>
  %10 = kernel.add %8, %9 : (tensor<4x16x1024x64xf32>, tensor<1x1x1x1xf32>) -> tensor<4x16x1024x64xf32>
  %11 = kernel.cast %k : (tensor<4x16x1024x64xf16>) -> tensor<4x16x1024x64xf32>
  %12 = kernel.constant {value = 0.000000e+00 : f32} : tensor<1x1x1x1xf32>
  %13 = kernel.min %11, %12 : (tensor<4x16x1024x64xf32>, tensor<1x1x1x1xf32>) -> tensor<4x16x1024x64xf32>
  %14 = kernel.scale %13 {factor = 1.000000e+00 : f32} : (tensor<4x16x1024x64xf32>) -> tensor<4x16x1024x64xf32>
  %15 = kernel.expm1 %14 : (tensor<4x16x1024x64xf32>) -> tensor<4x16x1024x64xf32>
  %16 = kernel.relu %11 : (tensor<4x16x1024x64xf32>) -> tensor<4x16x1024x64xf32>
  %17 = kernel.scale %16 {factor = 1.000000e+00 : f32} : (tensor<4x16x1024x64xf32>) -> tensor<4x16x1024x64xf32>
  %18 = kernel.scale %15 {factor = 1.000000e+00 : f32} : (tensor<4x16x1024x64xf32>) -> tensor<4x16x1024x64xf32>
  %19 = kernel.add %17, %18 : (tensor<4x16x1024x64xf32>, tensor<4x16x1024x64xf32>) -> tensor<4x16x1024x64xf32>
  %20 = kernel.constant {value = 1.000000e+00 : f32} : tensor<1x1x1x1xf32>
  %21 = kernel.add %19, %20 : (tensor<4x16x1024x64xf32>, tensor<1x1x1x1xf32>) -> tensor<4x16x1024x64xf32>
  %22 = kernel.transpose %21 {permutation = array<i64: 0, 1, 3, 2>} : (tensor<4x16x1024x64xf32>) -> tensor<4x16x64x1024xf32>
  %23 = kernel.cast %22 : (tensor<4x16x64x1024xf32>) -> tensor<4x16x64x1024xf16>
  %24 = kernel.matmul %23, %v : (tensor<4x16x64x1024xf16>, tensor<4x16x1024x64xf16>) -> tensor<4x16x64x64xf16>
  %25 = kernel.reduce_sum %21 {dims = array<i64: 2>} : (tensor<4x16x1024x64xf32>) -> tensor<4x16x1x64xf32>
  %26 = kernel.mul %10, %25 : (tensor<4x16x1024x64xf32>, tensor<4x16x1x64xf32>) -> tensor<4x16x1024x64xf32>
  %27 = kernel.reduce_sum %26 {dims = array<i64: 3>} : (tensor<4x16x1024x64xf32>) -> tensor<4x16x1024x1xf32>
  %28 = kernel.cast %10 : (tensor<4x16x1024x64xf32>) -> tensor<4x16x1024x64xf16>
  %29 = kernel.matmul %28, %24 : (tensor<4x16x1024x64xf16>, tensor<4x16x64x64xf16>) -> tensor<4x16x1024x64xf16>
  %30 = kernel.cast %29 : (tensor<4x16x1024x64xf16>) -> tensor<4x16x1024x64xf32>
  %31 = kernel.div %30, %27 : (tensor<4x16x1024x64xf32>, tensor<4x16x1024x1xf32>) -> tensor<4x16x1024x64xf32>
  %32 = kernel.cast %31 : (tensor<4x16x1024x64xf32>) -> tensor<4x16x1024x64xf16>
  func.return %32 : tensor<4x16x1024x64xf16>
}
