// With which iteration the loops of blocks begin: one step further along in each, where blocks read lines of their own.
// RUN: mirage-opt %s --select-mma="target=H200" --select-copies --assign-layouts --software-pipeline | filecheck %s

// Weights [out, in]: the loop walks along the rows of %w, and each block reads rows of its own.
// CHECK-LABEL: func.func @out_in
// CHECK:       grid [32] loop [8] schedule <{{.*}}stagger = 5{{.*}}> {
func.func @out_in(%x: tensor<16x512xf16>, %w: tensor<1024x512xf16>) -> tensor<16x1024xf32> {
  %v = kernel.transpose %w {permutation = array<i64: 1, 0>} : (tensor<1024x512xf16>) -> tensor<512x1024xf16>
  %o = kernel.graph_defined ins(%x, %v) grid [32] loop [8] {
  ^bb0(%xa: tensor<16x512xf16>, %wa: tensor<512x1024xf16>):
    %xt = threadblock.load %xa grid_map [_] loop_map [1] : (tensor<16x512xf16>) -> !threadblock.tile<16x64xf16>
    %wt = threadblock.load %wa grid_map [1] loop_map [0] : (tensor<512x1024xf16>) -> !threadblock.tile<64x32xf16>
    %p = threadblock.matmul %xt, %wt : (!threadblock.tile<16x64xf16>, !threadblock.tile<64x32xf16>) -> !threadblock.tile<16x32xf32>
    %s = threadblock.accumulate %p : (!threadblock.tile<16x32xf32>) -> !threadblock.tile<16x32xf32>
    threadblock.store %s grid_map [1] : !threadblock.tile<16x32xf32>
  } : (tensor<16x512xf16>, tensor<512x1024xf16>) -> tensor<16x1024xf32>
  func.return %o : tensor<16x1024xf32>
}

// Weights [in, out]: what blocks read at one time lies side by side.
// CHECK-LABEL: func.func @in_out
// CHECK-NOT:   stagger
// CHECK:       func.return
func.func @in_out(%x: tensor<16x512xf16>, %w: tensor<512x1024xf16>) -> tensor<16x1024xf32> {
  %o = kernel.graph_defined ins(%x, %w) grid [32] loop [8] {
  ^bb0(%xa: tensor<16x512xf16>, %wa: tensor<512x1024xf16>):
    %xt = threadblock.load %xa grid_map [_] loop_map [1] : (tensor<16x512xf16>) -> !threadblock.tile<16x64xf16>
    %wt = threadblock.load %wa grid_map [1] loop_map [0] : (tensor<512x1024xf16>) -> !threadblock.tile<64x32xf16>
    %p = threadblock.matmul %xt, %wt : (!threadblock.tile<16x64xf16>, !threadblock.tile<64x32xf16>) -> !threadblock.tile<16x32xf32>
    %s = threadblock.accumulate %p : (!threadblock.tile<16x32xf32>) -> !threadblock.tile<16x32xf32>
    threadblock.store %s grid_map [1] : !threadblock.tile<16x32xf32>
  } : (tensor<16x512xf16>, tensor<512x1024xf16>) -> tensor<16x1024xf32>
  func.return %o : tensor<16x1024xf32>
}

