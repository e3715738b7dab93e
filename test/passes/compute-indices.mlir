// Indices are computed where they are needed, and no kernel reads them.
//
// RUN: mirage-opt %s --compute-indices | filecheck %s

// Views of indices are views of what is computed: sizes, strides and the first index follow.
// CHECK-LABEL: func.func @rows
// CHECK-NOT:     kernel.iota
// CHECK:         kernel.graph_defined ins(%x) grid [2] loop [4] {
// CHECK-NEXT:    ^bb0(%{{.*}}: tensor<32x64xf16>):
// CHECK-NEXT:      %[[I:.*]] = threadblock.iota of [32, 1] strides [2, 1] grid_map [0] loop_map [_] {start = 3 : i64} : !threadblock.tile<16x1xf32>
// CHECK-NEXT:      %[[J:.*]] = threadblock.iota of [64] strides [1] grid_map [_] loop_map [0] : !threadblock.tile<16xf32>
// CHECK:           threadblock.add %[[I]], %[[J]]
func.func @rows(%x: tensor<32x64xf16>) -> tensor<32x1xf32> {
  %n = kernel.iota {dim = 0 : i64} : tensor<80xf32>
  %part = kernel.slice %n {offsets = array<i64: 3>, sizes = array<i64: 32>, strides = array<i64: 2>} : (tensor<80xf32>) -> tensor<32xf32>
  %rows = kernel.reshape %part : (tensor<32xf32>) -> tensor<32x1xf32>
  %columns = kernel.slice %n {offsets = array<i64: 0>, sizes = array<i64: 64>, strides = array<i64: 1>} : (tensor<80xf32>) -> tensor<64xf32>
  %o = kernel.graph_defined ins(%rows, %columns, %x) grid [2] loop [4] {
  ^bb0(%0: tensor<32x1xf32>, %1: tensor<64xf32>, %2: tensor<32x64xf16>):
    %i = threadblock.load %0 grid_map [0] loop_map [_] : (tensor<32x1xf32>) -> !threadblock.tile<16x1xf32>
    %j = threadblock.load %1 grid_map [_] loop_map [0] : (tensor<64xf32>) -> !threadblock.tile<16xf32>
    %t = threadblock.load %2 grid_map [0] loop_map [1] : (tensor<32x64xf16>) -> !threadblock.tile<16x16xf16>
    %s = threadblock.add %i, %j : (!threadblock.tile<16x1xf32>, !threadblock.tile<16xf32>) -> !threadblock.tile<16x16xf32>
    %p = threadblock.mul %s, %t : (!threadblock.tile<16x16xf32>, !threadblock.tile<16x16xf16>) -> !threadblock.tile<16x16xf32>
    %r = threadblock.reduce_sum %p {dims = array<i64: 1>} : (!threadblock.tile<16x16xf32>) -> !threadblock.tile<16x1xf32>
    %a = threadblock.accumulate %r : (!threadblock.tile<16x1xf32>) -> !threadblock.tile<16x1xf32>
    threadblock.store %a grid_map [0] : !threadblock.tile<16x1xf32>
  } : (tensor<32x1xf32>, tensor<64xf32>, tensor<32x64xf16>) -> tensor<32x1xf32>
  func.return %o : tensor<32x1xf32>
}

// Indices of a plane are those of a vector; what is no elementwise code, and narrow elements, read
// a tile of their own.
// CHECK-LABEL: func.func @plane
// CHECK:         kernel.graph_defined ins() grid [1] {
// CHECK-NEXT:      %[[I:.*]] = threadblock.iota of [8, 16] strides [0, 1] grid_map [_] : !threadblock.tile<8x16xf32>
// CHECK-NEXT:      %[[T:.*]] = threadblock.broadcast %[[I]] : (!threadblock.tile<8x16xf32>) -> !threadblock.tile<8x16xf16>
// CHECK-NEXT:      threadblock.store %[[T]]
func.func @plane() -> tensor<8x16xf16> {
  %n = kernel.iota {dim = 1 : i64} : tensor<8x16xf16>
  %o = kernel.graph_defined ins(%n) grid [1] {
  ^bb0(%0: tensor<8x16xf16>):
    %i = threadblock.load %0 grid_map [_] : (tensor<8x16xf16>) -> !threadblock.tile<8x16xf16>
    threadblock.store %i grid_map [_] : !threadblock.tile<8x16xf16>
  } : (tensor<8x16xf16>) -> tensor<8x16xf16>
  func.return %o : tensor<8x16xf16>
}
