// RUN: mirage-opt %s --split-input-file --sink-reductions --fuse-thread-graphs --split-cross-block-sums="target=A100" --select-mma --select-copies --assign-layouts="target=A100" --software-pipeline | filecheck %s
// RUN: mirage-opt %s --split-input-file --sink-reductions --fuse-thread-graphs --split-cross-block-sums="target=A100" --select-mma --select-copies --assign-layouts="target=A100" --software-pipeline --plan-memory --overlap-launches --lower-to-nvvm | filecheck %s --check-prefix=NVVM
// RUN: mirage-opt %s --split-input-file --sink-reductions --fuse-thread-graphs --split-cross-block-sums --select-mma --select-copies --assign-layouts --software-pipeline --plan-memory --overlap-launches --lower-to-nvvm | filecheck %s --check-prefix=EARLY

// Decoding: 8 queries, and four warps that have 16 of the 64 keys of an iteration each. A warp has maxima of
// its own, and takes its weights from registers: the loop has one barrier. After it the warps' parts
// are brought to one maximum and together.
// CHECK-LABEL: func.func @decode
// CHECK:         threadblock.barrier pending 7
// CHECK:         threadblock.barrier pending 6
// CHECK-NOT:     threadblock.barrier
// CHECK:         threadblock.matmul {{.*}} {{{.*}}warps = array<i64: 1, 4, 1>, lhs_in_registers
// CHECK-NOT:     threadblock.barrier
// CHECK:         threadblock.reduce_max {{.*}}layout = #threadblock.registers{{.*}}online_maximum
// CHECK-NOT:     threadblock.convert_layout
// CHECK:         threadblock.matmul {{.*}} {{{.*}}warps = array<i64: 1, 1, 4>
// CHECK:         threadblock.accumulate {{.*}}state}
// CHECK:         threadblock.accumulate {{.*}} rescale
// CHECK:         threadblock.accumulate {{.*}} rescale
// CHECK-NEXT:    threadblock.section "epilogue"
// CHECK-NEXT:    threadblock.barrier
// CHECK-NEXT:    threadblock.convert_layout {{.*}}, copies = 4, combine = max}>
// CHECK-NEXT:    threadblock.barrier
// CHECK:         thread.graph {{.*}}merges
// CHECK:         threadblock.barrier
// CHECK-NOT:     threadblock.barrier
// CHECK:         threadblock.store

