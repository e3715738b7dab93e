// RUN: mirage-opt %s --split-input-file --verify-diagnostics --partition-program
// RUN: not mirage-opt %s --partition-program="target=H900" 2>&1 | filecheck %s --check-prefix=TARGET
// RUN: not mirage-opt %s --partition-program="max-operators=0" 2>&1 | filecheck %s --check-prefix=OPERATORS
// TARGET: unknown target 'H900': it is one of H200, H100, A100, sm_90a, sm_80
// OPERATORS: max-operators is at least 1, not 0

// expected-error @+1 {{'func.func' op has several blocks; only straight-line functions can be compiled}}
func.func @several_blocks(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = kernel.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  cf.br ^bb1
^bb1:
  func.return %y : tensor<4xf32>
}

// -----

func.func @foreign(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = kernel.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+2 {{'arith.addf' op is no operator of the kernel dialect}}
  // expected-note @+1 {{a function to compile holds nothing else}}
  %z = arith.addf %y, %y : tensor<4xf32>
  func.return %z : tensor<4xf32>
}

// -----

// Calls and operators in one function: the calls are not of pieces.
func.func private @other(%x: tensor<4xf32>) -> tensor<4xf32> {
  func.return %x : tensor<4xf32>
}
func.func @calls(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = kernel.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+2 {{'func.call' op is no operator of the kernel dialect}}
  // expected-note @+1 {{a function to compile holds nothing else}}
  %z = func.call @other(%y) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %z : tensor<4xf32>
}
