// Kernels that run at the same time: each but the first waits at its end, so that what reads both is behind both.
// RUN: mirage-opt %s -p 'sink-reductions,fuse-thread-graphs,overlap-kernels{target=sm_90a},split-cross-block-sums{target=sm_90a},select-mma,select-copies,assign-layouts{target=sm_90a},software-pipeline{target=sm_90a},plan-memory{target=sm_90a},lower-to-nvvm{target=sm_90a}' > %t
// RUN: mirage-opt %t --check-lowered-kernels 2>&1 | filecheck %s
// RUN: awk '/@beside_kernel_1/ {inside = 1} /@beside_kernel_2/ {inside = 0} !(inside && /grid_dep_action wait/)' %t | not mirage-opt --check-lowered-kernels 2>&1 | filecheck %s --check-prefix=OVERTAKEN

// CHECK: remark: @beside: 3 kernels run without a fault
// CHECK-LABEL: llvm.func @beside_kernel_0
// CHECK:         grid_dep_action wait
// CHECK-NEXT:    nvvm.griddepcontrol
// CHECK-SAME:    launch_dependents
// CHECK-LABEL: llvm.func @beside_kernel_1
// CHECK:         grid_dep_action launch_dependents
// CHECK:         llvm.store
// CHECK:         scf.if
// CHECK:         grid_dep_action wait
// CHECK-LABEL: llvm.func @beside_kernel_2
// CHECK:         grid_dep_action wait

// Without its last wait the second kernel may end before the first one, whose results the third reads.
// OVERTAKEN: error: 'llvm.load' op has thread 0 access what the previous grid may still use in block (0, 0, 0) of beside_kernel_2 (race)
func.func @beside(%x: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %p = kernel.graph_defined ins(%x) grid [2] {
  ^bb0(%0: tensor<8x64xf32>):
    %1 = threadblock.load %0 grid_map [0] : (tensor<8x64xf32>) -> !threadblock.tile<4x64xf32>
    %2 = threadblock.exp %1 : (!threadblock.tile<4x64xf32>) -> !threadblock.tile<4x64xf32>
    threadblock.store %2 grid_map [0] : !threadblock.tile<4x64xf32>
  } : (tensor<8x64xf32>) -> tensor<8x64xf32>
  %q = kernel.graph_defined ins(%x) grid [2] {
  ^bb0(%0: tensor<8x64xf32>):
    %1 = threadblock.load %0 grid_map [0] : (tensor<8x64xf32>) -> !threadblock.tile<4x64xf32>
    %2 = threadblock.square %1 : (!threadblock.tile<4x64xf32>) -> !threadblock.tile<4x64xf32>
    threadblock.store %2 grid_map [0] : !threadblock.tile<4x64xf32>
  } : (tensor<8x64xf32>) -> tensor<8x64xf32>
  %r = kernel.graph_defined ins(%p, %q) grid [2] {
  ^bb0(%0: tensor<8x64xf32>, %1: tensor<8x64xf32>):
    %2 = threadblock.load %0 grid_map [0] : (tensor<8x64xf32>) -> !threadblock.tile<4x64xf32>
    %3 = threadblock.load %1 grid_map [0] : (tensor<8x64xf32>) -> !threadblock.tile<4x64xf32>
    %4 = threadblock.add %2, %3 : (!threadblock.tile<4x64xf32>, !threadblock.tile<4x64xf32>) -> !threadblock.tile<4x64xf32>
    threadblock.store %4 grid_map [0] : !threadblock.tile<4x64xf32>
  } : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
  func.return %r : tensor<8x64xf32>
}
