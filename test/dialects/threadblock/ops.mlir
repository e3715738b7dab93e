// Every operator of the threadblock dialect; custom and generic form.
// RUN: %roundtrip
// RUN: %generic-roundtrip

// CHECK-LABEL: func.func @tiles(
func.func @tiles() {
  %a, %b = "test.op"() : () -> (!threadblock.tile<16x32xf16>, !threadblock.tile<32x48xf16>)
  %p, %q = "test.op"() : () -> (!threadblock.tile<2x1x8x64xbf16>, !threadblock.tile<3x64x5xbf16>)
  %r, %s = "test.op"() : () -> (!threadblock.tile<1x32xf16>, !threadblock.tile<1x1xf32>)
  // CHECK:      %matmul = threadblock.matmul %a, %b : (!threadblock.tile<16x32xf16>, !threadblock.tile<32x48xf16>) -> !threadblock.tile<16x48xf32>
  %matmul = threadblock.matmul %a, %b : (!threadblock.tile<16x32xf16>, !threadblock.tile<32x48xf16>) -> !threadblock.tile<16x48xf32>
  // CHECK-NEXT: %batched = threadblock.matmul %p, %q : (!threadblock.tile<2x1x8x64xbf16>, !threadblock.tile<3x64x5xbf16>) -> !threadblock.tile<2x3x8x5xbf16>
  %batched = threadblock.matmul %p, %q : (!threadblock.tile<2x1x8x64xbf16>, !threadblock.tile<3x64x5xbf16>) -> !threadblock.tile<2x3x8x5xbf16>
  // CHECK-NEXT: %add = threadblock.add %a, %r : (!threadblock.tile<16x32xf16>, !threadblock.tile<1x32xf16>) -> !threadblock.tile<16x32xf32>
  %add = threadblock.add %a, %r : (!threadblock.tile<16x32xf16>, !threadblock.tile<1x32xf16>) -> !threadblock.tile<16x32xf32>
  // CHECK-NEXT: %sub = threadblock.sub %r, %a : (!threadblock.tile<1x32xf16>, !threadblock.tile<16x32xf16>) -> !threadblock.tile<16x32xf16>
  %sub = threadblock.sub %r, %a : (!threadblock.tile<1x32xf16>, !threadblock.tile<16x32xf16>) -> !threadblock.tile<16x32xf16>
  // CHECK-NEXT: %mul = threadblock.mul %r, %r : (!threadblock.tile<1x32xf16>, !threadblock.tile<1x32xf16>) -> !threadblock.tile<1x32xf32>
  %mul = threadblock.mul %r, %r : (!threadblock.tile<1x32xf16>, !threadblock.tile<1x32xf16>) -> !threadblock.tile<1x32xf32>
  // CHECK-NEXT: %div = threadblock.div %a, %s : (!threadblock.tile<16x32xf16>, !threadblock.tile<1x1xf32>) -> !threadblock.tile<16x32xf32>
  %div = threadblock.div %a, %s : (!threadblock.tile<16x32xf16>, !threadblock.tile<1x1xf32>) -> !threadblock.tile<16x32xf32>
  // CHECK-NEXT: %max = threadblock.max %s, %a : (!threadblock.tile<1x1xf32>, !threadblock.tile<16x32xf16>) -> !threadblock.tile<16x32xf32>
  %max = threadblock.max %s, %a : (!threadblock.tile<1x1xf32>, !threadblock.tile<16x32xf16>) -> !threadblock.tile<16x32xf32>
  // CHECK-NEXT: %min = threadblock.min %a, %s : (!threadblock.tile<16x32xf16>, !threadblock.tile<1x1xf32>) -> !threadblock.tile<16x32xf32>
  %min = threadblock.min %a, %s : (!threadblock.tile<16x32xf16>, !threadblock.tile<1x1xf32>) -> !threadblock.tile<16x32xf32>
  // CHECK-NEXT: %mask = threadblock.compare %a, %s {predicate = "gt"} : (!threadblock.tile<16x32xf16>, !threadblock.tile<1x1xf32>) -> !threadblock.tile<16x32xf32>
  %mask = threadblock.compare %a, %s {predicate = "gt"} : (!threadblock.tile<16x32xf16>, !threadblock.tile<1x1xf32>) -> !threadblock.tile<16x32xf32>
  // CHECK-NEXT: %select = threadblock.select %mask, %a, %s : (!threadblock.tile<16x32xf32>, !threadblock.tile<16x32xf16>, !threadblock.tile<1x1xf32>) -> !threadblock.tile<16x32xf16>
  %select = threadblock.select %mask, %a, %s : (!threadblock.tile<16x32xf32>, !threadblock.tile<16x32xf16>, !threadblock.tile<1x1xf32>) -> !threadblock.tile<16x32xf16>
  // CHECK-NEXT: %neg = threadblock.neg %a : (!threadblock.tile<16x32xf16>) -> !threadblock.tile<16x32xf32>
  %neg = threadblock.neg %a : (!threadblock.tile<16x32xf16>) -> !threadblock.tile<16x32xf32>
  // CHECK-NEXT: %abs = threadblock.abs %a : (!threadblock.tile<16x32xf16>) -> !threadblock.tile<16x32xf32>
  %abs = threadblock.abs %a : (!threadblock.tile<16x32xf16>) -> !threadblock.tile<16x32xf32>
  // CHECK-NEXT: %erf = threadblock.erf %a : (!threadblock.tile<16x32xf16>) -> !threadblock.tile<16x32xf32>
  %erf = threadblock.erf %a : (!threadblock.tile<16x32xf16>) -> !threadblock.tile<16x32xf32>
  // CHECK-NEXT: %expm1 = threadblock.expm1 %a : (!threadblock.tile<16x32xf16>) -> !threadblock.tile<16x32xf32>
  %expm1 = threadblock.expm1 %a : (!threadblock.tile<16x32xf16>) -> !threadblock.tile<16x32xf32>
  // CHECK-NEXT: %log1p = threadblock.log1p %a : (!threadblock.tile<16x32xf16>) -> !threadblock.tile<16x32xf32>
  %log1p = threadblock.log1p %a : (!threadblock.tile<16x32xf16>) -> !threadblock.tile<16x32xf32>
  // CHECK-NEXT: %sin = threadblock.sin %a : (!threadblock.tile<16x32xf16>) -> !threadblock.tile<16x32xf32>
  %sin = threadblock.sin %a : (!threadblock.tile<16x32xf16>) -> !threadblock.tile<16x32xf32>
  // CHECK-NEXT: %cos = threadblock.cos %a : (!threadblock.tile<16x32xf16>) -> !threadblock.tile<16x32xf32>
  %cos = threadblock.cos %a : (!threadblock.tile<16x32xf16>) -> !threadblock.tile<16x32xf32>
  // CHECK-NEXT: %floor = threadblock.floor %a : (!threadblock.tile<16x32xf16>) -> !threadblock.tile<16x32xf32>
  %floor = threadblock.floor %a : (!threadblock.tile<16x32xf16>) -> !threadblock.tile<16x32xf32>
  // CHECK-NEXT: %ceil = threadblock.ceil %a : (!threadblock.tile<16x32xf16>) -> !threadblock.tile<16x32xf32>
  %ceil = threadblock.ceil %a : (!threadblock.tile<16x32xf16>) -> !threadblock.tile<16x32xf32>
  // CHECK-NEXT: %round = threadblock.round %a : (!threadblock.tile<16x32xf16>) -> !threadblock.tile<16x32xf32>
  %round = threadblock.round %a : (!threadblock.tile<16x32xf16>) -> !threadblock.tile<16x32xf32>
  // CHECK-NEXT: %exp = threadblock.exp %a : (!threadblock.tile<16x32xf16>) -> !threadblock.tile<16x32xf32>
  %exp = threadblock.exp %a : (!threadblock.tile<16x32xf16>) -> !threadblock.tile<16x32xf32>
  // CHECK-NEXT: %log = threadblock.log %a : (!threadblock.tile<16x32xf16>) -> !threadblock.tile<16x32xf32>
  %log = threadblock.log %a : (!threadblock.tile<16x32xf16>) -> !threadblock.tile<16x32xf32>
  // CHECK-NEXT: %square = threadblock.square %a : (!threadblock.tile<16x32xf16>) -> !threadblock.tile<16x32xbf16>
  %square = threadblock.square %a : (!threadblock.tile<16x32xf16>) -> !threadblock.tile<16x32xbf16>
  // CHECK-NEXT: %sqrt = threadblock.sqrt %a : (!threadblock.tile<16x32xf16>) -> !threadblock.tile<16x32xf32>
  %sqrt = threadblock.sqrt %a : (!threadblock.tile<16x32xf16>) -> !threadblock.tile<16x32xf32>
  // CHECK-NEXT: %rsqrt = threadblock.rsqrt %a : (!threadblock.tile<16x32xf16>) -> !threadblock.tile<16x32xf32>
  %rsqrt = threadblock.rsqrt %a : (!threadblock.tile<16x32xf16>) -> !threadblock.tile<16x32xf32>
  // CHECK-NEXT: %sigmoid = threadblock.sigmoid %a : (!threadblock.tile<16x32xf16>) -> !threadblock.tile<16x32xf32>
  %sigmoid = threadblock.sigmoid %a : (!threadblock.tile<16x32xf16>) -> !threadblock.tile<16x32xf32>
  // CHECK-NEXT: %silu = threadblock.silu %a : (!threadblock.tile<16x32xf16>) -> !threadblock.tile<16x32xf32>
  %silu = threadblock.silu %a : (!threadblock.tile<16x32xf16>) -> !threadblock.tile<16x32xf32>
  // CHECK-NEXT: %gelu = threadblock.gelu %a : (!threadblock.tile<16x32xf16>) -> !threadblock.tile<16x32xf32>
  %gelu = threadblock.gelu %a : (!threadblock.tile<16x32xf16>) -> !threadblock.tile<16x32xf32>
  // CHECK-NEXT: %gelu_tanh = threadblock.gelu %a {approximate = "tanh"} : (!threadblock.tile<16x32xf16>) -> !threadblock.tile<16x32xf32>
  %gelu_tanh = threadblock.gelu %a {approximate = "tanh"} : (!threadblock.tile<16x32xf16>) -> !threadblock.tile<16x32xf32>
  // CHECK-NEXT: %relu = threadblock.relu %a : (!threadblock.tile<16x32xf16>) -> !threadblock.tile<16x32xf32>
  %relu = threadblock.relu %a : (!threadblock.tile<16x32xf16>) -> !threadblock.tile<16x32xf32>
  // CHECK-NEXT: %tanh = threadblock.tanh %a : (!threadblock.tile<16x32xf16>) -> !threadblock.tile<16x32xf32>
  %tanh = threadblock.tanh %a : (!threadblock.tile<16x32xf16>) -> !threadblock.tile<16x32xf32>
  // CHECK-NEXT: %softcap = threadblock.softcap %a {cap = 3.000000e+01 : f32} : (!threadblock.tile<16x32xf16>) -> !threadblock.tile<16x32xf32>
  %softcap = threadblock.softcap %a {cap = 3.000000e+01 : f32} : (!threadblock.tile<16x32xf16>) -> !threadblock.tile<16x32xf32>
  // CHECK-NEXT: %clamp = threadblock.clamp %a {min = -1.000000e+00 : f32, max = 6.000000e+00 : f32} : (!threadblock.tile<16x32xf16>) -> !threadblock.tile<16x32xf32>
  %clamp = threadblock.clamp %a {min = -1.000000e+00 : f32, max = 6.000000e+00 : f32} : (!threadblock.tile<16x32xf16>) -> !threadblock.tile<16x32xf32>
  // CHECK-NEXT: %pow = threadblock.pow %a {exponent = 2.500000e+00 : f32} : (!threadblock.tile<16x32xf16>) -> !threadblock.tile<16x32xf32>
  %pow = threadblock.pow %a {exponent = 2.500000e+00 : f32} : (!threadblock.tile<16x32xf16>) -> !threadblock.tile<16x32xf32>
  // CHECK-NEXT: %scale = threadblock.scale %a {factor = 1.250000e-01 : f32} : (!threadblock.tile<16x32xf16>) -> !threadblock.tile<16x32xf32>
  %scale = threadblock.scale %a {factor = 1.250000e-01 : f32} : (!threadblock.tile<16x32xf16>) -> !threadblock.tile<16x32xf32>
  // CHECK-NEXT: %cast = threadblock.cast %exp : (!threadblock.tile<16x32xf32>) -> !threadblock.tile<16x32xbf16>
  %cast = threadblock.cast %exp : (!threadblock.tile<16x32xf32>) -> !threadblock.tile<16x32xbf16>
  // CHECK-NEXT: %sum = threadblock.reduce_sum %a {dims = array<i64: 1>} : (!threadblock.tile<16x32xf16>) -> !threadblock.tile<16x1xf32>
  %sum = threadblock.reduce_sum %a {dims = array<i64: 1>} : (!threadblock.tile<16x32xf16>) -> !threadblock.tile<16x1xf32>
  // CHECK-NEXT: %largest = threadblock.reduce_max %a {dims = array<i64: 0, 1>} : (!threadblock.tile<16x32xf16>) -> !threadblock.tile<1x1xf32>
  %largest = threadblock.reduce_max %a {dims = array<i64: 0, 1>} : (!threadblock.tile<16x32xf16>) -> !threadblock.tile<1x1xf32>
  // CHECK-NEXT: %transpose = threadblock.transpose %a {permutation = array<i64: 1, 0>} : (!threadblock.tile<16x32xf16>) -> !threadblock.tile<32x16xf16>
  %transpose = threadblock.transpose %a {permutation = array<i64: 1, 0>} : (!threadblock.tile<16x32xf16>) -> !threadblock.tile<32x16xf16>
  // CHECK-NEXT: %broadcast = threadblock.broadcast %r : (!threadblock.tile<1x32xf16>) -> !threadblock.tile<2x16x32xf16>
  %broadcast = threadblock.broadcast %r : (!threadblock.tile<1x32xf16>) -> !threadblock.tile<2x16x32xf16>
  // CHECK-NEXT: %concat = threadblock.concat %a, %a, %a {dim = 1 : i64} : (!threadblock.tile<16x32xf16>, !threadblock.tile<16x32xf16>, !threadblock.tile<16x32xf16>) -> !threadblock.tile<16x96xf16>
  %concat = threadblock.concat %a, %a, %a {dim = 1 : i64} : (!threadblock.tile<16x32xf16>, !threadblock.tile<16x32xf16>, !threadblock.tile<16x32xf16>) -> !threadblock.tile<16x96xf16>
  // CHECK-NEXT: %constant = threadblock.constant {value = 1.000000e-05 : f32} : !threadblock.tile<16x1xf32>
  %constant = threadblock.constant {value = 1.000000e-05 : f32} : !threadblock.tile<16x1xf32>
  func.return
}

