// Layouts of tiles: custom and generic form, and the form that tools print that know us through IRDL.
// RUN: %roundtrip
// RUN: %generic-roundtrip
// RUN: mirage-opt %s -t irdl-generic | mirage-opt | filecheck %s

// An attribute may have a name.
#accumulator = #threadblock.registers<{register = [[0, 1], [8, 0], [0, 8], [0, 16]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], partial]}>

// CHECK-LABEL: func.func @registers(
func.func @registers() {
  %a = "test.op"() : () -> !threadblock.tile<16x64xf32>
  // CHECK:      %b = threadblock.convert_layout %a {layout = #threadblock.registers<{register = {{\[\[0, 1], \[8, 0], \[0, 8], \[0, 16]]}}, lane = {{\[\[0, 2], \[0, 4], \[1, 0], \[2, 0], \[4, 0]]}}, warp = {{\[\[16, 0], partial]}}}>}
  %b = threadblock.convert_layout %a {layout = #accumulator} : !threadblock.tile<16x64xf32>
  // One element a thread, one warp; some lanes hold the same.
  // CHECK-NEXT: %c = threadblock.convert_layout %a {layout = #threadblock.registers<{lane = {{\[\[0, 1], \[0, 2], \[1, 0], \[0, 0], \[0, 0]]}}}>}
  %c = threadblock.convert_layout %a {layout = #threadblock.registers<{register = [], lane = [[0, 1], [0, 2], [1, 0], [0, 0], [0, 0]], warp = []}>} : !threadblock.tile<16x64xf32>
  // Three registers are no power of two; runs of 8 neighbours are read one by one.
  // CHECK-NEXT: %d = threadblock.convert_layout %a {layout = #threadblock.registers<{register = {{\[\[0, 1], \[0, 2], \[0, 4], 4:\[0, 8], 3:\[2, 0]]}}, lane = {{\[\[0, 32], \[1, 0], partial, partial, partial]}}}>}
  %d = threadblock.convert_layout %a {layout = #threadblock.registers<{register = [8:[0, 1], 4:[0, 8], 3:[2, 0]], lane = [[0, 32], [1, 0], partial, partial, partial]}>} : !threadblock.tile<16x64xf32>
  func.return
}

// CHECK-LABEL: func.func @shared(
func.func @shared() {
  %a = "test.op"() : () -> !threadblock.tile<16x64xf16>
  // Lines of 64 elements, and 8 of padding.
  // CHECK:      %b = threadblock.convert_layout %a {layout = #threadblock.shared<{shape = [16, 72], order = [1, 0]}>}
  %b = threadblock.convert_layout %a {layout = #threadblock.shared<{shape = [16, 72], order = [1, 0], swizzle = 0, copies = 1, blocks = 1, combine = sum}>} : !threadblock.tile<16x64xf16>
  // CHECK-NEXT: %c = threadblock.convert_layout %a {layout = #threadblock.shared<{shape = [16, 64], order = [0, 1], swizzle = 32, element_bits = 16}>}
  %c = threadblock.convert_layout %a {layout = #threadblock.shared<{element_bits = 16, swizzle = 32, order = [0, 1], shape = [16, 64]}>} : !threadblock.tile<16x64xf16>
  // CHECK-NEXT: %d = threadblock.convert_layout %a {layout = #threadblock.shared<{shape = [16, 64], order = [1, 0], copies = 4, blocks = 2, combine = max}>}
  %d = threadblock.convert_layout %a {layout = #threadblock.shared<{shape = [16, 64], order = [1, 0], copies = 4, blocks = 2, combine = max}>} : !threadblock.tile<16x64xf16>
  // CHECK-NEXT: %e = threadblock.convert_layout %a {layout = #threadblock.global}
  %e = threadblock.convert_layout %a {layout = #threadblock.global} : !threadblock.tile<16x64xf16>
  func.return
}

// Where tiles lie in shared memory: what has not been decided is left out.
// CHECK-LABEL: func.func @buffers(
func.func @buffers() {
  %a = "test.op"() : () -> !threadblock.tile<16x64xf16>
  // CHECK:      %b = threadblock.convert_layout %a {layout = {{.*}}, buffer = #threadblock.buffer<offset = 0>}
  %b = threadblock.convert_layout %a {layout = #threadblock.shared<{shape = [16, 64], order = [1, 0]}>, buffer = #threadblock.buffer<offset = 0>} : !threadblock.tile<16x64xf16>
  // CHECK-NEXT: %c = threadblock.convert_layout %a {layout = {{.*}}, buffer = #threadblock.buffer<offset = 2048, double_buffered, zero_padding>}
  %c = threadblock.convert_layout %a {layout = #threadblock.shared<{shape = [16, 64], order = [1, 0]}>, buffer = #threadblock.buffer<zero_padding, double_buffered, offset = 2048>} : !threadblock.tile<16x64xf16>
  func.return
}
