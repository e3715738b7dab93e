// Indices are computed where they are needed, and no kernel reads them.
//
// RUN: mirage-opt %s --compute-indices | filecheck %s

// Views of indices are views of what is computed: sizes, strides and the first index follow.
// CHECK-LABEL: func.func @rows
// CHECK-NOT:     kernel.iota
// CHECK:         kernel.graph_defined ins(%x) grid [2] loop [4] {
// CHECK-NEXT:    ^bb0(%{{.*}}: tensor<32x64xf16>):
// CHECK-NEXT:      %[[I:.*]] = threadblock.iota of [32, 1] strides [2, 0] grid_map [0] loop_map [_] {start = 3 : i64} : !threadblock.tile<16x1xf32>
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
// CHECK-NEXT:      %[[I:.*]] = threadblock.iota of [1, 16] strides [0, 1] grid_map [_] : !threadblock.tile<1x16xf32>
// CHECK-NEXT:      %[[T:.*]] = threadblock.broadcast %[[I]] : (!threadblock.tile<1x16xf32>) -> !threadblock.tile<8x16xf16>
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

// A formula is computed from the indices that it needs, in the dimensions of the whole: views of
// parts of it are no operations.
// CHECK-LABEL: func.func @mask
// CHECK:         kernel.graph_defined ins(%x) grid [2] loop [4] {
// CHECK:           %[[I:.*]] = threadblock.iota of [1, 32, 1] strides [0, 1, 0] grid_map [1] loop_map [_] : !threadblock.tile<1x16x1xf32>
// CHECK-NEXT:      %[[J:.*]] = threadblock.iota of [1, 1, 64] strides [0, 0, 1] grid_map [_] loop_map [2] : !threadblock.tile<1x1x16xf32>
// CHECK-NEXT:      %[[C:.*]] = threadblock.constant {value = 5.000000e+00 : f32} : !threadblock.tile<1x1x1xf32>
// CHECK-NEXT:      %[[L:.*]] = threadblock.add %[[J]], %[[C]] : (!threadblock.tile<1x1x16xf32>, !threadblock.tile<1x1x1xf32>) -> !threadblock.tile<1x1x16xf32>
// CHECK-NEXT:      %[[S:.*]] = threadblock.compare %[[I]], %[[L]] {predicate = "le"} : (!threadblock.tile<1x16x1xf32>, !threadblock.tile<1x1x16xf32>) -> !threadblock.tile<1x16x16xf32>
// CHECK-NOT:       threadblock.transpose
func.func @mask(%x: tensor<2x32x64xf16>) -> tensor<2x32x1xf32> {
  %i = kernel.iota {dim = 1 : i64} : tensor<64x32xf16>
  %j = kernel.iota {dim = 0 : i64} : tensor<64x1xf16>
  %c = kernel.constant {value = 5.0 : f32} : tensor<1x1xf16>
  %last = kernel.add %j, %c : (tensor<64x1xf16>, tensor<1x1xf16>) -> tensor<64x1xf16>
  %s = kernel.compare %i, %last {predicate = "le"} : (tensor<64x32xf16>, tensor<64x1xf16>) -> tensor<64x32xf16>
  %t = kernel.transpose %s {permutation = array<i64: 1, 0>} : (tensor<64x32xf16>) -> tensor<32x64xf16>
  %m = kernel.reshape %t : (tensor<32x64xf16>) -> tensor<1x32x64xf16>
  %o = kernel.graph_defined ins(%m, %x) grid [2] loop [4] {
  ^bb0(%0: tensor<1x32x64xf16>, %1: tensor<2x32x64xf16>):
    %a = threadblock.load %0 grid_map [1] loop_map [2] : (tensor<1x32x64xf16>) -> !threadblock.tile<1x16x16xf16>
    %b = threadblock.load %1 grid_map [1] loop_map [2] : (tensor<2x32x64xf16>) -> !threadblock.tile<2x16x16xf16>
    %p = threadblock.mul %a, %b : (!threadblock.tile<1x16x16xf16>, !threadblock.tile<2x16x16xf16>) -> !threadblock.tile<2x16x16xf32>
    %r = threadblock.reduce_sum %p {dims = array<i64: 2>} : (!threadblock.tile<2x16x16xf32>) -> !threadblock.tile<2x16x1xf32>
    %q = threadblock.accumulate %r : (!threadblock.tile<2x16x1xf32>) -> !threadblock.tile<2x16x1xf32>
    threadblock.store %q grid_map [1] : !threadblock.tile<2x16x1xf32>
  } : (tensor<1x32x64xf16>, tensor<2x32x64xf16>) -> tensor<2x32x1xf32>
  func.return %o : tensor<2x32x1xf32>
}
