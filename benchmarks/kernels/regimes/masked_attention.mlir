// Causal attention of 16 heads of 128, 1,024 tokens.
func.func @causal_16_heads_1024_of_128(%q: tensor<16x1024x128xf16>, %k: tensor<16x1024x128xf16>, %v: tensor<16x1024x128xf16>) -> tensor<16x1024x128xf16> {
  %n = kernel.iota {dim = 0 : i64} : tensor<1024xf32>
  %i = kernel.reshape %n : (tensor<1024xf32>) -> tensor<1024x1xf32>
  %j = kernel.reshape %n : (tensor<1024xf32>) -> tensor<1x1024xf32>
  %seen = kernel.compare %i, %j {predicate = "ge"} : (tensor<1024x1xf32>, tensor<1x1024xf32>) -> tensor<1024x1024xf32>
  %mask = kernel.cast %seen : (tensor<1024x1024xf32>) -> tensor<1024x1024xf16>
  %kt = kernel.transpose %k {permutation = array<i64: 0, 2, 1>} : (tensor<16x1024x128xf16>) -> tensor<16x128x1024xf16>
  %s = kernel.matmul %q, %kt : (tensor<16x1024x128xf16>, tensor<16x128x1024xf16>) -> tensor<16x1024x1024xf16>
  %scaled = kernel.scale %s {factor = 0.0883883476 : f32} : (tensor<16x1024x1024xf16>) -> tensor<16x1024x1024xf16>
  %low = kernel.constant {value = 0xff800000 : f32} : tensor<1x1x1xf16>
  %masked = kernel.select %mask, %scaled, %low : (tensor<1024x1024xf16>, tensor<16x1024x1024xf16>, tensor<1x1x1xf16>) -> tensor<16x1024x1024xf16>
  %p = kernel.softmax %masked {dim = 2 : i64} : (tensor<16x1024x1024xf16>) -> tensor<16x1024x1024xf16>
  %y = kernel.matmul %p, %v : (tensor<16x1024x1024xf16>, tensor<16x1024x128xf16>) -> tensor<16x1024x128xf16>
  func.return %y : tensor<16x1024x128xf16>
}

// Causal attention of 16 heads of 128, 2,048 tokens.
func.func @causal_16_heads_2048_of_128(%q: tensor<16x2048x128xf16>, %k: tensor<16x2048x128xf16>, %v: tensor<16x2048x128xf16>) -> tensor<16x2048x128xf16> {
  %n = kernel.iota {dim = 0 : i64} : tensor<2048xf32>
  %i = kernel.reshape %n : (tensor<2048xf32>) -> tensor<2048x1xf32>
  %j = kernel.reshape %n : (tensor<2048xf32>) -> tensor<1x2048xf32>
  %seen = kernel.compare %i, %j {predicate = "ge"} : (tensor<2048x1xf32>, tensor<1x2048xf32>) -> tensor<2048x2048xf32>
  %mask = kernel.cast %seen : (tensor<2048x2048xf32>) -> tensor<2048x2048xf16>
  %kt = kernel.transpose %k {permutation = array<i64: 0, 2, 1>} : (tensor<16x2048x128xf16>) -> tensor<16x128x2048xf16>
  %s = kernel.matmul %q, %kt : (tensor<16x2048x128xf16>, tensor<16x128x2048xf16>) -> tensor<16x2048x2048xf16>
  %scaled = kernel.scale %s {factor = 0.0883883476 : f32} : (tensor<16x2048x2048xf16>) -> tensor<16x2048x2048xf16>
  %low = kernel.constant {value = 0xff800000 : f32} : tensor<1x1x1xf16>
  %masked = kernel.select %mask, %scaled, %low : (tensor<2048x2048xf16>, tensor<16x2048x2048xf16>, tensor<1x1x1xf16>) -> tensor<16x2048x2048xf16>
  %p = kernel.softmax %masked {dim = 2 : i64} : (tensor<16x2048x2048xf16>) -> tensor<16x2048x2048xf16>
  %y = kernel.matmul %p, %v : (tensor<16x2048x2048xf16>, tensor<16x2048x128xf16>) -> tensor<16x2048x128xf16>
  func.return %y : tensor<16x2048x128xf16>
}

