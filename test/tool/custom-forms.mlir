// What is read in the generic form alone says so, and upstream's own words say what is wrong with linalg.
// RUN: not mirage-opt %S/Inputs/custom-form.mlir 2>&1 | filecheck %s --check-prefix=FORM
// RUN: not mirage-opt %S/Inputs/wrong-linalg.mlir 2>&1 | filecheck %s --check-prefix=LINALG

// FORM: custom-form.mlir:4:8: error: 'linalg.tanh' is read here in MLIR's generic form alone, "linalg.tanh"(...) : ...
// LINALG: wrong-linalg.mlir:3:53: error: use of value '%e' expects different type than prior uses
