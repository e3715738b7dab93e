// RUN: mirage-opt %s --split-input-file --verify-diagnostics --assign-layouts

func.func @half_a_warp(%x: tensor<40x7xf32>) -> tensor<40x7xf32> {
  // expected-error @below {{threads is 16: they are whole warps of 32, up to 1024}}
  %o = kernel.graph_defined ins(%x) grid [1] schedule <threads = 16> {
  ^bb0(%xa: tensor<40x7xf32>):
    %t = threadblock.load %xa grid_map [_] : (tensor<40x7xf32>) -> !threadblock.tile<40x7xf32>
    threadblock.store %t grid_map [_] : !threadblock.tile<40x7xf32>
  } : (tensor<40x7xf32>) -> tensor<40x7xf32>
  func.return %o : tensor<40x7xf32>
}

// -----

func.func @without_threads(%x: tensor<40x7xf32>) -> tensor<40x7xf32> {
  // expected-error @below {{'kernel.graph_defined' op has no threads; run select-mma first}}
  %o = kernel.graph_defined ins(%x) grid [1] {
  ^bb0(%xa: tensor<40x7xf32>):
    %t = threadblock.load %xa grid_map [_] : (tensor<40x7xf32>) -> !threadblock.tile<40x7xf32>
    threadblock.store %t grid_map [_] : !threadblock.tile<40x7xf32>
  } : (tensor<40x7xf32>) -> tensor<40x7xf32>
  func.return %o : tensor<40x7xf32>
}

// -----

func.func @without_copy(%x: tensor<40x64xf32>) -> tensor<40x16xf32> {
  %o = kernel.graph_defined ins(%x) grid [1] loop [4] schedule <threads = 128> {
  ^bb0(%xa: tensor<40x64xf32>):
    // expected-error @below {{'threadblock.load' op has no copy; run select-copies first}}
    %t = threadblock.load %xa grid_map [_] loop_map [1] : (tensor<40x64xf32>) -> !threadblock.tile<40x16xf32>
    %a = threadblock.accumulate %t : (!threadblock.tile<40x16xf32>) -> !threadblock.tile<40x16xf32>
    threadblock.store %a grid_map [_] : !threadblock.tile<40x16xf32>
  } : (tensor<40x64xf32>) -> tensor<40x16xf32>
  func.return %o : tensor<40x16xf32>
}

// -----

func.func @without_warps(%x: tensor<16x64xf16>, %w: tensor<64x64xf16>) -> tensor<16x64xf32> {
  %o = kernel.graph_defined ins(%x, %w) grid [1] schedule <threads = 128> {
  ^bb0(%xa: tensor<16x64xf16>, %wa: tensor<64x64xf16>):
    %t = threadblock.load %xa grid_map [_] {copy = "async"} : (tensor<16x64xf16>) -> !threadblock.tile<16x64xf16>
    %u = threadblock.load %wa grid_map [_] {copy = "async"} : (tensor<64x64xf16>) -> !threadblock.tile<64x64xf16>
    // expected-error @below {{'threadblock.matmul' op has no warps; run select-mma first}}
    %p = threadblock.matmul %t, %u : (!threadblock.tile<16x64xf16>, !threadblock.tile<64x64xf16>) -> !threadblock.tile<16x64xf32>
    threadblock.store %p grid_map [_] : !threadblock.tile<16x64xf32>
  } : (tensor<16x64xf16>, tensor<64x64xf16>) -> tensor<16x64xf32>
  func.return %o : tensor<16x64xf32>
}

// -----