// Rows of blocks along a second axis read the same weights at the same time: L2 holds them.
// CHECK-LABEL: func.func @shared_weights
// CHECK-NOT:   stagger
// CHECK:       func.return
func.func @shared_weights(%x: tensor<64x512xf16>, %w: tensor<1024x512xf16>) -> tensor<64x1024xf32> {
  %v = kernel.transpose %w {permutation = array<i64: 1, 0>} : (tensor<1024x512xf16>) -> tensor<512x1024xf16>
  %o = kernel.graph_defined ins(%x, %v) grid [32, 4] loop [8] {
  ^bb0(%xa: tensor<64x512xf16>, %wa: tensor<512x1024xf16>):
    %xt = threadblock.load %xa grid_map [_, 0] loop_map [1] : (tensor<64x512xf16>) -> !threadblock.tile<16x64xf16>
    %wt = threadblock.load %wa grid_map [1, _] loop_map [0] : (tensor<512x1024xf16>) -> !threadblock.tile<64x32xf16>
    %p = threadblock.matmul %xt, %wt : (!threadblock.tile<16x64xf16>, !threadblock.tile<64x32xf16>) -> !threadblock.tile<16x32xf32>
    %s = threadblock.accumulate %p : (!threadblock.tile<16x32xf32>) -> !threadblock.tile<16x32xf32>
    threadblock.store %s grid_map [1, 0] : !threadblock.tile<16x32xf32>
  } : (tensor<64x512xf16>, tensor<512x1024xf16>) -> tensor<64x1024xf32>
  func.return %o : tensor<64x1024xf32>
}

// A maximum, to which sums could be relative, takes iterations in their order.
// CHECK-LABEL: func.func @maxima
// CHECK-NOT:   stagger
// CHECK:       func.return
func.func @maxima(%x: tensor<64x640xf32>) -> tensor<64x1xf32> {
  %o = kernel.graph_defined ins(%x) grid [32] loop [10] {
  ^bb0(%xa: tensor<64x640xf32>):
    %t = threadblock.load %xa grid_map [0] loop_map [1] : (tensor<64x640xf32>) -> !threadblock.tile<2x64xf32>
    %m = threadblock.reduce_max %t {dims = array<i64: 1>} : (!threadblock.tile<2x64xf32>) -> !threadblock.tile<2x1xf32>
    %s = threadblock.accumulate %m {kind = "max"} : (!threadblock.tile<2x1xf32>) -> !threadblock.tile<2x1xf32>
    threadblock.store %s grid_map [0] : !threadblock.tile<2x1xf32>
  } : (tensor<64x640xf32>) -> tensor<64x1xf32>
  func.return %o : tensor<64x1xf32>
}

// Ten iterations: with steps of 5 only two of them would be a first.
// CHECK-LABEL: func.func @sums
// CHECK:       grid [32] loop [10] schedule <{{.*}}stagger = 7{{.*}}> {
func.func @sums(%x: tensor<64x640xf32>) -> tensor<64x1xf32> {
  %o = kernel.graph_defined ins(%x) grid [32] loop [10] {
  ^bb0(%xa: tensor<64x640xf32>):
    %t = threadblock.load %xa grid_map [0] loop_map [1] : (tensor<64x640xf32>) -> !threadblock.tile<2x64xf32>
    %m = threadblock.reduce_sum %t {dims = array<i64: 1>} : (!threadblock.tile<2x64xf32>) -> !threadblock.tile<2x1xf32>
    %s = threadblock.accumulate %m : (!threadblock.tile<2x1xf32>) -> !threadblock.tile<2x1xf32>
    threadblock.store %s grid_map [0] : !threadblock.tile<2x1xf32>
  } : (tensor<64x640xf32>) -> tensor<64x1xf32>
  func.return %o : tensor<64x1xf32>
}

