// RUN: mirage-opt %s --sink-reductions --fuse-thread-graphs --split-cross-block-sums --select-mma --select-copies --assign-layouts --software-pipeline --plan-memory | filecheck %s
// RUN: mirage-opt %s --sink-reductions --fuse-thread-graphs --split-cross-block-sums --select-mma --select-copies --assign-layouts --software-pipeline --plan-memory --overlap-launches --lower-to-nvvm | filecheck %s --check-prefix=NVVM

// Four blocks add up their parts of a matmul: each keeps its own in shared memory, all synchronize once,
// and each thread of the cluster then combines what it stores. No block waits for the stores of
// others before it ends.
// CHECK-LABEL: func.func @split
// CHECK:         schedule <threads = 128, {{.*}}cluster_reduction
// CHECK:         threadblock.convert_layout {{.*}}, order = [1, 0], copies = 4}>
// CHECK:         threadblock.barrier
// CHECK-DAG:     threadblock.convert_layout {{.*}}, order = [1, 0], blocks = 4}>
// CHECK:         threadblock.barrier cluster
// CHECK-NEXT:    threadblock.continue_with "cluster"
// CHECK-NEXT:    thread.graph
// CHECK:         threadblock.arrive_cluster
// CHECK-NEXT:    threadblock.store
// CHECK-NEXT:    threadblock.await_cluster

// NVVM:         llvm.func @split_kernel_0
// NVVM:           "nvvm.cluster.arrive"
// NVVM-NEXT:      "nvvm.cluster.wait"
// NVVM:           nvvm.mapa
// NVVM:           "nvvm.cluster.arrive"
// NVVM:           llvm.store {{.*}} !llvm.ptr<1>
// NVVM:           "nvvm.cluster.wait"
// NVVM-NEXT:      }
// NVVM-NEXT:      llvm.return
func.func @split(%x: tensor<16x512xf16>, %w: tensor<512x96xf16>) -> tensor<16x96xf16> {
  %o = kernel.graph_defined ins(%x, %w) grid [2, 4] loop [2] {
  ^bb0(%xa: tensor<16x512xf16>, %wa: tensor<512x96xf16>):
    %xt = threadblock.load %xa grid_map [_, 1] loop_map [1] : (tensor<16x512xf16>) -> !threadblock.tile<16x64xf16>
    %wt = threadblock.load %wa grid_map [1, 0] loop_map [0] : (tensor<512x96xf16>) -> !threadblock.tile<64x48xf16>
    %p = threadblock.matmul %xt, %wt : (!threadblock.tile<16x64xf16>, !threadblock.tile<64x48xf16>) -> !threadblock.tile<16x48xf32>
    %q = threadblock.square %xt : (!threadblock.tile<16x64xf16>) -> !threadblock.tile<16x64xf32>
    %s = threadblock.reduce_sum %q {dims = array<i64: 1>} : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x1xf32>
    %a = threadblock.accumulate %p across [1] : (!threadblock.tile<16x48xf32>) -> !threadblock.tile<16x48xf32>
    %b = threadblock.accumulate %s across [1] : (!threadblock.tile<16x1xf32>) -> !threadblock.tile<16x1xf32>
    %r = threadblock.sqrt %b : (!threadblock.tile<16x1xf32>) -> !threadblock.tile<16x1xf32>
    %z = threadblock.div %a, %r : (!threadblock.tile<16x48xf32>, !threadblock.tile<16x1xf32>) -> !threadblock.tile<16x48xf32>
    %c = threadblock.cast %z : (!threadblock.tile<16x48xf32>) -> !threadblock.tile<16x48xf16>
    threadblock.store %c grid_map [1, _] : !threadblock.tile<16x48xf16>
  } : (tensor<16x512xf16>, tensor<512x96xf16>) -> tensor<16x96xf16>
  func.return %o : tensor<16x96xf16>
}

