// More tiles than places for blocks: each block computes one tile of the grid after another, and its
// producer waits until the tiles of the last iteration are released before it copies for the next one.
// RUN: mirage-opt %s --select-mma="target=H200" --select-copies --assign-layouts --software-pipeline | filecheck %s
// RUN: mirage-opt %s --select-mma="target=H200" --select-copies --assign-layouts --software-pipeline="persistent=false" | filecheck %s --check-prefix=EACH
// RUN: mirage-opt %s --select-mma="target=H200" --select-copies --assign-layouts --software-pipeline --plan-memory --overlap-launches --lower-to-nvvm | filecheck %s --check-prefix=LAUNCH

// CHECK-LABEL: func.func @large
// CHECK:       grid [32, 16] loop [16] schedule <{{.*}}, persistent_blocks = 132> {
// CHECK:         threadblock.section "epilogue"
// CHECK-NEXT:    threadblock.await_mma pending 0 %s :
// CHECK-NEXT:    threadblock.release_tiles behind 1 %xt, %wt :
// EACH-LABEL:  func.func @large
// EACH-NOT:    persistent_blocks
// EACH:          threadblock.section "epilogue"
// EACH-NEXT:     threadblock.await_mma pending 0 %s :
// EACH-NEXT:     threadblock.store
// LAUNCH:      #kernel.launch<grid = [132, 1, 1]
func.func @large(%x: tensor<4096x1024xf16>, %w: tensor<1024x4096xf16>) -> tensor<4096x4096xf32> {
  %o = kernel.graph_defined ins(%x, %w) grid [32, 16] loop [16] {
  ^bb0(%xa: tensor<4096x1024xf16>, %wa: tensor<1024x4096xf16>):
    %xt = threadblock.load %xa grid_map [0, _] loop_map [1] : (tensor<4096x1024xf16>) -> !threadblock.tile<128x64xf16>
    %wt = threadblock.load %wa grid_map [_, 1] loop_map [0] : (tensor<1024x4096xf16>) -> !threadblock.tile<64x256xf16>
    %p = threadblock.matmul %xt, %wt : (!threadblock.tile<128x64xf16>, !threadblock.tile<64x256xf16>) -> !threadblock.tile<128x256xf32>
    %s = threadblock.accumulate %p : (!threadblock.tile<128x256xf32>) -> !threadblock.tile<128x256xf32>
    threadblock.store %s grid_map [0, 1] : !threadblock.tile<128x256xf32>
  } : (tensor<4096x1024xf16>, tensor<1024x4096xf16>) -> tensor<4096x4096xf32>
  func.return %o : tensor<4096x4096xf32>
}

// A sum across blocks keeps shared memory that other blocks read: each tile has a block of its own.
// CHECK-LABEL: func.func @split
// CHECK-NOT:   persistent_blocks
// CHECK:       func.return
func.func @split(%x: tensor<4096x1024xf16>, %w: tensor<1024x4096xf16>) -> tensor<4096x4096xf32> {
  %o = kernel.graph_defined ins(%x, %w) grid [32, 32, 2] loop [8] {
  ^bb0(%xa: tensor<4096x1024xf16>, %wa: tensor<1024x4096xf16>):
    %xt = threadblock.load %xa grid_map [0, _, 1] loop_map [1] : (tensor<4096x1024xf16>) -> !threadblock.tile<128x64xf16>
    %wt = threadblock.load %wa grid_map [_, 1, 0] loop_map [0] : (tensor<1024x4096xf16>) -> !threadblock.tile<64x128xf16>
    %p = threadblock.matmul %xt, %wt : (!threadblock.tile<128x64xf16>, !threadblock.tile<64x128xf16>) -> !threadblock.tile<128x128xf32>
    %s = threadblock.accumulate %p across [2] : (!threadblock.tile<128x128xf32>) -> !threadblock.tile<128x128xf32>
    threadblock.store %s grid_map [0, 1, _] : !threadblock.tile<128x128xf32>
  } : (tensor<4096x1024xf16>, tensor<1024x4096xf16>) -> tensor<4096x4096xf32>
  func.return %o : tensor<4096x4096xf32>
}
