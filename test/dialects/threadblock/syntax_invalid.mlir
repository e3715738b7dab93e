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