// Causal attention of 16 heads of 128, 4,096 tokens.
func.func @causal_16_heads_4096_of_128(%q: tensor<16x4096x128xf16>, %k: tensor<16x4096x128xf16>, %v: tensor<16x4096x128xf16>) -> tensor<16x4096x128xf16> {
  %n = kernel.iota {dim = 0 : i64} : tensor<4096xf32>
  %i = kernel.reshape %n : (tensor<4096xf32>) -> tensor<4096x1xf32>
  %j = kernel.reshape %n : (tensor<4096xf32>) -> tensor<1x4096xf32>
  %seen = kernel.compare %i, %j {predicate = "ge"} : (tensor<4096x1xf32>, tensor<1x4096xf32>) -> tensor<4096x4096xf32>
  %mask = kernel.cast %seen : (tensor<4096x4096xf32>) -> tensor<4096x4096xf16>
  %kt = kernel.transpose %k {permutation = array<i64: 0, 2, 1>} : (tensor<16x4096x128xf16>) -> tensor<16x128x4096xf16>
  %s = kernel.matmul %q, %kt : (tensor<16x4096x128xf16>, tensor<16x128x4096xf16>) -> tensor<16x4096x4096xf16>
  %scaled = kernel.scale %s {factor = 0.0883883476 : f32} : (tensor<16x4096x4096xf16>) -> tensor<16x4096x4096xf16>
  %low = kernel.constant {value = 0xff800000 : f32} : tensor<1x1x1xf16>
  %masked = kernel.select %mask, %scaled, %low : (tensor<4096x4096xf16>, tensor<16x4096x4096xf16>, tensor<1x1x1xf16>) -> tensor<16x4096x4096xf16>
  %p = kernel.softmax %masked {dim = 2 : i64} : (tensor<16x4096x4096xf16>) -> tensor<16x4096x4096xf16>
  %y = kernel.matmul %p, %v : (tensor<16x4096x4096xf16>, tensor<16x4096x128xf16>) -> tensor<16x4096x128xf16>
  func.return %y : tensor<16x4096x128xf16>
}

// Causal attention of 16 heads of 128, 8,192 tokens.
func.func @causal_16_heads_8192_of_128(%q: tensor<16x8192x128xf16>, %k: tensor<16x8192x128xf16>, %v: tensor<16x8192x128xf16>) -> tensor<16x8192x128xf16> {
  %n = kernel.iota {dim = 0 : i64} : tensor<8192xf32>
  %i = kernel.reshape %n : (tensor<8192xf32>) -> tensor<8192x1xf32>
  %j = kernel.reshape %n : (tensor<8192xf32>) -> tensor<1x8192xf32>
  %seen = kernel.compare %i, %j {predicate = "ge"} : (tensor<8192x1xf32>, tensor<1x8192xf32>) -> tensor<8192x8192xf32>
  %mask = kernel.cast %seen : (tensor<8192x8192xf32>) -> tensor<8192x8192xf16>
  %kt = kernel.transpose %k {permutation = array<i64: 0, 2, 1>} : (tensor<16x8192x128xf16>) -> tensor<16x128x8192xf16>
  %s = kernel.matmul %q, %kt : (tensor<16x8192x128xf16>, tensor<16x128x8192xf16>) -> tensor<16x8192x8192xf16>
  %scaled = kernel.scale %s {factor = 0.0883883476 : f32} : (tensor<16x8192x8192xf16>) -> tensor<16x8192x8192xf16>
  %low = kernel.constant {value = 0xff800000 : f32} : tensor<1x1x1xf16>
  %masked = kernel.select %mask, %scaled, %low : (tensor<8192x8192xf16>, tensor<16x8192x8192xf16>, tensor<1x1x1xf16>) -> tensor<16x8192x8192xf16>
  %p = kernel.softmax %masked {dim = 2 : i64} : (tensor<16x8192x8192xf16>) -> tensor<16x8192x8192xf16>
  %y = kernel.matmul %p, %v : (tensor<16x8192x8192xf16>, tensor<16x8192x128xf16>) -> tensor<16x8192x128xf16>
  func.return %y : tensor<16x8192x128xf16>
}

