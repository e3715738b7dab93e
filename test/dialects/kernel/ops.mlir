// Every operator of the kernel dialect, in the order of the design; custom and generic form.
// RUN: %roundtrip
// RUN: %generic-roundtrip

// CHECK-LABEL: func.func @matmul(
func.func @matmul(%a: tensor<64x32xf16>, %b: tensor<32x16xf16>, %c: tensor<2x1x8x64xbf16>, %d: tensor<3x64x5xbf16>, %e: tensor<8x8xf32>) {
  // CHECK-NEXT: %0 = kernel.matmul %a, %b : (tensor<64x32xf16>, tensor<32x16xf16>) -> tensor<64x16xf16>
  %0 = kernel.matmul %a, %b : (tensor<64x32xf16>, tensor<32x16xf16>) -> tensor<64x16xf16>
  // CHECK-NEXT: %m1 = kernel.matmul %a, %b : (tensor<64x32xf16>, tensor<32x16xf16>) -> tensor<64x16xf32>
  %m1 = kernel.matmul %a, %b : (tensor<64x32xf16>, tensor<32x16xf16>) -> tensor<64x16xf32>
  // CHECK-NEXT: %m2 = kernel.matmul %c, %d : (tensor<2x1x8x64xbf16>, tensor<3x64x5xbf16>) -> tensor<2x3x8x5xbf16>
  %m2 = kernel.matmul %c, %d : (tensor<2x1x8x64xbf16>, tensor<3x64x5xbf16>) -> tensor<2x3x8x5xbf16>
  // CHECK-NEXT: %m3 = kernel.matmul %e, %e {precision = "tf32"} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %m3 = kernel.matmul %e, %e {precision = "tf32"} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  func.return
}

// CHECK-LABEL: func.func @binary(
func.func @binary(%a: tensor<2x4x8xf32>, %b: tensor<4x1xf32>, %c: tensor<1xf32>) {
  // CHECK-NEXT: %add = kernel.add %a, %b : (tensor<2x4x8xf32>, tensor<4x1xf32>) -> tensor<2x4x8xf32>
  %add = kernel.add %a, %b : (tensor<2x4x8xf32>, tensor<4x1xf32>) -> tensor<2x4x8xf32>
  // CHECK-NEXT: %sub = kernel.sub %b, %a : (tensor<4x1xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %sub = kernel.sub %b, %a : (tensor<4x1xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  // CHECK-NEXT: %mul = kernel.mul %b, %b : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  %mul = kernel.mul %b, %b : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  // CHECK-NEXT: %div = kernel.div %a, %c : (tensor<2x4x8xf32>, tensor<1xf32>) -> tensor<2x4x8xf32>
  %div = kernel.div %a, %c : (tensor<2x4x8xf32>, tensor<1xf32>) -> tensor<2x4x8xf32>
  // CHECK-NEXT: %max = kernel.max %c, %a : (tensor<1xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %max = kernel.max %c, %a : (tensor<1xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  // CHECK-NEXT: %min = kernel.min %a, %b : (tensor<2x4x8xf32>, tensor<4x1xf32>) -> tensor<2x4x8xf32>
  %min = kernel.min %a, %b : (tensor<2x4x8xf32>, tensor<4x1xf32>) -> tensor<2x4x8xf32>
  // CHECK-NEXT: %mask = kernel.compare %a, %b {predicate = "le"} : (tensor<2x4x8xf32>, tensor<4x1xf32>) -> tensor<2x4x8xf32>
  %mask = kernel.compare %a, %b {predicate = "le"} : (tensor<2x4x8xf32>, tensor<4x1xf32>) -> tensor<2x4x8xf32>
  // CHECK-NEXT: %select = kernel.select %mask, %c, %b : (tensor<2x4x8xf32>, tensor<1xf32>, tensor<4x1xf32>) -> tensor<2x4x8xf32>
  %select = kernel.select %mask, %c, %b : (tensor<2x4x8xf32>, tensor<1xf32>, tensor<4x1xf32>) -> tensor<2x4x8xf32>
  func.return
}

