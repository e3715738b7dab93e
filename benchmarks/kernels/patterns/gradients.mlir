// Gradients with respect to some inputs, as kernel-differentiate writes them.

func.func @cross_attention_queries(%q: tensor<16x1024x64xbf16>, %k: tensor<16x1024x64xbf16>, %v: tensor<16x1024x64xbf16>, %grad0: tensor<16x1024x64xbf16>) -> tensor<16x1024x64xbf16> {
  %kt = kernel.transpose %k {permutation = array<i64: 0, 2, 1>} : (tensor<16x1024x64xbf16>) -> tensor<16x64x1024xbf16>
  %s0 = kernel.matmul %q, %kt : (tensor<16x1024x64xbf16>, tensor<16x64x1024xbf16>) -> tensor<16x1024x1024xbf16>
  %c = kernel.constant {value = 1.250000e-01 : f32} : tensor<1x1x1xbf16>
  %s1 = kernel.mul %s0, %c : (tensor<16x1024x1024xbf16>, tensor<1x1x1xbf16>) -> tensor<16x1024x1024xbf16>
  %0 = kernel.transpose %v {permutation = array<i64: 0, 2, 1>} : (tensor<16x1024x64xbf16>) -> tensor<16x64x1024xbf16>
  %1 = kernel.matmul %grad0, %0 : (tensor<16x1024x64xbf16>, tensor<16x64x1024xbf16>) -> tensor<16x1024x1024xbf16>
  %2 = kernel.cast %1 : (tensor<16x1024x1024xbf16>) -> tensor<16x1024x1024xf32>
  %3 = kernel.cast %s1 : (tensor<16x1024x1024xbf16>) -> tensor<16x1024x1024xf32>
  %4 = kernel.softmax %3 {dim = 2 : i64} : (tensor<16x1024x1024xf32>) -> tensor<16x1024x1024xf32>
  %5 = kernel.mul %4, %2 : (tensor<16x1024x1024xf32>, tensor<16x1024x1024xf32>) -> tensor<16x1024x1024xf32>
  %6 = kernel.reduce_sum %5 {dims = array<i64: 2>} : (tensor<16x1024x1024xf32>) -> tensor<16x1024x1xf32>
  %7 = kernel.sub %2, %6 : (tensor<16x1024x1024xf32>, tensor<16x1024x1xf32>) -> tensor<16x1024x1024xf32>
  %8 = kernel.mul %4, %7 : (tensor<16x1024x1024xf32>, tensor<16x1024x1024xf32>) -> tensor<16x1024x1024xf32>
  %9 = kernel.cast %8 : (tensor<16x1024x1024xf32>) -> tensor<16x1024x1024xbf16>
  %10 = kernel.cast %c : (tensor<1x1x1xbf16>) -> tensor<1x1x1xf32>
  %11 = kernel.cast %9 : (tensor<16x1024x1024xbf16>) -> tensor<16x1024x1024xf32>
  %12 = kernel.mul %11, %10 : (tensor<16x1024x1024xf32>, tensor<1x1x1xf32>) -> tensor<16x1024x1024xf32>
  %13 = kernel.cast %12 : (tensor<16x1024x1024xf32>) -> tensor<16x1024x1024xbf16>
  %14 = kernel.transpose %kt {permutation = array<i64: 0, 2, 1>} : (tensor<16x64x1024xbf16>) -> tensor<16x1024x64xbf16>
  %15 = kernel.matmul %13, %14 : (tensor<16x1024x1024xbf16>, tensor<16x1024x64xbf16>) -> tensor<16x1024x64xbf16>
  func.return %15 : tensor<16x1024x64xbf16>
}

func.func @text_attention_keys(%q: tensor<16x1024x64xbf16>, %k: tensor<16x256x64xbf16>, %v: tensor<16x256x64xbf16>, %grad0: tensor<16x1024x64xbf16>) -> (tensor<16x256x64xbf16>, tensor<16x256x64xbf16>) {
  %kt = kernel.transpose %k {permutation = array<i64: 0, 2, 1>} : (tensor<16x256x64xbf16>) -> tensor<16x64x256xbf16>
  %s0 = kernel.matmul %q, %kt : (tensor<16x1024x64xbf16>, tensor<16x64x256xbf16>) -> tensor<16x1024x256xbf16>
  %c = kernel.constant {value = 1.250000e-01 : f32} : tensor<1x1x1xbf16>
  %s1 = kernel.mul %s0, %c : (tensor<16x1024x256xbf16>, tensor<1x1x1xbf16>) -> tensor<16x1024x256xbf16>
  %p = kernel.softmax %s1 {dim = 2 : i64} : (tensor<16x1024x256xbf16>) -> tensor<16x1024x256xbf16>
  %0 = kernel.transpose %v {permutation = array<i64: 0, 2, 1>} : (tensor<16x256x64xbf16>) -> tensor<16x64x256xbf16>
  %1 = kernel.matmul %grad0, %0 : (tensor<16x1024x64xbf16>, tensor<16x64x256xbf16>) -> tensor<16x1024x256xbf16>
  %2 = kernel.transpose %p {permutation = array<i64: 0, 2, 1>} : (tensor<16x1024x256xbf16>) -> tensor<16x256x1024xbf16>
  %3 = kernel.matmul %2, %grad0 : (tensor<16x256x1024xbf16>, tensor<16x1024x64xbf16>) -> tensor<16x256x64xbf16>
  %4 = kernel.cast %1 : (tensor<16x1024x256xbf16>) -> tensor<16x1024x256xf32>
  %5 = kernel.cast %s1 : (tensor<16x1024x256xbf16>) -> tensor<16x1024x256xf32>
  %6 = kernel.softmax %5 {dim = 2 : i64} : (tensor<16x1024x256xf32>) -> tensor<16x1024x256xf32>
  %7 = kernel.mul %6, %4 : (tensor<16x1024x256xf32>, tensor<16x1024x256xf32>) -> tensor<16x1024x256xf32>
  %8 = kernel.reduce_sum %7 {dims = array<i64: 2>} : (tensor<16x1024x256xf32>) -> tensor<16x1024x1xf32>
  %9 = kernel.sub %4, %8 : (tensor<16x1024x256xf32>, tensor<16x1024x1xf32>) -> tensor<16x1024x256xf32>
  %10 = kernel.mul %6, %9 : (tensor<16x1024x256xf32>, tensor<16x1024x256xf32>) -> tensor<16x1024x256xf32>
  %11 = kernel.cast %10 : (tensor<16x1024x256xf32>) -> tensor<16x1024x256xbf16>
  %12 = kernel.cast %c : (tensor<1x1x1xbf16>) -> tensor<1x1x1xf32>
  %13 = kernel.cast %11 : (tensor<16x1024x256xbf16>) -> tensor<16x1024x256xf32>
  %14 = kernel.mul %13, %12 : (tensor<16x1024x256xf32>, tensor<1x1x1xf32>) -> tensor<16x1024x256xf32>
  %15 = kernel.cast %14 : (tensor<16x1024x256xf32>) -> tensor<16x1024x256xbf16>
  %16 = kernel.transpose %q {permutation = array<i64: 0, 2, 1>} : (tensor<16x1024x64xbf16>) -> tensor<16x64x1024xbf16>
  %17 = kernel.matmul %16, %15 : (tensor<16x64x1024xbf16>, tensor<16x1024x256xbf16>) -> tensor<16x64x256xbf16>
  %18 = kernel.transpose %17 {permutation = array<i64: 0, 2, 1>} : (tensor<16x64x256xbf16>) -> tensor<16x256x64xbf16>
  func.return %18, %3 : tensor<16x256x64xbf16>, tensor<16x256x64xbf16>
}

