// RUN: mirage-opt %s --canonicalize | filecheck %s

// CHECK-LABEL: func.func @identity(
func.func @identity() {
  // CHECK-NEXT: %a, %b = "test.op"()
  %a, %b = "test.op"() : () -> (!threadblock.tile<4x8xf32>, !threadblock.tile<4x8xf16>)
  %p, %q = thread.graph ins(%a, %b) {
  ^bb0(%x: f32, %y: f16):
    thread.store %y : f16
    thread.store %x : f32
  } : (!threadblock.tile<4x8xf32>, !threadblock.tile<4x8xf16>) -> (!threadblock.tile<4x8xf16>, !threadblock.tile<4x8xf32>)
  // CHECK-NEXT: "test.op"(%b, %a)
  "test.op"(%p, %q) : (!threadblock.tile<4x8xf16>, !threadblock.tile<4x8xf32>) -> ()
  func.return
}

// A broadcast and a computation stay; what nobody uses goes.
// CHECK-LABEL: func.func @keep(
func.func @keep() {
  // CHECK-NEXT: %a, %b = "test.op"()
  %a, %b = "test.op"() : () -> (!threadblock.tile<1x8xf32>, !threadblock.tile<4x8xf32>)
  // CHECK-NEXT: %p = thread.graph ins(%a) {
  // CHECK-NEXT: ^bb0(%x: f32):
  // CHECK-NEXT:   thread.store %x : f32
  %p = thread.graph ins(%a) {
  ^bb0(%x: f32):
    thread.store %x : f32
  } : (!threadblock.tile<1x8xf32>) -> !threadblock.tile<4x8xf32>
  // CHECK:      %q = thread.graph ins(%b) {
  // CHECK-NEXT: ^bb0(%y: f32):
  // CHECK-NEXT:   %z = math.exp %y : f32
  // CHECK-NEXT:   thread.store %z : f32
  %q = thread.graph ins(%b) {
  ^bb1(%y: f32):
    %z = math.exp %y : f32
    thread.store %z : f32
  } : (!threadblock.tile<4x8xf32>) -> !threadblock.tile<4x8xf32>
  %unused = thread.graph ins(%b) {
  ^bb2(%w: f32):
    %v = math.exp %w : f32
    thread.store %v : f32
  } : (!threadblock.tile<4x8xf32>) -> !threadblock.tile<4x8xf32>
  // CHECK:      "test.op"(%p, %q)
  "test.op"(%p, %q) : (!threadblock.tile<4x8xf32>, !threadblock.tile<4x8xf32>) -> ()
  func.return
}
