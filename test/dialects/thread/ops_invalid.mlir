// RUN: mirage-opt %s --verify-diagnostics --split-input-file

%a = "test.op"() : () -> !threadblock.tile<16x48xf16>
// expected-error @below {{'thread.graph' op has 1 operands but 2 block arguments}}
%y = thread.graph ins(%a) {
^bb0(%x: f16, %z: f16):
  thread.store %x : f16
} : (!threadblock.tile<16x48xf16>) -> !threadblock.tile<16x48xf16>

// -----

%a = "test.op"() : () -> !threadblock.tile<16x48xf16>
// expected-error @below {{'thread.graph' op block argument 0 must be f16 like operand 0, got f32}}
%y = thread.graph ins(%a) {
^bb0(%x: f32):
  thread.store %x : f32
} : (!threadblock.tile<16x48xf16>) -> !threadblock.tile<16x48xf32>

// -----

%a = "test.op"() : () -> !threadblock.tile<16x48xf16>
// expected-error @below {{'thread.graph' op operand 0: cannot broadcast dim 1 (size 48) to dim 1 (size 32) of 16x32}}
%y = thread.graph ins(%a) {
^bb0(%x: f16):
  thread.store %x : f16
} : (!threadblock.tile<16x48xf16>) -> !threadblock.tile<16x32xf16>

// -----

%a = "test.op"() : () -> !threadblock.tile<1x1xf16>
// expected-error @below {{'thread.graph' op result 1 has shape 8x8, result 0 4x4}}
%y:2 = thread.graph ins(%a) {
^bb0(%x: f16):
  thread.store %x : f16
  thread.store %x : f16
} : (!threadblock.tile<1x1xf16>) -> (!threadblock.tile<4x4xf16>, !threadblock.tile<8x8xf16>)

// -----

%a = "test.op"() : () -> !threadblock.tile<4x4xf16>
// expected-error @below {{'thread.graph' op has 1 results but stores 2 values}}
%y = thread.graph ins(%a) {
^bb0(%x: f16):
  thread.store %x : f16
  thread.store %x : f16
} : (!threadblock.tile<4x4xf16>) -> !threadblock.tile<4x4xf16>

// -----

%a = "test.op"() : () -> !threadblock.tile<4x4xf16>
// expected-error @below {{'thread.graph' op has no result}}
thread.graph ins(%a) {
^bb0(%x: f16):
} : (!threadblock.tile<4x4xf16>) -> ()

// -----

%a = "test.op"() : () -> !threadblock.tile<4x4xf16>
%y = thread.graph ins(%a) {
^bb0(%x: f16):
  // expected-error @below {{'thread.store' op stores f16 to result 0 of f32 elements}}
  thread.store %x : f16
} : (!threadblock.tile<4x4xf16>) -> !threadblock.tile<4x4xf32>

// -----

// Scalars only: what concerns the tile is outside.
%a = "test.op"() : () -> !threadblock.tile<4x4xf16>
%y = thread.graph ins(%a) {
^bb0(%x: f16):
  // expected-error @below {{'test.op' op is not an operation on scalars of a thread graph}}
  %z = "test.op"(%x) : (f16) -> f16
  thread.store %z : f16
} : (!threadblock.tile<4x4xf16>) -> !threadblock.tile<4x4xf16>

// -----

%a = "test.op"() : () -> f32
// expected-error @below {{'thread.store' op 'thread.store' expects parent op 'thread.graph'}}
thread.store %a : f32

// -----

%a = "test.op"() : () -> !threadblock.tile<4x4xf16>
%y = thread.graph ins(%a) {
^bb0(%x: f16):
  %i = arith.constant 1 : i32
  // expected-error @below {{has elements of type i32, which is not f16, bf16 or f32}}
  thread.store %i : i32
} : (!threadblock.tile<4x4xf16>) -> !threadblock.tile<4x4xf16>

// -----

%a = "test.op"() : () -> !threadblock.tile<4x4xf16>
// expected-error @below {{has stream [0, 0], not its number and a count}}
%y = thread.graph ins(%a) attributes {stream = array<i64: 0, 0>} {
^bb0(%x: f16):
  thread.store %x : f16
} : (!threadblock.tile<4x4xf16>) -> !threadblock.tile<4x4xf16>
