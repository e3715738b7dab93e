// Blocks of clusters without a loop wait for each other: where they have 512 threads, ptxas leaves room for a second one.
// RUN: mirage-opt %s --sink-reductions --fuse-thread-graphs --split-cross-block-sums="target=H200" --select-mma --select-copies --assign-layouts --software-pipeline --plan-memory --overlap-launches --lower-to-nvvm | filecheck %s

// CHECK:       llvm.func @wide_kernel_0(
// CHECK-SAME:    nvvm.maxntid = array<i32: 512>, nvvm.minctasm = 2 : i32
func.func @wide(%x: tensor<8x65536xf32>) -> tensor<8x65536xf32> {
  %o = kernel.graph_defined ins(%x) grid [8, 4] {
  ^bb0(%xa: tensor<8x65536xf32>):
    %t = threadblock.load %xa grid_map [0, 1] : (tensor<8x65536xf32>) -> !threadblock.tile<1x16384xf32>
    %s = threadblock.reduce_sum %t {dims = array<i64: 1>} : (!threadblock.tile<1x16384xf32>) -> !threadblock.tile<1x1xf32>
    %a = threadblock.accumulate %s across [1] : (!threadblock.tile<1x1xf32>) -> !threadblock.tile<1x1xf32>
    %m = threadblock.mul %t, %a : (!threadblock.tile<1x16384xf32>, !threadblock.tile<1x1xf32>) -> !threadblock.tile<1x16384xf32>
    threadblock.store %m grid_map [0, 1] : !threadblock.tile<1x16384xf32>
  } : (tensor<8x65536xf32>) -> tensor<8x65536xf32>
  func.return %o : tensor<8x65536xf32>
}

// Without a cluster it is ptxas's choice.
// CHECK:       llvm.func @alone_kernel_0(
// CHECK-NOT:   minctasm
// CHECK:       llvm.return
func.func @alone(%x: tensor<8x16384xf32>) -> tensor<8x16384xf32> {
  %o = kernel.graph_defined ins(%x) grid [8] {
  ^bb0(%xa: tensor<8x16384xf32>):
    %t = threadblock.load %xa grid_map [0] : (tensor<8x16384xf32>) -> !threadblock.tile<1x16384xf32>
    %s = threadblock.reduce_sum %t {dims = array<i64: 1>} : (!threadblock.tile<1x16384xf32>) -> !threadblock.tile<1x1xf32>
    %m = threadblock.mul %t, %s : (!threadblock.tile<1x16384xf32>, !threadblock.tile<1x1xf32>) -> !threadblock.tile<1x16384xf32>
    threadblock.store %m grid_map [0] : !threadblock.tile<1x16384xf32>
  } : (tensor<8x16384xf32>) -> tensor<8x16384xf32>
  func.return %o : tensor<8x16384xf32>
}
