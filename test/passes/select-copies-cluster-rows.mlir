// Rows over clusters whose blocks do not all run at once: f16 waits in shared memory for the sum of
// its row, as registers would hold it as f32; f32 waits in registers. The gain is read behind the sum.
// RUN: mirage-opt %s --sink-reductions --fuse-thread-graphs --select-mma --select-copies | filecheck %s

module attributes {kernel.target = #kernel.target<"H200">} {

// CHECK-LABEL: func.func @half
// CHECK:         grid [2000, 2] schedule <threads = 128
// CHECK:         threadblock.load %{{.*}} grid_map [0, 1] {copy = "async"}
// CHECK-NEXT:    threadblock.load %{{.*}} grid_map [_, 0] :
func.func @half(%x: tensor<2000x16384xf16>, %g: tensor<16384xf16>) -> tensor<2000x16384xf16> {
  %o = kernel.graph_defined ins(%x, %g) grid [2000, 2] {
  ^bb0(%xa: tensor<2000x16384xf16>, %ga: tensor<16384xf16>):
    %t = threadblock.load %xa grid_map [0, 1] : (tensor<2000x16384xf16>) -> !threadblock.tile<1x8192xf16>
    %w = threadblock.load %ga grid_map [_, 0] : (tensor<16384xf16>) -> !threadblock.tile<8192xf16>
    %s = threadblock.square %t : (!threadblock.tile<1x8192xf16>) -> !threadblock.tile<1x8192xf32>
    %r = threadblock.reduce_sum %s {dims = array<i64: 1>} : (!threadblock.tile<1x8192xf32>) -> !threadblock.tile<1x1xf32>
    %a = threadblock.accumulate %r across [1] : (!threadblock.tile<1x1xf32>) -> !threadblock.tile<1x1xf32>
    %i = threadblock.rsqrt %a : (!threadblock.tile<1x1xf32>) -> !threadblock.tile<1x1xf32>
    %p = threadblock.mul %t, %w : (!threadblock.tile<1x8192xf16>, !threadblock.tile<8192xf16>) -> !threadblock.tile<1x8192xf32>
    %y = threadblock.mul %i, %p : (!threadblock.tile<1x1xf32>, !threadblock.tile<1x8192xf32>) -> !threadblock.tile<1x8192xf32>
    %h = threadblock.cast %y : (!threadblock.tile<1x8192xf32>) -> !threadblock.tile<1x8192xf16>
    threadblock.store %h grid_map [0, 1] : !threadblock.tile<1x8192xf16>
  } : (tensor<2000x16384xf16>, tensor<16384xf16>) -> tensor<2000x16384xf16>
  func.return %o : tensor<2000x16384xf16>
}

// CHECK-LABEL: func.func @single
// CHECK:         grid [2000, 2] schedule <threads = 256
// CHECK:         threadblock.load %{{.*}} grid_map [0, 1]
// CHECK-NOT:     copy =
// CHECK:         threadblock.store
func.func @single(%x: tensor<2000x16384xf32>) -> tensor<2000x16384xf32> {
  %o = kernel.graph_defined ins(%x) grid [2000, 2] {
  ^bb0(%xa: tensor<2000x16384xf32>):
    %t = threadblock.load %xa grid_map [0, 1] : (tensor<2000x16384xf32>) -> !threadblock.tile<1x8192xf32>
    %s = threadblock.square %t : (!threadblock.tile<1x8192xf32>) -> !threadblock.tile<1x8192xf32>
    %r = threadblock.reduce_sum %s {dims = array<i64: 1>} : (!threadblock.tile<1x8192xf32>) -> !threadblock.tile<1x1xf32>
    %a = threadblock.accumulate %r across [1] : (!threadblock.tile<1x1xf32>) -> !threadblock.tile<1x1xf32>
    %i = threadblock.rsqrt %a : (!threadblock.tile<1x1xf32>) -> !threadblock.tile<1x1xf32>
    %y = threadblock.mul %i, %t : (!threadblock.tile<1x1xf32>, !threadblock.tile<1x8192xf32>) -> !threadblock.tile<1x8192xf32>
    threadblock.store %y grid_map [0, 1] : !threadblock.tile<1x8192xf32>
  } : (tensor<2000x16384xf32>) -> tensor<2000x16384xf32>
  func.return %o : tensor<2000x16384xf32>
}

}