func.func @masked_attention_queries(%q: tensor<8x512x128xf16>, %k: tensor<8x512x128xf16>, %v: tensor<8x512x128xf16>, %m: tensor<512x512xf16>, %grad0: tensor<8x512x128xf16>) -> tensor<8x512x128xf16> {
  %kt = kernel.transpose %k {permutation = array<i64: 0, 2, 1>} : (tensor<8x512x128xf16>) -> tensor<8x128x512xf16>
  %s0 = kernel.matmul %q, %kt : (tensor<8x512x128xf16>, tensor<8x128x512xf16>) -> tensor<8x512x512xf16>
  %c = kernel.constant {value = 0.0883883461 : f32} : tensor<1x1x1xf16>
  %s1 = kernel.mul %s0, %c : (tensor<8x512x512xf16>, tensor<1x1x1xf16>) -> tensor<8x512x512xf16>
  %s2 = kernel.add %s1, %m : (tensor<8x512x512xf16>, tensor<512x512xf16>) -> tensor<8x512x512xf16>
  %0 = kernel.transpose %v {permutation = array<i64: 0, 2, 1>} : (tensor<8x512x128xf16>) -> tensor<8x128x512xf16>
  %1 = kernel.matmul %grad0, %0 : (tensor<8x512x128xf16>, tensor<8x128x512xf16>) -> tensor<8x512x512xf16>
  %2 = kernel.cast %1 : (tensor<8x512x512xf16>) -> tensor<8x512x512xf32>
  %3 = kernel.cast %s2 : (tensor<8x512x512xf16>) -> tensor<8x512x512xf32>
  %4 = kernel.softmax %3 {dim = 2 : i64} : (tensor<8x512x512xf32>) -> tensor<8x512x512xf32>
  %5 = kernel.mul %4, %2 : (tensor<8x512x512xf32>, tensor<8x512x512xf32>) -> tensor<8x512x512xf32>
  %6 = kernel.reduce_sum %5 {dims = array<i64: 2>} : (tensor<8x512x512xf32>) -> tensor<8x512x1xf32>
  %7 = kernel.sub %2, %6 : (tensor<8x512x512xf32>, tensor<8x512x1xf32>) -> tensor<8x512x512xf32>
  %8 = kernel.mul %4, %7 : (tensor<8x512x512xf32>, tensor<8x512x512xf32>) -> tensor<8x512x512xf32>
  %9 = kernel.cast %8 : (tensor<8x512x512xf32>) -> tensor<8x512x512xf16>
  %10 = kernel.cast %9 : (tensor<8x512x512xf16>) -> tensor<8x512x512xf32>
  %11 = kernel.cast %10 : (tensor<8x512x512xf32>) -> tensor<8x512x512xf16>
  %12 = kernel.cast %c : (tensor<1x1x1xf16>) -> tensor<1x1x1xf32>
  %13 = kernel.cast %11 : (tensor<8x512x512xf16>) -> tensor<8x512x512xf32>
  %14 = kernel.mul %13, %12 : (tensor<8x512x512xf32>, tensor<1x1x1xf32>) -> tensor<8x512x512xf32>
  %15 = kernel.cast %14 : (tensor<8x512x512xf32>) -> tensor<8x512x512xf16>
  %16 = kernel.transpose %kt {permutation = array<i64: 0, 2, 1>} : (tensor<8x128x512xf16>) -> tensor<8x512x128xf16>
  %17 = kernel.matmul %15, %16 : (tensor<8x512x512xf16>, tensor<8x512x128xf16>) -> tensor<8x512x128xf16>
  func.return %17 : tensor<8x512x128xf16>
}

