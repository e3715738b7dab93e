// Passes after the search speak of the line of the program that a graph comes from.
// RUN: mirage-opt %s --superoptimize --print-debuginfo | filecheck %s --check-prefix=KNOWN
// RUN: not mirage-opt %s --superoptimize --select-mma 2>&1 | filecheck %s --check-prefix=LAYOUTS
// RUN: not mirage-opt %s --superoptimize --software-pipeline 2>&1 | filecheck %s --check-prefix=SCHEDULE
// RUN: not mirage-opt %s --superoptimize --plan-memory 2>&1 | filecheck %s --check-prefix=MEMORY
// RUN: not mirage-opt %s --superoptimize --lower-to-nvvm 2>&1 | filecheck %s --check-prefix=LOWER
// RUN: not mirage-opt %s --superoptimize --verify-equivalence="reference=f candidate=g" 2>&1 | filecheck %s --check-prefix=VERIFY

// KNOWN:      func.func @f
// KNOWN-NOT:  unknown
// LAYOUTS:    {{^.*}}locations-of-errors.mlir:[[# @LINE + 8]]:8: error: 'threadblock.relu' op has no lowering; run fuse-thread-graphs first
// LAYOUTS-NEXT: %y = kernel.relu
// SCHEDULE:   {{^.*}}locations-of-errors.mlir:[[# @LINE + 6]]:8: error: 'kernel.graph_defined' op has no layouts; run assign-layouts first
// MEMORY:     {{^.*}}locations-of-errors.mlir:[[# @LINE + 5]]:8: error: 'kernel.graph_defined' op has no schedule yet
// LOWER:      {{^.*}}locations-of-errors.mlir:[[# @LINE + 4]]:8: error: 'kernel.graph_defined' op has no place for its results
// VERIFY:     {{^.*}}locations-of-errors.mlir:[[# @LINE + 6]]:1: error: 'func.func' op @g is not @f
// VERIFY-NEXT: func.func @g
func.func @f(%x: tensor<16x64xf16>) -> tensor<16x64xf16> {
  %y = kernel.relu %x : (tensor<16x64xf16>) -> tensor<16x64xf16>
  func.return %y : tensor<16x64xf16>
}
func.func @g(%x: tensor<16x64xf16>) -> tensor<16x64xf16> {
  %y = kernel.exp %x : (tensor<16x64xf16>) -> tensor<16x64xf16>
  func.return %y : tensor<16x64xf16>
}
