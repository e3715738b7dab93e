// The parts of a decoder layer of 512 tokens, 2,048 columns, 16 heads, 4 of keys and values, as torch.compile cuts it.
// Norm, products and rotary embedding of queries and keys.
func.func @layer_qkv_rope(%x0: tensor<1x512x2048xbf16>, %x1: tensor<2048xbf16>, %x2: tensor<2048x2048xbf16>, %x3: tensor<512x2048xbf16>, %x4: tensor<512x2048xbf16>, %x5: tensor<512x128xbf16>, %x6: tensor<512x128xbf16>) -> (tensor<512x512xbf16>, tensor<1x512x16x128xbf16>, tensor<1x512x4x128xbf16>) {
  %0 = kernel.cast %x0 : (tensor<1x512x2048xbf16>) -> tensor<1x512x2048xf32>
  %1 = kernel.square %0 : (tensor<1x512x2048xf32>) -> tensor<1x512x2048xf32>
  %2 = kernel.reduce_mean %1 {dims = array<i64: 2>} : (tensor<1x512x2048xf32>) -> tensor<1x512x1xf32>
  %3 = kernel.constant {value = 1.000000e-06 : f32} : tensor<1x1x1xf32>
  %4 = kernel.add %2, %3 : (tensor<1x512x1xf32>, tensor<1x1x1xf32>) -> tensor<1x512x1xf32>
  %5 = kernel.rsqrt %4 : (tensor<1x512x1xf32>) -> tensor<1x512x1xf32>
  %6 = kernel.mul %0, %5 : (tensor<1x512x2048xf32>, tensor<1x512x1xf32>) -> tensor<1x512x2048xf32>
  %7 = kernel.cast %6 : (tensor<1x512x2048xf32>) -> tensor<1x512x2048xbf16>
  %8 = kernel.mul %x1, %7 : (tensor<2048xbf16>, tensor<1x512x2048xbf16>) -> tensor<1x512x2048xbf16>
  %9 = kernel.transpose %x2 {permutation = array<i64: 1, 0>} : (tensor<2048x2048xbf16>) -> tensor<2048x2048xbf16>
  %10 = kernel.reshape %8 : (tensor<1x512x2048xbf16>) -> tensor<512x2048xbf16>
  %11 = kernel.matmul %10, %9 : (tensor<512x2048xbf16>, tensor<2048x2048xbf16>) -> tensor<512x2048xbf16>
  %12 = kernel.reshape %11 : (tensor<512x2048xbf16>) -> tensor<1x512x2048xbf16>
  %13 = kernel.reshape %12 : (tensor<1x512x2048xbf16>) -> tensor<1x512x16x128xbf16>
  %14 = kernel.transpose %13 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x512x16x128xbf16>) -> tensor<1x16x512x128xbf16>
  %15 = kernel.transpose %x3 {permutation = array<i64: 1, 0>} : (tensor<512x2048xbf16>) -> tensor<2048x512xbf16>
  %16 = kernel.reshape %8 : (tensor<1x512x2048xbf16>) -> tensor<512x2048xbf16>
  %17 = kernel.matmul %16, %15 : (tensor<512x2048xbf16>, tensor<2048x512xbf16>) -> tensor<512x512xbf16>
  %18 = kernel.reshape %17 : (tensor<512x512xbf16>) -> tensor<1x512x512xbf16>
  %19 = kernel.reshape %18 : (tensor<1x512x512xbf16>) -> tensor<1x512x4x128xbf16>
  %20 = kernel.transpose %19 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x512x4x128xbf16>) -> tensor<1x4x512x128xbf16>
  %21 = kernel.transpose %x4 {permutation = array<i64: 1, 0>} : (tensor<512x2048xbf16>) -> tensor<2048x512xbf16>
  %22 = kernel.reshape %8 : (tensor<1x512x2048xbf16>) -> tensor<512x2048xbf16>
  %23 = kernel.matmul %22, %21 : (tensor<512x2048xbf16>, tensor<2048x512xbf16>) -> tensor<512x512xbf16>
  %24 = kernel.mul %14, %x5 : (tensor<1x16x512x128xbf16>, tensor<512x128xbf16>) -> tensor<1x16x512x128xbf16>
  %25 = kernel.slice %14 {offsets = array<i64: 0, 0, 0, 64>, sizes = array<i64: 1, 16, 512, 64>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x16x512x128xbf16>) -> tensor<1x16x512x64xbf16>
  %26 = kernel.neg %25 : (tensor<1x16x512x64xbf16>) -> tensor<1x16x512x64xbf16>
  %27 = kernel.slice %14 {offsets = array<i64: 0, 0, 0, 0>, sizes = array<i64: 1, 16, 512, 64>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x16x512x128xbf16>) -> tensor<1x16x512x64xbf16>
  %28 = kernel.concat %26, %27 {dim = 3 : i64} : (tensor<1x16x512x64xbf16>, tensor<1x16x512x64xbf16>) -> tensor<1x16x512x128xbf16>
  %29 = kernel.mul %28, %x6 : (tensor<1x16x512x128xbf16>, tensor<512x128xbf16>) -> tensor<1x16x512x128xbf16>
  %30 = kernel.add %24, %29 : (tensor<1x16x512x128xbf16>, tensor<1x16x512x128xbf16>) -> tensor<1x16x512x128xbf16>
  %31 = kernel.mul %20, %x5 : (tensor<1x4x512x128xbf16>, tensor<512x128xbf16>) -> tensor<1x4x512x128xbf16>
  %32 = kernel.slice %20 {offsets = array<i64: 0, 0, 0, 64>, sizes = array<i64: 1, 4, 512, 64>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x4x512x128xbf16>) -> tensor<1x4x512x64xbf16>
  %33 = kernel.neg %32 : (tensor<1x4x512x64xbf16>) -> tensor<1x4x512x64xbf16>
  %34 = kernel.slice %20 {offsets = array<i64: 0, 0, 0, 0>, sizes = array<i64: 1, 4, 512, 64>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x4x512x128xbf16>) -> tensor<1x4x512x64xbf16>
  %35 = kernel.concat %33, %34 {dim = 3 : i64} : (tensor<1x4x512x64xbf16>, tensor<1x4x512x64xbf16>) -> tensor<1x4x512x128xbf16>
  %36 = kernel.mul %35, %x6 : (tensor<1x4x512x128xbf16>, tensor<512x128xbf16>) -> tensor<1x4x512x128xbf16>
  %37 = kernel.add %31, %36 : (tensor<1x4x512x128xbf16>, tensor<1x4x512x128xbf16>) -> tensor<1x4x512x128xbf16>
  %38 = kernel.transpose %30 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x16x512x128xbf16>) -> tensor<1x512x16x128xbf16>
  %39 = kernel.transpose %37 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x4x512x128xbf16>) -> tensor<1x512x4x128xbf16>
  func.return %23, %38, %39 : tensor<512x512xbf16>, tensor<1x512x16x128xbf16>, tensor<1x512x4x128xbf16>
}

