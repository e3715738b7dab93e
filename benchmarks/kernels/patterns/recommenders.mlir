// Two low-rank cross layers of DCN-V2: 8,192 rows of 429.
func.func @dcnv2_cross(%x0: tensor<8192x429xf16>, %u1: tensor<429x64xf16> {kernel.constant}, %v1: tensor<64x429xf16> {kernel.constant}, %b1: tensor<429xf16>, %u2: tensor<429x64xf16> {kernel.constant}, %v2: tensor<64x429xf16> {kernel.constant}, %b2: tensor<429xf16>) -> tensor<8192x429xf16> {
  %0 = kernel.matmul %x0, %u1 : (tensor<8192x429xf16>, tensor<429x64xf16>) -> tensor<8192x64xf16>
  %1 = kernel.matmul %0, %v1 : (tensor<8192x64xf16>, tensor<64x429xf16>) -> tensor<8192x429xf16>
  %2 = kernel.add %1, %b1 : (tensor<8192x429xf16>, tensor<429xf16>) -> tensor<8192x429xf16>
  %3 = kernel.mul %x0, %2 : (tensor<8192x429xf16>, tensor<8192x429xf16>) -> tensor<8192x429xf16>
  %4 = kernel.add %3, %x0 : (tensor<8192x429xf16>, tensor<8192x429xf16>) -> tensor<8192x429xf16>
  %5 = kernel.matmul %4, %u2 : (tensor<8192x429xf16>, tensor<429x64xf16>) -> tensor<8192x64xf16>
  %6 = kernel.matmul %5, %v2 : (tensor<8192x64xf16>, tensor<64x429xf16>) -> tensor<8192x429xf16>
  %7 = kernel.add %6, %b2 : (tensor<8192x429xf16>, tensor<429xf16>) -> tensor<8192x429xf16>
  %8 = kernel.mul %x0, %7 : (tensor<8192x429xf16>, tensor<8192x429xf16>) -> tensor<8192x429xf16>
  %9 = kernel.add %8, %4 : (tensor<8192x429xf16>, tensor<8192x429xf16>) -> tensor<8192x429xf16>
  func.return %9 : tensor<8192x429xf16>
}

// DIN's attention pooling of behaviours: 320 users, 50 items of 36.
func.func @din_attention(%q: tensor<320x36xf16>, %k: tensor<320x50x36xf16>, %w1: tensor<144x80xf16> {kernel.constant}, %b1: tensor<80xf16>, %w2: tensor<80x40xf16> {kernel.constant}, %b2: tensor<40xf16>, %w3: tensor<40x1xf16> {kernel.constant}) -> tensor<320x36xf16> {
  %0 = kernel.reshape %q : (tensor<320x36xf16>) -> tensor<320x1x36xf16>
  %1 = kernel.broadcast %0 : (tensor<320x1x36xf16>) -> tensor<320x50x36xf16>
  %2 = kernel.sub %1, %k : (tensor<320x50x36xf16>, tensor<320x50x36xf16>) -> tensor<320x50x36xf16>
  %3 = kernel.mul %1, %k : (tensor<320x50x36xf16>, tensor<320x50x36xf16>) -> tensor<320x50x36xf16>
  %4 = kernel.concat %1, %k, %2, %3 {dim = 2 : i64} : (tensor<320x50x36xf16>, tensor<320x50x36xf16>, tensor<320x50x36xf16>, tensor<320x50x36xf16>) -> tensor<320x50x144xf16>
  %5 = kernel.matmul %4, %w1 : (tensor<320x50x144xf16>, tensor<144x80xf16>) -> tensor<320x50x80xf16>
  %6 = kernel.add %5, %b1 : (tensor<320x50x80xf16>, tensor<80xf16>) -> tensor<320x50x80xf16>
  %7 = kernel.sigmoid %6 : (tensor<320x50x80xf16>) -> tensor<320x50x80xf16>
  %8 = kernel.matmul %7, %w2 : (tensor<320x50x80xf16>, tensor<80x40xf16>) -> tensor<320x50x40xf16>
  %9 = kernel.add %8, %b2 : (tensor<320x50x40xf16>, tensor<40xf16>) -> tensor<320x50x40xf16>
  %10 = kernel.sigmoid %9 : (tensor<320x50x40xf16>) -> tensor<320x50x40xf16>
  %11 = kernel.matmul %10, %w3 : (tensor<320x50x40xf16>, tensor<40x1xf16>) -> tensor<320x50x1xf16>
  %12 = kernel.cast %11 : (tensor<320x50x1xf16>) -> tensor<320x50x1xf32>
  %13 = kernel.cast %k : (tensor<320x50x36xf16>) -> tensor<320x50x36xf32>
  %14 = kernel.mul %12, %13 : (tensor<320x50x1xf32>, tensor<320x50x36xf32>) -> tensor<320x50x36xf32>
  %15 = kernel.reduce_sum %14 {dims = array<i64: 1>} : (tensor<320x50x36xf32>) -> tensor<320x1x36xf32>
  %16 = kernel.reshape %15 : (tensor<320x1x36xf32>) -> tensor<320x36xf32>
  %17 = kernel.cast %16 : (tensor<320x36xf32>) -> tensor<320x36xf16>
  func.return %17 : tensor<320x36xf16>
}

