// Errors about types of elements name the operator, what it was given, and what it takes.
// RUN: mirage-opt %s --verify-diagnostics --split-input-file

%x = "test.op"() : () -> tensor<4x4xi32>
// expected-error @below {{'kernel.matmul' op has elements of type i32, which is not f16, bf16 or f32}}
%y = kernel.matmul %x, %x : (tensor<4x4xi32>, tensor<4x4xi32>) -> tensor<4x4xi32>

// -----

%x = "test.op"() : () -> tensor<4x4xi1>
// expected-error @below {{'kernel.matmul' op has elements of type i1, which is not f16, bf16 or f32}}
%y = kernel.matmul %x, %x : (tensor<4x4xi1>, tensor<4x4xi1>) -> tensor<4x4xi1>

// -----

%x = "test.op"() : () -> tensor<4x4xf64>
// expected-error @below {{'kernel.matmul' op has elements of type f64, which is not f16, bf16 or f32}}
%y = kernel.matmul %x, %x : (tensor<4x4xf64>, tensor<4x4xf64>) -> tensor<4x4xf64>

// -----

%x = "test.op"() : () -> tensor<4x4xindex>
// expected-error @below {{'kernel.matmul' op has elements of type index, which is not f16, bf16 or f32}}
%y = kernel.matmul %x, %x : (tensor<4x4xindex>, tensor<4x4xindex>) -> tensor<4x4xindex>

// -----

%x = "test.op"() : () -> tensor<4x4xcomplex<f32>>
// expected-error @below {{'kernel.matmul' op has elements of type complex<f32>, which is not f16, bf16 or f32}}
%y = kernel.matmul %x, %x : (tensor<4x4xcomplex<f32>>, tensor<4x4xcomplex<f32>>) -> tensor<4x4xcomplex<f32>>

// -----

%x = "test.op"() : () -> tensor<4x4xi32>
// expected-error-re @below {{'kernel.relu' op {{.*}}has elements of type i32, which is not f16, bf16 or f32}}
%y = "kernel.relu"(%x) : (tensor<4x4xi32>) -> tensor<4x4xi32>

// -----

%x = "test.op"() : () -> tensor<4x4xi32>
// expected-error-re @below {{'kernel.softmax' op {{.*}}has elements of type i32, which is not f16, bf16 or f32}}
%y = "kernel.softmax"(%x) <{dim = 1 : i64}> : (tensor<4x4xi32>) -> tensor<4x4xi32>

// -----

%x = "test.op"() : () -> tensor<4x4xi32>
// expected-error-re @below {{'kernel.reshape' op {{.*}}has elements of type i32, which is not f16, bf16 or f32}}
%y = "kernel.reshape"(%x) : (tensor<4x4xi32>) -> tensor<4x4xi32>

// -----

%x = "test.op"() : () -> tensor<4x4xi32>
// expected-error-re @below {{'kernel.cast' op {{.*}}has elements of type i32, which is none of f16, bf16, f32, f8E4M3FN, f8E5M2}}
%y = "kernel.cast"(%x) : (tensor<4x4xi32>) -> tensor<4x4xi32>

// -----

%x, %w = "test.op"() : () -> (tensor<4x4xf16>, tensor<4x4xbf16>)
// expected-error @below {{'kernel.add' op mixes elements of types f16 and bf16: cast some of them}}
%y = kernel.add %x, %w : (tensor<4x4xf16>, tensor<4x4xbf16>) -> tensor<4x4xf16>

// -----

// expected-error @below {{'kernel.constant' op has elements of type f64, which is not f16, bf16 or f32}}
%y = kernel.constant {value = 1.0 : f32} : tensor<4x8xf64>

// -----

%x = "test.op"() : () -> !threadblock.tile<4x8xf32>
// expected-error @below {{'threadblock.relu' op has elements of type f64, which is not f16, bf16 or f32}}
%y = threadblock.relu %x : (!threadblock.tile<4x8xf32>) -> !threadblock.tile<4x8xf64>

// -----

%x = "test.op"() : () -> !threadblock.tile<4x4xf16>
%y = "test.op"() : () -> !threadblock.tile<4x4xf32>
// expected-error @below {{'threadblock.matmul' op mixes elements of types f16 and f32: cast some of them}}
%z = threadblock.matmul %x, %y : (!threadblock.tile<4x4xf16>, !threadblock.tile<4x4xf32>) -> !threadblock.tile<4x4xf32>

// -----

// expected-error @below {{has elements of type i8, which is not f16, bf16 or f32}}
!t = !threadblock.tile<4x4xi8>

// -----

// expected-error @below {{'fp16' is no type of elements; did you mean 'f16'?}}
%x = "test.op"() : () -> tensor<4x8xfp16>
