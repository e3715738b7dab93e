// RUN: mirage-opt %s --verify-diagnostics --split-input-file

%a, %b = "test.op"() : () -> (tensor<64x32xf16>, tensor<31x16xf16>)
// expected-error @below {{'kernel.matmul' op contracts lhs dim 1 (size 32) with rhs dim 0 (size 31)}}
%c = kernel.matmul %a, %b : (tensor<64x32xf16>, tensor<31x16xf16>) -> tensor<64x16xf16>

// -----

%a, %b = "test.op"() : () -> (tensor<2x64x32xf16>, tensor<3x32x16xf16>)
// expected-error @below {{'kernel.matmul' op cannot broadcast 2 with 3: dim 0 of the result would have sizes 2 and 3}}
%c = kernel.matmul %a, %b : (tensor<2x64x32xf16>, tensor<3x32x16xf16>) -> tensor<2x64x16xf16>

// -----

%a, %b = "test.op"() : () -> (tensor<32xf16>, tensor<32x16xf16>)
// expected-error @below {{'kernel.matmul' op multiplies matrices, not tensors of ranks 1 and 2}}
%c = kernel.matmul %a, %b : (tensor<32xf16>, tensor<32x16xf16>) -> tensor<16xf16>

// -----

%a, %b = "test.op"() : () -> (tensor<64x32xf16>, tensor<32x16xbf16>)
// expected-error @below {{mixes elements of types f16 and bf16: cast some of them}}
%c = kernel.matmul %a, %b : (tensor<64x32xf16>, tensor<32x16xbf16>) -> tensor<64x16xf16>

// -----

%a, %b = "test.op"() : () -> (tensor<64x32xf16>, tensor<32x16xf16>)
// expected-error @below {{'kernel.matmul' op result shape must be 64x16, got 16x64}}
%c = kernel.matmul %a, %b : (tensor<64x32xf16>, tensor<32x16xf16>) -> tensor<16x64xf16>

// -----

%a = "test.op"() : () -> tensor<8x8xf32>
// expected-error @below {{'kernel.matmul' op has precision "bf16": "tf32" is the only one to ask for}}
%c = kernel.matmul %a, %a {precision = "bf16"} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>

// -----

%a = "test.op"() : () -> tensor<8x8xf16>
// expected-error @below {{'kernel.matmul' op rounds f32 to tf32, and its operands are f16}}
%c = kernel.matmul %a, %a {precision = "tf32"} : (tensor<8x8xf16>, tensor<8x8xf16>) -> tensor<8x8xf16>

// -----

%a, %b = "test.op"() : () -> (tensor<2x4x8xf32>, tensor<3x8xf32>)
// expected-error @below {{'kernel.add' op cannot broadcast 2x4x8 with 3x8: dim 1 of the result would have sizes 4 and 3}}
%c = kernel.add %a, %b : (tensor<2x4x8xf32>, tensor<3x8xf32>) -> tensor<2x4x8xf32>

// -----

%a, %b = "test.op"() : () -> (tensor<4x8xf32>, tensor<8xf16>)
// expected-error @below {{mixes elements of types f32 and f16: cast some of them}}
%c = kernel.mul %a, %b : (tensor<4x8xf32>, tensor<8xf16>) -> tensor<4x8xf32>

// -----

%a = "test.op"() : () -> tensor<4x8xf32>
// expected-error @below {{'kernel.exp' op result shape must be 4x8, got 8x4}}
%c = kernel.exp %a : (tensor<4x8xf32>) -> tensor<8x4xf32>

// -----

%a = "test.op"() : () -> tensor<4x8xf32>
// expected-error @below {{mixes elements of types f32 and f16: cast some of them}}
%c = kernel.sqrt %a : (tensor<4x8xf32>) -> tensor<4x8xf16>

// -----

%a = "test.op"() : () -> tensor<4x8xi32>
// expected-error @below {{has elements of type i32, which is not f16, bf16 or f32}}
%c = kernel.relu %a : (tensor<4x8xi32>) -> tensor<4x8xi32>

// -----

