// Factors that cancel are written as the program has them, so that a kernel can hold all of it.
// RUN: mirage-opt %s --superoptimize="target=H200" | filecheck %s

// The divergence of two softmaxes at a temperature of 2, times 4, and its gradient: half of a logit
// times 4 has a smaller numerator than 4. The loss has no columns: all blocks of a cluster, which
// holds a row, have it.
// CHECK-LABEL: func.func @divergence
// CHECK:         kernel.graph_defined ins(%{{[st]}}, %{{[st]}}) grid [48, 8]
// CHECK-COUNT-5: threadblock.accumulate {{.*}} across [1]
// CHECK:         threadblock.store {{.*}} grid_map [0, _]
// CHECK:         threadblock.store {{.*}} grid_map [0, 1]
// CHECK-NOT:     kernel.graph_defined
// CHECK:         func.return
func.func @divergence(%s: tensor<48x100352xbf16>, %t: tensor<48x100352xbf16>) -> (tensor<48x1xf32>, tensor<48x100352xbf16>) {
  %af = kernel.cast %s : (tensor<48x100352xbf16>) -> tensor<48x100352xf32>
  %a = kernel.scale %af {factor = 0.5 : f32} : (tensor<48x100352xf32>) -> tensor<48x100352xf32>
  %am = kernel.reduce_max %a {dims = array<i64: 1>} : (tensor<48x100352xf32>) -> tensor<48x1xf32>
  %ac = kernel.sub %a, %am : (tensor<48x100352xf32>, tensor<48x1xf32>) -> tensor<48x100352xf32>
  %ae = kernel.exp %ac : (tensor<48x100352xf32>) -> tensor<48x100352xf32>
  %az = kernel.reduce_sum %ae {dims = array<i64: 1>} : (tensor<48x100352xf32>) -> tensor<48x1xf32>
  %al = kernel.log %az : (tensor<48x1xf32>) -> tensor<48x1xf32>
  %as = kernel.add %am, %al : (tensor<48x1xf32>, tensor<48x1xf32>) -> tensor<48x1xf32>
  %p = kernel.sub %a, %as : (tensor<48x100352xf32>, tensor<48x1xf32>) -> tensor<48x100352xf32>
  %bf = kernel.cast %t : (tensor<48x100352xbf16>) -> tensor<48x100352xf32>
  %b = kernel.scale %bf {factor = 0.5 : f32} : (tensor<48x100352xf32>) -> tensor<48x100352xf32>
  %bm = kernel.reduce_max %b {dims = array<i64: 1>} : (tensor<48x100352xf32>) -> tensor<48x1xf32>
  %bc = kernel.sub %b, %bm : (tensor<48x100352xf32>, tensor<48x1xf32>) -> tensor<48x100352xf32>
  %be = kernel.exp %bc : (tensor<48x100352xf32>) -> tensor<48x100352xf32>
  %bz = kernel.reduce_sum %be {dims = array<i64: 1>} : (tensor<48x100352xf32>) -> tensor<48x1xf32>
  %bl = kernel.log %bz : (tensor<48x1xf32>) -> tensor<48x1xf32>
  %bs = kernel.add %bm, %bl : (tensor<48x1xf32>, tensor<48x1xf32>) -> tensor<48x1xf32>
  %q = kernel.sub %b, %bs : (tensor<48x100352xf32>, tensor<48x1xf32>) -> tensor<48x100352xf32>
  %qe = kernel.exp %q : (tensor<48x100352xf32>) -> tensor<48x100352xf32>
  %d = kernel.sub %q, %p : (tensor<48x100352xf32>, tensor<48x100352xf32>) -> tensor<48x100352xf32>
  %w = kernel.mul %qe, %d : (tensor<48x100352xf32>, tensor<48x100352xf32>) -> tensor<48x100352xf32>
  %k = kernel.reduce_sum %w {dims = array<i64: 1>} : (tensor<48x100352xf32>) -> tensor<48x1xf32>
  %loss = kernel.scale %k {factor = 4.0 : f32} : (tensor<48x1xf32>) -> tensor<48x1xf32>
  %pe = kernel.exp %p : (tensor<48x100352xf32>) -> tensor<48x100352xf32>
  %g = kernel.sub %pe, %qe : (tensor<48x100352xf32>, tensor<48x100352xf32>) -> tensor<48x100352xf32>
  %gs = kernel.scale %g {factor = 2.0 : f32} : (tensor<48x100352xf32>) -> tensor<48x100352xf32>
  %grad = kernel.cast %gs : (tensor<48x100352xf32>) -> tensor<48x100352xbf16>
  func.return %loss, %grad : tensor<48x1xf32>, tensor<48x100352xbf16>
}