// The blocks of a cluster copy the tiles of %x to each other, which are of one iteration.
// CHECK-LABEL: func.func @multicast
// CHECK-NOT:   stagger
// CHECK:       multicast = 2
// CHECK-NOT:   stagger
// CHECK:       func.return
func.func @multicast(%x: tensor<64x1024xf16>, %w: tensor<256x1024xf16>) -> tensor<64x256xf32> {
  %v = kernel.transpose %w {permutation = array<i64: 1, 0>} : (tensor<256x1024xf16>) -> tensor<1024x256xf16>
  %o = kernel.graph_defined ins(%x, %v) grid [2] cluster [2] loop [16] {
  ^bb0(%xa: tensor<64x1024xf16>, %wa: tensor<1024x256xf16>):
    %xt = threadblock.load %xa grid_map [_] loop_map [1] : (tensor<64x1024xf16>) -> !threadblock.tile<64x64xf16>
    %wt = threadblock.load %wa grid_map [1] loop_map [0] : (tensor<1024x256xf16>) -> !threadblock.tile<64x128xf16>
    %p = threadblock.matmul %xt, %wt : (!threadblock.tile<64x64xf16>, !threadblock.tile<64x128xf16>) -> !threadblock.tile<64x128xf32>
    %s = threadblock.accumulate %p : (!threadblock.tile<64x128xf32>) -> !threadblock.tile<64x128xf32>
    threadblock.store %s grid_map [1] : !threadblock.tile<64x128xf32>
  } : (tensor<64x1024xf16>, tensor<1024x256xf16>) -> tensor<64x256xf32>
  func.return %o : tensor<64x256xf32>
}

// Device memory answers such blocks less evenly: where two iterations of 32 KB suffice elsewhere, three are in flight.
// CHECK-LABEL: func.func @rows_in_flight
// CHECK:       threadblock.refill_buffers ahead 3
func.func @rows_in_flight(%x: tensor<16x4096xf16>, %w: tensor<14336x4096xf16>) -> tensor<16x14336xf32> {
  %v = kernel.transpose %w {permutation = array<i64: 1, 0>} : (tensor<14336x4096xf16>) -> tensor<4096x14336xf16>
  %o = kernel.graph_defined ins(%x, %v) grid [112] loop [32] {
  ^bb0(%xa: tensor<16x4096xf16>, %wa: tensor<4096x14336xf16>):
    %xt = threadblock.load %xa grid_map [_] loop_map [1] : (tensor<16x4096xf16>) -> !threadblock.tile<16x128xf16>
    %wt = threadblock.load %wa grid_map [1] loop_map [0] : (tensor<4096x14336xf16>) -> !threadblock.tile<128x128xf16>
    %p = threadblock.matmul %xt, %wt : (!threadblock.tile<16x128xf16>, !threadblock.tile<128x128xf16>) -> !threadblock.tile<16x128xf32>
    %s = threadblock.accumulate %p : (!threadblock.tile<16x128xf32>) -> !threadblock.tile<16x128xf32>
    threadblock.store %s grid_map [1] : !threadblock.tile<16x128xf32>
  } : (tensor<16x4096xf16>, tensor<4096x14336xf16>) -> tensor<16x14336xf32>
  func.return %o : tensor<16x14336xf32>
}

// CHECK-LABEL: func.func @columns_in_flight
// CHECK:       threadblock.refill_buffers ahead 2
func.func @columns_in_flight(%x: tensor<16x4096xf16>, %w: tensor<4096x14336xf16>) -> tensor<16x14336xf32> {
  %o = kernel.graph_defined ins(%x, %w) grid [112] loop [32] {
  ^bb0(%xa: tensor<16x4096xf16>, %wa: tensor<4096x14336xf16>):
    %xt = threadblock.load %xa grid_map [_] loop_map [1] : (tensor<16x4096xf16>) -> !threadblock.tile<16x128xf16>
    %wt = threadblock.load %wa grid_map [1] loop_map [0] : (tensor<4096x14336xf16>) -> !threadblock.tile<128x128xf16>
    %p = threadblock.matmul %xt, %wt : (!threadblock.tile<16x128xf16>, !threadblock.tile<128x128xf16>) -> !threadblock.tile<16x128xf32>
    %s = threadblock.accumulate %p : (!threadblock.tile<16x128xf32>) -> !threadblock.tile<16x128xf32>
    threadblock.store %s grid_map [1] : !threadblock.tile<16x128xf32>
  } : (tensor<16x4096xf16>, tensor<4096x14336xf16>) -> tensor<16x14336xf32>
  func.return %o : tensor<16x14336xf32>
}
