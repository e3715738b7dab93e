// A pass that cannot transform the program says so, and the passes after it do not run.
// RUN: not mirage-opt %s --cse --superoptimize --dce --print-ir-after-all 2>&1 | filecheck %s
// RUN: not mirage-opt %s --superoptimize --verify-diagnostics 2>&1 | filecheck %s --check-prefix=UNEXPECTED

// CHECK:      // -----// IR Dump After CommonSubexpressionElimination (cse) //----- //
// CHECK:      // -----// IR Dump After KernelDecomposePass (kernel-decompose) //----- //
// CHECK:      // -----// IR Dump After PartitionProgramPass Failed (partition-program) //----- //
// CHECK:      pass-failure.mlir:[[# @LINE + 5]]:8: error: 'math.exp' op
// CHECK-NOT:  IR Dump After DeadCodeElimination
// UNEXPECTED: pass-failure.mlir:[[# @LINE + 3]]:8: error: unexpected error: 'math.exp' op
func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %a = kernel.exp %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %b = math.exp %a : tensor<4x8xf32>
  func.return %b : tensor<4x8xf32>
}
