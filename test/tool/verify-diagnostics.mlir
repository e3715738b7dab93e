// Exactly the expected diagnostics: exit code 0, and the programs without errors are printed.
// RUN: mirage-opt %s --split-input-file --verify-diagnostics | filecheck %s

// CHECK: func.func @same_line
func.func @same_line(%a: i32) -> i32 {
  func.return %a : i32
}

// -----

func.func @error() -> i32 {
  func.return // expected-error {{Expected arguments to have the same types}}
}

// -----

// expected-error @+2 {{'func.return' op Expected}}
func.func @plus() -> i32 {
  func.return
}

// -----

func.func @minus() -> i32 {
  func.return
}
// expected-error @-2 {{'func.return' op Expected}}

// -----

func.func @above() -> i32 {
  func.return
  // expected-error @above {{'func.return' op Expected}}
}

// -----

func.func @below() -> i32 {
  // expected-error @below {{'func.return' op Expected}}
  func.return
}

// -----

// A parse error is a diagnostic like any other.
// expected-error @+1 {{use of undeclared value %nowhere}}
%x = arith.addi %nowhere, %nowhere : i32

// -----

func.func @regular_expression() -> i32 {
  // expected-error-re @below {{expected [{{i[0-9]+}}], got []}}
  func.return
}
