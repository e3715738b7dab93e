// RUN: mirage-opt %s --sink-reductions --fuse-thread-graphs --split-cross-block-sums="target=A100" --select-mma --select-copies --assign-layouts="target=A100" | filecheck %s --check-prefix=LAYOUT
// RUN: mirage-opt %s --sink-reductions --fuse-thread-graphs --split-cross-block-sums="target=sm_90a" --select-mma --select-copies --assign-layouts="target=sm_90a" | filecheck %s --check-prefix=TENSOR
// RUN: mirage-opt %s --sink-reductions --fuse-thread-graphs --split-cross-block-sums="target=A100" --select-mma --select-copies --assign-layouts="target=A100" --software-pipeline | filecheck %s --check-prefix=SCHEDULE
// RUN: mirage-opt %s --sink-reductions --fuse-thread-graphs --split-cross-block-sums="target=A100" --select-mma --select-copies --assign-layouts="target=A100" --software-pipeline="stages=3" --plan-memory | filecheck %s --check-prefix=MEMORY
// RUN: mirage-opt %s --sink-reductions --fuse-thread-graphs --split-cross-block-sums="target=A100" --select-mma --select-copies --assign-layouts="target=A100" --software-pipeline --plan-memory --overlap-launches --lower-to-nvvm | filecheck %s --check-prefix=NVVM

// A matmul of 16 rows: its depth is split over four warps, whose partial sums are added up in shared memory.
// LAYOUT-LABEL: func.func @linear
// LAYOUT:         grid [2] loop [8] schedule <threads = 128>
// LAYOUT:         %[[X:.*]] = threadblock.load {{.*}} {layout = #threadblock.shared<{shape = [16, 64], order = [1, 0], swizzle = 128, element_bits = 16}>, copy = "async"}
// LAYOUT:         %[[P:.*]] = threadblock.matmul %[[X]], %{{.*}} {{{.*}}warps = array<i64: 1, 1, 4>
// LAYOUT:         %[[A:.*]] = threadblock.accumulate %[[P]] {layout = #threadblock.registers<
// LAYOUT:         %[[S:.*]] = threadblock.convert_layout %[[A]] {layout = #threadblock.shared<{shape = [16, {{[0-9]+}}], order = [1, 0], copies = 4}>}
// LAYOUT:         %[[R:.*]] = threadblock.reduce_sum %{{.*}} {layout = #threadblock.registers<
// LAYOUT:         thread.graph ins(%{{.*}}, %{{.*}})

// Tensor copies where there are any: lines of 128 bytes are swizzled.
// TENSOR-LABEL: func.func @linear
// TENSOR:         threadblock.load {{.*}} {layout = #threadblock.shared<{shape = [16, 64], order = [1, 0], swizzle = 128, element_bits = 16}>, copy = "tensor", eviction_priority = "evict_last"}
// TENSOR:         threadblock.load {{.*}}copy = "tensor"

// One barrier an iteration; two after the loop: its memory is used again, and warps exchange parts.
// SCHEDULE-LABEL: func.func @linear
// SCHEDULE:         threadblock.barrier pending 6
// SCHEDULE-NOT:     threadblock.barrier
// SCHEDULE:         threadblock.matmul
// SCHEDULE:         threadblock.barrier
// SCHEDULE:         threadblock.convert_layout
// SCHEDULE:         threadblock.reduce_sum
// SCHEDULE-NEXT:    threadblock.barrier
// SCHEDULE-NEXT:    thread.graph
// SCHEDULE-NOT:     threadblock.barrier
// SCHEDULE:       func.return

// Three buffers of each tile; what follows the loop takes their place.
// MEMORY-LABEL: func.func @linear
// MEMORY:         memory <shared_bytes = [[#]]
// MEMORY-DAG:     threadblock.load %{{.*}} grid_map [_] loop_map [1] {{.*}}offset = 
// MEMORY-DAG:     threadblock.load %{{.*}} grid_map [1] loop_map [0] {{.*}}offset = 
// MEMORY:         threadblock.convert_layout {{.*}}buffer = #threadblock.buffer<offset = 0>

// NVVM-LABEL: "gpu.module"() <{sym_name = "linear"}>
// NVVM:         llvm.mlir.global external @smem
// NVVM:         llvm.func @linear_kernel_0
// NVVM:           nvvm.cp.async.shared.global
// NVVM:           nvvm.cp.async.commit.group
// NVVM:           scf.for
// NVVM:             nvvm.cp.async.wait.group
// NVVM:             nvvm.ldmatrix
// NVVM:             nvvm.mma.sync
// NVVM:           nvvm.shfl.sync
// NVVM:         #kernel.interface<"linear", [tensor<16x512xf16>, tensor<512x96xf16>], array<i64: 1>, {{.*}}targets = [#nvvm.target<O = 3, chip = "sm_80", features = "+ptx80">]
func.func @linear(%x: tensor<16x512xf16>, %w: tensor<512x96xf16> {kernel.constant}) -> tensor<16x96xf16> {
  %o = kernel.graph_defined ins(%x, %w) grid [2] loop [8] {
  ^bb0(%xa: tensor<16x512xf16>, %wa: tensor<512x96xf16>):
    %xt = threadblock.load %xa grid_map [_] loop_map [1] : (tensor<16x512xf16>) -> !threadblock.tile<16x64xf16>
    %wt = threadblock.load %wa grid_map [1] loop_map [0] : (tensor<512x96xf16>) -> !threadblock.tile<64x48xf16>
    %p = threadblock.matmul %xt, %wt : (!threadblock.tile<16x64xf16>, !threadblock.tile<64x48xf16>) -> !threadblock.tile<16x48xf32>
    %q = threadblock.square %xt : (!threadblock.tile<16x64xf16>) -> !threadblock.tile<16x64xf32>
    %s = threadblock.reduce_sum %q {dims = array<i64: 1>} : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x1xf32>
    %a = threadblock.accumulate %p : (!threadblock.tile<16x48xf32>) -> !threadblock.tile<16x48xf32>
    %b = threadblock.accumulate %s : (!threadblock.tile<16x1xf32>) -> !threadblock.tile<16x1xf32>
    %r = threadblock.sqrt %b : (!threadblock.tile<16x1xf32>) -> !threadblock.tile<16x1xf32>
    %z = threadblock.div %a, %r : (!threadblock.tile<16x48xf32>, !threadblock.tile<16x1xf32>) -> !threadblock.tile<16x48xf32>
    %c = threadblock.cast %z : (!threadblock.tile<16x48xf32>) -> !threadblock.tile<16x48xf16>
    threadblock.store %c grid_map [1] : !threadblock.tile<16x48xf16>
  } : (tensor<16x512xf16>, tensor<512x96xf16>) -> tensor<16x96xf16>
  func.return %o : tensor<16x96xf16>
}
