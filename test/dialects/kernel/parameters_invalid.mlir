// Numbers of operators: none is infinite or NaN (but a constant may be -inf), and each has the range that its meaning gives it.
// RUN: mirage-opt %s --verify-diagnostics --split-input-file

%x = "test.op"() : () -> tensor<4x8xf16>
// expected-error @below {{'kernel.scale' op has factor nan, which is no finite number}}
%y = kernel.scale %x {factor = 0x7FC00000 : f32} : (tensor<4x8xf16>) -> tensor<4x8xf16>

// -----

%x = "test.op"() : () -> tensor<4x8xf16>
// expected-error @below {{'kernel.scale' op has factor -inf, which is no finite number}}
%y = kernel.scale %x {factor = 0xFF800000 : f32} : (tensor<4x8xf16>) -> tensor<4x8xf16>

// -----

%x = "test.op"() : () -> tensor<4x8xf16>
// expected-error @below {{'kernel.pow' op has exponent inf, which is no finite number}}
%y = kernel.pow %x {exponent = 0x7F800000 : f32} : (tensor<4x8xf16>) -> tensor<4x8xf16>

// -----

%x = "test.op"() : () -> tensor<4x8xf16>
// expected-error @below {{'kernel.clamp' op has min nan, which is no finite number}}
%y = kernel.clamp %x {min = 0x7FC00000 : f32, max = 1.0 : f32} : (tensor<4x8xf16>) -> tensor<4x8xf16>

// -----

%x = "test.op"() : () -> tensor<4x8xf16>
// expected-error @below {{'kernel.clamp' op has max inf, which is no finite number}}
%y = kernel.clamp %x {min = 0.0 : f32, max = 0x7F800000 : f32} : (tensor<4x8xf16>) -> tensor<4x8xf16>

// -----

%x = "test.op"() : () -> tensor<4x8xf16>
// expected-error @below {{'kernel.clamp' op has min 2.0 above max 1.0}}
%y = kernel.clamp %x {min = 2.0 : f32, max = 1.0 : f32} : (tensor<4x8xf16>) -> tensor<4x8xf16>

// -----

%x = "test.op"() : () -> tensor<4x8xf16>
// expected-error @below {{'kernel.rms_norm' op has eps nan, which is no finite number}}
%y = kernel.rms_norm %x {eps = 0x7FC00000 : f32} : (tensor<4x8xf16>) -> tensor<4x8xf16>

// -----

%x = "test.op"() : () -> tensor<4x8xf16>
// expected-error @below {{'kernel.layer_norm' op has eps inf, which is no finite number}}
%y = kernel.layer_norm %x {eps = 0x7F800000 : f32} : (tensor<4x8xf16>) -> tensor<4x8xf16>

// -----

%x = "test.op"() : () -> tensor<4x8xf16>
// expected-error @below {{'kernel.layer_norm' op has eps -0.5, which is below 0}}
%y = kernel.layer_norm %x {eps = -0.5 : f32} : (tensor<4x8xf16>) -> tensor<4x8xf16>

// -----

// expected-error @below {{'kernel.constant' op has value inf, which is no finite number}}
%y = kernel.constant {value = 0x7F800000 : f32} : tensor<4x8xf16>

// -----

%x = "test.op"() : () -> tensor<4x8xf16>
// expected-error @below {{number out of the range of its type}}
%y = kernel.scale %x {factor = 1.0e39 : f32} : (tensor<4x8xf16>) -> tensor<4x8xf16>

// -----

%x = "test.op"() : () -> tensor<4x8xf16>
// expected-error @below {{'kernel.softmax' op has no dim -1: the rank is 2}}
%y = kernel.softmax %x {dim = -1 : i64} : (tensor<4x8xf16>) -> tensor<4x8xf16>

// -----

%x = "test.op"() : () -> tensor<4x8xf16>
// expected-error @below {{'kernel.softmax' op takes `dim = 1 : i64`, not 1.000000e+00 : f32}}
%y = kernel.softmax %x {dim = 1.0 : f32} : (tensor<4x8xf16>) -> tensor<4x8xf16>

// -----

%x = "test.op"() : () -> tensor<4x8xf16>
// expected-error @below {{'kernel.reduce_sum' op has no dim -9223372036854775808: the rank is 2}}
%y = kernel.reduce_sum %x {dims = array<i64: -9223372036854775808>} : (tensor<4x8xf16>) -> tensor<4x1xf16>

// -----

%x = "test.op"() : () -> tensor<4x8xf16>
// expected-error @below {{'kernel.reduce_max' op takes `dims = array<i64: 1, 2>`, not 1 : i64}}
%y = kernel.reduce_max %x {dims = 1 : i64} : (tensor<4x8xf16>) -> tensor<4x1xf16>

// -----