// A task's mixture of experts in MMoE: 4,096 rows of 499, 8 experts of 128.
func.func @mmoe_task(%x: tensor<4096x499xbf16>, %experts: tensor<8x499x128xbf16> {kernel.constant}, %gate: tensor<499x8xbf16> {kernel.constant}) -> tensor<4096x128xbf16> {
  %0 = kernel.matmul %x, %experts : (tensor<4096x499xbf16>, tensor<8x499x128xbf16>) -> tensor<8x4096x128xbf16>
  %1 = kernel.relu %0 : (tensor<8x4096x128xbf16>) -> tensor<8x4096x128xbf16>
  %2 = kernel.matmul %x, %gate : (tensor<4096x499xbf16>, tensor<499x8xbf16>) -> tensor<4096x8xbf16>
  %3 = kernel.cast %2 : (tensor<4096x8xbf16>) -> tensor<4096x8xf32>
  %4 = kernel.softmax %3 {dim = 1 : i64} : (tensor<4096x8xf32>) -> tensor<4096x8xf32>
  %5 = kernel.cast %1 : (tensor<8x4096x128xbf16>) -> tensor<8x4096x128xf32>
  %6 = kernel.transpose %4 {permutation = array<i64: 1, 0>} : (tensor<4096x8xf32>) -> tensor<8x4096xf32>
  %7 = kernel.reshape %6 : (tensor<8x4096xf32>) -> tensor<8x4096x1xf32>
  %8 = kernel.mul %5, %7 : (tensor<8x4096x128xf32>, tensor<8x4096x1xf32>) -> tensor<8x4096x128xf32>
  %9 = kernel.reduce_sum %8 {dims = array<i64: 0>} : (tensor<8x4096x128xf32>) -> tensor<1x4096x128xf32>
  %10 = kernel.reshape %9 : (tensor<1x4096x128xf32>) -> tensor<4096x128xf32>
  %11 = kernel.cast %10 : (tensor<4096x128xf32>) -> tensor<4096x128xbf16>
  func.return %11 : tensor<4096x128xbf16>
}

// HSTU's attention: SiLU for softmax, a bias of positions, a norm and a gate; 211 items.
func.func @hstu_attention(%q: tensor<32x4x211x64xbf16>, %k: tensor<32x4x211x64xbf16>, %v: tensor<32x4x211x64xbf16>, %u: tensor<32x4x211x64xbf16>, %rab: tensor<4x211x211xbf16>) -> tensor<32x4x211x64xbf16> {
  %0 = kernel.transpose %k {permutation = array<i64: 0, 1, 3, 2>} : (tensor<32x4x211x64xbf16>) -> tensor<32x4x64x211xbf16>
  %1 = kernel.matmul %q, %0 : (tensor<32x4x211x64xbf16>, tensor<32x4x64x211xbf16>) -> tensor<32x4x211x211xbf16>
  %2 = kernel.cast %1 : (tensor<32x4x211x211xbf16>) -> tensor<32x4x211x211xf32>
  %3 = kernel.scale %2 {factor = 1.250000e-01 : f32} : (tensor<32x4x211x211xf32>) -> tensor<32x4x211x211xf32>
  %4 = kernel.cast %rab : (tensor<4x211x211xbf16>) -> tensor<4x211x211xf32>
  %5 = kernel.add %3, %4 : (tensor<32x4x211x211xf32>, tensor<4x211x211xf32>) -> tensor<32x4x211x211xf32>
  %6 = kernel.silu %5 : (tensor<32x4x211x211xf32>) -> tensor<32x4x211x211xf32>
  %7 = kernel.scale %6 {factor = 0.00473933667 : f32} : (tensor<32x4x211x211xf32>) -> tensor<32x4x211x211xf32>
  %8 = kernel.constant {value = 0.000000e+00 : f32} : tensor<f32>
  %9 = kernel.iota {dim = 0 : i64} : tensor<211xf32>
  %10 = kernel.reshape %9 : (tensor<211xf32>) -> tensor<1x211xf32>
  %11 = kernel.iota {dim = 0 : i64} : tensor<211xf32>
  %12 = kernel.reshape %11 : (tensor<211xf32>) -> tensor<211x1xf32>
  %13 = kernel.sub %10, %12 : (tensor<1x211xf32>, tensor<211x1xf32>) -> tensor<211x211xf32>
  %14 = kernel.constant {value = 0.000000e+00 : f32} : tensor<1x1xf32>
  %15 = kernel.compare %13, %14 {predicate = "le"} : (tensor<211x211xf32>, tensor<1x1xf32>) -> tensor<211x211xf32>
  %16 = kernel.select %15, %7, %8 : (tensor<211x211xf32>, tensor<32x4x211x211xf32>, tensor<f32>) -> tensor<32x4x211x211xf32>
  %17 = kernel.cast %16 : (tensor<32x4x211x211xf32>) -> tensor<32x4x211x211xbf16>
  %18 = kernel.matmul %17, %v : (tensor<32x4x211x211xbf16>, tensor<32x4x211x64xbf16>) -> tensor<32x4x211x64xbf16>
  %19 = kernel.layer_norm %18 {eps = 1.000000e-06 : f32} : (tensor<32x4x211x64xbf16>) -> tensor<32x4x211x64xbf16>
  %20 = kernel.mul %19, %u : (tensor<32x4x211x64xbf16>, tensor<32x4x211x64xbf16>) -> tensor<32x4x211x64xbf16>
  func.return %20 : tensor<32x4x211x64xbf16>
}