// Causal attention, heads as torch lays them out.
func.func @layer_attention(%x0: tensor<512x512xbf16>, %x1: tensor<1x16x512x128xbf16>, %x2: tensor<1x4x512x128xbf16>) -> tensor<1x512x16x128xbf16> {
  %0 = kernel.reshape %x0 : (tensor<512x512xbf16>) -> tensor<1x512x512xbf16>
  %1 = kernel.reshape %0 : (tensor<1x512x512xbf16>) -> tensor<1x512x4x128xbf16>
  %2 = kernel.transpose %1 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x512x4x128xbf16>) -> tensor<1x4x512x128xbf16>
  %3 = kernel.scale %x1 {factor = 0.0883883461 : f32} : (tensor<1x16x512x128xbf16>) -> tensor<1x16x512x128xbf16>
  %4 = kernel.reshape %3 : (tensor<1x16x512x128xbf16>) -> tensor<1x4x4x512x128xbf16>
  %5 = kernel.reshape %x2 : (tensor<1x4x512x128xbf16>) -> tensor<1x4x1x512x128xbf16>
  %6 = kernel.reshape %2 : (tensor<1x4x512x128xbf16>) -> tensor<1x4x1x512x128xbf16>
  %7 = kernel.transpose %5 {permutation = array<i64: 0, 1, 2, 4, 3>} : (tensor<1x4x1x512x128xbf16>) -> tensor<1x4x1x128x512xbf16>
  %8 = kernel.matmul %4, %7 : (tensor<1x4x4x512x128xbf16>, tensor<1x4x1x128x512xbf16>) -> tensor<1x4x4x512x512xbf16>
  %9 = kernel.iota {dim = 0 : i64} : tensor<512xf32>
  %10 = kernel.reshape %9 : (tensor<512xf32>) -> tensor<512x1xf32>
  %11 = kernel.iota {dim = 0 : i64} : tensor<512xf32>
  %12 = kernel.reshape %11 : (tensor<512xf32>) -> tensor<1x512xf32>
  %13 = kernel.compare %10, %12 {predicate = "ge"} : (tensor<512x1xf32>, tensor<1x512xf32>) -> tensor<512x512xf32>
  %14 = kernel.cast %13 : (tensor<512x512xf32>) -> tensor<512x512xbf16>
  %15 = kernel.constant {value = 0xff800000 : f32} : tensor<1x1xbf16>
  %16 = kernel.select %14, %8, %15 : (tensor<512x512xbf16>, tensor<1x4x4x512x512xbf16>, tensor<1x1xbf16>) -> tensor<1x4x4x512x512xbf16>
  %17 = kernel.softmax %16 {dim = 4 : i64} : (tensor<1x4x4x512x512xbf16>) -> tensor<1x4x4x512x512xbf16>
  %18 = kernel.matmul %17, %6 : (tensor<1x4x4x512x512xbf16>, tensor<1x4x1x512x128xbf16>) -> tensor<1x4x4x512x128xbf16>
  %19 = kernel.reshape %18 : (tensor<1x4x4x512x128xbf16>) -> tensor<1x16x512x128xbf16>
  %20 = kernel.transpose %19 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x16x512x128xbf16>) -> tensor<1x512x16x128xbf16>
  func.return %20 : tensor<1x512x16x128xbf16>
}