// CHECK-LABEL: func.func @unary(
func.func @unary(%a: tensor<4x8xbf16>) {
  // CHECK-NEXT: %neg = kernel.neg %a : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  %neg = kernel.neg %a : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  // CHECK-NEXT: %abs = kernel.abs %a : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  %abs = kernel.abs %a : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  // CHECK-NEXT: %erf = kernel.erf %a : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  %erf = kernel.erf %a : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  // CHECK-NEXT: %expm1 = kernel.expm1 %a : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  %expm1 = kernel.expm1 %a : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  // CHECK-NEXT: %log1p = kernel.log1p %a : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  %log1p = kernel.log1p %a : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  // CHECK-NEXT: %sin = kernel.sin %a : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  %sin = kernel.sin %a : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  // CHECK-NEXT: %cos = kernel.cos %a : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  %cos = kernel.cos %a : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  // CHECK-NEXT: %floor = kernel.floor %a : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  %floor = kernel.floor %a : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  // CHECK-NEXT: %ceil = kernel.ceil %a : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  %ceil = kernel.ceil %a : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  // CHECK-NEXT: %round = kernel.round %a : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  %round = kernel.round %a : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  // CHECK-NEXT: %exp = kernel.exp %a : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  %exp = kernel.exp %a : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  // CHECK-NEXT: %log = kernel.log %a : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  %log = kernel.log %a : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  // CHECK-NEXT: %square = kernel.square %a : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  %square = kernel.square %a : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  // CHECK-NEXT: %sqrt = kernel.sqrt %a : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  %sqrt = kernel.sqrt %a : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  // CHECK-NEXT: %rsqrt = kernel.rsqrt %a : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  %rsqrt = kernel.rsqrt %a : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  // CHECK-NEXT: %sigmoid = kernel.sigmoid %a : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  %sigmoid = kernel.sigmoid %a : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  // CHECK-NEXT: %silu = kernel.silu %a : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  %silu = kernel.silu %a : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  // CHECK-NEXT: %gelu = kernel.gelu %a : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  %gelu = kernel.gelu %a : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  // CHECK-NEXT: %gelu_tanh = kernel.gelu %a {approximate = "tanh"} : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  %gelu_tanh = kernel.gelu %a {approximate = "tanh"} : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  // CHECK-NEXT: %relu = kernel.relu %a : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  %relu = kernel.relu %a : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  // CHECK-NEXT: %tanh = kernel.tanh %a : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  %tanh = kernel.tanh %a : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  // CHECK-NEXT: %softcap = kernel.softcap %a {cap = 3.000000e+01 : f32} : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  %softcap = kernel.softcap %a {cap = 3.000000e+01 : f32} : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  // CHECK-NEXT: %clamp = kernel.clamp %a {min = -1.000000e+00 : f32, max = 6.000000e+00 : f32} : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  %clamp = kernel.clamp %a {min = -1.000000e+00 : f32, max = 6.000000e+00 : f32} : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  // CHECK-NEXT: %pow = kernel.pow %a {exponent = 2.500000e+00 : f32} : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  %pow = kernel.pow %a {exponent = 2.500000e+00 : f32} : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  // CHECK-NEXT: %scale = kernel.scale %a {factor = 1.250000e-01 : f32} : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  %scale = kernel.scale %a {factor = 1.250000e-01 : f32} : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  func.return
}

// CHECK-LABEL: func.func @reductions(
func.func @reductions(%a: tensor<2x4x8xf16>) {
  // CHECK-NEXT: %sum = kernel.reduce_sum %a {dims = array<i64: 1>} : (tensor<2x4x8xf16>) -> tensor<2x1x8xf16>
  %sum = kernel.reduce_sum %a {dims = array<i64: 1>} : (tensor<2x4x8xf16>) -> tensor<2x1x8xf16>
  // CHECK-NEXT: %max = kernel.reduce_max %a {dims = array<i64: 0, 2>} : (tensor<2x4x8xf16>) -> tensor<1x4x1xf16>
  %max = kernel.reduce_max %a {dims = array<i64: 0, 2>} : (tensor<2x4x8xf16>) -> tensor<1x4x1xf16>
  // CHECK-NEXT: %mean = kernel.reduce_mean %a {dims = array<i64: 0, 1, 2>} : (tensor<2x4x8xf16>) -> tensor<1x1x1xf16>
  %mean = kernel.reduce_mean %a {dims = array<i64: 0, 1, 2>} : (tensor<2x4x8xf16>) -> tensor<1x1x1xf16>
  func.return
}

