// Attention with few rows, whose context superoptimize-kernels.mlir splits over blocks, which takes a
// second kernel; without one nothing of a part is stored.
// RUN: mirage-opt %s --superoptimize="max-kernels=1" | filecheck %s

// CHECK-LABEL: func.func @split_context
// CHECK-NOT:     x2x8x1xf32>, tensor<
// CHECK:         kernel.graph_defined
// CHECK-NOT:     x2x8x1xf32>, tensor<
// CHECK:         func.return
func.func @split_context(%q: tensor<2x8x128xf16>, %k: tensor<2x128x8192xf16>, %v: tensor<2x8192x128xf16>) -> tensor<2x8x128xf16> {
  %s = kernel.matmul %q, %k : (tensor<2x8x128xf16>, tensor<2x128x8192xf16>) -> tensor<2x8x8192xf16>
  %p = kernel.softmax %s {dim = 2 : i64} : (tensor<2x8x8192xf16>) -> tensor<2x8x8192xf16>
  %o = kernel.matmul %p, %v : (tensor<2x8x8192xf16>, tensor<2x8192x128xf16>) -> tensor<2x8x128xf16>
  func.return %o : tensor<2x8x128xf16>
}