// The product behind it, and the residual.
func.func @layer_attention_out(%x0: tensor<2048x2048xbf16>, %x1: tensor<512x2048xbf16>, %x2: tensor<1x512x2048xbf16>) -> tensor<1x512x2048xbf16> {
  %0 = kernel.transpose %x0 {permutation = array<i64: 1, 0>} : (tensor<2048x2048xbf16>) -> tensor<2048x2048xbf16>
  %1 = kernel.matmul %x1, %0 : (tensor<512x2048xbf16>, tensor<2048x2048xbf16>) -> tensor<512x2048xbf16>
  %2 = kernel.reshape %1 : (tensor<512x2048xbf16>) -> tensor<1x512x2048xbf16>
  %3 = kernel.add %x2, %2 : (tensor<1x512x2048xbf16>, tensor<1x512x2048xbf16>) -> tensor<1x512x2048xbf16>
  func.return %3 : tensor<1x512x2048xbf16>
}

// Norm and gated MLP.
func.func @layer_gated_mlp(%x0: tensor<1x512x2048xbf16>, %x1: tensor<2048xbf16>, %x2: tensor<5632x2048xbf16>, %x3: tensor<5632x2048xbf16>) -> tensor<1x512x5632xbf16> {
  %0 = kernel.cast %x0 : (tensor<1x512x2048xbf16>) -> tensor<1x512x2048xf32>
  %1 = kernel.square %0 : (tensor<1x512x2048xf32>) -> tensor<1x512x2048xf32>
  %2 = kernel.reduce_mean %1 {dims = array<i64: 2>} : (tensor<1x512x2048xf32>) -> tensor<1x512x1xf32>
  %3 = kernel.constant {value = 1.000000e-06 : f32} : tensor<1x1x1xf32>
  %4 = kernel.add %2, %3 : (tensor<1x512x1xf32>, tensor<1x1x1xf32>) -> tensor<1x512x1xf32>
  %5 = kernel.rsqrt %4 : (tensor<1x512x1xf32>) -> tensor<1x512x1xf32>
  %6 = kernel.mul %0, %5 : (tensor<1x512x2048xf32>, tensor<1x512x1xf32>) -> tensor<1x512x2048xf32>
  %7 = kernel.cast %6 : (tensor<1x512x2048xf32>) -> tensor<1x512x2048xbf16>
  %8 = kernel.mul %x1, %7 : (tensor<2048xbf16>, tensor<1x512x2048xbf16>) -> tensor<1x512x2048xbf16>
  %9 = kernel.transpose %x2 {permutation = array<i64: 1, 0>} : (tensor<5632x2048xbf16>) -> tensor<2048x5632xbf16>
  %10 = kernel.reshape %8 : (tensor<1x512x2048xbf16>) -> tensor<512x2048xbf16>
  %11 = kernel.matmul %10, %9 : (tensor<512x2048xbf16>, tensor<2048x5632xbf16>) -> tensor<512x5632xbf16>
  %12 = kernel.reshape %11 : (tensor<512x5632xbf16>) -> tensor<1x512x5632xbf16>
  %13 = kernel.cast %12 : (tensor<1x512x5632xbf16>) -> tensor<1x512x5632xf32>
  %14 = kernel.neg %13 : (tensor<1x512x5632xf32>) -> tensor<1x512x5632xf32>
  %15 = kernel.exp %14 : (tensor<1x512x5632xf32>) -> tensor<1x512x5632xf32>
  %16 = kernel.constant {value = 1.000000e+00 : f32} : tensor<1x1x1xf32>
  %17 = kernel.add %15, %16 : (tensor<1x512x5632xf32>, tensor<1x1x1xf32>) -> tensor<1x512x5632xf32>
  %18 = kernel.div %13, %17 : (tensor<1x512x5632xf32>, tensor<1x512x5632xf32>) -> tensor<1x512x5632xf32>
  %19 = kernel.cast %18 : (tensor<1x512x5632xf32>) -> tensor<1x512x5632xbf16>
  %20 = kernel.transpose %x3 {permutation = array<i64: 1, 0>} : (tensor<5632x2048xbf16>) -> tensor<2048x5632xbf16>
  %21 = kernel.reshape %8 : (tensor<1x512x2048xbf16>) -> tensor<512x2048xbf16>
  %22 = kernel.matmul %21, %20 : (tensor<512x2048xbf16>, tensor<2048x5632xbf16>) -> tensor<512x5632xbf16>
  %23 = kernel.reshape %22 : (tensor<512x5632xbf16>) -> tensor<1x512x5632xbf16>
  %24 = kernel.mul %19, %23 : (tensor<1x512x5632xbf16>, tensor<1x512x5632xbf16>) -> tensor<1x512x5632xbf16>
  func.return %24 : tensor<1x512x5632xbf16>
}

