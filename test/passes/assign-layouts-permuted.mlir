// RUN: mirage-opt %s --split-input-file --select-copies --assign-layouts | filecheck %s

// Tiles of permuted tensors that threads read in place: a column-major one beside a row-major one.

// Each thread has a block of 4 rows and 4 columns: it reads 16 bytes down a column of %x, and 16 along
// a row of %y.
// CHECK-LABEL: @beside_rows
// CHECK:      thread.graph
// CHECK-SAME: register = {{\[\[}}0, 1], [0, 2], [1, 0], [2, 0]
func.func @beside_rows(%x: tensor<256x3136xf32>, %y: tensor<3136x256xf32>) -> tensor<3136x256xf32> {
  %t = kernel.transpose %x {permutation = array<i64: 1, 0>} : (tensor<256x3136xf32>) -> tensor<3136x256xf32>
  %o = kernel.graph_defined ins(%t, %y) grid [49, 2] schedule <threads = 256> {
  ^bb0(%xa: tensor<3136x256xf32>, %ya: tensor<3136x256xf32>):
    %0 = threadblock.load %xa grid_map [0, 1] : (tensor<3136x256xf32>) -> !threadblock.tile<64x128xf32>
    %1 = threadblock.load %ya grid_map [0, 1] : (tensor<3136x256xf32>) -> !threadblock.tile<64x128xf32>
    %2 = thread.graph ins(%0, %1) {
    ^bb1(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      thread.store %c : f32
    } : (!threadblock.tile<64x128xf32>, !threadblock.tile<64x128xf32>) -> !threadblock.tile<64x128xf32>
    threadblock.store %2 grid_map [0, 1] : !threadblock.tile<64x128xf32>
  } : (tensor<3136x256xf32>, tensor<3136x256xf32>) -> tensor<3136x256xf32>
  func.return %o : tensor<3136x256xf32>
}

// -----

// Rows of 3137 start at odd places, so that no access takes more than an element: a thread graph of
// its own reads neighbours in memory, and passes them on through shared memory.
// CHECK-LABEL: @read_apart
// CHECK:      %[[TILE:.*]] = threadblock.load
// CHECK:      %[[READ:.*]] = thread.graph ins(%[[TILE]])
// CHECK-SAME: lane = {{\[\[}}1, 0], [2, 0], [4, 0], [8, 0], [16, 0]]
// CHECK:      %[[PASSED:.*]] = threadblock.convert_layout %[[READ]]
// CHECK:      thread.graph ins(%[[PASSED]], %{{.*}})
// CHECK-SAME: lane = {{\[\[}}0, 1], [0, 2], [0, 4], [0, 8], [0, 16]]
func.func @read_apart(%x: tensor<255x3137xf16>, %y: tensor<3137x255xf16>) -> tensor<3137x255xf16> {
  %t = kernel.transpose %x {permutation = array<i64: 1, 0>} : (tensor<255x3137xf16>) -> tensor<3137x255xf16>
  %o = kernel.graph_defined ins(%t, %y) grid [50, 4] schedule <threads = 256> {
  ^bb0(%xa: tensor<3137x255xf16>, %ya: tensor<3137x255xf16>):
    %0 = threadblock.load %xa grid_map [0, 1] : (tensor<3137x255xf16>) -> !threadblock.tile<64x64xf16>
    %1 = threadblock.load %ya grid_map [0, 1] : (tensor<3137x255xf16>) -> !threadblock.tile<64x64xf16>
    %2 = thread.graph ins(%0, %1) {
    ^bb1(%a: f16, %b: f16):
      %c = arith.addf %a, %b : f16
      thread.store %c : f16
    } : (!threadblock.tile<64x64xf16>, !threadblock.tile<64x64xf16>) -> !threadblock.tile<64x64xf16>
    threadblock.store %2 grid_map [0, 1] : !threadblock.tile<64x64xf16>
  } : (tensor<3137x255xf16>, tensor<3137x255xf16>) -> tensor<3137x255xf16>
  func.return %o : tensor<3137x255xf16>
}

// -----

// A reduction of a column-major tile takes it from registers, as does whatever reads it beside.
// CHECK-LABEL: @reduced
// CHECK:      %[[TILE:.*]] = threadblock.load
// CHECK:      %[[READ:.*]] = thread.graph ins(%[[TILE]])
// CHECK-SAME: [1, 0], [2, 0]]
// CHECK:      threadblock.reduce_sum %[[READ]]
// CHECK:      thread.graph ins(%[[READ]],
func.func @reduced(%x: tensor<64x4096xf16>) -> tensor<64x4096xf16> {
  %t = kernel.transpose %x {permutation = array<i64: 1, 0>} : (tensor<64x4096xf16>) -> tensor<4096x64xf16>
  %o = kernel.graph_defined ins(%t) grid [64] schedule <threads = 128> {
  ^bb0(%xa: tensor<4096x64xf16>):
    %0 = threadblock.load %xa grid_map [0] : (tensor<4096x64xf16>) -> !threadblock.tile<64x64xf16>
    %1 = threadblock.reduce_sum %0 {dims = array<i64: 1>} : (!threadblock.tile<64x64xf16>) -> !threadblock.tile<64x1xf32>
    %2 = thread.graph ins(%0, %1) {
    ^bb1(%a: f16, %b: f32):
      %c = arith.extf %a : f16 to f32
      %d = arith.divf %c, %b : f32
      %e = arith.truncf %d : f32 to f16
      thread.store %e : f16
    } : (!threadblock.tile<64x64xf16>, !threadblock.tile<64x1xf32>) -> !threadblock.tile<64x64xf16>
    threadblock.store %2 grid_map [0] : !threadblock.tile<64x64xf16>
  } : (tensor<4096x64xf16>) -> tensor<4096x64xf16>
  %r = kernel.transpose %o {permutation = array<i64: 1, 0>} : (tensor<4096x64xf16>) -> tensor<64x4096xf16>
  func.return %r : tensor<64x4096xf16>
}

// -----

// Where a transpose only moves dims of size 1 no element changes its thread.
// CHECK-LABEL: @moved
// CHECK:      thread.graph {{.*}}layout = #threadblock.registers<[[LAYOUT:.*]]>} {
// CHECK-NOT:  convert_layout
// CHECK:      threadblock.transpose {{.*}}layout = #threadblock.registers<[[LAYOUT]]>
func.func @moved(%x: tensor<64x32x64xf32>) -> tensor<32x64x64xf32> {
  %o = kernel.graph_defined ins(%x) grid [64] schedule <threads = 128> {
  ^bb0(%xa: tensor<64x32x64xf32>):
    %0 = threadblock.load %xa grid_map [0] : (tensor<64x32x64xf32>) -> !threadblock.tile<1x32x64xf32>
    %1 = thread.graph ins(%0) {
    ^bb1(%a: f32):
      %c = arith.addf %a, %a : f32
      thread.store %c : f32
    } : (!threadblock.tile<1x32x64xf32>) -> !threadblock.tile<1x32x64xf32>
    %2 = threadblock.transpose %1 {permutation = array<i64: 1, 0, 2>} : (!threadblock.tile<1x32x64xf32>) -> !threadblock.tile<32x1x64xf32>
    threadblock.store %2 grid_map [1] : !threadblock.tile<32x1x64xf32>
  } : (tensor<64x32x64xf32>) -> tensor<32x64x64xf32>
  func.return %o : tensor<32x64x64xf32>
}