// Causal attention of 32 heads of 64, 1,024 tokens.
func.func @causal_32_heads_1024_of_64(%q: tensor<32x1024x64xf16>, %k: tensor<32x1024x64xf16>, %v: tensor<32x1024x64xf16>) -> tensor<32x1024x64xf16> {
  %n = kernel.iota {dim = 0 : i64} : tensor<1024xf32>
  %i = kernel.reshape %n : (tensor<1024xf32>) -> tensor<1024x1xf32>
  %j = kernel.reshape %n : (tensor<1024xf32>) -> tensor<1x1024xf32>
  %seen = kernel.compare %i, %j {predicate = "ge"} : (tensor<1024x1xf32>, tensor<1x1024xf32>) -> tensor<1024x1024xf32>
  %mask = kernel.cast %seen : (tensor<1024x1024xf32>) -> tensor<1024x1024xf16>
  %kt = kernel.transpose %k {permutation = array<i64: 0, 2, 1>} : (tensor<32x1024x64xf16>) -> tensor<32x64x1024xf16>
  %s = kernel.matmul %q, %kt : (tensor<32x1024x64xf16>, tensor<32x64x1024xf16>) -> tensor<32x1024x1024xf16>
  %scaled = kernel.scale %s {factor = 0.125 : f32} : (tensor<32x1024x1024xf16>) -> tensor<32x1024x1024xf16>
  %low = kernel.constant {value = 0xff800000 : f32} : tensor<1x1x1xf16>
  %masked = kernel.select %mask, %scaled, %low : (tensor<1024x1024xf16>, tensor<32x1024x1024xf16>, tensor<1x1x1xf16>) -> tensor<32x1024x1024xf16>
  %p = kernel.softmax %masked {dim = 2 : i64} : (tensor<32x1024x1024xf16>) -> tensor<32x1024x1024xf16>
  %y = kernel.matmul %p, %v : (tensor<32x1024x1024xf16>, tensor<32x1024x64xf16>) -> tensor<32x1024x64xf16>
  func.return %y : tensor<32x1024x64xf16>
}

// Causal attention of 12 heads of 64, 1,024 tokens.
func.func @causal_12_heads_1024_of_64(%q: tensor<12x1024x64xf16>, %k: tensor<12x1024x64xf16>, %v: tensor<12x1024x64xf16>) -> tensor<12x1024x64xf16> {
  %n = kernel.iota {dim = 0 : i64} : tensor<1024xf32>
  %i = kernel.reshape %n : (tensor<1024xf32>) -> tensor<1024x1xf32>
  %j = kernel.reshape %n : (tensor<1024xf32>) -> tensor<1x1024xf32>
  %seen = kernel.compare %i, %j {predicate = "ge"} : (tensor<1024x1xf32>, tensor<1x1024xf32>) -> tensor<1024x1024xf32>
  %mask = kernel.cast %seen : (tensor<1024x1024xf32>) -> tensor<1024x1024xf16>
  %kt = kernel.transpose %k {permutation = array<i64: 0, 2, 1>} : (tensor<12x1024x64xf16>) -> tensor<12x64x1024xf16>
  %s = kernel.matmul %q, %kt : (tensor<12x1024x64xf16>, tensor<12x64x1024xf16>) -> tensor<12x1024x1024xf16>
  %scaled = kernel.scale %s {factor = 0.125 : f32} : (tensor<12x1024x1024xf16>) -> tensor<12x1024x1024xf16>
  %low = kernel.constant {value = 0xff800000 : f32} : tensor<1x1x1xf16>
  %masked = kernel.select %mask, %scaled, %low : (tensor<1024x1024xf16>, tensor<12x1024x1024xf16>, tensor<1x1x1xf16>) -> tensor<12x1024x1024xf16>
  %p = kernel.softmax %masked {dim = 2 : i64} : (tensor<12x1024x1024xf16>) -> tensor<12x1024x1024xf16>
  %y = kernel.matmul %p, %v : (tensor<12x1024x1024xf16>, tensor<12x1024x64xf16>) -> tensor<12x1024x64xf16>
  func.return %y : tensor<12x1024x64xf16>
}