// Maps have one entry per grid axis or loop, `_` where it cuts no dimension.
// CHECK-LABEL: func.func @graph(
func.func @graph(%x: tensor<8x64xf16>, %y: tensor<64x16xf16>) {
  %0:2 = kernel.graph_defined ins(%x, %y) grid [2, 4] loop [2, 1] {
  ^bb0(%a: tensor<8x64xf16>, %b: tensor<64x16xf16>):
    // CHECK:      %at = threadblock.load %a grid_map [_, 1] loop_map [1, _] : (tensor<8x64xf16>) -> !threadblock.tile<8x8xf16>
    %at = threadblock.load %a grid_map [_, 1] loop_map [1, _] : (tensor<8x64xf16>) -> !threadblock.tile<8x8xf16>
    // CHECK-NEXT: %bt = threadblock.load %b grid_map [1, 0] loop_map [0, 0] : (tensor<64x16xf16>) -> !threadblock.tile<8x8xf16>
    %bt = threadblock.load %b grid_map [1, 0] loop_map [0, 0] : (tensor<64x16xf16>) -> !threadblock.tile<8x8xf16>
    // CHECK-NEXT: %m = threadblock.matmul
    %m = threadblock.matmul %at, %bt : (!threadblock.tile<8x8xf16>, !threadblock.tile<8x8xf16>) -> !threadblock.tile<8x8xf32>
    // CHECK-NEXT: %r = threadblock.reduce_max
    %r = threadblock.reduce_max %m {dims = array<i64: 1>} : (!threadblock.tile<8x8xf32>) -> !threadblock.tile<8x1xf32>
    // CHECK-NEXT: %sum = threadblock.accumulate %m across [1] : (!threadblock.tile<8x8xf32>) -> !threadblock.tile<8x8xf32>
    %sum = threadblock.accumulate %m across [1] : (!threadblock.tile<8x8xf32>) -> !threadblock.tile<8x8xf32>
    // CHECK-NEXT: %own = threadblock.accumulate %m : (!threadblock.tile<8x8xf32>) -> !threadblock.tile<8x8xf32>
    %own = threadblock.accumulate %m : (!threadblock.tile<8x8xf32>) -> !threadblock.tile<8x8xf32>
    // CHECK-NEXT: %largest = threadblock.accumulate %r across [1] {kind = "max"} : (!threadblock.tile<8x1xf32>) -> !threadblock.tile<8x1xf32>
    %largest = threadblock.accumulate %r across [1] {kind = "max"} : (!threadblock.tile<8x1xf32>) -> !threadblock.tile<8x1xf32>
    // CHECK-NEXT: %rescaled = threadblock.accumulate %m across [1] rescale %r : (!threadblock.tile<8x8xf32>, !threadblock.tile<8x1xf32>) -> !threadblock.tile<8x8xf32>
    %rescaled = threadblock.accumulate %m across [1] rescale %r : (!threadblock.tile<8x8xf32>, !threadblock.tile<8x1xf32>) -> !threadblock.tile<8x8xf32>
    // CHECK-NEXT: %local = threadblock.accumulate %m rescale %r : (!threadblock.tile<8x8xf32>, !threadblock.tile<8x1xf32>) -> !threadblock.tile<8x8xf32>
    %local = threadblock.accumulate %m rescale %r : (!threadblock.tile<8x8xf32>, !threadblock.tile<8x1xf32>) -> !threadblock.tile<8x8xf32>
    // CHECK-NEXT: %twice = threadblock.accumulate %own across [1] : (!threadblock.tile<8x8xf32>) -> !threadblock.tile<8x8xf32>
    %twice = threadblock.accumulate %own across [1] : (!threadblock.tile<8x8xf32>) -> !threadblock.tile<8x8xf32>
    // CHECK-NEXT: threadblock.store %twice grid_map [1, _] : !threadblock.tile<8x8xf32>
    threadblock.store %twice grid_map [1, _] : !threadblock.tile<8x8xf32>
    // CHECK-NEXT: threadblock.store %largest grid_map [1, _] : !threadblock.tile<8x1xf32>
    threadblock.store %largest grid_map [1, _] : !threadblock.tile<8x1xf32>
  } : (tensor<8x64xf16>, tensor<64x16xf16>) -> (tensor<8x16xf32>, tensor<8x2xf32>)
  func.return
}

