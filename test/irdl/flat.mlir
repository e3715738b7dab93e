// Upstream MLIR reads our flat programs once it has read our dialects, and we read what it prints.
// REQUIRES: mlir-opt
// RUN: mirage-opt -t irdl /dev/null -o %t.irdl.mlir
// RUN: mirage-opt %s -t irdl-generic | %mlir-opt --allow-unregistered-dialect --irdl-file=%t.irdl.mlir | filecheck %s
// RUN: mirage-opt %s -t irdl-generic | %mlir-opt --allow-unregistered-dialect --irdl-file=%t.irdl.mlir | mirage-opt | filecheck %s --check-prefix=BACK
// RUN: mirage-opt %s -o %t.direct.mlir
// RUN: mirage-opt %s -t irdl-generic | mirage-opt | diff %t.direct.mlir -

// CHECK:      "kernel.matmul"(%arg0, %arg1) : (tensor<64x32xf16>, tensor<32x16xf16>) -> tensor<64x16xf16>
// CHECK:      "kernel.slice"({{.*}}) {offsets = array<i64: 0, 2>, sizes = array<i64: 8, 6>, strides = array<i64: 1, 2>}
// CHECK:      "kernel.concat"(%{{.*}}, %{{.*}}) {dim = 0 : i64, operandSegmentSizes = array<i32: 1, 1, 0,
// CHECK:      "threadblock.matmul"(%{{.*}}, %{{.*}}) : (!threadblock.tile<[64, 32], f16>, !threadblock.tile<[32, 16], f16>) -> !threadblock.tile<[64, 16], f32>
// BACK:       kernel.matmul %arg0, %arg1 : (tensor<64x32xf16>, tensor<32x16xf16>) -> tensor<64x16xf16>
// BACK:       kernel.slice %{{.*}} {offsets = array<i64: 0, 2>, sizes = array<i64: 8, 6>, strides = array<i64: 1, 2>}
// BACK:       kernel.concat %{{.*}}, %{{.*}} {dim = 0 : i64} : (tensor<64x16xf16>, tensor<16x16xf16>) -> tensor<80x16xf16>
// BACK:       threadblock.matmul %{{.*}}, %{{.*}} : (!threadblock.tile<64x32xf16>, !threadblock.tile<32x16xf16>) -> !threadblock.tile<64x16xf32>