%a = "test.op"() : () -> tensor<?x8xf32>
// expected-error @below {{'kernel.exp' op operand 0 has dim 0 of unknown size; shapes are static here}}
%c = kernel.exp %a : (tensor<?x8xf32>) -> tensor<?x8xf32>

// -----

%a = "test.op"() : () -> tensor<4x0xf32>
// expected-error @below {{'kernel.exp' op operand 0 has dim 1 of size 0}}
%c = kernel.exp %a : (tensor<4x0xf32>) -> tensor<4x0xf32>

// -----

%a = "test.op"() : () -> tensor<4xf32>
// expected-error @below {{'kernel.gelu' op has approximate "erf", which is neither "none" nor "tanh"}}
%c = kernel.gelu %a {approximate = "erf"} : (tensor<4xf32>) -> tensor<4xf32>

// -----

%a = "test.op"() : () -> tensor<4xf32>
// expected-error @below {{'kernel.clamp' op has min 1.0 above max 0.0}}
%c = kernel.clamp %a {min = 1.0 : f32, max = 0.0 : f32} : (tensor<4xf32>) -> tensor<4xf32>

// -----

%a = "test.op"() : () -> tensor<4xf32>
// expected-error @below {{'kernel.pow' op property 'exponent' expected}}
%c = kernel.pow %a : (tensor<4xf32>) -> tensor<4xf32>

// -----

// Parameters are f32.
%a = "test.op"() : () -> tensor<4xf32>
// expected-error @below {{takes `factor = 2.0 : f32`, not 2.000000e+00 : f64}}
%c = kernel.scale %a {factor = 2.0 : f64} : (tensor<4xf32>) -> tensor<4xf32>

// -----

%a = "test.op"() : () -> tensor<4x8xf32>
// expected-error @below {{'kernel.cast' op result shape must be 4x8, got 32}}
%c = kernel.cast %a : (tensor<4x8xf32>) -> tensor<32xf16>

// -----

%a = "test.op"() : () -> tensor<4x8xf32>
// expected-error @below {{'kernel.reduce_sum' op has no dim 2: the rank is 2}}
%c = kernel.reduce_sum %a {dims = array<i64: 2>} : (tensor<4x8xf32>) -> tensor<4x8xf32>

// -----

%a = "test.op"() : () -> tensor<4x8xf32>
// expected-error @below {{'kernel.reduce_max' op names dim 1 twice}}
%c = kernel.reduce_max %a {dims = array<i64: 1, 1>} : (tensor<4x8xf32>) -> tensor<4x1xf32>

// -----

%a = "test.op"() : () -> tensor<4x8xf32>
// expected-error @below {{'kernel.reduce_mean' op reduces no dim}}
%c = kernel.reduce_mean %a {dims = array<i64>} : (tensor<4x8xf32>) -> tensor<4x8xf32>

// -----

