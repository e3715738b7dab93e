// RUN: mirage-opt %s --verify-diagnostics --split-input-file

// expected-error @below {{a tile has known sizes from 1 up, not ['?', 32]}}
"test.op"() : () -> !threadblock.tile<?x32xf16>

// -----

// expected-error @below {{a tile has known sizes from 1 up, not [0, 32]}}
"test.op"() : () -> !threadblock.tile<0x32xf16>

// -----

// expected-error @below {{has elements of type i32}}
"test.op"() : () -> !threadblock.tile<16x32xi32>

// -----

// expected-error @below {{Expected 'x' in shape delimiter}}
"test.op"() : () -> !threadblock.tile<16, 32, f16>

// -----

// expected-error @below {{Expected ','}}
"test.op"() : () -> !threadblock.tile<[16, 32] f16>

// -----

// expected-error @below {{'test.op' op "x" should be of base attribute integer}}
"test.op"() : () -> !threadblock.tile<["x", 32], f16>

// -----

%r = kernel.graph_defined ins() grid [1] {
  %c = threadblock.constant {value = 1.0 : f32} : !threadblock.tile<4xbf16>
  // expected-error @below {{Expected integer literal}}
  threadblock.store %c grid_map [x] : !threadblock.tile<4xbf16>
} : () -> tensor<4xbf16>

// -----

%r = kernel.graph_defined ins() grid [1] {
  %c = threadblock.constant {value = 1.0 : f32} : !threadblock.tile<4xbf16>
  // expected-error @below {{Expected 'grid_map'}}
  threadblock.store %c : !threadblock.tile<4xbf16>
} : () -> tensor<4xbf16>

// -----

%r = kernel.graph_defined ins() grid [1] {
  // expected-error @below {{lines are swizzled in (128, 64, 32) bytes or not, not 48}}
  %c = threadblock.constant {value = 1.0 : f32, layout = #threadblock.shared<array<i64: 24, 1>, 384 : i64, 1 : i64, "sum", 1 : i64, 48 : i64, 384 : i64>} : !threadblock.tile<16x16xbf16>
  threadblock.store %c grid_map [_, _] : !threadblock.tile<16x16xbf16>
} : () -> tensor<16x16xbf16>

// -----

%r = kernel.graph_defined ins() grid [1] {
  // expected-error @below {{panels of 384 elements, but lines of 0 bytes}}
  %c = threadblock.constant {value = 1.0 : f32, layout = #threadblock.shared<array<i64: 24, 1>, 384 : i64, 1 : i64, "sum", 1 : i64, 0 : i64, 384 : i64>} : !threadblock.tile<16x16xbf16>
  threadblock.store %c grid_map [_, _] : !threadblock.tile<16x16xbf16>
} : () -> tensor<16x16xbf16>
