// RUN: mirage-opt %s --superoptimize="max-kernels=1" | filecheck %s
// RUN: mirage-opt %s --superoptimize="target=A100" -o %t
// RUN: filecheck %s < %t
// RUN: mirage-opt %t --sink-reductions --fuse-thread-graphs --split-cross-block-sums="target=sm_80" --select-mma --select-copies --assign-layouts="target=sm_80" --software-pipeline="target=sm_80" --plan-memory="target=sm_80" --overlap-launches="target=sm_80" --lower-to-nvvm="target=sm_80" --check-lowered-kernels 2>&1 >/dev/null | filecheck %s --check-prefix=RUNS

// 512 columns are too few to fill a GPU with blocks. In one kernel several share the depth of each
// tile of columns and add up the product and the sum of squares: in a cluster where there are
// clusters, elsewhere through device memory.
// CHECK-LABEL: func.func @few_columns
// CHECK:         kernel.graph_defined ins(%x, %w) grid [{{[0-9]+}}, {{2|4|8|16}}] loop [{{[0-9]+}}]
// CHECK:         threadblock.load {{.*}} grid_map [_, 1] loop_map [1]
// CHECK-NEXT:    threadblock.load {{.*}} grid_map [1, 0] loop_map [0]
// CHECK-COUNT-2: threadblock.accumulate {{.*}} across [1]
// CHECK-NOT:     threadblock.accumulate
// CHECK:         threadblock.store {{.*}} grid_map [1, _]

// RUNS: @few_columns: 1 kernel runs without a fault
func.func @few_columns(%x: tensor<8x4096xf16>, %w: tensor<4096x512xf16> {kernel.constant}) -> tensor<8x512xf16> {
  %y = kernel.rms_norm %x {eps = 1.0e-05 : f32} : (tensor<8x4096xf16>) -> tensor<8x4096xf16>
  %o = kernel.matmul %y, %w : (tensor<8x4096xf16>, tensor<4096x512xf16>) -> tensor<8x512xf16>
  func.return %o : tensor<8x512xf16>
}
