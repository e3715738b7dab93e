// Along which axes of the grid the last tile ends with its tensor: where producers copy tiles, and rows stand alone.
// RUN: mirage-opt %s --sink-reductions --fuse-thread-graphs --select-mma="target=H200" --select-copies --assign-layouts --software-pipeline | filecheck %s --check-prefix=SCHEDULE
// RUN: mirage-opt %s --sink-reductions --fuse-thread-graphs --select-mma="target=H200" --select-copies --assign-layouts --software-pipeline --plan-memory --overlap-launches --lower-to-nvvm | filecheck %s --check-prefix=NVVM

// 40 rows in tiles of 16, 72 columns in tiles of 64: the last begin at row 24 and column 8.
// SCHEDULE-LABEL: func.func @ragged
// SCHEDULE:       grid [3, 2] loop [4] schedule <{{.*}}shifted_axes = [0, 1]> {
// NVVM-LABEL:     llvm.func @ragged_kernel_0
// NVVM-DAG:       %[[row:.*]] = arith.constant 24 : i32
// NVVM-DAG:       %[[column:.*]] = arith.constant 8 : i32
// NVVM:           arith.minsi %{{.*}}, %[[column]]
// NVVM:           arith.minsi %{{.*}}, %[[row]]
func.func @ragged(%x: tensor<40x128xf16>, %w: tensor<128x72xf16>) -> tensor<40x72xf32> {
  %o = kernel.graph_defined ins(%x, %w) grid [3, 2] loop [4] {
  ^bb0(%xa: tensor<40x128xf16>, %wa: tensor<128x72xf16>):
    %xt = threadblock.load %xa grid_map [0, _] loop_map [1] : (tensor<40x128xf16>) -> !threadblock.tile<16x32xf16>
    %wt = threadblock.load %wa grid_map [_, 1] loop_map [0] : (tensor<128x72xf16>) -> !threadblock.tile<32x64xf16>
    %p = threadblock.matmul %xt, %wt : (!threadblock.tile<16x32xf16>, !threadblock.tile<32x64xf16>) -> !threadblock.tile<16x64xf32>
    %s = threadblock.accumulate %p : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x64xf32>
    threadblock.store %s grid_map [0, 1] : !threadblock.tile<16x64xf32>
  } : (tensor<40x128xf16>, tensor<128x72xf16>) -> tensor<40x72xf32>
  func.return %o : tensor<40x72xf32>
}

// A sum over the rows of a block: other rows would be in it.
// SCHEDULE-LABEL: func.func @sums
// SCHEDULE-NOT:   shifted_axes
// SCHEDULE:       func.return
func.func @sums(%x: tensor<40x128xf16>, %w: tensor<128x64xf16>) -> tensor<40x64xf32> {
  %o = kernel.graph_defined ins(%x, %w) grid [3] loop [4] {
  ^bb0(%xa: tensor<40x128xf16>, %wa: tensor<128x64xf16>):
    %xt = threadblock.load %xa grid_map [0] loop_map [1] : (tensor<40x128xf16>) -> !threadblock.tile<16x32xf16>
    %wt = threadblock.load %wa grid_map [_] loop_map [0] : (tensor<128x64xf16>) -> !threadblock.tile<32x64xf16>
    %p = threadblock.matmul %xt, %wt : (!threadblock.tile<16x32xf16>, !threadblock.tile<32x64xf16>) -> !threadblock.tile<16x64xf32>
    %s = threadblock.accumulate %p : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x64xf32>
    %c = threadblock.reduce_sum %s {dims = array<i64: 0>} : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<1x64xf32>
    %d = threadblock.add %s, %c : (!threadblock.tile<16x64xf32>, !threadblock.tile<1x64xf32>) -> !threadblock.tile<16x64xf32>
    threadblock.store %d grid_map [0] : !threadblock.tile<16x64xf32>
  } : (tensor<40x128xf16>, tensor<128x64xf16>) -> tensor<40x64xf32>
  func.return %o : tensor<40x64xf32>
}

// Whole tiles end with their tensor anyway.
// SCHEDULE-LABEL: func.func @whole
// SCHEDULE-NOT:   shifted_axes
// SCHEDULE:       func.return
func.func @whole(%x: tensor<48x128xf16>, %w: tensor<128x64xf16>) -> tensor<48x64xf32> {
  %o = kernel.graph_defined ins(%x, %w) grid [3] loop [4] {
  ^bb0(%xa: tensor<48x128xf16>, %wa: tensor<128x64xf16>):
    %xt = threadblock.load %xa grid_map [0] loop_map [1] : (tensor<48x128xf16>) -> !threadblock.tile<16x32xf16>
    %wt = threadblock.load %wa grid_map [_] loop_map [0] : (tensor<128x64xf16>) -> !threadblock.tile<32x64xf16>
    %p = threadblock.matmul %xt, %wt : (!threadblock.tile<16x32xf16>, !threadblock.tile<32x64xf16>) -> !threadblock.tile<16x64xf32>
    %s = threadblock.accumulate %p : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x64xf32>
    threadblock.store %s grid_map [0] : !threadblock.tile<16x64xf32>
  } : (tensor<48x128xf16>, tensor<128x64xf16>) -> tensor<48x64xf32>
  func.return %o : tensor<48x64xf32>
}