func.func @sigmoid_attention(%q: tensor<8x1024x64xbf16>, %k: tensor<8x1024x64xbf16>, %v: tensor<8x1024x64xbf16>, %grad0: tensor<8x1024x64xbf16>) -> (tensor<8x1024x64xbf16>, tensor<8x1024x64xbf16>, tensor<8x1024x64xbf16>) {
  %kt = kernel.transpose %k {permutation = array<i64: 0, 2, 1>} : (tensor<8x1024x64xbf16>) -> tensor<8x64x1024xbf16>
  %s0 = kernel.matmul %q, %kt : (tensor<8x1024x64xbf16>, tensor<8x64x1024xbf16>) -> tensor<8x1024x1024xbf16>
  %c = kernel.constant {value = 1.250000e-01 : f32} : tensor<1x1x1xbf16>
  %s1 = kernel.mul %s0, %c : (tensor<8x1024x1024xbf16>, tensor<1x1x1xbf16>) -> tensor<8x1024x1024xbf16>
  %p = kernel.sigmoid %s1 : (tensor<8x1024x1024xbf16>) -> tensor<8x1024x1024xbf16>
  %0 = kernel.transpose %v {permutation = array<i64: 0, 2, 1>} : (tensor<8x1024x64xbf16>) -> tensor<8x64x1024xbf16>
  %1 = kernel.matmul %grad0, %0 : (tensor<8x1024x64xbf16>, tensor<8x64x1024xbf16>) -> tensor<8x1024x1024xbf16>
  %2 = kernel.transpose %p {permutation = array<i64: 0, 2, 1>} : (tensor<8x1024x1024xbf16>) -> tensor<8x1024x1024xbf16>
  %3 = kernel.matmul %2, %grad0 : (tensor<8x1024x1024xbf16>, tensor<8x1024x64xbf16>) -> tensor<8x1024x64xbf16>
  %4 = kernel.cast %s1 : (tensor<8x1024x1024xbf16>) -> tensor<8x1024x1024xf32>
  %5 = kernel.sigmoid %4 : (tensor<8x1024x1024xf32>) -> tensor<8x1024x1024xf32>
  %6 = kernel.constant {value = 1.000000e+00 : f32} : tensor<1x1x1xf32>
  %7 = kernel.sub %6, %5 : (tensor<1x1x1xf32>, tensor<8x1024x1024xf32>) -> tensor<8x1024x1024xf32>
  %8 = kernel.mul %5, %7 : (tensor<8x1024x1024xf32>, tensor<8x1024x1024xf32>) -> tensor<8x1024x1024xf32>
  %9 = kernel.cast %1 : (tensor<8x1024x1024xbf16>) -> tensor<8x1024x1024xf32>
  %10 = kernel.mul %9, %8 : (tensor<8x1024x1024xf32>, tensor<8x1024x1024xf32>) -> tensor<8x1024x1024xf32>
  %11 = kernel.cast %10 : (tensor<8x1024x1024xf32>) -> tensor<8x1024x1024xbf16>
  %12 = kernel.cast %c : (tensor<1x1x1xbf16>) -> tensor<1x1x1xf32>
  %13 = kernel.cast %11 : (tensor<8x1024x1024xbf16>) -> tensor<8x1024x1024xf32>
  %14 = kernel.mul %13, %12 : (tensor<8x1024x1024xf32>, tensor<1x1x1xf32>) -> tensor<8x1024x1024xf32>
  %15 = kernel.cast %14 : (tensor<8x1024x1024xf32>) -> tensor<8x1024x1024xbf16>
  %16 = kernel.transpose %kt {permutation = array<i64: 0, 2, 1>} : (tensor<8x64x1024xbf16>) -> tensor<8x1024x64xbf16>
  %17 = kernel.matmul %15, %16 : (tensor<8x1024x1024xbf16>, tensor<8x1024x64xbf16>) -> tensor<8x1024x64xbf16>
  %18 = kernel.transpose %q {permutation = array<i64: 0, 2, 1>} : (tensor<8x1024x64xbf16>) -> tensor<8x64x1024xbf16>
  %19 = kernel.matmul %18, %15 : (tensor<8x64x1024xbf16>, tensor<8x1024x1024xbf16>) -> tensor<8x64x1024xbf16>
  %20 = kernel.transpose %19 {permutation = array<i64: 0, 2, 1>} : (tensor<8x64x1024xbf16>) -> tensor<8x1024x64xbf16>
  func.return %17, %20, %3 : tensor<8x1024x64xbf16>, tensor<8x1024x64xbf16>, tensor<8x1024x64xbf16>
}

