// RUN: mirage-opt %s --verify-diagnostics --split-input-file

%x = "test.op"() : () -> tensor<8x8xf16>
// expected-error @below {{Operation kernal.softmx is not registered; did you mean 'kernel.softmax'?}}
%y = kernal.softmx %x {dim = 1 : i64} : (tensor<8x8xf16>) -> tensor<8x8xf16>

// -----

%x = "test.op"() : () -> tensor<8x8xf16>
// expected-error @below {{Operation matmul is not registered; did you mean 'kernel.matmul'?}}
%y = matmul %x, %x : (tensor<8x8xf16>, tensor<8x8xf16>) -> tensor<8x8xf16>
