// RUN: %installed/mirage-opt < %s | filecheck %s
// RUN: mirage-opt - < %s | filecheck %s
// RUN: mirage-opt -o - < %s | filecheck %s
// RUN: echo '%x = bad.op' | not %installed/mirage-opt 2>&1 | filecheck %s --check-prefix=ERROR
// RUN: mirage-opt < /dev/null | filecheck %s --check-prefix=EMPTY

// CHECK: func.func @f
// ERROR: <stdin>:1:6: error: Operation bad.op is not registered
// EMPTY: builtin.module {
// EMPTY-NEXT: }
func.func @f() {
  func.return
}
