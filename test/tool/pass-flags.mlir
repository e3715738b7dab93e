// Each pass is a flag; passes run in the order in which they are named, in whatever way.
// RUN: mirage-opt %s --cse --canonicalize --print-ir-after-all 2>&1 >/dev/null | filecheck %s --check-prefix=FORWARD
// RUN: mirage-opt %s --canonicalize --cse --print-ir-after-all 2>&1 >/dev/null | filecheck %s --check-prefix=BACKWARD
// RUN: mirage-opt %s -canonicalize -p cse --dce --print-ir-after-all 2>&1 >/dev/null | filecheck %s --check-prefix=MIXED
// RUN: mirage-opt --cse %s | filecheck %s

// FORWARD:  IR Dump After CommonSubexpressionElimination (cse)
// FORWARD:  IR Dump After CanonicalizePass (canonicalize)
// BACKWARD: IR Dump After CanonicalizePass (canonicalize)
// BACKWARD: IR Dump After CommonSubexpressionElimination (cse)
// MIXED:    IR Dump After CanonicalizePass (canonicalize)
// MIXED:    IR Dump After CommonSubexpressionElimination (cse)
// MIXED:    IR Dump After DeadCodeElimination (dce)

// CHECK:      func.func @twice
// CHECK-NEXT:   %[[X:.*]] = arith.addi %a, %a : i32
// CHECK-NEXT:   func.return %[[X]], %[[X]]
func.func @twice(%a: i32) -> (i32, i32) {
  %x = arith.addi %a, %a : i32
  %y = arith.addi %a, %a : i32
  func.return %x, %y : i32, i32
}