// Causal attention of 32 heads of 128, 512 tokens.
func.func @causal_32_heads_512_of_128(%q: tensor<32x512x128xf16>, %k: tensor<32x512x128xf16>, %v: tensor<32x512x128xf16>) -> tensor<32x512x128xf16> {
  %n = kernel.iota {dim = 0 : i64} : tensor<512xf32>
  %i = kernel.reshape %n : (tensor<512xf32>) -> tensor<512x1xf32>
  %j = kernel.reshape %n : (tensor<512xf32>) -> tensor<1x512xf32>
  %seen = kernel.compare %i, %j {predicate = "ge"} : (tensor<512x1xf32>, tensor<1x512xf32>) -> tensor<512x512xf32>
  %mask = kernel.cast %seen : (tensor<512x512xf32>) -> tensor<512x512xf16>
  %kt = kernel.transpose %k {permutation = array<i64: 0, 2, 1>} : (tensor<32x512x128xf16>) -> tensor<32x128x512xf16>
  %s = kernel.matmul %q, %kt : (tensor<32x512x128xf16>, tensor<32x128x512xf16>) -> tensor<32x512x512xf16>
  %scaled = kernel.scale %s {factor = 0.0883883476 : f32} : (tensor<32x512x512xf16>) -> tensor<32x512x512xf16>
  %low = kernel.constant {value = 0xff800000 : f32} : tensor<1x1x1xf16>
  %masked = kernel.select %mask, %scaled, %low : (tensor<512x512xf16>, tensor<32x512x512xf16>, tensor<1x1x1xf16>) -> tensor<32x512x512xf16>
  %p = kernel.softmax %masked {dim = 2 : i64} : (tensor<32x512x512xf16>) -> tensor<32x512x512xf16>
  %y = kernel.matmul %p, %v : (tensor<32x512x512xf16>, tensor<32x512x128xf16>) -> tensor<32x512x128xf16>
  func.return %y : tensor<32x512x128xf16>
}

// A sliding window: each of 4,096 tokens sees the 1,024 up to itself.
func.func @window_1024_of_4096(%q: tensor<16x4096x128xf16>, %k: tensor<16x4096x128xf16>, %v: tensor<16x4096x128xf16>) -> tensor<16x4096x128xf16> {
  %n = kernel.iota {dim = 0 : i64} : tensor<4096xf32>
  %i = kernel.reshape %n : (tensor<4096xf32>) -> tensor<4096x1xf32>
  %j = kernel.reshape %n : (tensor<4096xf32>) -> tensor<1x4096xf32>
  %before = kernel.compare %i, %j {predicate = "ge"} : (tensor<4096x1xf32>, tensor<1x4096xf32>) -> tensor<4096x4096xf32>
  %w = kernel.constant {value = 1024.0 : f32} : tensor<1x1xf32>
  %past = kernel.add %j, %w : (tensor<1x4096xf32>, tensor<1x1xf32>) -> tensor<1x4096xf32>
  %near = kernel.compare %i, %past {predicate = "lt"} : (tensor<4096x1xf32>, tensor<1x4096xf32>) -> tensor<4096x4096xf32>
  %seen = kernel.mul %before, %near : (tensor<4096x4096xf32>, tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %mask = kernel.cast %seen : (tensor<4096x4096xf32>) -> tensor<4096x4096xf16>
  %kt = kernel.transpose %k {permutation = array<i64: 0, 2, 1>} : (tensor<16x4096x128xf16>) -> tensor<16x128x4096xf16>
  %s = kernel.matmul %q, %kt : (tensor<16x4096x128xf16>, tensor<16x128x4096xf16>) -> tensor<16x4096x4096xf16>
  %scaled = kernel.scale %s {factor = 0.0883883476 : f32} : (tensor<16x4096x4096xf16>) -> tensor<16x4096x4096xf16>
  %low = kernel.constant {value = 0xff800000 : f32} : tensor<1x1x1xf16>
  %masked = kernel.select %mask, %scaled, %low : (tensor<4096x4096xf16>, tensor<16x4096x4096xf16>, tensor<1x1x1xf16>) -> tensor<16x4096x4096xf16>
  %p = kernel.softmax %masked {dim = 2 : i64} : (tensor<16x4096x4096xf16>) -> tensor<16x4096x4096xf16>
  %y = kernel.matmul %p, %v : (tensor<16x4096x4096xf16>, tensor<16x4096x128xf16>) -> tensor<16x4096x128xf16>
  func.return %y : tensor<16x4096x128xf16>
}