// CHECK-LABEL: func.func @norms(
func.func @norms(%a: tensor<2x4x8xf16>, %w: tensor<8xf16>, %b: tensor<8xf16>) {
  // CHECK-NEXT: %r0 = kernel.rms_norm %a {eps = 1.000000e-05 : f32} : (tensor<2x4x8xf16>) -> tensor<2x4x8xf16>
  %r0 = kernel.rms_norm %a {eps = 1.000000e-05 : f32} : (tensor<2x4x8xf16>) -> tensor<2x4x8xf16>
  // CHECK-NEXT: %r1 = kernel.rms_norm %a, %w {eps = 0.000000e+00 : f32} : (tensor<2x4x8xf16>, tensor<8xf16>) -> tensor<2x4x8xf16>
  %r1 = kernel.rms_norm %a, %w {eps = 0.000000e+00 : f32} : (tensor<2x4x8xf16>, tensor<8xf16>) -> tensor<2x4x8xf16>
  // CHECK-NEXT: %l0 = kernel.layer_norm %a {eps = 1.000000e-05 : f32} : (tensor<2x4x8xf16>) -> tensor<2x4x8xf16>
  %l0 = kernel.layer_norm %a {eps = 1.000000e-05 : f32} : (tensor<2x4x8xf16>) -> tensor<2x4x8xf16>
  // CHECK-NEXT: %l1 = kernel.layer_norm %a, %w {eps = 1.000000e-05 : f32} : (tensor<2x4x8xf16>, tensor<8xf16>) -> tensor<2x4x8xf16>
  %l1 = kernel.layer_norm %a, %w {eps = 1.000000e-05 : f32} : (tensor<2x4x8xf16>, tensor<8xf16>) -> tensor<2x4x8xf16>
  // CHECK-NEXT: %l2 = kernel.layer_norm %a, %w, %b {eps = 1.000000e-05 : f32} : (tensor<2x4x8xf16>, tensor<8xf16>, tensor<8xf16>) -> tensor<2x4x8xf16>
  %l2 = kernel.layer_norm %a, %w, %b {eps = 1.000000e-05 : f32} : (tensor<2x4x8xf16>, tensor<8xf16>, tensor<8xf16>) -> tensor<2x4x8xf16>
  // CHECK-NEXT: %cumsum = kernel.cumsum %a {dim = 1 : i64} : (tensor<2x4x8xf16>) -> tensor<2x4x8xf16>
  %cumsum = kernel.cumsum %a {dim = 1 : i64} : (tensor<2x4x8xf16>) -> tensor<2x4x8xf16>
  // CHECK-NEXT: %s = kernel.softmax %a {dim = 1 : i64} : (tensor<2x4x8xf16>) -> tensor<2x4x8xf16>
  %s = kernel.softmax %a {dim = 1 : i64} : (tensor<2x4x8xf16>) -> tensor<2x4x8xf16>
  func.return
}

// CHECK-LABEL: func.func @views(
func.func @views(%a: tensor<2x4x8xf16>, %b: tensor<2x1x8xf16>) {
  // CHECK-NEXT: %transpose = kernel.transpose %a {permutation = array<i64: 0, 2, 1>} : (tensor<2x4x8xf16>) -> tensor<2x8x4xf16>
  %transpose = kernel.transpose %a {permutation = array<i64: 0, 2, 1>} : (tensor<2x4x8xf16>) -> tensor<2x8x4xf16>
  // CHECK-NEXT: %reshape = kernel.reshape %a : (tensor<2x4x8xf16>) -> tensor<8x8xf16>
  %reshape = kernel.reshape %a : (tensor<2x4x8xf16>) -> tensor<8x8xf16>
  // CHECK-NEXT: %broadcast = kernel.broadcast %b : (tensor<2x1x8xf16>) -> tensor<3x2x5x8xf16>
  %broadcast = kernel.broadcast %b : (tensor<2x1x8xf16>) -> tensor<3x2x5x8xf16>
  // CHECK-NEXT: %repeat = kernel.repeat %a {dim = 1 : i64, times = 3 : i64} : (tensor<2x4x8xf16>) -> tensor<2x12x8xf16>
  %repeat = kernel.repeat %a {dim = 1 : i64, times = 3 : i64} : (tensor<2x4x8xf16>) -> tensor<2x12x8xf16>
  // CHECK-NEXT: %interleave = kernel.repeat_interleave %a {dim = 0 : i64, times = 2 : i64} : (tensor<2x4x8xf16>) -> tensor<4x4x8xf16>
  %interleave = kernel.repeat_interleave %a {dim = 0 : i64, times = 2 : i64} : (tensor<2x4x8xf16>) -> tensor<4x4x8xf16>
  // CHECK-NEXT: %slice = kernel.slice %a {offsets = array<i64: 0, 1, 2>, sizes = array<i64: 1, 3, 3>, strides = array<i64: 1, 1, 2>} : (tensor<2x4x8xf16>) -> tensor<1x3x3xf16>
  %slice = kernel.slice %a {offsets = array<i64: 0, 1, 2>, sizes = array<i64: 1, 3, 3>, strides = array<i64: 1, 1, 2>} : (tensor<2x4x8xf16>) -> tensor<1x3x3xf16>
  // CHECK-NEXT: %concat = kernel.concat %a, %b, %a {dim = 1 : i64} : (tensor<2x4x8xf16>, tensor<2x1x8xf16>, tensor<2x4x8xf16>) -> tensor<2x9x8xf16>
  %concat = kernel.concat %a, %b, %a {dim = 1 : i64} : (tensor<2x4x8xf16>, tensor<2x1x8xf16>, tensor<2x4x8xf16>) -> tensor<2x9x8xf16>
  // CHECK-NEXT: %cast = kernel.cast %a : (tensor<2x4x8xf16>) -> tensor<2x4x8xf32>
  %cast = kernel.cast %a : (tensor<2x4x8xf16>) -> tensor<2x4x8xf32>
  func.return
}