// Sums of exponentials, relative to the maximum of each block: the maxima, the sums and the parts of
// the matmul are there when all synchronize once, and who reads them weighs them.
// CHECK-LABEL: func.func @online
// CHECK:         %[[M:.*]] = threadblock.convert_layout {{.*}}, order = [1, 0], blocks = 2, combine = max}>
// CHECK-NOT:     cluster
// CHECK-DAG:     %[[S:.*]] = threadblock.convert_layout %{{.*}} relative %[[M]] : !threadblock.tile<16x1xf32>
// CHECK-DAG:     %[[P:.*]] = threadblock.convert_layout %{{.*}} relative %[[M]] : !threadblock.tile<16x1xf32>
// CHECK:         threadblock.barrier cluster
// CHECK-NEXT:    threadblock.continue_with "cluster"
// CHECK-NEXT:    thread.graph ins(
// CHECK-NOT:     threadblock.barrier

// NVVM:         llvm.func @online_kernel_0
// NVVM:           "nvvm.cluster.wait"
// NVVM:           llvm.load {{.*}} : !llvm.ptr<7> -> vector<4xf32>
// NVVM:           nvvm.ex2
// NVVM:           "nvvm.cluster.arrive"
// NVVM:           llvm.store {{.*}} !llvm.ptr<1>
func.func @online(%q: tensor<16x64xf16>, %k: tensor<64x512xf16>, %v: tensor<512x64xf16>) -> tensor<16x64xf16> {
  %o = kernel.graph_defined ins(%q, %k, %v) grid [1, 2] loop [4] {
  ^bb0(%qa: tensor<16x64xf16>, %ka: tensor<64x512xf16>, %va: tensor<512x64xf16>):
    %qt = threadblock.load %qa grid_map [0, _] loop_map [_] : (tensor<16x64xf16>) -> !threadblock.tile<16x64xf16>
    %kt = threadblock.load %ka grid_map [_, 1] loop_map [1] : (tensor<64x512xf16>) -> !threadblock.tile<64x64xf16>
    %vt = threadblock.load %va grid_map [_, 0] loop_map [0] : (tensor<512x64xf16>) -> !threadblock.tile<64x64xf16>
    %s = threadblock.matmul %qt, %kt : (!threadblock.tile<16x64xf16>, !threadblock.tile<64x64xf16>) -> !threadblock.tile<16x64xf32>
    %m = threadblock.reduce_max %s {dims = array<i64: 1>} : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x1xf32>
    %d = threadblock.sub %s, %m : (!threadblock.tile<16x64xf32>, !threadblock.tile<16x1xf32>) -> !threadblock.tile<16x64xf32>
    %e = threadblock.exp %d : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x64xf32>
    %l = threadblock.reduce_sum %e {dims = array<i64: 1>} : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x1xf32>
    %p = threadblock.cast %e : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x64xf16>
    %pv = threadblock.matmul %p, %vt : (!threadblock.tile<16x64xf16>, !threadblock.tile<64x64xf16>) -> !threadblock.tile<16x64xf32>
    %ls = threadblock.accumulate %l across [1] rescale %m : (!threadblock.tile<16x1xf32>, !threadblock.tile<16x1xf32>) -> !threadblock.tile<16x1xf32>
    %os = threadblock.accumulate %pv across [1] rescale %m : (!threadblock.tile<16x64xf32>, !threadblock.tile<16x1xf32>) -> !threadblock.tile<16x64xf32>
    %z = threadblock.div %os, %ls : (!threadblock.tile<16x64xf32>, !threadblock.tile<16x1xf32>) -> !threadblock.tile<16x64xf32>
    %c = threadblock.cast %z : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x64xf16>
    threadblock.store %c grid_map [0, _] : !threadblock.tile<16x64xf16>
  } : (tensor<16x64xf16>, tensor<64x512xf16>, tensor<512x64xf16>) -> tensor<16x64xf16>
  func.return %o : tensor<16x64xf16>
}