// The product behind that, and the residual.
func.func @layer_mlp_out(%x0: tensor<2048x5632xbf16>, %x1: tensor<1x512x5632xbf16>, %x2: tensor<1x512x2048xbf16>) -> tensor<1x512x2048xbf16> {
  %0 = kernel.transpose %x0 {permutation = array<i64: 1, 0>} : (tensor<2048x5632xbf16>) -> tensor<5632x2048xbf16>
  %1 = kernel.reshape %x1 : (tensor<1x512x5632xbf16>) -> tensor<512x5632xbf16>
  %2 = kernel.matmul %1, %0 : (tensor<512x5632xbf16>, tensor<5632x2048xbf16>) -> tensor<512x2048xbf16>
  %3 = kernel.reshape %2 : (tensor<512x2048xbf16>) -> tensor<1x512x2048xbf16>
  %4 = kernel.add %x2, %3 : (tensor<1x512x2048xbf16>, tensor<1x512x2048xbf16>) -> tensor<1x512x2048xbf16>
  func.return %4 : tensor<1x512x2048xbf16>
}

// Attention of few hundred tokens.
func.func @causal_16_512(%q: tensor<16x512x128xf16>, %k: tensor<16x512x128xf16>, %v: tensor<16x512x128xf16>) -> tensor<16x512x128xf16> {
  %n = kernel.iota {dim = 0 : i64} : tensor<512xf32>
  %i = kernel.reshape %n : (tensor<512xf32>) -> tensor<512x1xf32>
  %j = kernel.reshape %n : (tensor<512xf32>) -> tensor<1x512xf32>
  %seen = kernel.compare %i, %j {predicate = "ge"} : (tensor<512x1xf32>, tensor<1x512xf32>) -> tensor<512x512xf32>
  %mask = kernel.cast %seen : (tensor<512x512xf32>) -> tensor<512x512xf16>
  %kt = kernel.transpose %k {permutation = array<i64: 0, 2, 1>} : (tensor<16x512x128xf16>) -> tensor<16x128x512xf16>
  %s = kernel.matmul %q, %kt : (tensor<16x512x128xf16>, tensor<16x128x512xf16>) -> tensor<16x512x512xf16>
  %sc = kernel.scale %s {factor = 0.0883883461 : f32} : (tensor<16x512x512xf16>) -> tensor<16x512x512xf16>
  %low = kernel.constant {value = 0xff800000 : f32} : tensor<1x1x1xf16>
  %m = kernel.select %mask, %sc, %low : (tensor<512x512xf16>, tensor<16x512x512xf16>, tensor<1x1x1xf16>) -> tensor<16x512x512xf16>
  %p = kernel.softmax %m {dim = 2 : i64} : (tensor<16x512x512xf16>) -> tensor<16x512x512xf16>
  %y = kernel.matmul %p, %v : (tensor<16x512x512xf16>, tensor<16x512x128xf16>) -> tensor<16x512x128xf16>
  func.return %y : tensor<16x512x128xf16>
}

func.func @causal_16_512_bf16(%q: tensor<16x512x128xbf16>, %k: tensor<16x512x128xbf16>, %v: tensor<16x512x128xbf16>) -> tensor<16x512x128xbf16> {
  %n = kernel.iota {dim = 0 : i64} : tensor<512xf32>
  %i = kernel.reshape %n : (tensor<512xf32>) -> tensor<512x1xf32>
  %j = kernel.reshape %n : (tensor<512xf32>) -> tensor<1x512xf32>
  %seen = kernel.compare %i, %j {predicate = "ge"} : (tensor<512x1xf32>, tensor<1x512xf32>) -> tensor<512x512xf32>
  %mask = kernel.cast %seen : (tensor<512x512xf32>) -> tensor<512x512xbf16>
  %kt = kernel.transpose %k {permutation = array<i64: 0, 2, 1>} : (tensor<16x512x128xbf16>) -> tensor<16x128x512xbf16>
  %s = kernel.matmul %q, %kt : (tensor<16x512x128xbf16>, tensor<16x128x512xbf16>) -> tensor<16x512x512xbf16>
  %sc = kernel.scale %s {factor = 0.0883883461 : f32} : (tensor<16x512x512xbf16>) -> tensor<16x512x512xbf16>
  %low = kernel.constant {value = 0xff800000 : f32} : tensor<1x1x1xbf16>
  %m = kernel.select %mask, %sc, %low : (tensor<512x512xbf16>, tensor<16x512x512xbf16>, tensor<1x1x1xbf16>) -> tensor<16x512x512xbf16>
  %p = kernel.softmax %m {dim = 2 : i64} : (tensor<16x512x512xbf16>) -> tensor<16x512x512xbf16>
  %y = kernel.matmul %p, %v : (tensor<16x512x512xbf16>, tensor<16x512x128xbf16>) -> tensor<16x512x128xbf16>
  func.return %y : tensor<16x512x128xbf16>
}

