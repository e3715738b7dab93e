// RUN: mirage-opt %s --canonicalize | filecheck %s

// A rewrite may round less often than what it replaces: the inner result was f16.
// CHECK-LABEL: func.func @scale(
// CHECK:         %[[S:.*]] = threadblock.scale %x {factor = 6.000000e+00 : f32} : (!threadblock.tile<4x8xf16>) -> !threadblock.tile<4x8xf32>
// CHECK-NEXT:    "test.op"(%[[S]])
func.func @scale() {
  %x = "test.op"() : () -> !threadblock.tile<4x8xf16>
  %a0 = threadblock.scale %x {factor = 2.0 : f32} : (!threadblock.tile<4x8xf16>) -> !threadblock.tile<4x8xf16>
  %a1 = threadblock.scale %a0 {factor = 3.0 : f32} : (!threadblock.tile<4x8xf16>) -> !threadblock.tile<4x8xf32>
  %a2 = threadblock.scale %a1 {factor = 1.0 : f32} : (!threadblock.tile<4x8xf32>) -> !threadblock.tile<4x8xf32>
  "test.op"(%a2) : (!threadblock.tile<4x8xf32>) -> ()
  func.return
}

// With another element type it is a rounding, or a widening.
// CHECK-LABEL: func.func @types(
// CHECK:         %a0 = threadblock.scale %x {factor = 1.000000e+00 : f32} : (!threadblock.tile<4x8xf16>) -> !threadblock.tile<4x8xf32>
// CHECK-NEXT:    %a1 = threadblock.relu %y : (!threadblock.tile<4x8xf32>) -> !threadblock.tile<4x8xf32>
// CHECK-NEXT:    %a2 = threadblock.relu %a1 : (!threadblock.tile<4x8xf32>) -> !threadblock.tile<4x8xf16>
// CHECK-NEXT:    "test.op"(%a0, %a2)
func.func @types() {
  %x, %y = "test.op"() : () -> (!threadblock.tile<4x8xf16>, !threadblock.tile<4x8xf32>)
  %a0 = threadblock.scale %x {factor = 1.0 : f32} : (!threadblock.tile<4x8xf16>) -> !threadblock.tile<4x8xf32>
  %a1 = threadblock.relu %y : (!threadblock.tile<4x8xf32>) -> !threadblock.tile<4x8xf32>
  %a2 = threadblock.relu %a1 : (!threadblock.tile<4x8xf32>) -> !threadblock.tile<4x8xf16>
  "test.op"(%a0, %a2) : (!threadblock.tile<4x8xf32>, !threadblock.tile<4x8xf16>) -> ()
  func.return
}

// CHECK-LABEL: func.func @constants(
// CHECK:         %[[S:.*]] = threadblock.scale %y {factor = 2.500000e+00 : f32}
// CHECK-NEXT:    "test.op"(%[[S]])
func.func @constants() {
  %y = "test.op"() : () -> !threadblock.tile<4x8xf32>
  %zero = threadblock.constant {value = 0.0 : f32} : !threadblock.tile<1x1xf32>
  %one = threadblock.constant {value = 1.0 : f32} : !threadblock.tile<4x8xf32>
  %c = threadblock.constant {value = 2.5 : f32} : !threadblock.tile<4x1xf32>
  %a0 = threadblock.add %zero, %y : (!threadblock.tile<1x1xf32>, !threadblock.tile<4x8xf32>) -> !threadblock.tile<4x8xf32>
  %a1 = threadblock.sub %a0, %zero : (!threadblock.tile<4x8xf32>, !threadblock.tile<1x1xf32>) -> !threadblock.tile<4x8xf32>
  %a2 = threadblock.div %a1, %one : (!threadblock.tile<4x8xf32>, !threadblock.tile<4x8xf32>) -> !threadblock.tile<4x8xf32>
  %a3 = threadblock.mul %a2, %c : (!threadblock.tile<4x8xf32>, !threadblock.tile<4x1xf32>) -> !threadblock.tile<4x8xf32>
  "test.op"(%a3) : (!threadblock.tile<4x8xf32>) -> ()
  func.return
}

// CHECK-LABEL: func.func @views(
// CHECK:         %[[B:.*]] = threadblock.broadcast %x : (!threadblock.tile<4x8xf16>) -> !threadblock.tile<2x4x8xf16>
// CHECK-NEXT:    "test.op"(%z, %[[B]], %x, %x)
func.func @views() {
  %x, %z = "test.op"() : () -> (!threadblock.tile<4x8xf16>, !threadblock.tile<2x4x8xf16>)
  %a0 = threadblock.transpose %z {permutation = array<i64: 0, 2, 1>} : (!threadblock.tile<2x4x8xf16>) -> !threadblock.tile<2x8x4xf16>
  %a1 = threadblock.transpose %a0 {permutation = array<i64: 0, 2, 1>} : (!threadblock.tile<2x8x4xf16>) -> !threadblock.tile<2x4x8xf16>
  %b0 = threadblock.broadcast %x : (!threadblock.tile<4x8xf16>) -> !threadblock.tile<1x4x8xf16>
  %b1 = threadblock.broadcast %b0 : (!threadblock.tile<1x4x8xf16>) -> !threadblock.tile<2x4x8xf16>
  %b2 = threadblock.broadcast %b1 : (!threadblock.tile<2x4x8xf16>) -> !threadblock.tile<2x4x8xf16>
  %c0 = threadblock.concat %x {dim = 0 : i64} : (!threadblock.tile<4x8xf16>) -> !threadblock.tile<4x8xf16>
  %d0 = threadblock.cast %x : (!threadblock.tile<4x8xf16>) -> !threadblock.tile<4x8xf32>
  %d1 = threadblock.cast %d0 : (!threadblock.tile<4x8xf32>) -> !threadblock.tile<4x8xf16>
  "test.op"(%a1, %b2, %c0, %d1) : (!threadblock.tile<2x4x8xf16>, !threadblock.tile<2x4x8xf16>, !threadblock.tile<4x8xf16>, !threadblock.tile<4x8xf16>) -> ()
  func.return
}