// Without a loop there is no loop_map.
// CHECK-LABEL: func.func @no_loop(
func.func @no_loop(%x: tensor<8x64xf16>) {
  %0 = kernel.graph_defined ins(%x) grid [2] {
  ^bb0(%a: tensor<8x64xf16>):
    // CHECK:      threadblock.load %a grid_map [0] : (tensor<8x64xf16>) -> !threadblock.tile<4x64xf16>
    %at = threadblock.load %a grid_map [0] : (tensor<8x64xf16>) -> !threadblock.tile<4x64xf16>
    threadblock.store %at grid_map [0] : !threadblock.tile<4x64xf16>
  } : (tensor<8x64xf16>) -> tensor<8x64xf16>
  func.return
}

// Tools that know the type through IRDL only print its parameters; `-1` in a map is `_`; defaults
// may be left out of the generic form.
// CHECK-LABEL: func.func @plain_forms(
func.func @plain_forms(%x: tensor<8x64xf16>, %y: tensor<f32>) {
  // CHECK: "test.op"() : () -> (!threadblock.tile<16x32xf16>, !threadblock.tile<f32>)
  "test.op"() : () -> (!threadblock.tile<[16, 32], f16>, !threadblock.tile<[], f32>)
  // CHECK: "test.op"() : () -> !threadblock.tile<f32>
  "test.op"() : () -> !threadblock.tile<f32>
  %0 = kernel.graph_defined ins(%x, %y) grid [2] loop [8] {
  ^bb0(%a: tensor<8x64xf16>, %b: tensor<f32>):
    %at = threadblock.load %a grid_map [-1] loop_map [1] : (tensor<8x64xf16>) -> !threadblock.tile<8x8xf16>
    // CHECK: threadblock.load %b grid_map [_] loop_map [_] : (tensor<f32>) -> !threadblock.tile<f32>
    %bt = threadblock.load %b grid_map [_] loop_map [_] : (tensor<f32>) -> !threadblock.tile<f32>
    // CHECK: threadblock.accumulate %at : (!threadblock.tile<8x8xf16>) -> !threadblock.tile<8x8xf32>
    %s = "threadblock.accumulate"(%at) : (!threadblock.tile<8x8xf16>) -> !threadblock.tile<8x8xf32>
    threadblock.store %s grid_map [1] : !threadblock.tile<8x8xf32>
  } : (tensor<8x64xf16>, tensor<f32>) -> tensor<8x16xf32>
  func.return
}