// CHECK-LABEL: func.func @constant(
func.func @constant() {
  // CHECK-NEXT: %c = kernel.constant {value = 1.000000e-05 : f32} : tensor<16x1xf32>
  %c = kernel.constant {value = 1.000000e-05 : f32} : tensor<16x1xf32>
  // CHECK-NEXT: %scalar = kernel.constant {value = -2.000000e+00 : f32} : tensor<bf16>
  %scalar = kernel.constant {value = -2.000000e+00 : f32} : tensor<bf16>
  // CHECK-NEXT: %lowest = kernel.constant {value = 0xff800000 : f32} : tensor<1x1xf16>
  %lowest = kernel.constant {value = 0xff800000 : f32} : tensor<1x1xf16>
  // CHECK-NEXT: %iota = kernel.iota {dim = 1 : i64} : tensor<4x2048xf16>
  %iota = kernel.iota {dim = 1 : i64} : tensor<4x2048xf16>
  func.return
}

func.func @graph(%x: tensor<8x64xf16>, %y: tensor<64x16xf16>) {
  // CHECK:      %one, %two = kernel.graph_defined ins(%x, %y) grid [2, 4, 1] cluster [1, 2, 1] loop [2] {
  // CHECK-NEXT: ^bb0(%a: tensor<8x64xf16>, %b: tensor<64x16xf16>):
  %one, %two = kernel.graph_defined ins(%x, %y) grid [2, 4, 1] cluster [1, 2, 1] loop [2] {
  ^bb0(%a: tensor<8x64xf16>, %b: tensor<64x16xf16>):
    %at = threadblock.load %a grid_map [_, 1, _] loop_map [1] : (tensor<8x64xf16>) -> !threadblock.tile<8x8xf16>
    %bt = threadblock.load %b grid_map [1, 0, _] loop_map [0] : (tensor<64x16xf16>) -> !threadblock.tile<8x8xf16>
    %m = threadblock.matmul %at, %bt : (!threadblock.tile<8x8xf16>, !threadblock.tile<8x8xf16>) -> !threadblock.tile<8x8xf32>
    %s = threadblock.accumulate %m across [1] : (!threadblock.tile<8x8xf32>) -> !threadblock.tile<8x8xf32>
    threadblock.store %s grid_map [1, _, _] : !threadblock.tile<8x8xf32>
    threadblock.store %s grid_map [1, _, _] : !threadblock.tile<8x8xf32>
    // CHECK:      threadblock.store %s grid_map [1, _, _] : !threadblock.tile<8x8xf32>
    // CHECK:      } : (tensor<8x64xf16>, tensor<64x16xf16>) -> (tensor<8x16xf32>, tensor<8x16xf32>)
  } : (tensor<8x64xf16>, tensor<64x16xf16>) -> (tensor<8x16xf32>, tensor<8x16xf32>)

  // No loop, an attribute of a later pass, no input.
  // CHECK:      kernel.graph_defined ins() grid [4] attributes {mirage.note = "x"} {
  %three = kernel.graph_defined ins() grid [4] attributes {mirage.note = "x"} {
    %c = threadblock.constant {value = 1.0 : f32} : !threadblock.tile<4xbf16>
    threadblock.store %c grid_map [0] : !threadblock.tile<4xbf16>
  } : () -> tensor<16xbf16>
  func.return
}
