// RUN: mirage-opt %s --verify-diagnostics --split-input-file

%a = "test.op"() : () -> tensor<4x8xf16>
// expected-error @below {{Expected '('}}
%c = kernel.exp %a : tensor<4x8xf16>

// -----

// Parameters are written with their type.
%a = "test.op"() : () -> tensor<4x8xf16>
// expected-error @below {{takes `dim = 1 : i64`, not 1 : i32}}
%c = kernel.softmax %a {dim = 1 : i32} : (tensor<4x8xf16>) -> tensor<4x8xf16>

// -----

%a = "test.op"() : () -> tensor<4x8xf16>
// expected-error @below {{Expected 'grid'}}
%c = kernel.graph_defined ins(%a) [4] {
^bb0(%x: tensor<4x8xf16>):
} : (tensor<4x8xf16>) -> tensor<4x8xf16>

// -----

// The cluster stands in front of the loop.
%a = "test.op"() : () -> tensor<4x8xf16>
// expected-error @below {{Expected region}}
%c = kernel.graph_defined ins(%a) grid [4] loop [2] cluster [2] {
^bb0(%x: tensor<4x8xf16>):
} : (tensor<4x8xf16>) -> tensor<4x8xf16>

// -----

%a = "test.op"() : () -> tensor<4x8xf16>
// expected-error @below {{Operation kernel.sine is not registered}}
%c = kernel.sine %a : (tensor<4x8xf16>) -> tensor<4x8xf16>

// -----

%a = "test.op"() : () -> tensor<4x8xf16>
// expected-error @below {{number out of the range of its type}}
%c = kernel.scale %a {factor = 1.0e+60 : f32} : (tensor<4x8xf16>) -> tensor<4x8xf16>
