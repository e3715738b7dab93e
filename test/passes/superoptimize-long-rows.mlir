// Rows that no block holds: the blocks of a cluster have a part each, which they read once.
// RUN: mirage-opt %s --superoptimize="target=H100" | filecheck %s
// RUN: mirage-opt %s --superoptimize="target=A100" | filecheck %s --check-prefix=OLDER

// Without clusters a kernel finds the sums, and another one reads everything again.
// CHECK-LABEL: func.func @norm
// CHECK-NEXT:    %o = kernel.graph_defined ins(%x) grid [64, 4] {
// CHECK:           [[TILE:%.*]] = threadblock.load {{.*}} grid_map [0, 1] : {{.*}}tile<1x16384xf16>
// CHECK:           [[PART:%.*]] = threadblock.reduce_sum {{.*}} -> !threadblock.tile<1x1xf32>
// CHECK-NEXT:      threadblock.accumulate [[PART]] across [1] :
// CHECK:           threadblock.mul {{.*}}[[TILE]]
// CHECK:           threadblock.store {{.*}} grid_map [0, 1] : !threadblock.tile<1x16384xf16>
// CHECK-NOT:     kernel.graph_defined
// OLDER-LABEL: func.func @norm
// OLDER-COUNT-2: kernel.graph_defined
func.func @norm(%x: tensor<64x65536xf16>) -> tensor<64x65536xf16> {
  %o = kernel.rms_norm %x {eps = 1.0e-05 : f32} : (tensor<64x65536xf16>) -> tensor<64x65536xf16>
  func.return %o : tensor<64x65536xf16>
}

// All blocks subtract one maximum: that of the row, not of their part.
// CHECK-LABEL: func.func @weights
// CHECK-NEXT:    %o = kernel.graph_defined ins(%x) grid [64, 4] {
// CHECK:           [[TILE:%.*]] = threadblock.load {{.*}} grid_map [0, 1] : {{.*}}tile<1x16392xf32>
// CHECK:           [[MOST:%.*]] = threadblock.reduce_max [[TILE]]
// CHECK-NEXT:      [[ALL:%.*]] = threadblock.accumulate [[MOST]] across [1] {kind = "max"} :
// CHECK-NEXT:      threadblock.sub [[TILE]], [[ALL]] :
// CHECK:           threadblock.accumulate {{.*}} across [1] :
// CHECK-NOT:     kernel.graph_defined
func.func @weights(%x: tensor<64x65537xf32>) -> tensor<64x65537xf32> {
  %o = kernel.softmax %x {dim = 1 : i64} : (tensor<64x65537xf32>) -> tensor<64x65537xf32>
  func.return %o : tensor<64x65537xf32>
}