// Reduced dimensions stay.
%a = "test.op"() : () -> tensor<4x8xf32>
// expected-error @below {{'kernel.reduce_sum' op result shape must be 4x1, got 4}}
%c = kernel.reduce_sum %a {dims = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4xf32>

// -----

%a, %w = "test.op"() : () -> (tensor<4x8xf16>, tensor<4xf16>)
// expected-error @below {{'kernel.rms_norm' op weight and bias must have shape 8 like dim 1 of the input, not 4}}
%c = kernel.rms_norm %a, %w {eps = 1.0e-05 : f32} : (tensor<4x8xf16>, tensor<4xf16>) -> tensor<4x8xf16>

// -----

%a, %w = "test.op"() : () -> (tensor<4x8xf16>, tensor<8xf16>)
// expected-error @below {{'kernel.rms_norm' op takes a weight besides its input, not 2 tensors}}
%c = kernel.rms_norm %a, %w, %w {eps = 1.0e-05 : f32} : (tensor<4x8xf16>, tensor<8xf16>, tensor<8xf16>) -> tensor<4x8xf16>

// -----

%a, %w = "test.op"() : () -> (tensor<4x8xf16>, tensor<8xf16>)
// expected-error @below {{'kernel.layer_norm' op takes a weight and a bias besides its input, not 3 tensors}}
%c = kernel.layer_norm %a, %w, %w, %w {eps = 1.0e-05 : f32} : (tensor<4x8xf16>, tensor<8xf16>, tensor<8xf16>, tensor<8xf16>) -> tensor<4x8xf16>

// -----

%a = "test.op"() : () -> tensor<4x8xf16>
// expected-error @below {{'kernel.rms_norm' op has eps -1.0, which is below 0}}
%c = kernel.rms_norm %a {eps = -1.0 : f32} : (tensor<4x8xf16>) -> tensor<4x8xf16>

// -----

%a = "test.op"() : () -> tensor<f16>
// expected-error @below {{'kernel.layer_norm' op normalizes the last dim, but the rank is 0}}
%c = kernel.layer_norm %a {eps = 1.0e-05 : f32} : (tensor<f16>) -> tensor<f16>

// -----

%a = "test.op"() : () -> tensor<4x8xf16>
// expected-error @below {{'kernel.softmax' op has no dim -1: the rank is 2}}
%c = kernel.softmax %a {dim = -1 : i64} : (tensor<4x8xf16>) -> tensor<4x8xf16>

// -----

%a = "test.op"() : () -> tensor<4x8xf16>
// expected-error @below {{'kernel.transpose' op permutes dims [0, 0] of a tensor of rank 2}}
%c = kernel.transpose %a {permutation = array<i64: 0, 0>} : (tensor<4x8xf16>) -> tensor<4x4xf16>

// -----

%a = "test.op"() : () -> tensor<4x8xf16>
// expected-error @below {{'kernel.transpose' op result shape must be 8x4, got 4x8}}
%c = kernel.transpose %a {permutation = array<i64: 1, 0>} : (tensor<4x8xf16>) -> tensor<4x8xf16>

// -----

%a = "test.op"() : () -> tensor<4x8xf16>
// expected-error @below {{'kernel.reshape' op cannot reshape 4x8 (32 elements) to 5x6 (30 elements)}}
%c = kernel.reshape %a : (tensor<4x8xf16>) -> tensor<5x6xf16>

// -----

%a = "test.op"() : () -> tensor<4x8xf16>
// expected-error @below {{'kernel.broadcast' op cannot broadcast dim 0 (size 4) to dim 1 (size 5) of 2x5x8}}
%c = kernel.broadcast %a : (tensor<4x8xf16>) -> tensor<2x5x8xf16>

// -----

%a = "test.op"() : () -> tensor<4x8xf16>
// expected-error @below {{'kernel.broadcast' op cannot broadcast rank 2 to rank 1}}
%c = kernel.broadcast %a : (tensor<4x8xf16>) -> tensor<8xf16>

// -----

%a = "test.op"() : () -> tensor<4x8xf16>
// expected-error @below {{'kernel.repeat' op repeats dim 0 0 times}}
%c = kernel.repeat %a {dim = 0 : i64, times = 0 : i64} : (tensor<4x8xf16>) -> tensor<4x8xf16>

// -----

%a = "test.op"() : () -> tensor<4x8xf16>
// expected-error @below {{'kernel.repeat_interleave' op result shape must be 4x16, got 8x8}}
%c = kernel.repeat_interleave %a {dim = 1 : i64, times = 2 : i64} : (tensor<4x8xf16>) -> tensor<8x8xf16>

// -----

%a = "test.op"() : () -> tensor<4x8xf16>
// expected-error @below {{'kernel.slice' op takes elements 1 to 9 of dim 1 (size 8)}}
%c = kernel.slice %a {offsets = array<i64: 0, 1>, sizes = array<i64: 4, 5>, strides = array<i64: 1, 2>} : (tensor<4x8xf16>) -> tensor<4x5xf16>

// -----

%a = "test.op"() : () -> tensor<4x8xf16>
// expected-error @below {{'kernel.slice' op has 1 offsets for a tensor of rank 2}}
%c = kernel.slice %a {offsets = array<i64: 0>, sizes = array<i64: 4, 5>, strides = array<i64: 1, 1>} : (tensor<4x8xf16>) -> tensor<4x5xf16>

// -----

%a = "test.op"() : () -> tensor<4x8xf16>
// expected-error @below {{'kernel.slice' op takes 4 elements with stride 0 of dim 0}}
%c = kernel.slice %a {offsets = array<i64: 0, 0>, sizes = array<i64: 4, 8>, strides = array<i64: 0, 1>} : (tensor<4x8xf16>) -> tensor<4x8xf16>

// -----

%a, %b = "test.op"() : () -> (tensor<4x8xf16>, tensor<5x8xf16>)
// expected-error @below {{'kernel.concat' op concatenates along dim 1 tensors that differ in dim 0: sizes 4 and 5}}
%c = kernel.concat %a, %b {dim = 1 : i64} : (tensor<4x8xf16>, tensor<5x8xf16>) -> tensor<4x16xf16>

// -----

%a, %b = "test.op"() : () -> (tensor<4x8xf16>, tensor<8xf16>)
// expected-error @below {{'kernel.concat' op concatenates tensors of ranks 2 and 1}}
%c = kernel.concat %a, %b {dim = 1 : i64} : (tensor<4x8xf16>, tensor<8xf16>) -> tensor<4x16xf16>

// -----

// expected-error @below {{'kernel.concat' op concatenates no tensors}}
%c = "kernel.concat"() {dim = 0 : i64} : () -> tensor<4xf16>

// -----

// expected-error @below {{takes `value = 2.0 : f32`, not 1 : i64}}
%c = kernel.constant {value = 1 : i64} : tensor<4xf16>

// -----

// The generic form is checked alike.
%a, %b = "test.op"() : () -> (tensor<4x8xf32>, tensor<8xf16>)
// expected-error @below {{'kernel.add' op operand 'rhs' at position 1 does not verify: mixes elements of types f32 and f16: cast some of them}}
%c = "kernel.add"(%a, %b) : (tensor<4x8xf32>, tensor<8xf16>) -> tensor<4x8xf32>

// -----

%x = "test.op"() : () -> tensor<16x64xf16>
// expected-error @below {{'kernel.graph_defined' op has a grid of 4 axes, not 1 to 3}}
%0 = kernel.graph_defined ins(%x) grid [4, 1, 1, 1] {
^bb0(%a: tensor<16x64xf16>):
  %t = threadblock.load %a grid_map [0] : (tensor<16x64xf16>) -> !threadblock.tile<4x64xf16>
  threadblock.store %t grid_map [0] : !threadblock.tile<4x64xf16>
} : (tensor<16x64xf16>) -> tensor<16x64xf16>

// -----

%x = "test.op"() : () -> tensor<16x64xf16>
// expected-error @below {{'kernel.graph_defined' op has a grid of 0 axes, not 1 to 3}}
%0 = kernel.graph_defined ins(%x) grid [] {
^bb0(%a: tensor<16x64xf16>):
  %t = threadblock.load %a grid_map [0] : (tensor<16x64xf16>) -> !threadblock.tile<4x64xf16>
  threadblock.store %t grid_map [0] : !threadblock.tile<4x64xf16>
} : (tensor<16x64xf16>) -> tensor<16x64xf16>

// -----

%x = "test.op"() : () -> tensor<16x64xf16>
// expected-error @below {{'kernel.graph_defined' op grid axis 1 has 0 blocks}}
%0 = kernel.graph_defined ins(%x) grid [4, 0] {
^bb0(%a: tensor<16x64xf16>):
  %t = threadblock.load %a grid_map [0] : (tensor<16x64xf16>) -> !threadblock.tile<4x64xf16>
  threadblock.store %t grid_map [0] : !threadblock.tile<4x64xf16>
} : (tensor<16x64xf16>) -> tensor<16x64xf16>

// -----

%x = "test.op"() : () -> tensor<16x64xf16>
// expected-error @below {{'kernel.graph_defined' op has 3 loops, not up to 2}}
%0 = kernel.graph_defined ins(%x) grid [4] loop [1, 1, 1] {
^bb0(%a: tensor<16x64xf16>):
  %t = threadblock.load %a grid_map [0] : (tensor<16x64xf16>) -> !threadblock.tile<4x64xf16>
  threadblock.store %t grid_map [0] : !threadblock.tile<4x64xf16>
} : (tensor<16x64xf16>) -> tensor<16x64xf16>

// -----

%x = "test.op"() : () -> tensor<16x64xf16>
// expected-error @below {{'kernel.graph_defined' op loop 0 has -1 iterations}}
%0 = kernel.graph_defined ins(%x) grid [4] loop [-1] {
^bb0(%a: tensor<16x64xf16>):
  %t = threadblock.load %a grid_map [0] : (tensor<16x64xf16>) -> !threadblock.tile<4x64xf16>
  threadblock.store %t grid_map [0] : !threadblock.tile<4x64xf16>
} : (tensor<16x64xf16>) -> tensor<16x64xf16>

// -----

%x = "test.op"() : () -> tensor<16x64xf16>
// expected-error @below {{'kernel.graph_defined' op has a cluster of 2 axes on a grid of 1}}
%0 = kernel.graph_defined ins(%x) grid [4] cluster [2, 1] {
^bb0(%a: tensor<16x64xf16>):
  %t = threadblock.load %a grid_map [0] : (tensor<16x64xf16>) -> !threadblock.tile<4x64xf16>
  threadblock.store %t grid_map [0] : !threadblock.tile<4x64xf16>
} : (tensor<16x64xf16>) -> tensor<16x64xf16>

// -----

%x = "test.op"() : () -> tensor<16x64xf16>
// expected-error @below {{'kernel.graph_defined' op grid axis 0 (4 blocks) is no multiple of a cluster's 3}}
%0 = kernel.graph_defined ins(%x) grid [4] cluster [3] {
^bb0(%a: tensor<16x64xf16>):
  %t = threadblock.load %a grid_map [0] : (tensor<16x64xf16>) -> !threadblock.tile<4x64xf16>
  threadblock.store %t grid_map [0] : !threadblock.tile<4x64xf16>
} : (tensor<16x64xf16>) -> tensor<16x64xf16>

// -----

%x = "test.op"() : () -> tensor<16x64xf16>
// expected-error @below {{'kernel.graph_defined' op has clusters of 32 blocks, more than 16}}
%0 = kernel.graph_defined ins(%x) grid [64] cluster [32] {
^bb0(%a: tensor<16x64xf16>):
  %t = threadblock.load %a grid_map [0] : (tensor<16x64xf16>) -> !threadblock.tile<4x64xf16>
  threadblock.store %t grid_map [0] : !threadblock.tile<4x64xf16>
} : (tensor<16x64xf16>) -> tensor<16x64xf16>

// -----

%x = "test.op"() : () -> tensor<16x64xf16>
// expected-error @below {{'kernel.graph_defined' op has 1 inputs but 2 block arguments}}
%0 = kernel.graph_defined ins(%x) grid [4] {
^bb0(%a: tensor<16x64xf16>, %b: tensor<16x64xf16>):
  %t = threadblock.load %a grid_map [0] : (tensor<16x64xf16>) -> !threadblock.tile<4x64xf16>
  threadblock.store %t grid_map [0] : !threadblock.tile<4x64xf16>
} : (tensor<16x64xf16>) -> tensor<16x64xf16>

// -----

%x = "test.op"() : () -> tensor<16x64xf16>
// expected-error @below {{'kernel.graph_defined' op block argument 0 is tensor<64x16xf16> but input 0 tensor<16x64xf16>}}
%0 = kernel.graph_defined ins(%x) grid [4] {
^bb0(%a: tensor<64x16xf16>):
  %t = threadblock.load %a grid_map [0] : (tensor<64x16xf16>) -> !threadblock.tile<16x16xf16>
  threadblock.store %t grid_map [0] : !threadblock.tile<16x16xf16>
} : (tensor<16x64xf16>) -> tensor<16x64xf16>

// -----

%x = "test.op"() : () -> tensor<16x64xf16>
// expected-error @below {{'kernel.graph_defined' op has 2 results but 1 stores}}
%0:2 = kernel.graph_defined ins(%x) grid [4] {
^bb0(%a: tensor<16x64xf16>):
  %t = threadblock.load %a grid_map [0] : (tensor<16x64xf16>) -> !threadblock.tile<4x64xf16>
  threadblock.store %t grid_map [0] : !threadblock.tile<4x64xf16>
} : (tensor<16x64xf16>) -> (tensor<16x64xf16>, tensor<16x64xf16>)

// -----

%x = "test.op"() : () -> tensor<16x64xf16>
// expected-error @below {{'kernel.graph_defined' op has no result}}
kernel.graph_defined ins(%x) grid [4] {
^bb0(%a: tensor<16x64xf16>):
  %t = threadblock.load %a grid_map [0] : (tensor<16x64xf16>) -> !threadblock.tile<4x64xf16>
} : (tensor<16x64xf16>) -> ()

// -----

%x = "test.op"() : () -> tensor<16x64xf16>
// expected-error @below {{'kernel.graph_defined' op result 0 has dim 0 of unknown size; shapes are static here}}
%0 = kernel.graph_defined ins(%x) grid [4] {
^bb0(%a: tensor<16x64xf16>):
  %t = threadblock.load %a grid_map [0] : (tensor<16x64xf16>) -> !threadblock.tile<4x64xf16>
  threadblock.store %t grid_map [0] : !threadblock.tile<4x64xf16>
} : (tensor<16x64xf16>) -> tensor<?x64xf16>

// -----

%x = "test.op"() : () -> tensor<16x64xf16>
// expected-error @below {{'kernel.graph_defined' op all 2 blocks of grid axis 1 compute the same: no store maps it to a dim and nothing is accumulated across it}}
%0 = kernel.graph_defined ins(%x) grid [4, 2] {
^bb0(%a: tensor<16x64xf16>):
  %t = threadblock.load %a grid_map [0, _] : (tensor<16x64xf16>) -> !threadblock.tile<4x64xf16>
  threadblock.store %t grid_map [0, _] : !threadblock.tile<4x64xf16>
} : (tensor<16x64xf16>) -> tensor<16x64xf16>

// -----

%x = "test.op"() : () -> tensor<16x64xf16>
// expected-error @below {{'kernel.graph_defined' op loop 0 (2 iterations) cuts no tensor}}
%0 = kernel.graph_defined ins(%x) grid [4] loop [2] {
^bb0(%a: tensor<16x64xf16>):
  %t = threadblock.load %a grid_map [0] loop_map [_] : (tensor<16x64xf16>) -> !threadblock.tile<4x64xf16>
  threadblock.store %t grid_map [0] : !threadblock.tile<4x64xf16>
} : (tensor<16x64xf16>) -> tensor<16x64xf16>

// -----

// A graph holds operations of the threadblock dialect only.
%x = "test.op"() : () -> tensor<16x64xf16>
%0 = kernel.graph_defined ins(%x) grid [4] {
^bb0(%a: tensor<16x64xf16>):
  // expected-error @below {{'kernel.exp' op is not an operation of a threadblock graph}}
  %e = kernel.exp %a : (tensor<16x64xf16>) -> tensor<16x64xf16>
  %t = threadblock.load %a grid_map [0] : (tensor<16x64xf16>) -> !threadblock.tile<4x64xf16>
  threadblock.store %t grid_map [0] : !threadblock.tile<4x64xf16>
} : (tensor<16x64xf16>) -> tensor<16x64xf16>

// -----

// It reads its own arguments only.
%x = "test.op"() : () -> tensor<16x64xf16>
%0 = kernel.graph_defined ins(%x) grid [4] {
^bb0(%a: tensor<16x64xf16>):
  // expected-error @below {{'threadblock.load' op loads from a value that is no argument of its graph}}
  %t = threadblock.load %x grid_map [0] : (tensor<16x64xf16>) -> !threadblock.tile<4x64xf16>
  threadblock.store %t grid_map [0] : !threadblock.tile<4x64xf16>
} : (tensor<16x64xf16>) -> tensor<16x64xf16>
