// RUN: mirage-opt %s --verify-diagnostics --split-input-file

%a, %b = "test.op"() : () -> (!threadblock.tile<16x32xf16>, !threadblock.tile<48x64xf16>)
// expected-error @below {{'threadblock.matmul' op contracts lhs dim 1 (size 32) with rhs dim 0 (size 48)}}
%c = threadblock.matmul %a, %b : (!threadblock.tile<16x32xf16>, !threadblock.tile<48x64xf16>) -> !threadblock.tile<16x64xf32>

// -----

// A tensor core multiplies elements of one type; a cast says which.
%a, %b = "test.op"() : () -> (!threadblock.tile<16x32xf32>, !threadblock.tile<32x64xf16>)
// expected-error @below {{mixes elements of types f32 and f16: cast some of them}}
%c = threadblock.matmul %a, %b : (!threadblock.tile<16x32xf32>, !threadblock.tile<32x64xf16>) -> !threadblock.tile<16x64xf32>

// -----

%a, %b = "test.op"() : () -> (!threadblock.tile<16x32xf16>, !threadblock.tile<16x33xf32>)
// expected-error @below {{'threadblock.div' op cannot broadcast 16x32 with 16x33: dim 1 of the result would have sizes 32 and 33}}
%c = threadblock.div %a, %b : (!threadblock.tile<16x32xf16>, !threadblock.tile<16x33xf32>) -> !threadblock.tile<16x32xf32>

// -----

%a = "test.op"() : () -> !threadblock.tile<16x32xf16>
// expected-error @below {{'threadblock.exp' op result shape must be 16x32, got 32x16}}
%c = threadblock.exp %a : (!threadblock.tile<16x32xf16>) -> !threadblock.tile<32x16xf32>

// -----

%a = "test.op"() : () -> !threadblock.tile<16x32xf16>
// expected-error @below {{'threadblock.cast' op result shape must be 16x32, got 16}}
%c = threadblock.cast %a : (!threadblock.tile<16x32xf16>) -> !threadblock.tile<16xbf16>

// -----

%a = "test.op"() : () -> !threadblock.tile<16x32xf16>
// expected-error @below {{'threadblock.gelu' op has approximate "fast", which is neither "none" nor "tanh"}}
%c = threadblock.gelu %a {approximate = "fast"} : (!threadblock.tile<16x32xf16>) -> !threadblock.tile<16x32xf32>

// -----

%a = "test.op"() : () -> !threadblock.tile<16x32xf16>
// expected-error @below {{'threadblock.clamp' op has min 0.5 above max 0.25}}
%c = threadblock.clamp %a {min = 0.5 : f32, max = 0.25 : f32} : (!threadblock.tile<16x32xf16>) -> !threadblock.tile<16x32xf32>

// -----

%a = "test.op"() : () -> !threadblock.tile<16x32xf16>
// expected-error @below {{'threadblock.reduce_sum' op result shape must be 16x1, got 16x32}}
%c = threadblock.reduce_sum %a {dims = array<i64: 1>} : (!threadblock.tile<16x32xf16>) -> !threadblock.tile<16x32xf32>

// -----

%a = "test.op"() : () -> !threadblock.tile<16x32xf16>
// expected-error @below {{'threadblock.reduce_max' op has no dim 3: the rank is 2}}
%c = threadblock.reduce_max %a {dims = array<i64: 3>} : (!threadblock.tile<16x32xf16>) -> !threadblock.tile<16x1xf32>

// -----

%a = "test.op"() : () -> !threadblock.tile<16x32xf16>
// expected-error @below {{'threadblock.transpose' op permutes dims [1] of a tensor of rank 2}}
%c = threadblock.transpose %a {permutation = array<i64: 1>} : (!threadblock.tile<16x32xf16>) -> !threadblock.tile<32x16xf16>

// -----

%a = "test.op"() : () -> !threadblock.tile<16x32xf16>
// expected-error @below {{'threadblock.broadcast' op cannot broadcast dim 0 (size 16) to dim 0 (size 48) of 48x32}}
%c = threadblock.broadcast %a : (!threadblock.tile<16x32xf16>) -> !threadblock.tile<48x32xf16>

// -----

%a = "test.op"() : () -> !threadblock.tile<16x32xf16>
// expected-error @below {{'threadblock.concat' op result shape must be 32x32, got 16x64}}
%c = threadblock.concat %a, %a {dim = 0 : i64} : (!threadblock.tile<16x32xf16>, !threadblock.tile<16x32xf16>) -> !threadblock.tile<16x64xf16>

// -----

// expected-error @below {{takes `value = 2.0 : f32`, not 1.000000e+00 : f64}}
%c = threadblock.constant {value = 1.0 : f64} : !threadblock.tile<16x32xf32>

// -----

%x = "test.op"() : () -> tensor<16x32xf16>
// expected-error @below {{'threadblock.load' op 'threadblock.load' expects parent op 'kernel.graph_defined'}}
%t = threadblock.load %x grid_map [0] : (tensor<16x32xf16>) -> !threadblock.tile<4x32xf16>

// -----

%x = "test.op"() : () -> !threadblock.tile<16x32xf16>
// expected-error @below {{'threadblock.store' op 'threadblock.store' expects parent op 'kernel.graph_defined'}}
threadblock.store %x grid_map [0] : !threadblock.tile<16x32xf16>

// -----

%x = "test.op"() : () -> !threadblock.tile<16x32xf32>
// expected-error @below {{'threadblock.accumulate' op 'threadblock.accumulate' expects parent op 'kernel.graph_defined'}}
%t = threadblock.accumulate %x : (!threadblock.tile<16x32xf32>) -> !threadblock.tile<16x32xf32>
