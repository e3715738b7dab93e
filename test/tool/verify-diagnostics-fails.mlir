// What was not expected, or expected in vain, is an error.
// RUN: not mirage-opt %s --split-input-file --verify-diagnostics 2>&1 >/dev/null | filecheck %s

// CHECK:      {{.*}}verify-diagnostics-fails.mlir:[[# @LINE + 4]]:3: error: unexpected error: 'func.return' op Expected {{.*}}
// CHECK-NEXT:   func.return
// CHECK-NEXT:   ^
func.func @unexpected() -> i32 {
  func.return
}

// -----

// CHECK-NEXT: {{.*}}verify-diagnostics-fails.mlir:[[# @LINE + 4]]:6: error: expected error "something" was not produced
// CHECK-NEXT:   // expected-error @+1
// CHECK-NEXT:      ^
func.func @vain() {
  // expected-error @+1 {{something}}
  func.return
}

// -----

// The kind, the line and the text must all be right.
// CHECK-NEXT: {{.*}}:3: error: unexpected error: 'func.return' op Expected {{.*}}
// CHECK-NEXT:   func.return
// CHECK-NEXT:   ^
// CHECK-NEXT: {{.*}}:6: error: expected remark "Expected" was not produced
// CHECK-NEXT:   // expected-remark
// CHECK-NEXT:      ^
// CHECK-NEXT: {{.*}}:6: error: expected error "Expected" was not produced
// CHECK-NEXT:   // expected-error
// CHECK-NEXT:      ^
// CHECK-NEXT: {{.*}}:6: error: expected error "other words" was not produced
// CHECK-NEXT:   // expected-error
// CHECK-NEXT:      ^
func.func @mismatch() -> i32 {
  // expected-remark @+3 {{Expected}}
  // expected-error @+1 {{Expected}}
  // expected-error @+1 {{other words}}
  func.return
}

// -----

// Each comment stands for one diagnostic.
// CHECK-NEXT: {{.*}}:6: error: expected error "Expected" was not produced
func.func @once() -> i32 {
  // expected-error @+2 {{Expected}}
  // expected-error @+1 {{Expected}}
  func.return
}
