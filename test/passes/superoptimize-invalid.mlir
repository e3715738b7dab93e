// RUN: mirage-opt %s --split-input-file --verify-diagnostics --superoptimize
// RUN: not mirage-opt %s --superoptimize="target=H900" 2>&1 | filecheck %s --check-prefix=TARGET
// RUN: not mirage-opt %s --superoptimize="time-limit=0" 2>&1 | filecheck %s --check-prefix=TIME
// RUN: not mirage-opt %s --superoptimize="top-k=0" 2>&1 | filecheck %s --check-prefix=TOP
// TARGET: unknown target 'H900': it is one of H200, H100, A100, sm_90a, sm_80
// TIME: time-limit is a positive number of seconds, not 0.0
// TOP: top-k is from 1 to 1000, not 0

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

// expected-error @+1 {{'func.func' op has argument 1 of type i32, which is no tensor of floats}}
func.func @integer(%x: tensor<4xf32>, %i: i32) -> (tensor<4xf32>, i32) {
  %y = kernel.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y, %i : tensor<4xf32>, i32
}

// -----

// Parts of primes along the only dimension: no tile holds them.
func.func @long_concat(%x: tensor<104729xf32>, %y: tensor<104723xf32>) -> tensor<209452xf32> {
  // expected-error @+1 {{'kernel.concat' op puts together tensors of sizes 104729, 104723 along dim 0: a block holds at most 14528 elements along it, times what divides all these sizes}}
  %z = kernel.concat %x, %y {dim = 0 : i64} : (tensor<104729xf32>, tensor<104723xf32>) -> tensor<209452xf32>
  func.return %z : tensor<209452xf32>
}