func.func @qknorm_attention_queries(%q: tensor<8x512x64xbf16>, %k: tensor<8x512x64xbf16>, %v: tensor<8x512x64xbf16>, %grad0: tensor<8x512x64xbf16>) -> tensor<8x512x64xbf16> {
  %qn = kernel.rms_norm %q {eps = 1.000000e-06 : f32} : (tensor<8x512x64xbf16>) -> tensor<8x512x64xbf16>
  %kn = kernel.rms_norm %k {eps = 1.000000e-06 : f32} : (tensor<8x512x64xbf16>) -> tensor<8x512x64xbf16>
  %kt = kernel.transpose %kn {permutation = array<i64: 0, 2, 1>} : (tensor<8x512x64xbf16>) -> tensor<8x64x512xbf16>
  %s0 = kernel.matmul %qn, %kt : (tensor<8x512x64xbf16>, tensor<8x64x512xbf16>) -> tensor<8x512x512xbf16>
  %c = kernel.constant {value = 1.250000e-01 : f32} : tensor<1x1x1xbf16>
  %s1 = kernel.mul %s0, %c : (tensor<8x512x512xbf16>, tensor<1x1x1xbf16>) -> tensor<8x512x512xbf16>
  %0 = kernel.transpose %v {permutation = array<i64: 0, 2, 1>} : (tensor<8x512x64xbf16>) -> tensor<8x64x512xbf16>
  %1 = kernel.matmul %grad0, %0 : (tensor<8x512x64xbf16>, tensor<8x64x512xbf16>) -> tensor<8x512x512xbf16>
  %2 = kernel.cast %1 : (tensor<8x512x512xbf16>) -> tensor<8x512x512xf32>
  %3 = kernel.cast %s1 : (tensor<8x512x512xbf16>) -> tensor<8x512x512xf32>
  %4 = kernel.softmax %3 {dim = 2 : i64} : (tensor<8x512x512xf32>) -> tensor<8x512x512xf32>
  %5 = kernel.mul %4, %2 : (tensor<8x512x512xf32>, tensor<8x512x512xf32>) -> tensor<8x512x512xf32>
  %6 = kernel.reduce_sum %5 {dims = array<i64: 2>} : (tensor<8x512x512xf32>) -> tensor<8x512x1xf32>
  %7 = kernel.sub %2, %6 : (tensor<8x512x512xf32>, tensor<8x512x1xf32>) -> tensor<8x512x512xf32>
  %8 = kernel.mul %4, %7 : (tensor<8x512x512xf32>, tensor<8x512x512xf32>) -> tensor<8x512x512xf32>
  %9 = kernel.cast %8 : (tensor<8x512x512xf32>) -> tensor<8x512x512xbf16>
  %10 = kernel.cast %c : (tensor<1x1x1xbf16>) -> tensor<1x1x1xf32>
  %11 = kernel.cast %9 : (tensor<8x512x512xbf16>) -> tensor<8x512x512xf32>
  %12 = kernel.mul %11, %10 : (tensor<8x512x512xf32>, tensor<1x1x1xf32>) -> tensor<8x512x512xf32>
  %13 = kernel.cast %12 : (tensor<8x512x512xf32>) -> tensor<8x512x512xbf16>
  %14 = kernel.transpose %kt {permutation = array<i64: 0, 2, 1>} : (tensor<8x64x512xbf16>) -> tensor<8x512x64xbf16>
  %15 = kernel.matmul %13, %14 : (tensor<8x512x512xbf16>, tensor<8x512x64xbf16>) -> tensor<8x512x64xbf16>
  %16 = kernel.cast %q : (tensor<8x512x64xbf16>) -> tensor<8x512x64xf32>
  %17 = kernel.cast %15 : (tensor<8x512x64xbf16>) -> tensor<8x512x64xf32>
  %18 = kernel.square %16 : (tensor<8x512x64xf32>) -> tensor<8x512x64xf32>
  %19 = kernel.reduce_sum %18 {dims = array<i64: 2>} : (tensor<8x512x64xf32>) -> tensor<8x512x1xf32>
  %20 = kernel.scale %19 {factor = 1.562500e-02 : f32} : (tensor<8x512x1xf32>) -> tensor<8x512x1xf32>
  %21 = kernel.constant {value = 1.000000e-06 : f32} : tensor<1x1x1xf32>
  %22 = kernel.add %20, %21 : (tensor<8x512x1xf32>, tensor<1x1x1xf32>) -> tensor<8x512x1xf32>
  %23 = kernel.rsqrt %22 : (tensor<8x512x1xf32>) -> tensor<8x512x1xf32>
  %24 = kernel.mul %17, %16 : (tensor<8x512x64xf32>, tensor<8x512x64xf32>) -> tensor<8x512x64xf32>
  %25 = kernel.reduce_sum %24 {dims = array<i64: 2>} : (tensor<8x512x64xf32>) -> tensor<8x512x1xf32>
  %26 = kernel.scale %25 {factor = 1.562500e-02 : f32} : (tensor<8x512x1xf32>) -> tensor<8x512x1xf32>
  %27 = kernel.mul %23, %23 : (tensor<8x512x1xf32>, tensor<8x512x1xf32>) -> tensor<8x512x1xf32>
  %28 = kernel.mul %26, %27 : (tensor<8x512x1xf32>, tensor<8x512x1xf32>) -> tensor<8x512x1xf32>
  %29 = kernel.mul %16, %28 : (tensor<8x512x64xf32>, tensor<8x512x1xf32>) -> tensor<8x512x64xf32>
  %30 = kernel.sub %17, %29 : (tensor<8x512x64xf32>, tensor<8x512x64xf32>) -> tensor<8x512x64xf32>
  %31 = kernel.mul %23, %30 : (tensor<8x512x1xf32>, tensor<8x512x64xf32>) -> tensor<8x512x64xf32>
  %32 = kernel.cast %31 : (tensor<8x512x64xf32>) -> tensor<8x512x64xbf16>
  func.return %32 : tensor<8x512x64xbf16>
}

