// RUN: mirage-opt %s --sink-reductions --fuse-thread-graphs --split-cross-block-sums="target=A100" --select-mma --select-copies --assign-layouts="target=A100" --software-pipeline --plan-memory | filecheck %s
// RUN: mirage-opt %s --sink-reductions --fuse-thread-graphs --split-cross-block-sums="target=A100" --select-mma --select-copies --assign-layouts="target=A100" --software-pipeline --plan-memory --overlap-launches --lower-to-nvvm="target=A100" | filecheck %s --check-prefix=NVVM
// RUN: mirage-opt %s --sink-reductions --fuse-thread-graphs --split-cross-block-sums="target=H200" --select-mma --select-copies --assign-layouts="target=H200" --software-pipeline --plan-memory --overlap-launches --lower-to-nvvm="target=H200" | filecheck %s --check-prefix=CLUSTER
// RUN: mirage-opt %s --sink-reductions --fuse-thread-graphs --split-cross-block-sums="target=A100" --select-mma --select-copies --assign-layouts="target=A100" --software-pipeline --plan-memory --overlap-launches --lower-to-nvvm="target=A100" -t ptx | filecheck %s --check-prefix=PTX

// Four blocks without a cluster: each adds up its warps' parts of the matmul and reduces its squares,
// leaves both in device memory, and the last block of each group goes on with the totals: its threads
// synchronize once more, as few of them add up the sums of rows.
// CHECK-LABEL: func.func @split{{.*}} attributes {kernel.workspace = #kernel.workspace<scratch_bytes = {{[1-9][0-9]*}}, counter_bytes = 16>
// CHECK:         sums_in_workspace
// CHECK:         threadblock.reduce_sum
// CHECK-NOT:     cluster
// CHECK-DAG:     threadblock.store_partial_sum 0
// CHECK-DAG:     threadblock.store_partial_sum 1
// CHECK:         threadblock.continue_with "last_block"
// CHECK-DAG:     threadblock.accumulate {{.*}} across {{.*}}partial_sum = 0
// CHECK-DAG:     threadblock.accumulate {{.*}} across {{.*}}partial_sum = 1
// CHECK:         threadblock.store

// NVVM:         llvm.func @split_kernel_0{{.*}}arguments = ["input:0", "input:1", "output:0", "scratch:0", "counters:0"]
// NVVM-NOT:       nvvm.cluster
// NVVM:           "nvvm.memory.barrier"
// NVVM-NEXT:      "nvvm.barrier"
// NVVM:           scf.if
// NVVM:             "llvm.atomicrmw"
// NVVM:           "nvvm.barrier"
// NVVM-NEXT:      llvm.load
// NVVM:           scf.if
// NVVM:             "nvvm.barrier"
// NVVM-NOT:       "nvvm.barrier"
// NVVM:           llvm.return
// NVVM:         kernel.workspace = #kernel.workspace<scratch_bytes = {{[1-9][0-9]*}}, counter_bytes = 16>

// CLUSTER-NOT: counter
// CLUSTER:     nvvm.cluster_dim
// CLUSTER-NOT: llvm.atomicrmw

// PTX: membar.gl
// PTX: bar.sync 0
// PTX: atom.acq_rel.gpu.global.inc.u32
// PTX: bar.sync 0
func.func @split(%x: tensor<16x512xf16>, %w: tensor<512x96xf16>) -> tensor<16x96xf16> {
  %o = kernel.graph_defined ins(%x, %w) grid [2, 4] loop [2] {
  ^bb0(%xa: tensor<16x512xf16>, %wa: tensor<512x96xf16>):
    %xt = threadblock.load %xa grid_map [_, 1] loop_map [1] : (tensor<16x512xf16>) -> !threadblock.tile<16x64xf16>
    %wt = threadblock.load %wa grid_map [1, 0] loop_map [0] : (tensor<512x96xf16>) -> !threadblock.tile<64x48xf16>
    %p = threadblock.matmul %xt, %wt : (!threadblock.tile<16x64xf16>, !threadblock.tile<64x48xf16>) -> !threadblock.tile<16x48xf32>
    %q = threadblock.square %xt : (!threadblock.tile<16x64xf16>) -> !threadblock.tile<16x64xf32>
    %b = threadblock.accumulate %q across [1] : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x64xf32>
    %s = threadblock.reduce_sum %b {dims = array<i64: 1>} : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x1xf32>
    %a = threadblock.accumulate %p across [1] : (!threadblock.tile<16x48xf32>) -> !threadblock.tile<16x48xf32>
    %r = threadblock.sqrt %s : (!threadblock.tile<16x1xf32>) -> !threadblock.tile<16x1xf32>
    %z = threadblock.div %a, %r : (!threadblock.tile<16x48xf32>, !threadblock.tile<16x1xf32>) -> !threadblock.tile<16x48xf32>
    %zo = threadblock.cast %z : (!threadblock.tile<16x48xf32>) -> !threadblock.tile<16x48xf16>
    threadblock.store %zo grid_map [1, _] : !threadblock.tile<16x48xf16>
  } : (tensor<16x512xf16>, tensor<512x96xf16>) -> tensor<16x96xf16>
  func.return %o : tensor<16x96xf16>
}
