// Kernels that subtract what the program does not may cancel: (g p) K - d (p K), for p (g - d) K,
// where a row of the softmax p is nearly one 1 and g nearly d. Where no other kernels are found at
// first, none are made that subtract anything but what the program does.
// RUN: mirage-opt %s --superoptimize="target=H200" | filecheck %s

// CHECK-LABEL: func.func @gradient_of_queries
// CHECK:         kernel.graph_defined
// CHECK:         [[MEAN:%.*]] = threadblock.reduce_sum
// CHECK:         threadblock.sub
// CHECK:         [[WEIGHTED:%.*]] = threadblock.mul
// CHECK:         [[NARROW:%.*]] = threadblock.cast
// CHECK:         threadblock.matmul [[NARROW]]
// CHECK-NOT:     kernel.graph_defined
// CHECK:         func.return
func.func @gradient_of_queries(%q: tensor<2x32x64xbf16>, %k: tensor<2x64x64xbf16>, %g: tensor<2x32x64xbf16>, %v: tensor<2x64x64xbf16>) -> tensor<2x32x64xbf16> {
  %kt = kernel.transpose %k {permutation = array<i64: 0, 2, 1>} : (tensor<2x64x64xbf16>) -> tensor<2x64x64xbf16>
  %s = kernel.matmul %q, %kt : (tensor<2x32x64xbf16>, tensor<2x64x64xbf16>) -> tensor<2x32x64xbf16>
  %p = kernel.softmax %s {dim = 2 : i64} : (tensor<2x32x64xbf16>) -> tensor<2x32x64xbf16>
  %vt = kernel.transpose %v {permutation = array<i64: 0, 2, 1>} : (tensor<2x64x64xbf16>) -> tensor<2x64x64xbf16>
  %gp = kernel.matmul %g, %vt : (tensor<2x32x64xbf16>, tensor<2x64x64xbf16>) -> tensor<2x32x64xbf16>
  %m = kernel.mul %gp, %p : (tensor<2x32x64xbf16>, tensor<2x32x64xbf16>) -> tensor<2x32x64xbf16>
  %d = kernel.reduce_sum %m {dims = array<i64: 2>} : (tensor<2x32x64xbf16>) -> tensor<2x32x1xbf16>
  %c = kernel.sub %gp, %d : (tensor<2x32x64xbf16>, tensor<2x32x1xbf16>) -> tensor<2x32x64xbf16>
  %gs = kernel.mul %c, %p : (tensor<2x32x64xbf16>, tensor<2x32x64xbf16>) -> tensor<2x32x64xbf16>
  %gq = kernel.matmul %gs, %k : (tensor<2x32x64xbf16>, tensor<2x64x64xbf16>) -> tensor<2x32x64xbf16>
  func.return %gq : tensor<2x32x64xbf16>
}
