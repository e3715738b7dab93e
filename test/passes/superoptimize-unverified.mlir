// What is not verified is not returned, unless that is asked for; then everything says so.
// RUN: rm -f %t.mlir
// RUN: not mirage-opt %s --superoptimize -o %t.mlir 2>&1 | filecheck %s --check-prefix=REFUSED
// RUN: not test -e %t.mlir
// RUN: mirage-opt %s --superoptimize --allow-unverified -o %t.mlir 2>&1 | filecheck %s --check-prefix=ALLOWED
// RUN: filecheck %s --input-file=%t.mlir --check-prefix=RESULT
// RUN: mirage-opt %s --superoptimize --allow-unverified --report -o %t.mlir 2>&1 | filecheck %s --check-prefix=REPORT

// REFUSED: superoptimize-unverified.mlir:[[# @LINE + 11]]:1: error: 'func.func' op has no kernels that are verified: not proved: normal forms: something is divided by zero; not tested: some element of a result has a zero denominator in all draws
// REFUSED: note: --allow-unverified returns the best one all the same

// ALLOWED: NOT VERIFIED

// RESULT: attributes {kernel.unverified = #kernel.unverified<"not proved: normal forms: something is divided by zero
// RESULT: kernel.graph_defined
// RESULT: threadblock.div

// REPORT: NOT VERIFIED

func.func @undefined(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %0 = kernel.sub %x, %x : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  %1 = kernel.div %x, %0 : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  func.return %1 : tensor<8x16xf32>
}