func.func @swiglu_inputs(%x: tensor<2048x1024xbf16>, %w1: tensor<1024x2816xbf16>, %w2: tensor<1024x2816xbf16>, %w3: tensor<2816x1024xbf16>, %grad0: tensor<2048x1024xbf16>) -> tensor<2048x1024xbf16> {
  %a = kernel.matmul %x, %w1 : (tensor<2048x1024xbf16>, tensor<1024x2816xbf16>) -> tensor<2048x2816xbf16>
  %b = kernel.matmul %x, %w2 : (tensor<2048x1024xbf16>, tensor<1024x2816xbf16>) -> tensor<2048x2816xbf16>
  %s = kernel.silu %a : (tensor<2048x2816xbf16>) -> tensor<2048x2816xbf16>
  %0 = kernel.transpose %w3 {permutation = array<i64: 1, 0>} : (tensor<2816x1024xbf16>) -> tensor<1024x2816xbf16>
  %1 = kernel.matmul %grad0, %0 : (tensor<2048x1024xbf16>, tensor<1024x2816xbf16>) -> tensor<2048x2816xbf16>
  %2 = kernel.cast %s : (tensor<2048x2816xbf16>) -> tensor<2048x2816xf32>
  %3 = kernel.cast %b : (tensor<2048x2816xbf16>) -> tensor<2048x2816xf32>
  %4 = kernel.cast %1 : (tensor<2048x2816xbf16>) -> tensor<2048x2816xf32>
  %5 = kernel.mul %4, %3 : (tensor<2048x2816xf32>, tensor<2048x2816xf32>) -> tensor<2048x2816xf32>
  %6 = kernel.mul %4, %2 : (tensor<2048x2816xf32>, tensor<2048x2816xf32>) -> tensor<2048x2816xf32>
  %7 = kernel.cast %5 : (tensor<2048x2816xf32>) -> tensor<2048x2816xbf16>
  %8 = kernel.cast %a : (tensor<2048x2816xbf16>) -> tensor<2048x2816xf32>
  %9 = kernel.sigmoid %8 : (tensor<2048x2816xf32>) -> tensor<2048x2816xf32>
  %10 = kernel.constant {value = 1.000000e+00 : f32} : tensor<1x1xf32>
  %11 = kernel.sub %10, %9 : (tensor<1x1xf32>, tensor<2048x2816xf32>) -> tensor<2048x2816xf32>
  %12 = kernel.mul %9, %11 : (tensor<2048x2816xf32>, tensor<2048x2816xf32>) -> tensor<2048x2816xf32>
  %13 = kernel.mul %8, %12 : (tensor<2048x2816xf32>, tensor<2048x2816xf32>) -> tensor<2048x2816xf32>
  %14 = kernel.add %9, %13 : (tensor<2048x2816xf32>, tensor<2048x2816xf32>) -> tensor<2048x2816xf32>
  %15 = kernel.cast %7 : (tensor<2048x2816xbf16>) -> tensor<2048x2816xf32>
  %16 = kernel.mul %15, %14 : (tensor<2048x2816xf32>, tensor<2048x2816xf32>) -> tensor<2048x2816xf32>
  %17 = kernel.cast %6 : (tensor<2048x2816xf32>) -> tensor<2048x2816xbf16>
  %18 = kernel.transpose %w2 {permutation = array<i64: 1, 0>} : (tensor<1024x2816xbf16>) -> tensor<2816x1024xbf16>
  %19 = kernel.matmul %17, %18 : (tensor<2048x2816xbf16>, tensor<2816x1024xbf16>) -> tensor<2048x1024xbf16>
  %20 = kernel.cast %16 : (tensor<2048x2816xf32>) -> tensor<2048x2816xbf16>
  %21 = kernel.transpose %w1 {permutation = array<i64: 1, 0>} : (tensor<1024x2816xbf16>) -> tensor<2816x1024xbf16>
  %22 = kernel.matmul %20, %21 : (tensor<2048x2816xbf16>, tensor<2816x1024xbf16>) -> tensor<2048x1024xbf16>
  %23 = kernel.cast %19 : (tensor<2048x1024xbf16>) -> tensor<2048x1024xf32>
  %24 = kernel.cast %22 : (tensor<2048x1024xbf16>) -> tensor<2048x1024xf32>
  %25 = kernel.add %23, %24 : (tensor<2048x1024xf32>, tensor<2048x1024xf32>) -> tensor<2048x1024xf32>
  %26 = kernel.cast %25 : (tensor<2048x1024xf32>) -> tensor<2048x1024xbf16>
  func.return %26 : tensor<2048x1024xbf16>
}

