// Prefix sums are taken apart before the search, and fused with what is around them.
// RUN: mirage-opt %s --superoptimize --verify-diagnostics | filecheck %s
// RUN: not mirage-opt %s --superoptimize --verify-equivalence 2>&1 | filecheck %s --check-prefix=SEARCH

// Without the pass before it the search does not know the operator.
// SEARCH: error: 'kernel.cumsum' op kernel.cumsum inside a kernel is not searched for
// SEARCH: note: kernel-decompose takes it apart

// CHECK-LABEL: func.func @cumsum
// CHECK-COUNT-1: kernel.graph_defined
// CHECK-NOT:     kernel.graph_defined
// CHECK-NOT:     kernel.cumsum
func.func @cumsum(%x: tensor<5x13xf16>) -> tensor<5x13xf16> {
  %e = kernel.exp %x : (tensor<5x13xf16>) -> tensor<5x13xf16>
  // expected-remark @+1 {{is not fused as one operator: it is taken apart, as kernel-decompose does}}
  %y = kernel.cumsum %e {dim = 1 : i64} : (tensor<5x13xf16>) -> tensor<5x13xf16>
  func.return %y : tensor<5x13xf16>
}
