// RUN: mirage-opt %s --fuse-thread-graphs --assign-layouts --schedule-threadblock --plan-memory | filecheck %s
// RUN: mirage-opt %s --fuse-thread-graphs --assign-layouts --schedule-threadblock --plan-memory --lower-to-nvvm="target=sm_90a" | filecheck %s --check-prefix=NVVM

// Four blocks add up their parts of a product: each keeps its own in shared memory, all meet once,
// and each thread of the cluster then combines what it stores.
// CHECK-LABEL: func.func @split
// CHECK:         attributes {threads = 128 : i64, cluster_shares
// CHECK:         threadblock.convert_layout {{.*}}, 4 : i64, "sum", 1 : i64, 0 : i64, 0 : i64>
// CHECK:         threadblock.barrier "post"
// CHECK-DAG:     threadblock.convert_layout {{.*}}, 1 : i64, "sum", 4 : i64, 0 : i64, 0 : i64>
// CHECK:         threadblock.barrier "post" cluster
// CHECK-NEXT:    thread.graph

// NVVM:         llvm.func @split_kernel_0
// NVVM:           "nvvm.cluster.arrive"
// NVVM-NEXT:      "nvvm.cluster.wait"
// NVVM:           nvvm.mapa
// NVVM:           "nvvm.cluster.arrive"
// NVVM-NEXT:      "nvvm.cluster.wait"
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