func.func @not_chained(%x: tensor<16x64xf16>, %w: tensor<64x64xf16>) -> tensor<16x64xf32> {
  %o = kernel.graph_defined ins(%x, %w) grid [1] schedule <threads = 128> {
  ^bb0(%xa: tensor<16x64xf16>, %wa: tensor<64x64xf16>):
    %t = threadblock.load %xa grid_map [_] {copy = "async"} : (tensor<16x64xf16>) -> !threadblock.tile<16x64xf16>
    %u = threadblock.load %wa grid_map [_] {copy = "async"} : (tensor<64x64xf16>) -> !threadblock.tile<64x64xf16>
    // expected-error @below {{is chained, but its left operand does not lie as the instruction takes it}}
    %p = threadblock.matmul %t, %u {warps = array<i64: 1, 1, 4>, chained} : (!threadblock.tile<16x64xf16>, !threadblock.tile<64x64xf16>) -> !threadblock.tile<16x64xf32>
    threadblock.store %p grid_map [_] : !threadblock.tile<16x64xf32>
  } : (tensor<16x64xf16>, tensor<64x64xf16>) -> tensor<16x64xf32>
  func.return %o : tensor<16x64xf32>
}

// -----

func.func @not_split(%in: tensor<16x2048xf32>) -> tensor<16x64xf32> {
  %o = kernel.graph_defined ins(%in) grid [32] schedule <threads = 128> {
  ^bb0(%xa: tensor<16x2048xf32>):
    %x = threadblock.load %xa grid_map [1] : (tensor<16x2048xf32>) -> !threadblock.tile<16x64xf32>
    // expected-error @+2 {{'threadblock.accumulate' op sums across 32 blocks, which are no cluster}}
    // expected-note @+1 {{run split-cross-block-sums first}}
    %a = threadblock.accumulate %x across [0] : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x64xf32>
    threadblock.store %a grid_map [_] : !threadblock.tile<16x64xf32>
  } : (tensor<16x2048xf32>) -> tensor<16x64xf32>
  func.return %o : tensor<16x64xf32>
}

// -----

func.func @other_warps(%x: tensor<16x64xf16>, %w: tensor<64x64xf16>) -> tensor<16x64xf32> {
  %o = kernel.graph_defined ins(%x, %w) grid [1] schedule <threads = 128> {
  ^bb0(%xa: tensor<16x64xf16>, %wa: tensor<64x64xf16>):
    %t = threadblock.load %xa grid_map [_] {copy = "async"} : (tensor<16x64xf16>) -> !threadblock.tile<16x64xf16>
    %u = threadblock.load %wa grid_map [_] {copy = "async"} : (tensor<64x64xf16>) -> !threadblock.tile<64x64xf16>
    // expected-error @below {{is for 8 warps, and its block has 4}}
    %p = threadblock.matmul %t, %u {warps = array<i64: 1, 2, 4>} : (!threadblock.tile<16x64xf16>, !threadblock.tile<64x64xf16>) -> !threadblock.tile<16x64xf32>
    threadblock.store %p grid_map [_] : !threadblock.tile<16x64xf32>
  } : (tensor<16x64xf16>, tensor<64x64xf16>) -> tensor<16x64xf32>
  func.return %o : tensor<16x64xf32>
}

// -----

// Which maximum an element is relative to depends on its row and on its column.
func.func @maxima_between(%x: tensor<4x64x4xf32>) -> tensor<4x16x4xf32> {
  %o = kernel.graph_defined ins(%x) grid [2] loop [2] schedule <threads = 32> {
  ^bb0(%xa: tensor<4x64x4xf32>):
    %t = threadblock.load %xa grid_map [1] loop_map [1] {copy = "async"} : (tensor<4x64x4xf32>) -> !threadblock.tile<4x16x4xf32>
    %m = threadblock.reduce_max %t {dims = array<i64: 1>} : (!threadblock.tile<4x16x4xf32>) -> !threadblock.tile<4x1x4xf32>
    // expected-error @+2 {{'threadblock.accumulate' op adds up tiles of 4x16x4 across the blocks of a cluster, relative to maxima of 4x1x4: along a dimension between others}}
    // expected-note @+1 {{reduce each tile before it is accumulated}}
    %a = threadblock.accumulate %t across [0] rescale %m : (!threadblock.tile<4x16x4xf32>, !threadblock.tile<4x1x4xf32>) -> !threadblock.tile<4x16x4xf32>
    threadblock.store %a grid_map [_] : !threadblock.tile<4x16x4xf32>
  } : (tensor<4x64x4xf32>) -> tensor<4x16x4xf32>
  func.return %o : tensor<4x16x4xf32>
}
