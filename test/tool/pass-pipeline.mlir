// RUN: mirage-opt %s --pass-pipeline='builtin.module(canonicalize,cse)' --print-ir-after-all 2>&1 | filecheck %s
// RUN: mirage-opt %s --pass-pipeline='builtin.module( canonicalize , cse )' --print-ir-after-all 2>&1 | filecheck %s
// RUN: mirage-opt %s --pass-pipeline='builtin.module()' | filecheck %s --check-prefix=EMPTY
// RUN: not mirage-opt %s --pass-pipeline=cse 2>&1 | filecheck %s --check-prefix=ANCHOR
// RUN: not mirage-opt %s --pass-pipeline='builtin.module(func.func(cse))' 2>&1 | filecheck %s --check-prefix=NESTED
// RUN: not mirage-opt %s --pass-pipeline='builtin.module(cse' 2>&1 | filecheck %s --check-prefix=OPEN
// RUN: not mirage-opt %s --pass-pipeline='builtin.module(cse)' --dce 2>&1 | filecheck %s --check-prefix=BOTH

// CHECK:  IR Dump After CanonicalizePass (canonicalize)
// CHECK:  IR Dump After CommonSubexpressionElimination (cse)
// EMPTY:  func.func @f
// ANCHOR: mirage-opt: error: --pass-pipeline: expected 'builtin.module(...)' at column 1 of 'cse'
// NESTED: mirage-opt: error: --pass-pipeline: passes run on builtin.module, none can be nested in 'func.func'
// OPEN:   mirage-opt: error: --pass-pipeline: expected ')' at column 19 of 'builtin.module(cse'
// BOTH:   mirage-opt: error: --pass-pipeline and other options that name passes exclude each other
func.func @f() {
  func.return
}
