// RUN: mirage-opt %s --superoptimize="max-kernels=1" | filecheck %s

// Softmax is searched without its maximum; a graph that walks the keys takes the maximum of each iteration,
// and what it sums is relative to the largest so far.
// CHECK-LABEL: func.func @attention
// CHECK:         kernel.graph_defined ins(%q, %k, %v) grid [{{.*}}] loop [{{.*}}] {
// CHECK:           %[[S:.*]] = threadblock.matmul
// CHECK-NEXT:      %[[M:.*]] = threadblock.reduce_max %[[S]]
// CHECK-NEXT:      %[[D:.*]] = threadblock.sub %[[S]], %[[M]]
// CHECK-NEXT:      %[[E:.*]] = threadblock.exp %[[D]]
// CHECK-NOT:       threadblock.reduce_max
// CHECK-COUNT-2:   threadblock.accumulate {{.*}}rescale %[[M]]
// CHECK-NOT:       kernel.graph_defined
func.func @attention(%q: tensor<8x64x64xf16>, %k: tensor<8x64x4096xf16>, %v: tensor<8x4096x64xf16>) -> tensor<8x64x64xf16> {
  %s = kernel.matmul %q, %k : (tensor<8x64x64xf16>, tensor<8x64x4096xf16>) -> tensor<8x64x4096xf16>
  %p = kernel.softmax %s {dim = 2 : i64} : (tensor<8x64x4096xf16>) -> tensor<8x64x4096xf16>
  %o = kernel.matmul %p, %v : (tensor<8x64x4096xf16>, tensor<8x4096x64xf16>) -> tensor<8x64x64xf16>
  func.return %o : tensor<8x64x64xf16>
}

// The same where the program subtracts no maximum.
// CHECK-LABEL: func.func @plain
// CHECK:         kernel.graph_defined ins(%q, %k, %v) grid [{{.*}}] loop [{{.*}}] {
// CHECK:           %[[S:.*]] = threadblock.matmul
// CHECK-NEXT:      %[[M:.*]] = threadblock.reduce_max %[[S]]
// CHECK-COUNT-2:   threadblock.accumulate {{.*}}rescale %[[M]]
// CHECK-NOT:       kernel.graph_defined
func.func @plain(%q: tensor<8x64x64xf16>, %k: tensor<8x64x4096xf16>, %v: tensor<8x4096x64xf16>) -> tensor<8x64x64xf16> {
  %s = kernel.matmul %q, %k : (tensor<8x64x64xf16>, tensor<8x64x4096xf16>) -> tensor<8x64x4096xf16>
  %e = kernel.exp %s : (tensor<8x64x4096xf16>) -> tensor<8x64x4096xf16>
  %n = kernel.reduce_sum %e {dims = array<i64: 2>} : (tensor<8x64x4096xf16>) -> tensor<8x64x1xf16>
  %p = kernel.div %e, %n : (tensor<8x64x4096xf16>, tensor<8x64x1xf16>) -> tensor<8x64x4096xf16>
  %o = kernel.matmul %p, %v : (tensor<8x64x4096xf16>, tensor<8x4096x64xf16>) -> tensor<8x64x64xf16>
  func.return %o : tensor<8x64x64xf16>
}

// A norm that subtracts a mean, and a matmul, in one pass over X: the tensor core reads X as it is,
// the variance is that of X less its first column.
// CHECK-LABEL: func.func @layernorm_linear
// CHECK:         %[[F:.*]] = kernel.slice %x {offsets = array<i64: 0, 0>, sizes = array<i64: 16, 1>
// CHECK-NEXT:    kernel.graph_defined ins(%x, %[[F]], %w) grid [{{.*}}] loop [{{.*}}] {
// CHECK:           %[[X:.*]] = threadblock.load {{.*}}tile<16x{{[0-9]+}}xf16>
// CHECK-NEXT:      %[[C:.*]] = threadblock.load {{.*}}tile<16x1xf16>
// CHECK:           %[[D:.*]] = threadblock.sub %[[X]], %[[C]]
// CHECK:           threadblock.square %[[D]]
// CHECK-NOT:       kernel.graph_defined
func.func @layernorm_linear(%x: tensor<16x4096xf16>, %w: tensor<4096x4096xf16>) -> tensor<16x4096xf16> {
  %y = kernel.layer_norm %x {eps = 1.0e-05 : f32} : (tensor<16x4096xf16>) -> tensor<16x4096xf16>
  %o = kernel.matmul %y, %w : (tensor<16x4096xf16>, tensor<4096x4096xf16>) -> tensor<16x4096xf16>
  func.return %o : tensor<16x4096xf16>
}