func.func @causal_16_512_scaleq(%q: tensor<16x512x128xf16>, %k: tensor<16x512x128xf16>, %v: tensor<16x512x128xf16>) -> tensor<16x512x128xf16> {
  %n = kernel.iota {dim = 0 : i64} : tensor<512xf32>
  %i = kernel.reshape %n : (tensor<512xf32>) -> tensor<512x1xf32>
  %j = kernel.reshape %n : (tensor<512xf32>) -> tensor<1x512xf32>
  %seen = kernel.compare %i, %j {predicate = "ge"} : (tensor<512x1xf32>, tensor<1x512xf32>) -> tensor<512x512xf32>
  %mask = kernel.cast %seen : (tensor<512x512xf32>) -> tensor<512x512xf16>
  %qs = kernel.scale %q {factor = 0.0883883461 : f32} : (tensor<16x512x128xf16>) -> tensor<16x512x128xf16>
  %kt = kernel.transpose %k {permutation = array<i64: 0, 2, 1>} : (tensor<16x512x128xf16>) -> tensor<16x128x512xf16>
  %s = kernel.matmul %qs, %kt : (tensor<16x512x128xf16>, tensor<16x128x512xf16>) -> tensor<16x512x512xf16>
  %low = kernel.constant {value = 0xff800000 : f32} : tensor<1x1x1xf16>
  %m = kernel.select %mask, %s, %low : (tensor<512x512xf16>, tensor<16x512x512xf16>, tensor<1x1x1xf16>) -> tensor<16x512x512xf16>
  %p = kernel.softmax %m {dim = 2 : i64} : (tensor<16x512x512xf16>) -> tensor<16x512x512xf16>
  %y = kernel.matmul %p, %v : (tensor<16x512x512xf16>, tensor<16x512x128xf16>) -> tensor<16x512x128xf16>
  func.return %y : tensor<16x512x128xf16>
}

func.func @full_16_512(%q: tensor<16x512x128xf16>, %k: tensor<16x512x128xf16>, %v: tensor<16x512x128xf16>) -> tensor<16x512x128xf16> {
  %n = kernel.iota {dim = 0 : i64} : tensor<512xf32>
  %i = kernel.reshape %n : (tensor<512xf32>) -> tensor<512x1xf32>
  %j = kernel.reshape %n : (tensor<512xf32>) -> tensor<1x512xf32>
  %seen = kernel.compare %i, %j {predicate = "ge"} : (tensor<512x1xf32>, tensor<1x512xf32>) -> tensor<512x512xf32>
  %mask = kernel.cast %seen : (tensor<512x512xf32>) -> tensor<512x512xf16>
  %kt = kernel.transpose %k {permutation = array<i64: 0, 2, 1>} : (tensor<16x512x128xf16>) -> tensor<16x128x512xf16>
  %s = kernel.matmul %q, %kt : (tensor<16x512x128xf16>, tensor<16x128x512xf16>) -> tensor<16x512x512xf16>
  %sc = kernel.scale %s {factor = 0.0883883461 : f32} : (tensor<16x512x512xf16>) -> tensor<16x512x512xf16>
  %p = kernel.softmax %sc {dim = 2 : i64} : (tensor<16x512x512xf16>) -> tensor<16x512x512xf16>
  %y = kernel.matmul %p, %v : (tensor<16x512x512xf16>, tensor<16x512x128xf16>) -> tensor<16x512x128xf16>
  func.return %y : tensor<16x512x128xf16>
}

func.func @causal_32_512(%q: tensor<32x512x128xf16>, %k: tensor<32x512x128xf16>, %v: tensor<32x512x128xf16>) -> tensor<32x512x128xf16> {
  %n = kernel.iota {dim = 0 : i64} : tensor<512xf32>
  %i = kernel.reshape %n : (tensor<512xf32>) -> tensor<512x1xf32>
  %j = kernel.reshape %n : (tensor<512xf32>) -> tensor<1x512xf32>
  %seen = kernel.compare %i, %j {predicate = "ge"} : (tensor<512x1xf32>, tensor<1x512xf32>) -> tensor<512x512xf32>
  %mask = kernel.cast %seen : (tensor<512x512xf32>) -> tensor<512x512xf16>
  %kt = kernel.transpose %k {permutation = array<i64: 0, 2, 1>} : (tensor<32x512x128xf16>) -> tensor<32x128x512xf16>
  %s = kernel.matmul %q, %kt : (tensor<32x512x128xf16>, tensor<32x128x512xf16>) -> tensor<32x512x512xf16>
  %sc = kernel.scale %s {factor = 0.0883883461 : f32} : (tensor<32x512x512xf16>) -> tensor<32x512x512xf16>
  %low = kernel.constant {value = 0xff800000 : f32} : tensor<1x1x1xf16>
  %m = kernel.select %mask, %sc, %low : (tensor<512x512xf16>, tensor<32x512x512xf16>, tensor<1x1x1xf16>) -> tensor<32x512x512xf16>
  %p = kernel.softmax %m {dim = 2 : i64} : (tensor<32x512x512xf16>) -> tensor<32x512x512xf16>
  %y = kernel.matmul %p, %v : (tensor<32x512x512xf16>, tensor<32x512x128xf16>) -> tensor<32x512x128xf16>
  func.return %y : tensor<32x512x128xf16>
}

