// RUN: mirage-opt %s --superoptimize | filecheck %s

// Rows and sums of columns of them: the first kernel reads the rows once, stores them tile by tile
// and leaves parts of the sums, which the second adds up. Blocks take turns with the rows.

// CHECK-LABEL: func.func @f
// CHECK:         kernel.graph_defined ins(%{{.*}}, %{{.*}}) grid [{{[0-9]+}}] loop [{{[0-9]+}}] cyclic {
// CHECK:           threadblock.accumulate
// CHECK:           threadblock.store %{{.*}} grid_map [0] loop_map [0]
// CHECK-NEXT:      threadblock.{{.*}}
// CHECK-NEXT:      threadblock.store %{{.*}} grid_map [0] :
// CHECK:         kernel.graph_defined ins(%{{[^,]*}}) grid [{{[0-9]+}}] {
// CHECK:           threadblock.reduce_sum
// CHECK-NOT:     kernel.graph_defined
func.func @f(%x: tensor<32000x512xf32>, %dy: tensor<32000x512xf32>) -> (tensor<32000x512xf32>, tensor<1x512xf32>) {
  %m = kernel.mul %x, %dy : (tensor<32000x512xf32>, tensor<32000x512xf32>) -> tensor<32000x512xf32>
  %s = kernel.reduce_sum %m {dims = array<i64: 1>} : (tensor<32000x512xf32>) -> tensor<32000x1xf32>
  %d = kernel.mul %dy, %s : (tensor<32000x512xf32>, tensor<32000x1xf32>) -> tensor<32000x512xf32>
  %c = kernel.reduce_sum %m {dims = array<i64: 0>} : (tensor<32000x512xf32>) -> tensor<1x512xf32>
  func.return %d, %c : tensor<32000x512xf32>, tensor<1x512xf32>
}
