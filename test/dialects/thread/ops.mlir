// RUN: %roundtrip
// RUN: %generic-roundtrip

%a, %b = "test.op"() : () -> (!threadblock.tile<16x48xf32>, !threadblock.tile<1x48xf16>)

// CHECK:      %y = thread.graph ins(%a, %b) {
// CHECK-NEXT: ^bb0(%x: f32, %z: f16):
// CHECK-NEXT:   %w = arith.extf %z : f16 to f32
// CHECK-NEXT:   %e = math.exp %w : f32
// CHECK-NEXT:   %s = arith.addf %x, %e : f32
// CHECK-NEXT:   thread.store %s : f32
// CHECK-NEXT: } : (!threadblock.tile<16x48xf32>, !threadblock.tile<1x48xf16>) -> !threadblock.tile<16x48xf32>
%y = thread.graph ins(%a, %b) {
^bb0(%x: f32, %z: f16):
  %w = arith.extf %z : f16 to f32
  %e = math.exp %w : f32
  %s = arith.addf %x, %e : f32
  thread.store %s : f32
} : (!threadblock.tile<16x48xf32>, !threadblock.tile<1x48xf16>) -> !threadblock.tile<16x48xf32>

// Two results, and attributes of later passes.
// CHECK:      %p, %q = thread.graph ins(%b) attributes {mirage.note = "x", stream = array<i64: 0, 16>} {
// CHECK-NEXT: ^bb{{[0-9]+}}(%h: f16):
// CHECK-NEXT:   thread.store %h : f16
// CHECK-NEXT:   %c = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:   thread.store %c : f32
// CHECK-NEXT: } : (!threadblock.tile<1x48xf16>) -> (!threadblock.tile<2x48xf16>, !threadblock.tile<2x48xf32>)
%p, %q = thread.graph ins(%b) attributes {stream = array<i64: 0, 16>, mirage.note = "x"} {
^bb0(%h: f16):
  thread.store %h : f16
  %c = arith.constant 1.0 : f32
  thread.store %c : f32
} : (!threadblock.tile<1x48xf16>) -> (!threadblock.tile<2x48xf16>, !threadblock.tile<2x48xf32>)

// No operand.
// CHECK:      %r = thread.graph ins() {
%r = thread.graph ins() {
  %d = arith.constant 2.0 : f32
  thread.store %d : f32
} : () -> !threadblock.tile<1x1xf32>