func.func @causal_8_512(%q: tensor<8x512x128xf16>, %k: tensor<8x512x128xf16>, %v: tensor<8x512x128xf16>) -> tensor<8x512x128xf16> {
  %n = kernel.iota {dim = 0 : i64} : tensor<512xf32>
  %i = kernel.reshape %n : (tensor<512xf32>) -> tensor<512x1xf32>
  %j = kernel.reshape %n : (tensor<512xf32>) -> tensor<1x512xf32>
  %seen = kernel.compare %i, %j {predicate = "ge"} : (tensor<512x1xf32>, tensor<1x512xf32>) -> tensor<512x512xf32>
  %mask = kernel.cast %seen : (tensor<512x512xf32>) -> tensor<512x512xf16>
  %kt = kernel.transpose %k {permutation = array<i64: 0, 2, 1>} : (tensor<8x512x128xf16>) -> tensor<8x128x512xf16>
  %s = kernel.matmul %q, %kt : (tensor<8x512x128xf16>, tensor<8x128x512xf16>) -> tensor<8x512x512xf16>
  %sc = kernel.scale %s {factor = 0.0883883461 : f32} : (tensor<8x512x512xf16>) -> tensor<8x512x512xf16>
  %low = kernel.constant {value = 0xff800000 : f32} : tensor<1x1x1xf16>
  %m = kernel.select %mask, %sc, %low : (tensor<512x512xf16>, tensor<8x512x512xf16>, tensor<1x1x1xf16>) -> tensor<8x512x512xf16>
  %p = kernel.softmax %m {dim = 2 : i64} : (tensor<8x512x512xf16>) -> tensor<8x512x512xf16>
  %y = kernel.matmul %p, %v : (tensor<8x512x512xf16>, tensor<8x512x128xf16>) -> tensor<8x512x128xf16>
  func.return %y : tensor<8x512x128xf16>
}

func.func @causal_16_256(%q: tensor<16x256x128xf16>, %k: tensor<16x256x128xf16>, %v: tensor<16x256x128xf16>) -> tensor<16x256x128xf16> {
  %n = kernel.iota {dim = 0 : i64} : tensor<256xf32>
  %i = kernel.reshape %n : (tensor<256xf32>) -> tensor<256x1xf32>
  %j = kernel.reshape %n : (tensor<256xf32>) -> tensor<1x256xf32>
  %seen = kernel.compare %i, %j {predicate = "ge"} : (tensor<256x1xf32>, tensor<1x256xf32>) -> tensor<256x256xf32>
  %mask = kernel.cast %seen : (tensor<256x256xf32>) -> tensor<256x256xf16>
  %kt = kernel.transpose %k {permutation = array<i64: 0, 2, 1>} : (tensor<16x256x128xf16>) -> tensor<16x128x256xf16>
  %s = kernel.matmul %q, %kt : (tensor<16x256x128xf16>, tensor<16x128x256xf16>) -> tensor<16x256x256xf16>
  %sc = kernel.scale %s {factor = 0.0883883461 : f32} : (tensor<16x256x256xf16>) -> tensor<16x256x256xf16>
  %low = kernel.constant {value = 0xff800000 : f32} : tensor<1x1x1xf16>
  %m = kernel.select %mask, %sc, %low : (tensor<256x256xf16>, tensor<16x256x256xf16>, tensor<1x1x1xf16>) -> tensor<16x256x256xf16>
  %p = kernel.softmax %m {dim = 2 : i64} : (tensor<16x256x256xf16>) -> tensor<16x256x256xf16>
  %y = kernel.matmul %p, %v : (tensor<16x256x256xf16>, tensor<16x256x128xf16>) -> tensor<16x256x128xf16>
  func.return %y : tensor<16x256x128xf16>
}

func.func @causal_16_512_64(%q: tensor<16x512x64xf16>, %k: tensor<16x512x64xf16>, %v: tensor<16x512x64xf16>) -> tensor<16x512x64xf16> {
  %n = kernel.iota {dim = 0 : i64} : tensor<512xf32>
  %i = kernel.reshape %n : (tensor<512xf32>) -> tensor<512x1xf32>
  %j = kernel.reshape %n : (tensor<512xf32>) -> tensor<1x512xf32>
  %seen = kernel.compare %i, %j {predicate = "ge"} : (tensor<512x1xf32>, tensor<1x512xf32>) -> tensor<512x512xf32>
  %mask = kernel.cast %seen : (tensor<512x512xf32>) -> tensor<512x512xf16>
  %kt = kernel.transpose %k {permutation = array<i64: 0, 2, 1>} : (tensor<16x512x64xf16>) -> tensor<16x64x512xf16>
  %s = kernel.matmul %q, %kt : (tensor<16x512x64xf16>, tensor<16x64x512xf16>) -> tensor<16x512x512xf16>
  %sc = kernel.scale %s {factor = 0.0883883461 : f32} : (tensor<16x512x512xf16>) -> tensor<16x512x512xf16>
  %low = kernel.constant {value = 0xff800000 : f32} : tensor<1x1x1xf16>
  %m = kernel.select %mask, %sc, %low : (tensor<512x512xf16>, tensor<16x512x512xf16>, tensor<1x1x1xf16>) -> tensor<16x512x512xf16>
  %p = kernel.softmax %m {dim = 2 : i64} : (tensor<16x512x512xf16>) -> tensor<16x512x512xf16>
  %y = kernel.matmul %p, %v : (tensor<16x512x512xf16>, tensor<16x512x64xf16>) -> tensor<16x512x64xf16>
  func.return %y : tensor<16x512x64xf16>
}

