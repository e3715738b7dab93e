// What IRDL can say, mlir-opt checks; the rest is checked by our own verifier only.
// REQUIRES: mlir-opt
// RUN: mirage-opt -t irdl /dev/null -o %t.irdl.mlir
// RUN: %mlir-opt %s --irdl-file=%t.irdl.mlir --allow-unregistered-dialect --split-input-file --verify-diagnostics

func.func @operand(%a: i32) {
  // expected-error @+1 {{expected base type 'builtin.tensor' but got 'builtin.integer'}}
  %x = "kernel.exp"(%a) : (i32) -> i32
  return
}

// -----

func.func @missing(%a: tensor<4xf32>) {
  // expected-error @+1 {{attribute "factor" is expected but not provided}}
  %x = "kernel.scale"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @attribute(%a: tensor<4xf32>) {
  // expected-error @+1 {{expected base attribute 'builtin.float' but got 'builtin.string'}}
  %x = "kernel.scale"(%a) {factor = "half"} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @too_many(%a: tensor<4xf32>) {
  // expected-error @+1 {{op expects exactly 1 operands, but got 2}}
  %x = "kernel.exp"(%a, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @element_types() {
  %a = "test.op"() : () -> !threadblock.tile<[64, 32], f16>
  %b = "test.op"() : () -> !threadblock.tile<[32, 16], bf16>
  // expected-error @+1 {{expected 'f16' but got 'bf16'}}
  %c = "threadblock.matmul"(%a, %b) : (!threadblock.tile<[64, 32], f16>, !threadblock.tile<[32, 16], bf16>) -> !threadblock.tile<[64, 16], f32>
  return
}

// -----

// expected-error @+1 {{'i8' does not satisfy the constraint}}
%a = "test.op"() : () -> !threadblock.tile<[64, 32], i8>
