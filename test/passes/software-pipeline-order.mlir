// The order in which the blocks of a grid start: in bands where concurrent blocks share more tiles so.
// RUN: mirage-opt %s --select-mma="target=H200" --select-copies --assign-layouts --software-pipeline | filecheck %s

// 132 blocks in the order of the grid read 16 tiles of %w and 9 of %x; in bands of 8 blocks 8 and 17,
// which are half as large.
// CHECK-LABEL: func.func @bands
// CHECK:       grid [16, 32] {{.*}} schedule <{{.*}}, raster_width = 8> {
func.func @bands(%x: tensor<2048x512xf16>, %w: tensor<512x2048xf16>) -> tensor<2048x2048xf32> {
  %o = kernel.graph_defined ins(%x, %w) grid [16, 32] loop [8] {
  ^bb0(%xa: tensor<2048x512xf16>, %wa: tensor<512x2048xf16>):
    %xt = threadblock.load %xa grid_map [_, 0] loop_map [1] : (tensor<2048x512xf16>) -> !threadblock.tile<64x64xf16>
    %wt = threadblock.load %wa grid_map [1, _] loop_map [0] : (tensor<512x2048xf16>) -> !threadblock.tile<64x128xf16>
    %p = threadblock.matmul %xt, %wt : (!threadblock.tile<64x64xf16>, !threadblock.tile<64x128xf16>) -> !threadblock.tile<64x128xf32>
    %s = threadblock.accumulate %p : (!threadblock.tile<64x128xf32>) -> !threadblock.tile<64x128xf32>
    threadblock.store %s grid_map [1, 0] : !threadblock.tile<64x128xf32>
  } : (tensor<2048x512xf16>, tensor<512x2048xf16>) -> tensor<2048x2048xf32>
  func.return %o : tensor<2048x2048xf32>
}