%x = "test.op"() : () -> tensor<4x8xf16>
// expected-error @below {{'kernel.transpose' op permutes dims [1, 1] of a tensor of rank 2}}
%y = kernel.transpose %x {permutation = array<i64: 1, 1>} : (tensor<4x8xf16>) -> tensor<8x4xf16>

// -----

%x = "test.op"() : () -> tensor<4x8xf16>
// expected-error @below {{'kernel.repeat' op repeats dim 0 -3 times}}
%y = kernel.repeat %x {dim = 0 : i64, times = -3 : i64} : (tensor<4x8xf16>) -> tensor<12x8xf16>

// -----

%x = "test.op"() : () -> tensor<4x8xf16>
// expected-error @below {{'kernel.repeat_interleave' op repeats dim 1 0 times}}
%y = kernel.repeat_interleave %x {dim = 1 : i64, times = 0 : i64} : (tensor<4x8xf16>) -> tensor<4x8xf16>

// -----

%x = "test.op"() : () -> tensor<4x8xf16>
// expected-error @below {{'kernel.slice' op takes elements -1 to 0 of dim 0 (size 4)}}
%y = kernel.slice %x {offsets = array<i64: -1, 0>, sizes = array<i64: 2, 8>, strides = array<i64: 1, 1>} : (tensor<4x8xf16>) -> tensor<2x8xf16>

// -----

%x = "test.op"() : () -> tensor<4x8xf16>
// expected-error @below {{'kernel.slice' op takes 2 elements with stride -1 of dim 0}}
%y = kernel.slice %x {offsets = array<i64: 2, 0>, sizes = array<i64: 2, 8>, strides = array<i64: -1, 1>} : (tensor<4x8xf16>) -> tensor<2x8xf16>

// -----

%x = "test.op"() : () -> tensor<4x8xf16>
// expected-error @below {{'kernel.gelu' op has approximate "fast", which is neither "none" nor "tanh"}}
%y = kernel.gelu %x {approximate = "fast"} : (tensor<4x8xf16>) -> tensor<4x8xf16>

// -----

%x = "test.op"() : () -> tensor<8x8xf16>
// expected-error @below {{'kernel.matmul' op takes `precision = "tf32"`, not 32 : i64}}
%y = kernel.matmul %x, %x {precision = 32} : (tensor<8x8xf16>, tensor<8x8xf16>) -> tensor<8x8xf16>

// -----

%x = "test.op"() : () -> tensor<4x8xf16>
// expected-error @below {{'kernel.cumsum' op has no dim 2: the rank is 2}}
%y = kernel.cumsum %x {dim = 2 : i64} : (tensor<4x8xf16>) -> tensor<4x8xf16>

// -----

%x = "test.op"() : () -> tensor<4x8xf16>
// expected-error @below {{'kernel.cumsum' op takes `dim = 1 : i64`, not array<i64: 1>}}
%y = kernel.cumsum %x {dim = array<i64: 1>} : (tensor<4x8xf16>) -> tensor<4x8xf16>

// -----

%x = "test.op"() : () -> tensor<4x8xf16>
// expected-error @below {{'kernel.cumsum' op result shape must be 4x8, got 4x1}}
%y = kernel.cumsum %x {dim = 1 : i64} : (tensor<4x8xf16>) -> tensor<4x1xf16>

// -----

%x = "test.op"() : () -> tensor<4x8xf16>
// expected-error @below {{'kernel.cumsum' op}}
%y = kernel.cumsum %x {dim = 1 : i64} : (tensor<4x8xf16>) -> tensor<4x8xf32>

// -----

%x = "test.op"() : () -> tensor<4x8xf16>
// expected-error @below {{'kernel.compare' op has predicate "less", which is none of eq, ne, lt, le, gt, ge}}
%y = kernel.compare %x, %x {predicate = "less"} : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16>

// -----

%x, %w = "test.op"() : () -> (tensor<4x8xf16>, tensor<4x8xf32>)
// expected-error @below {{mixes elements of types f16 and f32: cast some of them}}
%y = kernel.select %x, %w, %w : (tensor<4x8xf16>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>

// -----

%x, %w = "test.op"() : () -> (tensor<4x8xf16>, tensor<4x7xf16>)
// expected-error @below {{cannot broadcast 4x8 with 4x7: dim 1 of the result would have sizes 8 and 7}}
%y = kernel.select %x, %x, %w : (tensor<4x8xf16>, tensor<4x8xf16>, tensor<4x7xf16>) -> tensor<4x8xf16>

// -----

// expected-error @below {{'kernel.iota' op has no dim 2: the rank is 2}}
%y = kernel.iota {dim = 2 : i64} : tensor<4x8xf16>

// -----

// expected-error @below {{'kernel.iota' op has indices up to 2049, and f16 counts to 2048}}
%y = kernel.iota {dim = 1 : i64} : tensor<4x2050xf16>