// Gated MLPs and products of some hundred rows.
func.func @glu_512_2048_5632(%x: tensor<512x2048xbf16>, %g: tensor<2048xbf16>, %a: tensor<5632x2048xbf16>, %b: tensor<5632x2048xbf16>) -> tensor<512x5632xbf16> {
  %n = kernel.rms_norm %x, %g {eps = 1.0e-06 : f32} : (tensor<512x2048xbf16>, tensor<2048xbf16>) -> tensor<512x2048xbf16>
  %at = kernel.transpose %a {permutation = array<i64: 1, 0>} : (tensor<5632x2048xbf16>) -> tensor<2048x5632xbf16>
  %bt = kernel.transpose %b {permutation = array<i64: 1, 0>} : (tensor<5632x2048xbf16>) -> tensor<2048x5632xbf16>
  %p = kernel.matmul %n, %at : (tensor<512x2048xbf16>, tensor<2048x5632xbf16>) -> tensor<512x5632xbf16>
  %q = kernel.matmul %n, %bt : (tensor<512x2048xbf16>, tensor<2048x5632xbf16>) -> tensor<512x5632xbf16>
  %s = kernel.silu %p : (tensor<512x5632xbf16>) -> tensor<512x5632xbf16>
  %m = kernel.mul %s, %q : (tensor<512x5632xbf16>, tensor<512x5632xbf16>) -> tensor<512x5632xbf16>
  func.return %m : tensor<512x5632xbf16>
}

func.func @glu_384_4096_11008(%x: tensor<384x4096xf16>, %g: tensor<4096xf16>, %a: tensor<11008x4096xf16>, %b: tensor<11008x4096xf16>) -> tensor<384x11008xf16> {
  %n = kernel.rms_norm %x, %g {eps = 1.0e-06 : f32} : (tensor<384x4096xf16>, tensor<4096xf16>) -> tensor<384x4096xf16>
  %at = kernel.transpose %a {permutation = array<i64: 1, 0>} : (tensor<11008x4096xf16>) -> tensor<4096x11008xf16>
  %bt = kernel.transpose %b {permutation = array<i64: 1, 0>} : (tensor<11008x4096xf16>) -> tensor<4096x11008xf16>
  %p = kernel.matmul %n, %at : (tensor<384x4096xf16>, tensor<4096x11008xf16>) -> tensor<384x11008xf16>
  %q = kernel.matmul %n, %bt : (tensor<384x4096xf16>, tensor<4096x11008xf16>) -> tensor<384x11008xf16>
  %s = kernel.silu %p : (tensor<384x11008xf16>) -> tensor<384x11008xf16>
  %m = kernel.mul %s, %q : (tensor<384x11008xf16>, tensor<384x11008xf16>) -> tensor<384x11008xf16>
  func.return %m : tensor<384x11008xf16>
}

func.func @glu_1024_2048_8192(%x: tensor<1024x2048xbf16>, %g: tensor<2048xbf16>, %a: tensor<2048x8192xbf16>, %b: tensor<2048x8192xbf16>) -> tensor<1024x8192xbf16> {
  %n = kernel.rms_norm %x, %g {eps = 1.0e-06 : f32} : (tensor<1024x2048xbf16>, tensor<2048xbf16>) -> tensor<1024x2048xbf16>
  %p = kernel.matmul %n, %a : (tensor<1024x2048xbf16>, tensor<2048x8192xbf16>) -> tensor<1024x8192xbf16>
  %q = kernel.matmul %n, %b : (tensor<1024x2048xbf16>, tensor<2048x8192xbf16>) -> tensor<1024x8192xbf16>
  %s = kernel.silu %p : (tensor<1024x8192xbf16>) -> tensor<1024x8192xbf16>
  %m = kernel.mul %s, %q : (tensor<1024x8192xbf16>, tensor<1024x8192xbf16>) -> tensor<1024x8192xbf16>
  func.return %m : tensor<1024x8192xbf16>
}

func.func @glu_768_1024_2816(%x: tensor<768x1024xf16>, %g: tensor<1024xf16>, %a: tensor<1024x2816xf16>, %b: tensor<1024x2816xf16>) -> tensor<768x2816xf16> {
  %n = kernel.rms_norm %x, %g {eps = 1.0e-06 : f32} : (tensor<768x1024xf16>, tensor<1024xf16>) -> tensor<768x1024xf16>
  %p = kernel.matmul %n, %a : (tensor<768x1024xf16>, tensor<1024x2816xf16>) -> tensor<768x2816xf16>
  %q = kernel.matmul %n, %b : (tensor<768x1024xf16>, tensor<1024x2816xf16>) -> tensor<768x2816xf16>
  %s = kernel.gelu %p : (tensor<768x2816xf16>) -> tensor<768x2816xf16>
  %m = kernel.mul %s, %q : (tensor<768x2816xf16>, tensor<768x2816xf16>) -> tensor<768x2816xf16>
  func.return %m : tensor<768x2816xf16>
}

