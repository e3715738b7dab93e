// RUN: mirage-opt %s --sink-reductions --fuse-thread-graphs --split-cross-block-sums="target=A100" --select-mma --select-copies --assign-layouts="target=A100" --software-pipeline | filecheck %s
// RUN: mirage-opt %s --sink-reductions --fuse-thread-graphs --split-cross-block-sums="target=A100" --select-mma --select-copies --assign-layouts="target=A100" --software-pipeline --plan-memory --overlap-launches --lower-to-nvvm | filecheck %s --check-prefix=NVVM

// Two sorts of weights relative to one maximum, and weights from outside whose matmul with the values
// is ready first: it is added up only when the iteration's maximum is known. No maximum of single warps
// could stand in for it.
// CHECK-LABEL: func.func @joint
// CHECK:         threadblock.barrier
// CHECK:         [[OUTER:%[a-z0-9]+]] = threadblock.matmul
// CHECK-NOT:     rescale
// CHECK:         arith.maximumf
// CHECK:         threadblock.accumulate [[OUTER]] rescale
// CHECK-NOT:     online_maximum
// CHECK:         threadblock.store

// NVVM-LABEL: llvm.func @joint_kernel_0
// NVVM:         nvvm.ex2
func.func @joint(%s: tensor<16x128xf16>, %w: tensor<16x128xf16>, %v: tensor<128x32xf16>) -> tensor<16x32xf32> {
  %o = kernel.graph_defined ins(%s, %w, %v) grid [1] loop [4] {
  ^bb0(%sa: tensor<16x128xf16>, %wa: tensor<16x128xf16>, %va: tensor<128x32xf16>):
    %st = threadblock.load %sa grid_map [_] loop_map [1] : (tensor<16x128xf16>) -> !threadblock.tile<16x32xf16>
    %wt = threadblock.load %wa grid_map [_] loop_map [1] : (tensor<16x128xf16>) -> !threadblock.tile<16x32xf16>
    %vt = threadblock.load %va grid_map [_] loop_map [0] : (tensor<128x32xf16>) -> !threadblock.tile<32x32xf16>
    %n = threadblock.scale %st {factor = -5.000000e-01 : f32} : (!threadblock.tile<16x32xf16>) -> !threadblock.tile<16x32xf32>
    %m0 = threadblock.reduce_max %st {dims = array<i64: 1>} : (!threadblock.tile<16x32xf16>) -> !threadblock.tile<16x1xf32>
    %m1 = threadblock.reduce_max %n {dims = array<i64: 1>} : (!threadblock.tile<16x32xf32>) -> !threadblock.tile<16x1xf32>
    %m = threadblock.max %m0, %m1 : (!threadblock.tile<16x1xf32>, !threadblock.tile<16x1xf32>) -> !threadblock.tile<16x1xf32>
    %d0 = threadblock.sub %st, %m : (!threadblock.tile<16x32xf16>, !threadblock.tile<16x1xf32>) -> !threadblock.tile<16x32xf32>
    %d1 = threadblock.sub %n, %m : (!threadblock.tile<16x32xf32>, !threadblock.tile<16x1xf32>) -> !threadblock.tile<16x32xf32>
    %e0 = threadblock.exp %d0 : (!threadblock.tile<16x32xf32>) -> !threadblock.tile<16x32xf32>
    %e1 = threadblock.exp %d1 : (!threadblock.tile<16x32xf32>) -> !threadblock.tile<16x32xf32>
    %e = threadblock.add %e0, %e1 : (!threadblock.tile<16x32xf32>, !threadblock.tile<16x32xf32>) -> !threadblock.tile<16x32xf32>
    %l = threadblock.reduce_sum %e {dims = array<i64: 1>} : (!threadblock.tile<16x32xf32>) -> !threadblock.tile<16x1xf32>
    %p = threadblock.matmul %wt, %vt : (!threadblock.tile<16x32xf16>, !threadblock.tile<32x32xf16>) -> !threadblock.tile<16x32xf32>
    %psum = threadblock.accumulate %p rescale %m : (!threadblock.tile<16x32xf32>, !threadblock.tile<16x1xf32>) -> !threadblock.tile<16x32xf32>
    %lsum = threadblock.accumulate %l rescale %m : (!threadblock.tile<16x1xf32>, !threadblock.tile<16x1xf32>) -> !threadblock.tile<16x1xf32>
    %z = threadblock.div %psum, %lsum : (!threadblock.tile<16x32xf32>, !threadblock.tile<16x1xf32>) -> !threadblock.tile<16x32xf32>
    threadblock.store %z grid_map [_] : !threadblock.tile<16x32xf32>
  } : (tensor<16x128xf16>, tensor<16x128xf16>, tensor<128x32xf16>) -> tensor<16x32xf32>
  func.return %o : tensor<16x32xf32>
}
