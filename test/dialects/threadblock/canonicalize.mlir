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
