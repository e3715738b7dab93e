// RUN: mirage-opt %s --canonicalize --cse --print-ir-after-all 2>&1 >/dev/null | filecheck %s
// RUN: mirage-opt %s --cse --mlir-print-ir-after-all --mlir-print-op-generic 2>&1 >/dev/null | filecheck %s --check-prefix=GENERIC

// CHECK:      // -----// IR Dump After CanonicalizePass (canonicalize) //----- //
// CHECK-NEXT: builtin.module {
// CHECK-NEXT:   func.func @f(%a: i32) -> (i32, i32) {
// CHECK-NEXT:     %x = arith.addi %a, %a : i32
// CHECK-NEXT:     %y = arith.addi %a, %a : i32
// CHECK-NEXT:     func.return %x, %y : i32, i32
// CHECK:      // -----// IR Dump After CommonSubexpressionElimination (cse) //----- //
// CHECK-NEXT: builtin.module {
// CHECK-NEXT:   func.func @f(%a: i32) -> (i32, i32) {
// CHECK-NEXT:     %x = arith.addi %a, %a : i32
// CHECK-NEXT:     func.return %x, %x : i32, i32
// GENERIC:    "func.func"()
func.func @f(%a: i32) -> (i32, i32) {
  %x = arith.addi %a, %a : i32
  %y = arith.addi %a, %a : i32
  %dead = arith.muli %x, %a : i32
  func.return %x, %y : i32, i32
}
