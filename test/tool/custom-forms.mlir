// What is read in the generic form alone says so, and upstream's own words say what is wrong with linalg.
// RUN: not mirage-opt %S/Inputs/custom-form.mlir 2>&1 | filecheck %s --check-prefix=FORM
// RUN: not mirage-opt %S/Inputs/wrong-linalg.mlir 2>&1 | filecheck %s --check-prefix=LINALG
// RUN: not mirage-opt %S/Inputs/unknown-beside-linalg.mlir 2>&1 | filecheck %s --check-prefix=UNKNOWN

// FORM: custom-form.mlir:4:8: error: 'linalg.tanh' is read here in MLIR's generic form alone, "linalg.tanh"(...) : ...
// LINALG: wrong-linalg.mlir:3:53: error: use of value '%e' expects different type than prior uses

// The line of the program, not that of its generic form, in which it is read.
// UNKNOWN: unknown-beside-linalg.mlir:6:8: error: Operation mine.secret is not registered; --allow-unregistered-dialect lets it stay as it is
