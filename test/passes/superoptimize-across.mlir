// RUN: mirage-opt %s --superoptimize="max-kernels=1" | filecheck %s
// RUN: mirage-opt %s --superoptimize="target=A100" | filecheck %s --check-prefix=ALONE

// 1024 columns are too few to fill a GPU with blocks. In one kernel, where blocks can form a cluster,
// several share the depth of each tile of columns and add up the product and the sum of squares;
// elsewhere every block walks all of the depth, or parts of the sums go through memory.
// CHECK-LABEL: func.func @few_columns
// CHECK:         kernel.graph_defined ins(%x, %w) grid [{{[0-9]+}}, {{[248]}}] loop [{{[0-9]+}}]
// CHECK:         threadblock.load {{.*}} grid_map [_, 1] loop_map [1]
// CHECK-NEXT:    threadblock.load {{.*}} grid_map [1, 0] loop_map [0]
// CHECK-COUNT-2: threadblock.accumulate {{.*}} across [1]
// CHECK-NOT:     threadblock.accumulate
// CHECK:         threadblock.store {{.*}} grid_map [1, _]

// ALONE-LABEL: func.func @few_columns
// ALONE:         kernel.graph_defined ins(%x, %w)
// ALONE-NOT:     across
func.func @few_columns(%x: tensor<16x4096xf16>, %w: tensor<4096x1024xf16> {kernel.constant}) -> tensor<16x1024xf16> {
  %y = kernel.rms_norm %x {eps = 1.0e-05 : f32} : (tensor<16x4096xf16>) -> tensor<16x4096xf16>
  %o = kernel.matmul %y, %w : (tensor<16x4096xf16>, tensor<4096x1024xf16>) -> tensor<16x1024xf16>
  func.return %o : tensor<16x1024xf16>
}