// The queries' fragments are loaded before the loop; the loop loads those of keys and values only,
// and exchanges nothing but maxima, each with two shuffles.
// NVVM-LABEL: llvm.func @decode_kernel_0
// NVVM:         nvvm.ldmatrix
// NVVM:         scf.for
// NVVM:           "nvvm.barrier"
// NVVM-NOT:       "nvvm.barrier"
// NVVM:           nvvm.mma.sync
// NVVM-COUNT-4:   nvvm.shfl.sync
// NVVM-NOT:       nvvm.shfl.sync
// NVVM:           scf.yield %
// NVVM:         llvm.return
func.func @decode(%q: tensor<2x8x32xf16>, %k: tensor<2x32x512xf16>, %v: tensor<2x512x32xf16>) -> tensor<2x8x32xf16> {
  %o = kernel.graph_defined ins(%q, %k, %v) grid [2] loop [8] {
  ^bb0(%qa: tensor<2x8x32xf16>, %ka: tensor<2x32x512xf16>, %va: tensor<2x512x32xf16>):
    %qt = threadblock.load %qa grid_map [0] loop_map [_] : (tensor<2x8x32xf16>) -> !threadblock.tile<1x8x32xf16>
    %kt = threadblock.load %ka grid_map [0] loop_map [2] : (tensor<2x32x512xf16>) -> !threadblock.tile<1x32x64xf16>
    %vt = threadblock.load %va grid_map [0] loop_map [1] : (tensor<2x512x32xf16>) -> !threadblock.tile<1x64x32xf16>
    %s = threadblock.matmul %qt, %kt : (!threadblock.tile<1x8x32xf16>, !threadblock.tile<1x32x64xf16>) -> !threadblock.tile<1x8x64xf32>
    %m = threadblock.reduce_max %s {dims = array<i64: 2>} : (!threadblock.tile<1x8x64xf32>) -> !threadblock.tile<1x8x1xf32>
    %d = threadblock.sub %s, %m : (!threadblock.tile<1x8x64xf32>, !threadblock.tile<1x8x1xf32>) -> !threadblock.tile<1x8x64xf32>
    %p = threadblock.exp %d : (!threadblock.tile<1x8x64xf32>) -> !threadblock.tile<1x8x64xf32>
    %l = threadblock.reduce_sum %p {dims = array<i64: 2>} : (!threadblock.tile<1x8x64xf32>) -> !threadblock.tile<1x8x1xf32>
    %pc = threadblock.cast %p : (!threadblock.tile<1x8x64xf32>) -> !threadblock.tile<1x8x64xf16>
    %pv = threadblock.matmul %pc, %vt : (!threadblock.tile<1x8x64xf16>, !threadblock.tile<1x64x32xf16>) -> !threadblock.tile<1x8x32xf32>
    %lsum = threadblock.accumulate %l rescale %m : (!threadblock.tile<1x8x1xf32>, !threadblock.tile<1x8x1xf32>) -> !threadblock.tile<1x8x1xf32>
    %osum = threadblock.accumulate %pv rescale %m : (!threadblock.tile<1x8x32xf32>, !threadblock.tile<1x8x1xf32>) -> !threadblock.tile<1x8x32xf32>
    %z = threadblock.div %osum, %lsum : (!threadblock.tile<1x8x32xf32>, !threadblock.tile<1x8x1xf32>) -> !threadblock.tile<1x8x32xf32>
    %zo = threadblock.cast %z : (!threadblock.tile<1x8x32xf32>) -> !threadblock.tile<1x8x32xf16>
    threadblock.store %zo grid_map [0] : !threadblock.tile<1x8x32xf16>
  } : (tensor<2x8x32xf16>, tensor<2x32x512xf16>, tensor<2x512x32xf16>) -> tensor<2x8x32xf16>
  func.return %o : tensor<2x8x32xf16>
}

// -----

// Two kernels. The second may start while the first one runs, and waits before it reads; both do the
// same from call to call, as neither has much to do for a block. Their launches ask for so much shared
// memory that a multiprocessor has one block at most.
// EARLY-LABEL: llvm.func @two_kernel_0{{.*}}occupancy_limit_bytes = 115840, starts_early
// EARLY:         "nvvm.griddepcontrol"() <{kind = #nvvm<grid_dep_action wait>}>
// EARLY-NEXT:    "nvvm.griddepcontrol"() <{kind = #nvvm<grid_dep_action launch_dependents>}>
// EARLY-LABEL: llvm.func @two_kernel_1{{.*}}occupancy_limit_bytes = 115840, starts_early
// EARLY:         "nvvm.griddepcontrol"() <{kind = #nvvm<grid_dep_action wait>}>
func.func @two(%x: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %y = kernel.graph_defined ins(%x) grid [4] {
  ^bb0(%xa: tensor<64x64xf16>):
    %t = threadblock.load %xa grid_map [0] : (tensor<64x64xf16>) -> !threadblock.tile<16x64xf16>
    %e = threadblock.exp %t : (!threadblock.tile<16x64xf16>) -> !threadblock.tile<16x64xf16>
    threadblock.store %e grid_map [0] : !threadblock.tile<16x64xf16>
  } : (tensor<64x64xf16>) -> tensor<64x64xf16>
  %z = kernel.graph_defined ins(%y) grid [4] {
  ^bb0(%ya: tensor<64x64xf16>):
    %t = threadblock.load %ya grid_map [1] : (tensor<64x64xf16>) -> !threadblock.tile<64x16xf16>
    %e = threadblock.tanh %t : (!threadblock.tile<64x16xf16>) -> !threadblock.tile<64x16xf16>
    threadblock.store %e grid_map [1] : !threadblock.tile<64x16xf16>
  } : (tensor<64x64xf16>) -> tensor<64x64xf16>
  func.return %z : tensor<64x64xf16>
}
