// Numbers of operators on tiles are finite, as those of operators on tensors are.
// RUN: mirage-opt %s --verify-diagnostics --split-input-file

%x = "test.op"() : () -> !threadblock.tile<4x8xf32>
// expected-error @below {{'threadblock.scale' op has factor inf, which is no finite number}}
%y = threadblock.scale %x {factor = 0x7F800000 : f32} : (!threadblock.tile<4x8xf32>) -> !threadblock.tile<4x8xf32>

// -----

%x = "test.op"() : () -> !threadblock.tile<4x8xf32>
// expected-error @below {{'threadblock.pow' op has exponent nan, which is no finite number}}
%y = threadblock.pow %x {exponent = 0x7FC00000 : f32} : (!threadblock.tile<4x8xf32>) -> !threadblock.tile<4x8xf32>

// -----

%x = "test.op"() : () -> !threadblock.tile<4x8xf32>
// expected-error @below {{'threadblock.clamp' op has max nan, which is no finite number}}
%y = threadblock.clamp %x {min = 0.0 : f32, max = 0x7FC00000 : f32} : (!threadblock.tile<4x8xf32>) -> !threadblock.tile<4x8xf32>

// -----

// expected-error @below {{'threadblock.constant' op has value nan, which is no finite number}}
%y = threadblock.constant {value = 0x7FC00000 : f32} : !threadblock.tile<4x8xf32>
