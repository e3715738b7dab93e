// What is no layout, and says why, where it stands.
// RUN: mirage-opt %s --verify-diagnostics --split-input-file

// expected-error @below {{'lane' has 4 steps, but the 32 lanes of a warp take 5}}
"test.op"() {layout = #threadblock.registers<{lane = [[0, 2], [0, 4], [1, 0], [2, 0]]}>} : () -> ()

// -----

// expected-error @below {{the layout does not say its 'lane'}}
"test.op"() {layout = #threadblock.registers<{register = [[0, 1]]}>} : () -> ()

// -----

// expected-error @below {{a layout has no field 'threads', only register, lane, warp}}
"test.op"() {layout = #threadblock.registers<{lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], threads = 128}>} : () -> ()

// -----

// expected-error @below {{field 'lane' is given twice}}
"test.op"() {layout = #threadblock.registers<{lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]]}>} : () -> ()

// -----

// expected-error @below {{a step has rows and columns, not 3 numbers}}
"test.op"() {layout = #threadblock.registers<{register = [[0, 1, 2]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]]}>} : () -> ()

// -----

// expected-error @below {{mode 0:[8, 0] holds no elements of its own}}
"test.op"() {layout = #threadblock.registers<{register = [0:[8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]]}>} : () -> ()

// -----

// expected-error @below {{mode 2:[0, 0] holds no elements of its own}}
"test.op"() {layout = #threadblock.registers<{register = [[0, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]]}>} : () -> ()

// -----

// expected-error @below {{step [8, 8] goes neither along rows nor columns}}
"test.op"() {layout = #threadblock.registers<{register = [[8, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]]}>} : () -> ()

// -----

// expected-error @below {{modes overlap: along rows, one of step 1 starts within the 2 that others reach}}
"test.op"() {layout = #threadblock.registers<{register = [[1, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]]}>} : () -> ()

// -----

// expected-error @below {{modes overlap: along columns, one of step 7 starts within the 8 that others reach}}
"test.op"() {layout = #threadblock.registers<{register = [[0, 1], [0, 7]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]]}>} : () -> ()

// -----

// expected-error @below {{a mode has a size, and a step of rows and columns}}
"test.op"() {layout = #threadblock.registers<[array<i64: 2, 1>], [array<i64: 0, 2>, array<i64>, array<i64>, array<i64>, array<i64>], []>} : () -> ()

// -----

// expected-error @below {{'shape' has rows and columns from 1 up, not [16, 0]}}
"test.op"() {layout = #threadblock.shared<{shape = [16, 0], order = [1, 0]}>} : () -> ()

// -----

// expected-error @below {{the layout does not say its 'order'}}
"test.op"() {layout = #threadblock.shared<{shape = [16, 64]}>} : () -> ()

// -----

// expected-error @below {{'order' is [1, 0] or [0, 1], not [0, 0]}}
"test.op"() {layout = #threadblock.shared<{shape = [16, 64], order = [0, 0]}>} : () -> ()

// -----

// expected-error @below {{'swizzle' is 0 or bytes of a line, 32, 64, 128, not 48}}
"test.op"() {layout = #threadblock.shared<{shape = [16, 24], order = [1, 0], swizzle = 48, element_bits = 16}>} : () -> ()

// -----

// expected-error @below {{a swizzled tile has 'element_bits' of one of (8, 16, 32), not 0}}
"test.op"() {layout = #threadblock.shared<{shape = [16, 64], order = [1, 0], swizzle = 128}>} : () -> ()

// -----

// expected-error @below {{'element_bits' is for swizzled tiles, and 'swizzle' is 0}}
"test.op"() {layout = #threadblock.shared<{shape = [16, 64], order = [1, 0], element_bits = 16}>} : () -> ()

// -----

// expected-error @below {{'shape' has 72 neighbours, no multiple of the 64 in 128 bytes}}
"test.op"() {layout = #threadblock.shared<{shape = [16, 72], order = [1, 0], swizzle = 128, element_bits = 16}>} : () -> ()

// -----

// expected-error @below {{'shape' has panels of 12 lines, no multiple of 8}}
"test.op"() {layout = #threadblock.shared<{shape = [12, 128], order = [1, 0], swizzle = 128, element_bits = 16}>} : () -> ()

// -----

// expected-error @below {{'copies' is a number from 1 up, not 0}}
"test.op"() {layout = #threadblock.shared<{shape = [16, 64], order = [1, 0], copies = 0}>} : () -> ()

// -----

// expected-error @below {{'combine' is one of ('sum', 'max'), not 'min'}}
"test.op"() {layout = #threadblock.shared<{shape = [16, 64], order = [1, 0], combine = min}>} : () -> ()

// -----

func.func @no_room(%x: tensor<2x8x64xbf16>) {
  %r = kernel.graph_defined ins(%x) grid [1] {
  ^bb0(%a: tensor<2x8x64xbf16>):
    // expected-error @below {{'threadblock.load' op makes a tile of 16 rows and 64 columns, but its layout has memory for 16 and 48}}
    %c = threadblock.load %a grid_map [_] {layout = #threadblock.shared<{shape = [16, 48], order = [1, 0]}>} : (tensor<2x8x64xbf16>) -> !threadblock.tile<2x8x64xbf16>
    threadblock.store %c grid_map [_] : !threadblock.tile<2x8x64xbf16>
  } : (tensor<2x8x64xbf16>) -> tensor<2x8x64xbf16>
  func.return
}

// -----

%r = kernel.graph_defined ins() grid [1] {
  // expected-error @below {{'threadblock.constant' op has a layout that is none of #threadblock.registers, #threadblock.shared, #threadblock.global}}
  %c = threadblock.constant {value = 1.0 : f32, layout = "registers"} : !threadblock.tile<16x64xbf16>
  threadblock.store %c grid_map [_] : !threadblock.tile<16x64xbf16>
} : () -> tensor<16x64xbf16>

// -----

// expected-error @below {{offset is 6, which is no multiple of 4}}
"test.op"() {buffer = #threadblock.buffer<offset = 6>} : () -> ()

// -----

// expected-error @below {{there is no 'double_bufered'; did you mean 'double_buffered'?}}
"test.op"() {buffer = #threadblock.buffer<double_bufered>} : () -> ()

// -----

%r = kernel.graph_defined ins() grid [1] {
  // expected-error @below {{'threadblock.constant' op has a buffer that is no #threadblock.buffer}}
  %c = threadblock.constant {value = 1.0 : f32, buffer = 0 : i64} : !threadblock.tile<16x64xbf16>
  threadblock.store %c grid_map [_] : !threadblock.tile<16x64xbf16>
} : () -> tensor<16x64xbf16>

// -----

%r = kernel.graph_defined ins() grid [1] {
  // expected-error @below {{'threadblock.constant' op has a buffer, but its layout is not in shared memory}}
  %c = threadblock.constant {value = 1.0 : f32, buffer = #threadblock.buffer<offset = 0>} : !threadblock.tile<16x64xbf16>
  threadblock.store %c grid_map [_] : !threadblock.tile<16x64xbf16>
} : () -> tensor<16x64xbf16>