func.func @kernel(%a: tensor<64x32xf16>, %b: tensor<32x16xf16>, %w: tensor<16xf16>) {
  %matmul = kernel.matmul %a, %b : (tensor<64x32xf16>, tensor<32x16xf16>) -> tensor<64x16xf16>
  %add = kernel.add %matmul, %w : (tensor<64x16xf16>, tensor<16xf16>) -> tensor<64x16xf16>
  %sub = kernel.sub %matmul, %w : (tensor<64x16xf16>, tensor<16xf16>) -> tensor<64x16xf16>
  %mul = kernel.mul %add, %sub : (tensor<64x16xf16>, tensor<64x16xf16>) -> tensor<64x16xf16>
  %div = kernel.div %add, %sub : (tensor<64x16xf16>, tensor<64x16xf16>) -> tensor<64x16xf16>
  %max = kernel.max %add, %sub : (tensor<64x16xf16>, tensor<64x16xf16>) -> tensor<64x16xf16>
  %min = kernel.min %add, %sub : (tensor<64x16xf16>, tensor<64x16xf16>) -> tensor<64x16xf16>
  %mask = kernel.compare %add, %sub {predicate = "lt"} : (tensor<64x16xf16>, tensor<64x16xf16>) -> tensor<64x16xf16>
  %select = kernel.select %mask, %add, %sub : (tensor<64x16xf16>, tensor<64x16xf16>, tensor<64x16xf16>) -> tensor<64x16xf16>
  %iota = kernel.iota {dim = 1 : i64} : tensor<64x16xf16>
  %neg = kernel.neg %add : (tensor<64x16xf16>) -> tensor<64x16xf16>
  %abs = kernel.abs %add : (tensor<64x16xf16>) -> tensor<64x16xf16>
  %erf = kernel.erf %add : (tensor<64x16xf16>) -> tensor<64x16xf16>
  %expm1 = kernel.expm1 %add : (tensor<64x16xf16>) -> tensor<64x16xf16>
  %log1p = kernel.log1p %add : (tensor<64x16xf16>) -> tensor<64x16xf16>
  %sin = kernel.sin %add : (tensor<64x16xf16>) -> tensor<64x16xf16>
  %cos = kernel.cos %add : (tensor<64x16xf16>) -> tensor<64x16xf16>
  %floor = kernel.floor %add : (tensor<64x16xf16>) -> tensor<64x16xf16>
  %ceil = kernel.ceil %add : (tensor<64x16xf16>) -> tensor<64x16xf16>
  %round = kernel.round %add : (tensor<64x16xf16>) -> tensor<64x16xf16>
  %exp = kernel.exp %add : (tensor<64x16xf16>) -> tensor<64x16xf16>
  %log = kernel.log %add : (tensor<64x16xf16>) -> tensor<64x16xf16>
  %square = kernel.square %add : (tensor<64x16xf16>) -> tensor<64x16xf16>
  %sqrt = kernel.sqrt %add : (tensor<64x16xf16>) -> tensor<64x16xf16>
  %rsqrt = kernel.rsqrt %add : (tensor<64x16xf16>) -> tensor<64x16xf16>
  %sigmoid = kernel.sigmoid %add : (tensor<64x16xf16>) -> tensor<64x16xf16>
  %silu = kernel.silu %add : (tensor<64x16xf16>) -> tensor<64x16xf16>
  %gelu = kernel.gelu %add {approximate = "tanh"} : (tensor<64x16xf16>) -> tensor<64x16xf16>
  %relu = kernel.relu %add : (tensor<64x16xf16>) -> tensor<64x16xf16>
  %tanh = kernel.tanh %add : (tensor<64x16xf16>) -> tensor<64x16xf16>
  %cumsum = kernel.cumsum %add {dim = 1 : i64} : (tensor<64x16xf16>) -> tensor<64x16xf16>
  %softcap = kernel.softcap %add {cap = 3.0e+01 : f32} : (tensor<64x16xf16>) -> tensor<64x16xf16>
  %clamp = kernel.clamp %add {min = 0.0 : f32, max = 1.0 : f32} : (tensor<64x16xf16>) -> tensor<64x16xf16>
  %pow = kernel.pow %add {exponent = 3.0 : f32} : (tensor<64x16xf16>) -> tensor<64x16xf16>
  %scale = kernel.scale %add {factor = 0.125 : f32} : (tensor<64x16xf16>) -> tensor<64x16xf16>
  %cast = kernel.cast %add : (tensor<64x16xf16>) -> tensor<64x16xf32>
  %sum = kernel.reduce_sum %add {dims = array<i64: 1>} : (tensor<64x16xf16>) -> tensor<64x1xf16>
  %most = kernel.reduce_max %add {dims = array<i64: 1>} : (tensor<64x16xf16>) -> tensor<64x1xf16>
  %mean = kernel.reduce_mean %add {dims = array<i64: 0, 1>} : (tensor<64x16xf16>) -> tensor<1x1xf16>
  %rms = kernel.rms_norm %add, %w {eps = 1.0e-05 : f32} : (tensor<64x16xf16>, tensor<16xf16>) -> tensor<64x16xf16>
  %bare = kernel.rms_norm %add {eps = 1.0e-05 : f32} : (tensor<64x16xf16>) -> tensor<64x16xf16>
  %layer = kernel.layer_norm %add, %w, %w {eps = 1.0e-05 : f32} : (tensor<64x16xf16>, tensor<16xf16>, tensor<16xf16>) -> tensor<64x16xf16>
  %softmax = kernel.softmax %add {dim = 1 : i64} : (tensor<64x16xf16>) -> tensor<64x16xf16>
  %transpose = kernel.transpose %add {permutation = array<i64: 1, 0>} : (tensor<64x16xf16>) -> tensor<16x64xf16>
  %reshape = kernel.reshape %transpose : (tensor<16x64xf16>) -> tensor<64x16xf16>
  %broadcast = kernel.broadcast %sum : (tensor<64x1xf16>) -> tensor<64x16xf16>
  %repeat = kernel.repeat %w {dim = 0 : i64, times = 4 : i64} : (tensor<16xf16>) -> tensor<64xf16>
  %interleave = kernel.repeat_interleave %w {dim = 0 : i64, times = 4 : i64} : (tensor<16xf16>) -> tensor<64xf16>
  %slice = kernel.slice %add {offsets = array<i64: 0, 2>, sizes = array<i64: 8, 6>, strides = array<i64: 1, 2>} : (tensor<64x16xf16>) -> tensor<8x6xf16>
  %other = "test.op"() : () -> tensor<16x16xf16>
  %concat = kernel.concat %add, %other {dim = 0 : i64} : (tensor<64x16xf16>, tensor<16x16xf16>) -> tensor<80x16xf16>
  %constant = kernel.constant {value = 1.0 : f32} : tensor<64x16xf16>
  func.return
}

func.func @threadblock() {
  %a, %b = "test.op"() : () -> (!threadblock.tile<64x32xf16>, !threadblock.tile<32x16xf16>)
  %matmul = threadblock.matmul %a, %b : (!threadblock.tile<64x32xf16>, !threadblock.tile<32x16xf16>) -> !threadblock.tile<64x16xf32>
  %square = threadblock.square %matmul : (!threadblock.tile<64x16xf32>) -> !threadblock.tile<64x16xf32>
  func.return
}
