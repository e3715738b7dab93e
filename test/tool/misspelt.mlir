// What does not exist, with what was perhaps meant. A misspelt attribute is no note of somebody else.
// RUN: mirage-opt %s --verify-diagnostics --split-input-file
// RUN: mirage-opt %s --verify-diagnostics --split-input-file --allow-unregistered-dialect

%x = "test.op"() : () -> tensor<4x8xf16>
// expected-error @below {{'kernel.gelu' op has no attribute 'aproximate' (it has approximate); did you mean 'approximate'?}}
%y = kernel.gelu %x {aproximate = "tanh"} : (tensor<4x8xf16>) -> tensor<4x8xf16>

// -----

%x = "test.op"() : () -> tensor<4x8xf16>
// expected-error @below {{'kernel.gelu' op has no attribute 'aproximate' (it has approximate); did you mean 'approximate'?}}
%y = "kernel.gelu"(%x) <{aproximate = "tanh"}> : (tensor<4x8xf16>) -> tensor<4x8xf16>

// -----

%x = "test.op"() : () -> tensor<4x8xf16>
// expected-error @below {{'kernel.rms_norm' op has no attribute 'epss' (it has eps); did you mean 'eps'?}}
%y = kernel.rms_norm %x {epss = 1.0e-5 : f32} : (tensor<4x8xf16>) -> tensor<4x8xf16>

// -----

%x = "test.op"() : () -> tensor<4x8xf16>
// expected-error @below {{'kernel.relu' op has no attribute 'threads' (it has none)}}
%y = kernel.relu %x {threads = 128} : (tensor<4x8xf16>) -> tensor<4x8xf16>

// -----

%x = "test.op"() : () -> !threadblock.tile<4x8xf32>
// expected-error @below {{'threadblock.gelu' op has no attribute 'approx' (it has approximate); did you mean 'approximate'?}}
%y = threadblock.gelu %x {approx = "tanh"} : (!threadblock.tile<4x8xf32>) -> !threadblock.tile<4x8xf32>

// -----

// Attributes of another dialect are its business.
%x = "test.op"() : () -> tensor<4x8xf16>
%y = kernel.relu %x {other.note = "x"} : (tensor<4x8xf16>) -> tensor<4x8xf16>

// -----

// expected-error @below {{'func.func' op argument 1 has an unknown 'kernel.const'; did you mean 'kernel.constant'?}}
func.func @f(%x: tensor<4x8xf16>, %w: tensor<8x8xf16> {kernel.const}) -> tensor<4x8xf16> {
  func.return %x : tensor<4x8xf16>
}

// -----

// expected-error @below {{'func.func' op argument 0 has a value for 'kernel.constant': "no"}}
func.func @f(%x: tensor<4x8xf16> {kernel.constant = "no"}) -> tensor<4x8xf16> {
  func.return %x : tensor<4x8xf16>
}

// -----

%x = "test.op"() : () -> tensor<8x8xf16>
// expected-error-re @below {{Operation kernel.matmull {{(is not registered|does not exist)}}; did you mean 'kernel.matmul'?}}
%y = kernel.matmull %x, %x : (tensor<8x8xf16>, tensor<8x8xf16>) -> tensor<8x8xf16>

// -----

%x = "test.op"() : () -> tensor<8x8xf16>
// expected-error-re @below {{Operation threadblock.relux {{(is not registered|does not exist)}}; did you mean 'threadblock.relu'?}}
%y = "threadblock.relux"(%x) : (tensor<8x8xf16>) -> tensor<8x8xf16>
