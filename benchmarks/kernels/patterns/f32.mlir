// Programs in f32.
func.func @adam_update(%g: tensor<4096x4096xf32>, %m: tensor<4096x4096xf32>, %v: tensor<4096x4096xf32>) -> (tensor<4096x4096xf32>, tensor<4096x4096xf32>, tensor<4096x4096xf32>) {
  %0 = kernel.scale %m {factor = 9.000000e-01 : f32} : (tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %1 = kernel.scale %g {factor = 1.000000e-01 : f32} : (tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %2 = kernel.add %0, %1 : (tensor<4096x4096xf32>, tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %3 = kernel.scale %v {factor = 9.900000e-01 : f32} : (tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %4 = kernel.scale %g {factor = 1.000000e-02 : f32} : (tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %5 = kernel.mul %4, %g : (tensor<4096x4096xf32>, tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %6 = kernel.add %3, %5 : (tensor<4096x4096xf32>, tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %7 = kernel.sqrt %6 : (tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %8 = kernel.constant {value = 1.000000e-08 : f32} : tensor<1x1xf32>
  %9 = kernel.add %7, %8 : (tensor<4096x4096xf32>, tensor<1x1xf32>) -> tensor<4096x4096xf32>
  %10 = kernel.div %2, %9 : (tensor<4096x4096xf32>, tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  func.return %2, %6, %10 : tensor<4096x4096xf32>, tensor<4096x4096xf32>, tensor<4096x4096xf32>
}

func.func @covariance(%x: tensor<4096x256xf32>) -> tensor<256x256xf32> {
  %0 = kernel.reduce_mean %x {dims = array<i64: 0>} : (tensor<4096x256xf32>) -> tensor<1x256xf32>
  %1 = kernel.sub %x, %0 : (tensor<4096x256xf32>, tensor<1x256xf32>) -> tensor<4096x256xf32>
  %2 = kernel.transpose %1 {permutation = array<i64: 1, 0>} : (tensor<4096x256xf32>) -> tensor<256x4096xf32>
  %3 = kernel.matmul %2, %1 : (tensor<256x4096xf32>, tensor<4096x256xf32>) -> tensor<256x256xf32>
  %4 = kernel.scale %3 {factor = 0.000244200259 : f32} : (tensor<256x256xf32>) -> tensor<256x256xf32>
  func.return %4 : tensor<256x256xf32>
}

func.func @soft_knn(%x: tensor<1024x256xf32>, %c: tensor<4096x256xf32>) -> tensor<1024x4096xf32> {
  %0 = kernel.mul %x, %x : (tensor<1024x256xf32>, tensor<1024x256xf32>) -> tensor<1024x256xf32>
  %1 = kernel.reduce_sum %0 {dims = array<i64: 1>} : (tensor<1024x256xf32>) -> tensor<1024x1xf32>
  %2 = kernel.scale %x {factor = 2.000000e+00 : f32} : (tensor<1024x256xf32>) -> tensor<1024x256xf32>
  %3 = kernel.transpose %c {permutation = array<i64: 1, 0>} : (tensor<4096x256xf32>) -> tensor<256x4096xf32>
  %4 = kernel.matmul %2, %3 : (tensor<1024x256xf32>, tensor<256x4096xf32>) -> tensor<1024x4096xf32>
  %5 = kernel.sub %1, %4 : (tensor<1024x1xf32>, tensor<1024x4096xf32>) -> tensor<1024x4096xf32>
  %6 = kernel.mul %c, %c : (tensor<4096x256xf32>, tensor<4096x256xf32>) -> tensor<4096x256xf32>
  %7 = kernel.reduce_sum %6 {dims = array<i64: 1>} : (tensor<4096x256xf32>) -> tensor<4096x1xf32>
  %8 = kernel.reshape %7 : (tensor<4096x1xf32>) -> tensor<4096xf32>
  %9 = kernel.reshape %8 : (tensor<4096xf32>) -> tensor<1x4096xf32>
  %10 = kernel.add %5, %9 : (tensor<1024x4096xf32>, tensor<1x4096xf32>) -> tensor<1024x4096xf32>
  %11 = kernel.neg %10 : (tensor<1024x4096xf32>) -> tensor<1024x4096xf32>
  %12 = kernel.softmax %11 {dim = 1 : i64} : (tensor<1024x4096xf32>) -> tensor<1024x4096xf32>
  func.return %12 : tensor<1024x4096xf32>
}

func.func @sinkhorn(%k: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %0 = kernel.exp %k : (tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %1 = kernel.reduce_sum %0 {dims = array<i64: 1>} : (tensor<1024x1024xf32>) -> tensor<1024x1xf32>
  %2 = kernel.div %0, %1 : (tensor<1024x1024xf32>, tensor<1024x1xf32>) -> tensor<1024x1024xf32>
  %3 = kernel.reduce_sum %2 {dims = array<i64: 0>} : (tensor<1024x1024xf32>) -> tensor<1x1024xf32>
  %4 = kernel.div %2, %3 : (tensor<1024x1024xf32>, tensor<1x1024xf32>) -> tensor<1024x1024xf32>
  func.return %4 : tensor<1024x1024xf32>
}

func.func @entropy(%x: tensor<128x50257xf32>) -> tensor<128xf32> {
  %0 = kernel.softmax %x {dim = 1 : i64} : (tensor<128x50257xf32>) -> tensor<128x50257xf32>
  %1 = kernel.reduce_max %x {dims = array<i64: 1>} : (tensor<128x50257xf32>) -> tensor<128x1xf32>
  %2 = kernel.sub %x, %1 : (tensor<128x50257xf32>, tensor<128x1xf32>) -> tensor<128x50257xf32>
  %3 = kernel.exp %2 : (tensor<128x50257xf32>) -> tensor<128x50257xf32>
  %4 = kernel.reduce_sum %3 {dims = array<i64: 1>} : (tensor<128x50257xf32>) -> tensor<128x1xf32>
  %5 = kernel.log %4 : (tensor<128x1xf32>) -> tensor<128x1xf32>
  %6 = kernel.add %1, %5 : (tensor<128x1xf32>, tensor<128x1xf32>) -> tensor<128x1xf32>
  %7 = kernel.sub %x, %6 : (tensor<128x50257xf32>, tensor<128x1xf32>) -> tensor<128x50257xf32>
  %8 = kernel.mul %0, %7 : (tensor<128x50257xf32>, tensor<128x50257xf32>) -> tensor<128x50257xf32>
  %9 = kernel.reduce_sum %8 {dims = array<i64: 1>} : (tensor<128x50257xf32>) -> tensor<128x1xf32>
  %10 = kernel.reshape %9 : (tensor<128x1xf32>) -> tensor<128xf32>
  %11 = kernel.neg %10 : (tensor<128xf32>) -> tensor<128xf32>
  func.return %11 : tensor<128xf32>
}

func.func @mm_f32_wide(%x: tensor<2048x512xf32>, %w: tensor<512x2048xf32>) -> tensor<2048x2048xf32> {
  %0 = kernel.matmul %x, %w : (tensor<2048x512xf32>, tensor<512x2048xf32>) -> tensor<2048x2048xf32>
  func.return %0 : tensor<2048x2048xf32>
}

func.func @silu_f32(%x: tensor<512x1024xf32>, %w: tensor<1024x2048xf32>) -> tensor<512x2048xf32> {
  %0 = kernel.matmul %x, %w : (tensor<512x1024xf32>, tensor<1024x2048xf32>) -> tensor<512x2048xf32>
  %1 = kernel.silu %0 : (tensor<512x2048xf32>) -> tensor<512x2048xf32>
  func.return %1 : tensor<512x2048xf32>
}

func.func @relu_f32(%x: tensor<4096x512xf32>, %w: tensor<512x512xf32>, %bi: tensor<512xf32>) -> tensor<4096x512xf32> {
  %0 = kernel.matmul %x, %w : (tensor<4096x512xf32>, tensor<512x512xf32>) -> tensor<4096x512xf32>
  %1 = kernel.add %0, %bi : (tensor<4096x512xf32>, tensor<512xf32>) -> tensor<4096x512xf32>
  %2 = kernel.relu %1 : (tensor<4096x512xf32>) -> tensor<4096x512xf32>
  func.return %2 : tensor<4096x512xf32>
}
