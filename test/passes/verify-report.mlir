// What verification proved, as JSON; also of a run that fails.
// RUN: mirage-opt %s --verify-equivalence="reference=f candidate=g seed=7 tests=2" --verify-report=%t -o %t.mlir 2> %t.err
// RUN: filecheck %s --input-file=%t --check-prefix=EQUAL
// RUN: not mirage-opt %s --verify-equivalence="reference=f candidate=h" --verify-report=%t 2> %t.err
// RUN: filecheck %s --input-file=%t --check-prefix=DIFFERENT
// RUN: mirage-opt %s --verify-equivalence="reference=f candidate=g seed=7 tests=2" --verify-report=%t.1 -o %t.mlir 2> %t.err
// RUN: mirage-opt %s --verify-equivalence="reference=f candidate=g seed=7 tests=2" --verify-report=%t.2 -o %t.mlir 2> %t.err
// RUN: diff %t.1 %t.2

// EQUAL: "reference": "f",
// EQUAL-NEXT: "candidate": "g",
// EQUAL-NEXT: "status": "verified",
// EQUAL-NEXT: "verdict": "equal",
// EQUAL-NEXT: "arguments": [
// EQUAL-NEXT: "proved",
// EQUAL-NEXT: "tested"
// EQUAL: "bound":
// EQUAL-NEXT: "theorem": "Schwartz-Zippel
// EQUAL-NEXT: "scope": "all elements",
// EQUAL-NEXT: "seed": 7,
// EQUAL-NEXT: "normal_form": null,
// EQUAL-NEXT: "not_tested": null,
// EQUAL: "error":
// EQUAL-NEXT: "tolerance":

// DIFFERENT: "status": "NOT VERIFIED",
// DIFFERENT-NEXT: "verdict": "not equal",
// DIFFERENT-NEXT: "arguments": [],
// DIFFERENT: "element": [
// DIFFERENT: "inputs": "argument 0 = 1 everywhere",
// DIFFERENT: "reference": 1.0,
// DIFFERENT-NEXT: "candidate": 2.0
// DIFFERENT: "operator": "'kernel.add' (%y) is the first whose value is no part of the reference"

func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = kernel.square %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}
func.func @g(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = kernel.mul %x, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}
func.func @h(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %s = kernel.square %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %y = kernel.add %x, %s : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}
