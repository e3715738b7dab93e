// Each part is a program of its own; after a bad one the others are still compiled. Lines count through the file.
// RUN: not mirage-opt %s --split-input-file 2>%t.errors | filecheck %s
// RUN: filecheck %s --check-prefix=ERROR < %t.errors
// RUN: not mirage-opt %s 2>&1 | filecheck %s --check-prefix=WHOLE

// CHECK:      func.func @first
// CHECK:      // -----
// CHECK-NEXT: // -----
// CHECK-NEXT: builtin.module {
// CHECK-NEXT:   func.func @third
// ERROR:      split-input-file.mlir:19:17: error: use of undeclared value %nowhere
// WHOLE:      split-input-file.mlir:19:17: error: use of undeclared value %nowhere
func.func @first() {
  func.return
}

// -----

%x = arith.addi %nowhere, %nowhere : i32

// ----- comments may follow the marker

func.func @third() {
  func.return
}
