// A conversion that finds nothing of its language says so, unless told that there may be nothing.
// RUN: mirage-opt --convert-stablehlo-to-kernel %s --verify-diagnostics --split-input-file
// RUN: mirage-opt --convert-linalg-to-kernel %s 2>&1 --split-input-file | filecheck %s
// RUN: mirage-opt --convert-stablehlo-to-kernel=if-any %s 2>&1 --split-input-file | filecheck %s --check-prefix=QUIET

// CHECK-NOT:   remark
// CHECK:       func.func @of_linalg(
// CHECK-NEXT:    kernel.exp
// QUIET-NOT:   remark
func.func @of_linalg(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  // expected-remark @+1 {{'linalg.exp' op is no StableHLO: nothing of this module was converted; convert-linalg-to-kernel converts it}}
  %y = linalg.exp ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}

// -----

// CHECK:       remark: 'stablehlo.tanh' op is no linalg: nothing of this module was converted; convert-stablehlo-to-kernel converts it
func.func @of_stablehlo(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = "stablehlo.tanh"(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}

// -----

// Operators of ours, and nothing on tensors.
func.func @of_kernels(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = kernel.tanh %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}

func.func @scalar(%x: i32) -> i32 {
  %y = arith.addi %x, %x : i32
  func.return %y : i32
}