func.func @rmsnorm_linear_inputs(%x: tensor<4096x1024xbf16>, %g: tensor<1024xbf16>, %w: tensor<1024x1024xbf16>, %grad0: tensor<4096x1024xbf16>) -> (tensor<4096x1024xbf16>, tensor<1024xbf16>) {
  %0 = kernel.transpose %w {permutation = array<i64: 1, 0>} : (tensor<1024x1024xbf16>) -> tensor<1024x1024xbf16>
  %1 = kernel.matmul %grad0, %0 : (tensor<4096x1024xbf16>, tensor<1024x1024xbf16>) -> tensor<4096x1024xbf16>
  %2 = kernel.cast %x : (tensor<4096x1024xbf16>) -> tensor<4096x1024xf32>
  %3 = kernel.cast %1 : (tensor<4096x1024xbf16>) -> tensor<4096x1024xf32>
  %4 = kernel.square %2 : (tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
  %5 = kernel.reduce_sum %4 {dims = array<i64: 1>} : (tensor<4096x1024xf32>) -> tensor<4096x1xf32>
  %6 = kernel.scale %5 {factor = 0.0009765625 : f32} : (tensor<4096x1xf32>) -> tensor<4096x1xf32>
  %7 = kernel.constant {value = 1.000000e-06 : f32} : tensor<1x1xf32>
  %8 = kernel.add %6, %7 : (tensor<4096x1xf32>, tensor<1x1xf32>) -> tensor<4096x1xf32>
  %9 = kernel.rsqrt %8 : (tensor<4096x1xf32>) -> tensor<4096x1xf32>
  %10 = kernel.cast %g : (tensor<1024xbf16>) -> tensor<1024xf32>
  %11 = kernel.mul %3, %10 : (tensor<4096x1024xf32>, tensor<1024xf32>) -> tensor<4096x1024xf32>
  %12 = kernel.mul %11, %2 : (tensor<4096x1024xf32>, tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
  %13 = kernel.reduce_sum %12 {dims = array<i64: 1>} : (tensor<4096x1024xf32>) -> tensor<4096x1xf32>
  %14 = kernel.scale %13 {factor = 0.0009765625 : f32} : (tensor<4096x1xf32>) -> tensor<4096x1xf32>
  %15 = kernel.mul %9, %9 : (tensor<4096x1xf32>, tensor<4096x1xf32>) -> tensor<4096x1xf32>
  %16 = kernel.mul %14, %15 : (tensor<4096x1xf32>, tensor<4096x1xf32>) -> tensor<4096x1xf32>
  %17 = kernel.mul %2, %16 : (tensor<4096x1024xf32>, tensor<4096x1xf32>) -> tensor<4096x1024xf32>
  %18 = kernel.sub %11, %17 : (tensor<4096x1024xf32>, tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
  %19 = kernel.mul %9, %18 : (tensor<4096x1xf32>, tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
  %20 = kernel.mul %2, %9 : (tensor<4096x1024xf32>, tensor<4096x1xf32>) -> tensor<4096x1024xf32>
  %21 = kernel.mul %3, %20 : (tensor<4096x1024xf32>, tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
  %22 = kernel.reduce_sum %21 {dims = array<i64: 0>} : (tensor<4096x1024xf32>) -> tensor<1x1024xf32>
  %23 = kernel.reshape %22 : (tensor<1x1024xf32>) -> tensor<1024xf32>
  %24 = kernel.cast %19 : (tensor<4096x1024xf32>) -> tensor<4096x1024xbf16>
  %25 = kernel.cast %23 : (tensor<1024xf32>) -> tensor<1024xbf16>
  func.return %24, %25 : tensor<4096x1024xbf16>, tensor<1024xbf16>
}

func.func @lora_adapters(%x: tensor<2048x2048xbf16>, %a: tensor<2048x16xbf16>, %b: tensor<16x2048xbf16>, %grad0: tensor<2048x2048xbf16>) -> (tensor<2048x16xbf16>, tensor<16x2048xbf16>) {
  %h = kernel.matmul %x, %a : (tensor<2048x2048xbf16>, tensor<2048x16xbf16>) -> tensor<2048x16xbf16>
  %0 = kernel.transpose %b {permutation = array<i64: 1, 0>} : (tensor<16x2048xbf16>) -> tensor<2048x16xbf16>
  %1 = kernel.matmul %grad0, %0 : (tensor<2048x2048xbf16>, tensor<2048x16xbf16>) -> tensor<2048x16xbf16>
  %2 = kernel.transpose %h {permutation = array<i64: 1, 0>} : (tensor<2048x16xbf16>) -> tensor<16x2048xbf16>
  %3 = kernel.matmul %2, %grad0 : (tensor<16x2048xbf16>, tensor<2048x2048xbf16>) -> tensor<16x2048xbf16>
  %4 = kernel.transpose %x {permutation = array<i64: 1, 0>} : (tensor<2048x2048xbf16>) -> tensor<2048x2048xbf16>
  %5 = kernel.matmul %4, %1 : (tensor<2048x2048xbf16>, tensor<2048x16xbf16>) -> tensor<2048x16xbf16>
  func.return %5, %3 : tensor<2048x16xbf16>, tensor<16x2048xbf16>
}

func.func @contrastive_images(%a: tensor<1024x512xf32>, %b: tensor<1024x512xf32>, %one: tensor<1024x1024xf32>, %grad0: tensor<1024xf32>) -> tensor<1024x512xf32> {
  %bt = kernel.transpose %b {permutation = array<i64: 1, 0>} : (tensor<1024x512xf32>) -> tensor<512x1024xf32>
  %d = kernel.matmul %a, %bt : (tensor<1024x512xf32>, tensor<512x1024xf32>) -> tensor<1024x1024xf32>
  %s = kernel.scale %d {factor = 1.250000e-01 : f32} : (tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %p = kernel.softmax %s {dim = 1 : i64} : (tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %0 = kernel.reshape %grad0 : (tensor<1024xf32>) -> tensor<1024x1xf32>
  %1 = kernel.broadcast %0 : (tensor<1024x1xf32>) -> tensor<1024x1024xf32>
  %2 = kernel.mul %1, %one : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %3 = kernel.constant {value = 1.000000e+00 : f32} : tensor<1x1xf32>
  %4 = kernel.div %3, %p : (tensor<1x1xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %5 = kernel.mul %2, %4 : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %6 = kernel.mul %p, %5 : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %7 = kernel.reduce_sum %6 {dims = array<i64: 1>} : (tensor<1024x1024xf32>) -> tensor<1024x1xf32>
  %8 = kernel.sub %5, %7 : (tensor<1024x1024xf32>, tensor<1024x1xf32>) -> tensor<1024x1024xf32>
  %9 = kernel.mul %p, %8 : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %10 = kernel.scale %9 {factor = 1.250000e-01 : f32} : (tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %11 = kernel.transpose %bt {permutation = array<i64: 1, 0>} : (tensor<512x1024xf32>) -> tensor<1024x512xf32>
  %12 = kernel.matmul %10, %11 : (tensor<1024x1024xf32>, tensor<1024x512xf32>) -> tensor<1024x512xf32>
  func.return %12 : tensor<1024x512xf32>
}

func.func @layernorm_gelu(%x: tensor<8192x768xf16>, %g: tensor<768xf16>, %b: tensor<768xf16>, %grad0: tensor<8192x768xf16>) -> tensor<8192x768xf16> {
  %n = kernel.layer_norm %x, %g, %b {eps = 1.000000e-05 : f32} : (tensor<8192x768xf16>, tensor<768xf16>, tensor<768xf16>) -> tensor<8192x768xf16>
  %0 = kernel.cast %n : (tensor<8192x768xf16>) -> tensor<8192x768xf32>
  %1 = kernel.scale %0 {factor = 0.707106769 : f32} : (tensor<8192x768xf32>) -> tensor<8192x768xf32>
  %2 = kernel.erf %1 : (tensor<8192x768xf32>) -> tensor<8192x768xf32>
  %3 = kernel.mul %1, %1 : (tensor<8192x768xf32>, tensor<8192x768xf32>) -> tensor<8192x768xf32>
  %4 = kernel.scale %3 {factor = -1.000000e+00 : f32} : (tensor<8192x768xf32>) -> tensor<8192x768xf32>
  %5 = kernel.exp %4 : (tensor<8192x768xf32>) -> tensor<8192x768xf32>
  %6 = kernel.scale %5 {factor = 1.12837923 : f32} : (tensor<8192x768xf32>) -> tensor<8192x768xf32>
  %7 = kernel.scale %6 {factor = 0.707106769 : f32} : (tensor<8192x768xf32>) -> tensor<8192x768xf32>
  %8 = kernel.scale %0 {factor = 5.000000e-01 : f32} : (tensor<8192x768xf32>) -> tensor<8192x768xf32>
  %9 = kernel.constant {value = 1.000000e+00 : f32} : tensor<1x1xf32>
  %10 = kernel.add %9, %2 : (tensor<1x1xf32>, tensor<8192x768xf32>) -> tensor<8192x768xf32>
  %11 = kernel.scale %10 {factor = 5.000000e-01 : f32} : (tensor<8192x768xf32>) -> tensor<8192x768xf32>
  %12 = kernel.mul %8, %7 : (tensor<8192x768xf32>, tensor<8192x768xf32>) -> tensor<8192x768xf32>
  %13 = kernel.add %11, %12 : (tensor<8192x768xf32>, tensor<8192x768xf32>) -> tensor<8192x768xf32>
  %14 = kernel.cast %grad0 : (tensor<8192x768xf16>) -> tensor<8192x768xf32>
  %15 = kernel.mul %14, %13 : (tensor<8192x768xf32>, tensor<8192x768xf32>) -> tensor<8192x768xf32>
  %16 = kernel.cast %15 : (tensor<8192x768xf32>) -> tensor<8192x768xf16>
  %17 = kernel.cast %x : (tensor<8192x768xf16>) -> tensor<8192x768xf32>
  %18 = kernel.reduce_sum %17 {dims = array<i64: 1>} : (tensor<8192x768xf32>) -> tensor<8192x1xf32>
  %19 = kernel.scale %18 {factor = 0.00130208337 : f32} : (tensor<8192x1xf32>) -> tensor<8192x1xf32>
  %20 = kernel.sub %17, %19 : (tensor<8192x768xf32>, tensor<8192x1xf32>) -> tensor<8192x768xf32>
  %21 = kernel.cast %16 : (tensor<8192x768xf16>) -> tensor<8192x768xf32>
  %22 = kernel.square %20 : (tensor<8192x768xf32>) -> tensor<8192x768xf32>
  %23 = kernel.reduce_sum %22 {dims = array<i64: 1>} : (tensor<8192x768xf32>) -> tensor<8192x1xf32>
  %24 = kernel.scale %23 {factor = 0.00130208337 : f32} : (tensor<8192x1xf32>) -> tensor<8192x1xf32>
  %25 = kernel.constant {value = 1.000000e-05 : f32} : tensor<1x1xf32>
  %26 = kernel.add %24, %25 : (tensor<8192x1xf32>, tensor<1x1xf32>) -> tensor<8192x1xf32>
  %27 = kernel.rsqrt %26 : (tensor<8192x1xf32>) -> tensor<8192x1xf32>
  %28 = kernel.cast %g : (tensor<768xf16>) -> tensor<768xf32>
  %29 = kernel.mul %21, %28 : (tensor<8192x768xf32>, tensor<768xf32>) -> tensor<8192x768xf32>
  %30 = kernel.mul %29, %20 : (tensor<8192x768xf32>, tensor<8192x768xf32>) -> tensor<8192x768xf32>
  %31 = kernel.reduce_sum %30 {dims = array<i64: 1>} : (tensor<8192x768xf32>) -> tensor<8192x1xf32>
  %32 = kernel.scale %31 {factor = 0.00130208337 : f32} : (tensor<8192x1xf32>) -> tensor<8192x1xf32>
  %33 = kernel.mul %27, %27 : (tensor<8192x1xf32>, tensor<8192x1xf32>) -> tensor<8192x1xf32>
  %34 = kernel.mul %32, %33 : (tensor<8192x1xf32>, tensor<8192x1xf32>) -> tensor<8192x1xf32>
  %35 = kernel.mul %20, %34 : (tensor<8192x768xf32>, tensor<8192x1xf32>) -> tensor<8192x768xf32>
  %36 = kernel.sub %29, %35 : (tensor<8192x768xf32>, tensor<8192x768xf32>) -> tensor<8192x768xf32>
  %37 = kernel.mul %27, %36 : (tensor<8192x1xf32>, tensor<8192x768xf32>) -> tensor<8192x768xf32>
  %38 = kernel.reduce_sum %37 {dims = array<i64: 1>} : (tensor<8192x768xf32>) -> tensor<8192x1xf32>
  %39 = kernel.scale %38 {factor = 0.00130208337 : f32} : (tensor<8192x1xf32>) -> tensor<8192x1xf32>
  %40 = kernel.sub %37, %39 : (tensor<8192x768xf32>, tensor<8192x1xf32>) -> tensor<8192x768xf32>
  %41 = kernel.cast %40 : (tensor<8192x768xf32>) -> tensor<8192x768xf16>
  func.return %41 : tensor<8192x768xf16>
}

func.func @cosine_rows(%a: tensor<16384x256xf32>, %b: tensor<16384x256xf32>, %grad0: tensor<16384x1xf32>) -> (tensor<16384x256xf32>, tensor<16384x256xf32>) {
  %ab = kernel.mul %a, %b : (tensor<16384x256xf32>, tensor<16384x256xf32>) -> tensor<16384x256xf32>
  %s = kernel.reduce_sum %ab {dims = array<i64: 1>} : (tensor<16384x256xf32>) -> tensor<16384x1xf32>
  %aa = kernel.square %a : (tensor<16384x256xf32>) -> tensor<16384x256xf32>
  %na = kernel.reduce_sum %aa {dims = array<i64: 1>} : (tensor<16384x256xf32>) -> tensor<16384x1xf32>
  %bb = kernel.square %b : (tensor<16384x256xf32>) -> tensor<16384x256xf32>
  %nb = kernel.reduce_sum %bb {dims = array<i64: 1>} : (tensor<16384x256xf32>) -> tensor<16384x1xf32>
  %ra = kernel.sqrt %na : (tensor<16384x1xf32>) -> tensor<16384x1xf32>
  %rb = kernel.sqrt %nb : (tensor<16384x1xf32>) -> tensor<16384x1xf32>
  %d = kernel.mul %ra, %rb : (tensor<16384x1xf32>, tensor<16384x1xf32>) -> tensor<16384x1xf32>
  %c = kernel.div %s, %d : (tensor<16384x1xf32>, tensor<16384x1xf32>) -> tensor<16384x1xf32>
  %0 = kernel.constant {value = 1.000000e+00 : f32} : tensor<1x1xf32>
  %1 = kernel.div %0, %d : (tensor<1x1xf32>, tensor<16384x1xf32>) -> tensor<16384x1xf32>
  %2 = kernel.mul %grad0, %1 : (tensor<16384x1xf32>, tensor<16384x1xf32>) -> tensor<16384x1xf32>
  %3 = kernel.scale %c {factor = -1.000000e+00 : f32} : (tensor<16384x1xf32>) -> tensor<16384x1xf32>
  %4 = kernel.div %3, %d : (tensor<16384x1xf32>, tensor<16384x1xf32>) -> tensor<16384x1xf32>
  %5 = kernel.mul %grad0, %4 : (tensor<16384x1xf32>, tensor<16384x1xf32>) -> tensor<16384x1xf32>
  %6 = kernel.mul %5, %rb : (tensor<16384x1xf32>, tensor<16384x1xf32>) -> tensor<16384x1xf32>
  %7 = kernel.mul %5, %ra : (tensor<16384x1xf32>, tensor<16384x1xf32>) -> tensor<16384x1xf32>
  %8 = kernel.constant {value = 5.000000e-01 : f32} : tensor<1x1xf32>
  %9 = kernel.div %8, %rb : (tensor<1x1xf32>, tensor<16384x1xf32>) -> tensor<16384x1xf32>
  %10 = kernel.mul %7, %9 : (tensor<16384x1xf32>, tensor<16384x1xf32>) -> tensor<16384x1xf32>
  %11 = kernel.div %8, %ra : (tensor<1x1xf32>, tensor<16384x1xf32>) -> tensor<16384x1xf32>
  %12 = kernel.mul %6, %11 : (tensor<16384x1xf32>, tensor<16384x1xf32>) -> tensor<16384x1xf32>
  %13 = kernel.broadcast %10 : (tensor<16384x1xf32>) -> tensor<16384x256xf32>
  %14 = kernel.add %b, %b : (tensor<16384x256xf32>, tensor<16384x256xf32>) -> tensor<16384x256xf32>
  %15 = kernel.mul %13, %14 : (tensor<16384x256xf32>, tensor<16384x256xf32>) -> tensor<16384x256xf32>
  %16 = kernel.broadcast %12 : (tensor<16384x1xf32>) -> tensor<16384x256xf32>
  %17 = kernel.add %a, %a : (tensor<16384x256xf32>, tensor<16384x256xf32>) -> tensor<16384x256xf32>
  %18 = kernel.mul %16, %17 : (tensor<16384x256xf32>, tensor<16384x256xf32>) -> tensor<16384x256xf32>
  %19 = kernel.broadcast %2 : (tensor<16384x1xf32>) -> tensor<16384x256xf32>
  %20 = kernel.mul %19, %b : (tensor<16384x256xf32>, tensor<16384x256xf32>) -> tensor<16384x256xf32>
  %21 = kernel.mul %19, %a : (tensor<16384x256xf32>, tensor<16384x256xf32>) -> tensor<16384x256xf32>
  %22 = kernel.add %18, %20 : (tensor<16384x256xf32>, tensor<16384x256xf32>) -> tensor<16384x256xf32>
  %23 = kernel.add %15, %21 : (tensor<16384x256xf32>, tensor<16384x256xf32>) -> tensor<16384x256xf32>
  func.return %22, %23 : tensor<16384x256xf32>, tensor<16384x256xf32>
}

func.func @softmax_gate(%x: tensor<4096x1024xbf16>, %w: tensor<1024x64xbf16>, %grad0: tensor<4096x64xbf16>) -> (tensor<4096x1024xbf16>, tensor<1024x64xbf16>) {
  %l = kernel.matmul %x, %w : (tensor<4096x1024xbf16>, tensor<1024x64xbf16>) -> tensor<4096x64xbf16>
  %0 = kernel.cast %grad0 : (tensor<4096x64xbf16>) -> tensor<4096x64xf32>
  %1 = kernel.cast %l : (tensor<4096x64xbf16>) -> tensor<4096x64xf32>
  %2 = kernel.softmax %1 {dim = 1 : i64} : (tensor<4096x64xf32>) -> tensor<4096x64xf32>
  %3 = kernel.mul %2, %0 : (tensor<4096x64xf32>, tensor<4096x64xf32>) -> tensor<4096x64xf32>
  %4 = kernel.reduce_sum %3 {dims = array<i64: 1>} : (tensor<4096x64xf32>) -> tensor<4096x1xf32>
  %5 = kernel.sub %0, %4 : (tensor<4096x64xf32>, tensor<4096x1xf32>) -> tensor<4096x64xf32>
  %6 = kernel.mul %2, %5 : (tensor<4096x64xf32>, tensor<4096x64xf32>) -> tensor<4096x64xf32>
  %7 = kernel.cast %6 : (tensor<4096x64xf32>) -> tensor<4096x64xbf16>
  %8 = kernel.transpose %w {permutation = array<i64: 1, 0>} : (tensor<1024x64xbf16>) -> tensor<64x1024xbf16>
  %9 = kernel.matmul %7, %8 : (tensor<4096x64xbf16>, tensor<64x1024xbf16>) -> tensor<4096x1024xbf16>
  %10 = kernel.transpose %x {permutation = array<i64: 1, 0>} : (tensor<4096x1024xbf16>) -> tensor<1024x4096xbf16>
  %11 = kernel.matmul %10, %7 : (tensor<1024x4096xbf16>, tensor<4096x64xbf16>) -> tensor<1024x64xbf16>
  func.return %9, %11 : tensor<4096x1024xbf16>, tensor<1024x64xbf16>
}
