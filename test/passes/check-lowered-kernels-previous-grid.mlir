// Two kernels of programmatic dependent launches: the second one reads what the first one writes.
// RUN: mirage-opt %s --sink-reductions --fuse-thread-graphs --split-cross-block-sums="target=sm_90a" --select-mma --select-copies --assign-layouts="target=sm_90a" --software-pipeline="target=sm_90a" --plan-memory="target=sm_90a" --overlap-launches="target=sm_90a" --lower-to-nvvm="target=sm_90a" > %t
// RUN: mirage-opt %t --check-lowered-kernels 2>&1 | filecheck %s
// RUN: sed 's/{llvm.align = 16 : i64}/{llvm.noalias}/' %t | not mirage-opt --check-lowered-kernels 2>&1 | filecheck %s --check-prefix=ALWAYS
// RUN: sed 's/llvm.load \(%[0-9]*\) {/llvm.load \1 {invariant, /' %t | not mirage-opt --check-lowered-kernels 2>&1 | filecheck %s --check-prefix=ALWAYS
// RUN: sed '/grid_dep_action wait/d' %t | not mirage-opt --check-lowered-kernels 2>&1 | filecheck %s --check-prefix=WAIT

// CHECK: remark: @two: 2 kernels run without a fault
// CHECK-LABEL: llvm.func @two_kernel_1
// CHECK: grid_dep_action wait
// CHECK: llvm.load

// Loads through a pointer that nothing else has, and loads of what never changes, become ld.global.nc. The
// constant that the first kernel loads never changes.
// ALWAYS: error: 'llvm.load' op has thread 0 load what the previous grid may still write as if it never changed (ld.global.nc), which no wait for that grid orders in block (0, 0, 0) of two_kernel_1 (race)

// The first kernel writes what the second one of the call before may still read.
// WAIT: error: 'llvm.store' op has thread 0 access what the previous grid may still use in block (0, 0, 0) of two_kernel_0 (race)
func.func @two(%x: tensor<8x64xf32> {kernel.constant}) -> tensor<8x64xf32> {
  %y = kernel.graph_defined ins(%x) grid [2] {
  ^bb0(%0: tensor<8x64xf32>):
    %1 = threadblock.load %0 grid_map [0] : (tensor<8x64xf32>) -> !threadblock.tile<4x64xf32>
    %2 = threadblock.exp %1 : (!threadblock.tile<4x64xf32>) -> !threadblock.tile<4x64xf32>
    threadblock.store %2 grid_map [0] : !threadblock.tile<4x64xf32>
  } : (tensor<8x64xf32>) -> tensor<8x64xf32>
  %z = kernel.graph_defined ins(%y) grid [2] {
  ^bb0(%0: tensor<8x64xf32>):
    %1 = threadblock.load %0 grid_map [0] : (tensor<8x64xf32>) -> !threadblock.tile<4x64xf32>
    %2 = threadblock.square %1 : (!threadblock.tile<4x64xf32>) -> !threadblock.tile<4x64xf32>
    threadblock.store %2 grid_map [0] : !threadblock.tile<4x64xf32>
  } : (tensor<8x64xf32>) -> tensor<8x64xf32>
  func.return %z : tensor<8x64xf32>
}