// A tile of one element may be empty in some block, and its sum is 0 there: the reduction stays.
// CHECK-LABEL: func.func @reduction_that_stays(
// CHECK:         threadblock.reduce_sum
func.func @reduction_that_stays() {
  %w = "test.op"() : () -> !threadblock.tile<4x1xf32>
  %s = threadblock.reduce_sum %w {dims = array<i64: 1>} : (!threadblock.tile<4x1xf32>) -> !threadblock.tile<4x1xf32>
  "test.op"(%s) : (!threadblock.tile<4x1xf32>) -> ()
  func.return
}

// The ragged tiles of a whole graph: every operation that does nothing is gone.
// CHECK-LABEL: func.func @tiles(
// CHECK:           threadblock.load
// CHECK-NEXT:      threadblock.load
// CHECK-NEXT:      threadblock.matmul
// CHECK-NEXT:      threadblock.accumulate
// CHECK-NEXT:      threadblock.broadcast
// CHECK-NEXT:      threadblock.transpose
// CHECK-NEXT:      threadblock.relu
// CHECK-NEXT:      threadblock.store
func.func @tiles(%x: tensor<5x7xf16>, %w: tensor<7x6xf16>) -> tensor<6x5xf16> {
  %o = kernel.graph_defined ins(%x, %w) grid [2] loop [3] {
  ^bb0(%a: tensor<5x7xf16>, %b: tensor<7x6xf16>):
    %p = threadblock.load %a grid_map [_] loop_map [1] : (tensor<5x7xf16>) -> !threadblock.tile<5x3xf16>
    %q = threadblock.load %b grid_map [1] loop_map [0] : (tensor<7x6xf16>) -> !threadblock.tile<3x3xf16>
    %zero = threadblock.constant {value = 0.0 : f32} : !threadblock.tile<5x3xf16>
    %half = threadblock.constant {value = 0.5 : f32} : !threadblock.tile<1x1xf16>
    %p1 = threadblock.add %zero, %p : (!threadblock.tile<5x3xf16>, !threadblock.tile<5x3xf16>) -> !threadblock.tile<5x3xf16>
    %p2 = threadblock.scale %p1 {factor = 4.0 : f32} : (!threadblock.tile<5x3xf16>) -> !threadblock.tile<5x3xf16>
    %p3 = threadblock.scale %p2 {factor = 0.5 : f32} : (!threadblock.tile<5x3xf16>) -> !threadblock.tile<5x3xf16>
    %p4 = threadblock.mul %p3, %half : (!threadblock.tile<5x3xf16>, !threadblock.tile<1x1xf16>) -> !threadblock.tile<5x3xf16>
    %m = threadblock.matmul %p4, %q : (!threadblock.tile<5x3xf16>, !threadblock.tile<3x3xf16>) -> !threadblock.tile<5x3xf32>
    %s = threadblock.accumulate %m : (!threadblock.tile<5x3xf32>) -> !threadblock.tile<5x3xf32>
    %b1 = threadblock.broadcast %s : (!threadblock.tile<5x3xf32>) -> !threadblock.tile<1x5x3xf32>
    %b2 = threadblock.broadcast %b1 : (!threadblock.tile<1x5x3xf32>) -> !threadblock.tile<2x5x3xf32>
    %t = threadblock.transpose %b2 {permutation = array<i64: 1, 2, 0>} : (!threadblock.tile<2x5x3xf32>) -> !threadblock.tile<5x3x2xf32>
    %u = threadblock.transpose %t {permutation = array<i64: 2, 1, 0>} : (!threadblock.tile<5x3x2xf32>) -> !threadblock.tile<2x3x5xf32>
    %v = threadblock.relu %u : (!threadblock.tile<2x3x5xf32>) -> !threadblock.tile<2x3x5xf32>
    %r = threadblock.relu %v : (!threadblock.tile<2x3x5xf32>) -> !threadblock.tile<2x3x5xf32>
    threadblock.store %r grid_map [1] : !threadblock.tile<2x3x5xf32>
  } : (tensor<5x7xf16>, tensor<7x6xf16>) -> tensor<2x6x5xf32>
  %first = kernel.slice %o {offsets = array<i64: 1, 0, 0>, sizes = array<i64: 1, 6, 5>, strides = array<i64: 1, 1, 1>} : (tensor<2x6x5xf32>) -> tensor<1x6x5xf32>
  %flat = kernel.reshape %first : (tensor<1x6x5xf32>) -> tensor<6x5xf32>
  %z = kernel.cast %flat : (tensor<6x5xf32>) -> tensor<6x5xf16>
  func.return %z : tensor<6x5xf16>
}
