// Sums across more blocks than a cluster has become partial sums in a workspace.
//
// RUN: mirage-opt %s --split-cross-block-sums="target=H200" | filecheck %s
// RUN: mirage-opt %s --split-cross-block-sums="target=H200" | mirage-opt | filecheck %s

// 32 blocks sum over iterations of their own, then across: the last block has the total.
// CHECK-LABEL: func.func @matmul
// CHECK:         grid [1, 32] loop [2] schedule <sums_in_workspace>
// CHECK:         %p = threadblock.matmul
// CHECK-NEXT:    %[[B:.*]] = threadblock.accumulate %p : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x64xf32>
// CHECK-NEXT:    threadblock.store_partial_sum 0 %[[B]] : !threadblock.tile<16x64xf32>
// CHECK-NEXT:    %a = threadblock.accumulate %[[B]] across [1] {partial_sum = 0 : i64}
// CHECK-NEXT:    threadblock.store %a
func.func @matmul(%x: tensor<16x4096xf16>, %w: tensor<4096x64xf16>) -> tensor<16x64xf32> {
  %o = kernel.graph_defined ins(%x, %w) grid [1, 32] loop [2] {
  ^bb0(%xa: tensor<16x4096xf16>, %wa: tensor<4096x64xf16>):
    %xt = threadblock.load %xa grid_map [_, 1] loop_map [1] : (tensor<16x4096xf16>) -> !threadblock.tile<16x64xf16>
    %wt = threadblock.load %wa grid_map [_, 0] loop_map [0] : (tensor<4096x64xf16>) -> !threadblock.tile<64x64xf16>
    %p = threadblock.matmul %xt, %wt : (!threadblock.tile<16x64xf16>, !threadblock.tile<64x64xf16>) -> !threadblock.tile<16x64xf32>
    %a = threadblock.accumulate %p across [1] : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x64xf32>
    threadblock.store %a grid_map [_, _] : !threadblock.tile<16x64xf32>
  } : (tensor<16x4096xf16>, tensor<4096x64xf16>) -> tensor<16x64xf32>
  func.return %o : tensor<16x64xf32>
}

// A block reduces its part before it stores that: 16 numbers, not 16 x 64.
// CHECK-LABEL: func.func @reduced
// CHECK:         %[[S:.*]] = threadblock.reduce_sum %x
// CHECK-NEXT:    threadblock.store_partial_sum 0 %[[S]] : !threadblock.tile<16x1xf32>
// CHECK-NEXT:    %[[T:.*]] = threadblock.accumulate %[[S]] across [0] {partial_sum = 0 : i64}
// CHECK-NEXT:    threadblock.store %[[T]]
func.func @reduced(%in: tensor<16x2048xf32>) -> tensor<16x1xf32> {
  %o = kernel.graph_defined ins(%in) grid [32] {
  ^bb0(%xa: tensor<16x2048xf32>):
    %x = threadblock.load %xa grid_map [1] : (tensor<16x2048xf32>) -> !threadblock.tile<16x64xf32>
    %a = threadblock.accumulate %x across [0] : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x64xf32>
    %s = threadblock.reduce_sum %a {dims = array<i64: 1>} : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x1xf32>
    threadblock.store %s grid_map [_] : !threadblock.tile<16x1xf32>
  } : (tensor<16x2048xf32>) -> tensor<16x1xf32>
  func.return %o : tensor<16x1xf32>
}

// What is relative to a maximum is stored beside that of the block, which several sums share.
// CHECK-LABEL: func.func @relative
// CHECK:         %[[A:.*]] = threadblock.accumulate %e rescale %m
// CHECK-NEXT:    %[[M:.*]] = threadblock.accumulate %m {kind = "max"}
// CHECK-NEXT:    threadblock.store_partial_sum 0 %[[A]] rescale %[[M]] : !threadblock.tile<16x32xf32>, !threadblock.tile<16x1xf32>
// CHECK-NEXT:    threadblock.accumulate %[[A]] across [0] rescale %[[M]] {partial_sum = 0 : i64}
// CHECK-NEXT:    %[[B:.*]] = threadblock.accumulate %f rescale %m
// CHECK-NEXT:    threadblock.store_partial_sum 1 %[[B]] rescale %[[M]]
// CHECK-NEXT:    threadblock.accumulate %[[B]] across [0] rescale %[[M]] {partial_sum = 1 : i64}
func.func @relative(%in: tensor<16x2048xf32>) -> (tensor<16x32xf32>, tensor<16x32xf32>) {
  %o:2 = kernel.graph_defined ins(%in) grid [32] loop [2] {
  ^bb0(%xa: tensor<16x2048xf32>):
    %x = threadblock.load %xa grid_map [1] loop_map [1] : (tensor<16x2048xf32>) -> !threadblock.tile<16x32xf32>
    %m = threadblock.reduce_max %x {dims = array<i64: 1>} : (!threadblock.tile<16x32xf32>) -> !threadblock.tile<16x1xf32>
    %d = threadblock.sub %x, %m : (!threadblock.tile<16x32xf32>, !threadblock.tile<16x1xf32>) -> !threadblock.tile<16x32xf32>
    %e = threadblock.exp %d : (!threadblock.tile<16x32xf32>) -> !threadblock.tile<16x32xf32>
    %f = threadblock.mul %e, %x : (!threadblock.tile<16x32xf32>, !threadblock.tile<16x32xf32>) -> !threadblock.tile<16x32xf32>
    %a = threadblock.accumulate %e across [0] rescale %m : (!threadblock.tile<16x32xf32>, !threadblock.tile<16x1xf32>) -> !threadblock.tile<16x32xf32>
    %b = threadblock.accumulate %f across [0] rescale %m : (!threadblock.tile<16x32xf32>, !threadblock.tile<16x1xf32>) -> !threadblock.tile<16x32xf32>
    threadblock.store %a grid_map [_] : !threadblock.tile<16x32xf32>
    threadblock.store %b grid_map [_] : !threadblock.tile<16x32xf32>
  } : (tensor<16x2048xf32>) -> (tensor<16x32xf32>, tensor<16x32xf32>)
  func.return %o#0, %o#1 : tensor<16x32xf32>, tensor<16x32xf32>
}

// Four blocks are a cluster, whose blocks read each other's shared memory.
// CHECK-LABEL: func.func @cluster
// CHECK-NOT:     store_partial_sum
// CHECK:         threadblock.accumulate %x across [0] :
func.func @cluster(%in: tensor<16x256xf32>) -> tensor<16x64xf32> {
  %o = kernel.graph_defined ins(%in) grid [4] {
  ^bb0(%xa: tensor<16x256xf32>):
    %x = threadblock.load %xa grid_map [1] : (tensor<16x256xf32>) -> !threadblock.tile<16x64xf32>
    %a = threadblock.accumulate %x across [0] : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x64xf32>
    threadblock.store %a grid_map [_] : !threadblock.tile<16x64xf32>
  } : (tensor<16x256xf32>) -> tensor<16x64xf32>
  func.return %o : tensor<16x64xf32>
}