func.func @glu_256_3072_8192(%x: tensor<256x3072xbf16>, %g: tensor<3072xbf16>, %a: tensor<8192x3072xbf16>, %b: tensor<8192x3072xbf16>) -> tensor<256x8192xbf16> {
  %at = kernel.transpose %a {permutation = array<i64: 1, 0>} : (tensor<8192x3072xbf16>) -> tensor<3072x8192xbf16>
  %bt = kernel.transpose %b {permutation = array<i64: 1, 0>} : (tensor<8192x3072xbf16>) -> tensor<3072x8192xbf16>
  %p = kernel.matmul %x, %at : (tensor<256x3072xbf16>, tensor<3072x8192xbf16>) -> tensor<256x8192xbf16>
  %q = kernel.matmul %x, %bt : (tensor<256x3072xbf16>, tensor<3072x8192xbf16>) -> tensor<256x8192xbf16>
  %s = kernel.silu %p : (tensor<256x8192xbf16>) -> tensor<256x8192xbf16>
  %m = kernel.mul %s, %q : (tensor<256x8192xbf16>, tensor<256x8192xbf16>) -> tensor<256x8192xbf16>
  func.return %m : tensor<256x8192xbf16>
}

func.func @glu_2048_1536_8960(%x: tensor<2048x1536xbf16>, %g: tensor<1536xbf16>, %a: tensor<8960x1536xbf16>, %b: tensor<8960x1536xbf16>) -> tensor<2048x8960xbf16> {
  %n = kernel.rms_norm %x, %g {eps = 1.0e-06 : f32} : (tensor<2048x1536xbf16>, tensor<1536xbf16>) -> tensor<2048x1536xbf16>
  %at = kernel.transpose %a {permutation = array<i64: 1, 0>} : (tensor<8960x1536xbf16>) -> tensor<1536x8960xbf16>
  %bt = kernel.transpose %b {permutation = array<i64: 1, 0>} : (tensor<8960x1536xbf16>) -> tensor<1536x8960xbf16>
  %p = kernel.matmul %n, %at : (tensor<2048x1536xbf16>, tensor<1536x8960xbf16>) -> tensor<2048x8960xbf16>
  %q = kernel.matmul %n, %bt : (tensor<2048x1536xbf16>, tensor<1536x8960xbf16>) -> tensor<2048x8960xbf16>
  %s = kernel.silu %p : (tensor<2048x8960xbf16>) -> tensor<2048x8960xbf16>
  %m = kernel.mul %s, %q : (tensor<2048x8960xbf16>, tensor<2048x8960xbf16>) -> tensor<2048x8960xbf16>
  func.return %m : tensor<2048x8960xbf16>
}

func.func @linear_2048_2560_9728(%x: tensor<2048x2560xbf16>, %a: tensor<9728x2560xbf16>, %r: tensor<2048x9728xbf16>) -> tensor<2048x9728xbf16> {
  %at = kernel.transpose %a {permutation = array<i64: 1, 0>} : (tensor<9728x2560xbf16>) -> tensor<2560x9728xbf16>
  %p = kernel.matmul %x, %at : (tensor<2048x2560xbf16>, tensor<2560x9728xbf16>) -> tensor<2048x9728xbf16>
  %s = kernel.gelu %p : (tensor<2048x9728xbf16>) -> tensor<2048x9728xbf16>
  %m = kernel.add %s, %r : (tensor<2048x9728xbf16>, tensor<2048x9728xbf16>) -> tensor<2048x9728xbf16>
  func.return %m : tensor<2048x9728xbf16>
}

func.func @linear_4096_5120_5120(%x: tensor<4096x5120xf16>, %a: tensor<5120x5120xf16>, %r: tensor<4096x5120xf16>) -> tensor<4096x5120xf16> {
  %at = kernel.transpose %a {permutation = array<i64: 1, 0>} : (tensor<5120x5120xf16>) -> tensor<5120x5120xf16>
  %p = kernel.matmul %x, %at : (tensor<4096x5120xf16>, tensor<5120x5120xf16>) -> tensor<4096x5120xf16>
  %m = kernel.add %p, %r : (tensor<4096x5120xf16>, tensor<4096x5120xf16>) -> tensor<4096x5120xf16>
  func.return %m : tensor<4096x5120xf16>
}

func.func @linear_1000_4096_4096(%x: tensor<1000x4096xbf16>, %a: tensor<4096x4096xbf16>, %r: tensor<1000x4096xbf16>) -> tensor<1000x4096xbf16> {
  %p = kernel.matmul %x, %a : (tensor<1000x4096xbf16>, tensor<4096x4096xbf16>) -> tensor<1000x4096xbf16>
  %s = kernel.silu %p : (tensor<1000x4096xbf16>) -> tensor<1000x4096xbf16>
  %m = kernel.add %s, %r : (tensor<1000x4096xbf16>, tensor<1000x4096xbf16>) -> tensor<1000x4096xbf16>
  func.return %m : tensor<1000x4096xbf16>
}

func.func @linear_640_2560_6912(%x: tensor<640x2560xf16>, %a: tensor<6912x2560xf16>, %r: tensor<640x6912xf16>) -> tensor<640x6912xf16> {
  %at = kernel.transpose %a {permutation = array<i64: 1, 0>} : (tensor<6912x2560xf16>) -> tensor<2560x6912xf16>
  %p = kernel.matmul %x, %at : (tensor<640x2560xf16>, tensor<2560x6912xf16>) -> tensor<640x6912xf16>
  %m = kernel.add %p, %r : (tensor<640x6912xf16>, tensor<640x6912xf16>) -> tensor<640x6912xf16>
  func.return %m : tensor<640x6912xf16>
}
