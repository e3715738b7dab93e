// What the verifier says of whole graphs: maps, stages, accumulators, stores.
// RUN: mirage-opt %s --verify-diagnostics --split-input-file

func.func @f(%x: tensor<16x64xf16>) {
  %r = kernel.graph_defined ins(%x) grid [4] loop [8] {
  ^bb0(%xa: tensor<16x64xf16>):
    // expected-error @below {{'threadblock.load' op loads f16 elements into a tile of f32}}
    %t = threadblock.load %xa grid_map [0] loop_map [1] : (tensor<16x64xf16>) -> !threadblock.tile<4x8xf32>
    %s = threadblock.accumulate %t : (!threadblock.tile<4x8xf32>) -> !threadblock.tile<4x8xf32>
    threadblock.store %s grid_map [0] : !threadblock.tile<4x8xf32>
  } : (tensor<16x64xf16>) -> tensor<16x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<16x64xf16>) {
  %r = kernel.graph_defined ins(%x) grid [4] loop [8] {
  ^bb0(%xa: tensor<16x64xf16>):
    // expected-error @below {{'threadblock.load' op grid_map has 2 entries for 1 grid axes}}
    %t = threadblock.load %xa grid_map [0, _] loop_map [1] : (tensor<16x64xf16>) -> !threadblock.tile<4x8xf16>
    %s = threadblock.accumulate %t : (!threadblock.tile<4x8xf16>) -> !threadblock.tile<4x8xf32>
    threadblock.store %s grid_map [0] : !threadblock.tile<4x8xf32>
  } : (tensor<16x64xf16>) -> tensor<16x8xf32>
  func.return
}

// -----

// A map that is left out is a map without entries.
func.func @f(%x: tensor<16x64xf16>) {
  %r = kernel.graph_defined ins(%x) grid [4] loop [8] {
  ^bb0(%xa: tensor<16x64xf16>):
    // expected-error @below {{'threadblock.load' op loop_map has 0 entries for 1 loops}}
    %t = threadblock.load %xa grid_map [0] : (tensor<16x64xf16>) -> !threadblock.tile<4x64xf16>
    %s = threadblock.accumulate %t : (!threadblock.tile<4x64xf16>) -> !threadblock.tile<4x64xf32>
    threadblock.store %s grid_map [0] : !threadblock.tile<4x64xf32>
  } : (tensor<16x64xf16>) -> tensor<16x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<16x64xf16>) {
  %r = kernel.graph_defined ins(%x) grid [4] {
  ^bb0(%xa: tensor<16x64xf16>):
    // expected-error @below {{'threadblock.load' op loop_map has 1 entries for 0 loops}}
    %t = threadblock.load %xa grid_map [0] loop_map [1] : (tensor<16x64xf16>) -> !threadblock.tile<4x64xf16>
    threadblock.store %t grid_map [0] : !threadblock.tile<4x64xf16>
  } : (tensor<16x64xf16>) -> tensor<16x64xf16>
  func.return
}

// -----

func.func @f(%x: tensor<16x64xf16>) {
  %r = kernel.graph_defined ins(%x) grid [4] loop [8] {
  ^bb0(%xa: tensor<16x64xf16>):
    // expected-error @below {{'threadblock.load' op grid_map cuts dim 2 by grid axis 0, but the tensor has rank 2}}
    %t = threadblock.load %xa grid_map [2] loop_map [1] : (tensor<16x64xf16>) -> !threadblock.tile<4x8xf16>
    %s = threadblock.accumulate %t : (!threadblock.tile<4x8xf16>) -> !threadblock.tile<4x8xf32>
    threadblock.store %s grid_map [0] : !threadblock.tile<4x8xf32>
  } : (tensor<16x64xf16>) -> tensor<16x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<16x64xf16>) {
  %r = kernel.graph_defined ins(%x) grid [4] loop [8] {
  ^bb0(%xa: tensor<16x64xf16>):
    // expected-error @below {{'threadblock.load' op loop_map cuts dim -2 by loop 0, but the tensor has rank 2}}
    %t = threadblock.load %xa grid_map [0] loop_map [-2] : (tensor<16x64xf16>) -> !threadblock.tile<4x8xf16>
    %s = threadblock.accumulate %t : (!threadblock.tile<4x8xf16>) -> !threadblock.tile<4x8xf32>
    threadblock.store %s grid_map [0] : !threadblock.tile<4x8xf32>
  } : (tensor<16x64xf16>) -> tensor<16x8xf32>
  func.return
}

// -----

// Two grid axes never cut one dimension.
func.func @f(%x: tensor<16x64xf16>) {
  %r = kernel.graph_defined ins(%x) grid [2, 2] loop [8] {
  ^bb0(%xa: tensor<16x64xf16>):
    // expected-error @below {{'threadblock.load' op grid_map cuts dim 0 by grid axes 0 and 1}}
    %t = threadblock.load %xa grid_map [0, 0] loop_map [1] : (tensor<16x64xf16>) -> !threadblock.tile<4x8xf16>
    %s = threadblock.accumulate %t : (!threadblock.tile<4x8xf16>) -> !threadblock.tile<4x8xf32>
    threadblock.store %s grid_map [0, _] : !threadblock.tile<4x8xf32>
  } : (tensor<16x64xf16>) -> tensor<16x8xf32>
  func.return
}

// -----

// Tile rank is tensor rank.
func.func @f(%x: tensor<16x64xf16>) {
  %r = kernel.graph_defined ins(%x) grid [4] loop [8] {
  ^bb0(%xa: tensor<16x64xf16>):
    // expected-error @below {{'threadblock.load' op a tile of rank 1 cannot hold part of a rank-2 tensor}}
    %t = threadblock.load %xa grid_map [0] loop_map [1] : (tensor<16x64xf16>) -> !threadblock.tile<8xf16>
    %s = threadblock.accumulate %t : (!threadblock.tile<8xf16>) -> !threadblock.tile<8xf32>
    threadblock.store %s grid_map [0] : !threadblock.tile<8xf32>
  } : (tensor<16x64xf16>) -> tensor<16x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<16x64xf16>) {
  %r = kernel.graph_defined ins(%x) grid [4] loop [8] {
  ^bb0(%xa: tensor<16x64xf16>):
    // expected-error @below {{'threadblock.load' op dim 1 (size 64) is not covered: 8 iterations x tiles of 7 hold 56 elements}}
    %t = threadblock.load %xa grid_map [0] loop_map [1] : (tensor<16x64xf16>) -> !threadblock.tile<4x7xf16>
    %s = threadblock.accumulate %t : (!threadblock.tile<4x7xf16>) -> !threadblock.tile<4x7xf32>
    threadblock.store %s grid_map [0] : !threadblock.tile<4x7xf32>
  } : (tensor<16x64xf16>) -> tensor<16x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<16x64xf16>) {
  %r = kernel.graph_defined ins(%x) grid [4] loop [8] {
  ^bb0(%xa: tensor<16x64xf16>):
    // expected-error @below {{'threadblock.load' op dim 0 (size 16) is not covered: 4 blocks x tiles of 3 hold 12 elements}}
    %t = threadblock.load %xa grid_map [0] loop_map [1] : (tensor<16x64xf16>) -> !threadblock.tile<3x8xf16>
    %s = threadblock.accumulate %t : (!threadblock.tile<3x8xf16>) -> !threadblock.tile<3x8xf32>
    threadblock.store %s grid_map [0] : !threadblock.tile<3x8xf32>
  } : (tensor<16x64xf16>) -> tensor<16x8xf32>
  func.return
}

// -----

// The loop cuts the part of the block.
func.func @f(%x: tensor<16x64xf16>) {
  %r = kernel.graph_defined ins(%x) grid [4] loop [8] {
  ^bb0(%xa: tensor<16x64xf16>):
    // expected-error @below {{'threadblock.load' op dim 1 (size 64) is not covered: 4 blocks x 8 iterations x tiles of 1 hold 32 elements}}
    %t = threadblock.load %xa grid_map [1] loop_map [1] : (tensor<16x64xf16>) -> !threadblock.tile<16x1xf16>
    %s = threadblock.accumulate %t : (!threadblock.tile<16x1xf16>) -> !threadblock.tile<16x1xf32>
    threadblock.store %s grid_map [1] : !threadblock.tile<16x1xf32>
  } : (tensor<16x64xf16>) -> tensor<16x4xf32>
  func.return
}

// -----

// A dimension that nothing cuts is in the tile as a whole.
func.func @f(%x: tensor<16x64xf16>) {
  %r = kernel.graph_defined ins(%x) grid [4] loop [8] {
  ^bb0(%xa: tensor<16x64xf16>):
    // expected-error @below {{'threadblock.load' op dim 1 (size 64) is not covered: tiles of 32 hold 32 elements}}
    %t = threadblock.load %xa grid_map [0] loop_map [_] : (tensor<16x64xf16>) -> !threadblock.tile<4x32xf16>
    threadblock.store %t grid_map [0] : !threadblock.tile<4x32xf16>
  } : (tensor<16x64xf16>) -> tensor<16x64xf16>
  func.return
}

// -----

func.func @f(%x: tensor<16x64xf16>) {
  %r = kernel.graph_defined ins(%x) grid [4] loop [8] {
  ^bb0(%xa: tensor<16x64xf16>):
    %t = threadblock.load %xa grid_map [0] loop_map [1] : (tensor<16x64xf16>) -> !threadblock.tile<4x8xf16>
    %s = threadblock.accumulate %t : (!threadblock.tile<4x8xf16>) -> !threadblock.tile<4x8xf32>
    // expected-error @below {{'threadblock.div' op mixes a value of the loop with one from after it}}
    %d = threadblock.div %t, %s : (!threadblock.tile<4x8xf16>, !threadblock.tile<4x8xf32>) -> !threadblock.tile<4x8xf32>
    threadblock.store %d grid_map [0] : !threadblock.tile<4x8xf32>
  } : (tensor<16x64xf16>) -> tensor<16x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<16x64xf16>) {
  %r = kernel.graph_defined ins(%x) grid [4] loop [8] {
  ^bb0(%xa: tensor<16x64xf16>):
    %t = threadblock.load %xa grid_map [0] loop_map [1] : (tensor<16x64xf16>) -> !threadblock.tile<4x8xf16>
    // expected-error @below {{'threadblock.store' op stores a value of the loop, and has no loop_map}}
    threadblock.store %t grid_map [0] : !threadblock.tile<4x8xf16>
  } : (tensor<16x64xf16>) -> tensor<16x8xf16>
  func.return
}

// -----

func.func @f(%x: tensor<16x64xf16>) {
  %r = kernel.graph_defined ins(%x) grid [4] loop [8] {
  ^bb0(%xa: tensor<16x64xf16>):
    %t = threadblock.load %xa grid_map [0] loop_map [_] : (tensor<16x64xf16>) -> !threadblock.tile<4x64xf16>
    %u = threadblock.load %xa grid_map [0] loop_map [1] : (tensor<16x64xf16>) -> !threadblock.tile<4x8xf16>
    // expected-error @below {{'threadblock.accumulate' op has a value that is the same in every iteration of the loop}}
    %s = threadblock.accumulate %t across [0] : (!threadblock.tile<4x64xf16>) -> !threadblock.tile<4x64xf32>
    threadblock.store %s grid_map [_] : !threadblock.tile<4x64xf32>
  } : (tensor<16x64xf16>) -> tensor<4x64xf32>
  func.return
}

// -----

func.func @f(%x: tensor<16x64xf16>) {
  %r = kernel.graph_defined ins(%x) grid [4] loop [8] {
  ^bb0(%xa: tensor<16x64xf16>):
    %t = threadblock.load %xa grid_map [0] loop_map [_] : (tensor<16x64xf16>) -> !threadblock.tile<4x64xf16>
    %u = threadblock.load %xa grid_map [0] loop_map [1] : (tensor<16x64xf16>) -> !threadblock.tile<4x8xf16>
    // expected-error @below {{'threadblock.accumulate' op has a value that is not computed in a loop, and no grid axis across}}
    %s = threadblock.accumulate %t : (!threadblock.tile<4x64xf16>) -> !threadblock.tile<4x64xf32>
    threadblock.store %s grid_map [0] : !threadblock.tile<4x64xf32>
  } : (tensor<16x64xf16>) -> tensor<16x64xf32>
  func.return
}

// -----

func.func @f(%x: tensor<16x64xf16>) {
  %r = kernel.graph_defined ins(%x) grid [4] {
  ^bb0(%xa: tensor<16x64xf16>):
    %t = threadblock.load %xa grid_map [0] : (tensor<16x64xf16>) -> !threadblock.tile<4x64xf16>
    // expected-error @below {{'threadblock.accumulate' op has a value that is not computed in a loop, and no grid axis across}}
    %s = threadblock.accumulate %t : (!threadblock.tile<4x64xf16>) -> !threadblock.tile<4x64xf32>
    threadblock.store %s grid_map [0] : !threadblock.tile<4x64xf32>
  } : (tensor<16x64xf16>) -> tensor<16x64xf32>
  func.return
}

// -----

func.func @f(%x: tensor<16x64xf16>) {
  %r = kernel.graph_defined ins(%x) grid [4] loop [8] {
  ^bb0(%xa: tensor<16x64xf16>):
    %t = threadblock.load %xa grid_map [0] loop_map [1] : (tensor<16x64xf16>) -> !threadblock.tile<4x8xf16>
    // expected-error @below {{'threadblock.accumulate' op has kind "min", which is neither "sum" nor "max"}}
    %s = threadblock.accumulate %t {kind = "min"} : (!threadblock.tile<4x8xf16>) -> !threadblock.tile<4x8xf32>
    threadblock.store %s grid_map [0] : !threadblock.tile<4x8xf32>
  } : (tensor<16x64xf16>) -> tensor<16x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<16x64xf16>) {
  %r = kernel.graph_defined ins(%x) grid [4] loop [8] {
  ^bb0(%xa: tensor<16x64xf16>):
    %t = threadblock.load %xa grid_map [0] loop_map [1] : (tensor<16x64xf16>) -> !threadblock.tile<4x8xf16>
    // expected-error @below {{'threadblock.accumulate' op result shape must be 4x8, got 4x1}}
    %s = threadblock.accumulate %t : (!threadblock.tile<4x8xf16>) -> !threadblock.tile<4x1xf32>
    threadblock.store %s grid_map [0] : !threadblock.tile<4x1xf32>
  } : (tensor<16x64xf16>) -> tensor<16x1xf32>
  func.return
}

// -----

// Accumulators are f32 always.
func.func @f(%x: tensor<16x64xf16>) {
  %r = kernel.graph_defined ins(%x) grid [4] loop [8] {
  ^bb0(%xa: tensor<16x64xf16>):
    %t = threadblock.load %xa grid_map [0] loop_map [1] : (tensor<16x64xf16>) -> !threadblock.tile<4x8xf16>
    // expected-error @below {{accumulators are f32}}
    %s = threadblock.accumulate %t : (!threadblock.tile<4x8xf16>) -> !threadblock.tile<4x8xf16>
    threadblock.store %s grid_map [0] : !threadblock.tile<4x8xf16>
  } : (tensor<16x64xf16>) -> tensor<16x8xf16>
  func.return
}

// -----

func.func @f(%x: tensor<16x64xf16>) {
  %r = kernel.graph_defined ins(%x) grid [4] loop [8] {
  ^bb0(%xa: tensor<16x64xf16>):
    %t = threadblock.load %xa grid_map [0] loop_map [1] : (tensor<16x64xf16>) -> !threadblock.tile<4x8xf16>
    // expected-error @below {{'threadblock.accumulate' op is across grid axis 1 of a grid of 1 axes}}
    %s = threadblock.accumulate %t across [1] : (!threadblock.tile<4x8xf16>) -> !threadblock.tile<4x8xf32>
    threadblock.store %s grid_map [0] : !threadblock.tile<4x8xf32>
  } : (tensor<16x64xf16>) -> tensor<16x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<16x64xf16>) {
  %r = kernel.graph_defined ins(%x) grid [4] loop [8] {
  ^bb0(%xa: tensor<16x64xf16>):
    %t = threadblock.load %xa grid_map [0] loop_map [1] : (tensor<16x64xf16>) -> !threadblock.tile<4x8xf16>
    // expected-error @below {{'threadblock.accumulate' op is across grid axis 0 twice}}
    %s = threadblock.accumulate %t across [0, 0] : (!threadblock.tile<4x8xf16>) -> !threadblock.tile<4x8xf32>
    threadblock.store %s grid_map [_] : !threadblock.tile<4x8xf32>
  } : (tensor<16x64xf16>) -> tensor<4x8xf32>
  func.return
}

// -----

// The sum of the same value in every block is nobody's intent.
func.func @f(%x: tensor<16x64xf16>) {
  %r = kernel.graph_defined ins(%x) grid [4, 2] loop [8] {
  ^bb0(%xa: tensor<16x64xf16>):
    %t = threadblock.load %xa grid_map [0, _] loop_map [1] : (tensor<16x64xf16>) -> !threadblock.tile<4x8xf16>
    // expected-error @below {{'threadblock.accumulate' op is across grid axis 1, whose blocks hold the same value}}
    %s = threadblock.accumulate %t across [1] : (!threadblock.tile<4x8xf16>) -> !threadblock.tile<4x8xf32>
    threadblock.store %s grid_map [0, _] : !threadblock.tile<4x8xf32>
  } : (tensor<16x64xf16>) -> tensor<16x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<16x64xf16>) {
  %r = kernel.graph_defined ins(%x) grid [4] loop [8] {
  ^bb0(%xa: tensor<16x64xf16>):
    %t = threadblock.load %xa grid_map [0] loop_map [1] : (tensor<16x64xf16>) -> !threadblock.tile<4x8xf16>
    %m = threadblock.reduce_max %t {dims = array<i64: 1>} : (!threadblock.tile<4x8xf16>) -> !threadblock.tile<4x1xf32>
    // expected-error @below {{'threadblock.accumulate' op rescales, but has kind "max" and not "sum"}}
    %s = threadblock.accumulate %t rescale %m {kind = "max"} : (!threadblock.tile<4x8xf16>, !threadblock.tile<4x1xf32>) -> !threadblock.tile<4x8xf32>
    threadblock.store %s grid_map [0] : !threadblock.tile<4x8xf32>
  } : (tensor<16x64xf16>) -> tensor<16x8xf32>
  func.return
}

// -----

// The row maximum is that of the iteration, not the final one.
func.func @f(%x: tensor<16x64xf16>) {
  %r = kernel.graph_defined ins(%x) grid [4] loop [8] {
  ^bb0(%xa: tensor<16x64xf16>):
    %t = threadblock.load %xa grid_map [0] loop_map [1] : (tensor<16x64xf16>) -> !threadblock.tile<4x8xf16>
    %m = threadblock.reduce_max %t {dims = array<i64: 1>} : (!threadblock.tile<4x8xf16>) -> !threadblock.tile<4x1xf32>
    %a = threadblock.accumulate %m {kind = "max"} : (!threadblock.tile<4x1xf32>) -> !threadblock.tile<4x1xf32>
    // expected-error @below {{'threadblock.accumulate' op needs both at the same time: the row maximum is post, the value loop}}
    %s = threadblock.accumulate %t rescale %a : (!threadblock.tile<4x8xf16>, !threadblock.tile<4x1xf32>) -> !threadblock.tile<4x8xf32>
    threadblock.store %s grid_map [0] : !threadblock.tile<4x8xf32>
  } : (tensor<16x64xf16>) -> tensor<16x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<16x64xf16>) {
  %r = kernel.graph_defined ins(%x) grid [4] loop [8] {
  ^bb0(%xa: tensor<16x64xf16>):
    %t = threadblock.load %xa grid_map [0] loop_map [1] : (tensor<16x64xf16>) -> !threadblock.tile<4x8xf16>
    %m = threadblock.reduce_max %t {dims = array<i64: 0>} : (!threadblock.tile<4x8xf16>) -> !threadblock.tile<1x8xf32>
    %w = threadblock.concat %m, %m {dim = 1 : i64} : (!threadblock.tile<1x8xf32>, !threadblock.tile<1x8xf32>) -> !threadblock.tile<1x16xf32>
    // expected-error @below {{'threadblock.accumulate' op row maximum: cannot broadcast dim 1 (size 16) to dim 1 (size 8) of 4x8}}
    %s = threadblock.accumulate %t rescale %w : (!threadblock.tile<4x8xf16>, !threadblock.tile<1x16xf32>) -> !threadblock.tile<4x8xf32>
    threadblock.store %s grid_map [0] : !threadblock.tile<4x8xf32>
  } : (tensor<16x64xf16>) -> tensor<16x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<16x64xf16>) {
  %r = kernel.graph_defined ins(%x) grid [4] loop [8] {
  ^bb0(%xa: tensor<16x64xf16>):
    %t = threadblock.load %xa grid_map [0] loop_map [1] : (tensor<16x64xf16>) -> !threadblock.tile<4x8xf16>
    %s = threadblock.accumulate %t : (!threadblock.tile<4x8xf16>) -> !threadblock.tile<4x8xf32>
    // expected-error @below {{'threadblock.store' op stores f32 elements to result 0 of f16}}
    threadblock.store %s grid_map [0] : !threadblock.tile<4x8xf32>
  } : (tensor<16x64xf16>) -> tensor<16x8xf16>
  func.return
}

// -----

func.func @f(%x: tensor<16x64xf16>) {
  %r = kernel.graph_defined ins(%x) grid [4] loop [8] {
  ^bb0(%xa: tensor<16x64xf16>):
    %t = threadblock.load %xa grid_map [0] loop_map [1] : (tensor<16x64xf16>) -> !threadblock.tile<4x8xf16>
    %s = threadblock.accumulate %t : (!threadblock.tile<4x8xf16>) -> !threadblock.tile<4x8xf32>
    // expected-error @below {{'threadblock.store' op result 0: grid_map cuts dim 3 by grid axis 0, but the tensor has rank 2}}
    threadblock.store %s grid_map [3] : !threadblock.tile<4x8xf32>
  } : (tensor<16x64xf16>) -> tensor<16x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<16x64xf16>) {
  %r = kernel.graph_defined ins(%x) grid [4] loop [8] {
  ^bb0(%xa: tensor<16x64xf16>):
    %t = threadblock.load %xa grid_map [0] loop_map [1] : (tensor<16x64xf16>) -> !threadblock.tile<4x8xf16>
    %s = threadblock.accumulate %t : (!threadblock.tile<4x8xf16>) -> !threadblock.tile<4x8xf32>
    // expected-error @below {{'threadblock.store' op result 0: grid_map has 2 entries for 1 grid axes}}
    threadblock.store %s grid_map [0, _] : !threadblock.tile<4x8xf32>
  } : (tensor<16x64xf16>) -> tensor<16x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<16x64xf16>) {
  %r:2 = kernel.graph_defined ins(%x) grid [4] loop [8] {
  ^bb0(%xa: tensor<16x64xf16>):
    %t = threadblock.load %xa grid_map [0] loop_map [1] : (tensor<16x64xf16>) -> !threadblock.tile<4x8xf16>
    %s = threadblock.accumulate %t : (!threadblock.tile<4x8xf16>) -> !threadblock.tile<4x8xf32>
    threadblock.store %s grid_map [0] : !threadblock.tile<4x8xf32>
    // expected-error @below {{'threadblock.store' op result 1: dim 1 (size 9) is not covered: tiles of 8 hold 8 elements}}
    threadblock.store %s grid_map [0] : !threadblock.tile<4x8xf32>
  } : (tensor<16x64xf16>) -> (tensor<16x8xf32>, tensor<16x9xf32>)
  func.return
}

// -----

func.func @f(%x: tensor<16x64xf16>) {
  %r = kernel.graph_defined ins(%x) grid [4] loop [8] {
  ^bb0(%xa: tensor<16x64xf16>):
    %t = threadblock.load %xa grid_map [0] loop_map [1] : (tensor<16x64xf16>) -> !threadblock.tile<4x8xf16>
    %s = threadblock.accumulate %t : (!threadblock.tile<4x8xf16>) -> !threadblock.tile<4x8xf32>
    // expected-error @below {{'threadblock.store' op result 0: dim 0 (size 17) is not covered: 4 blocks x tiles of 4 hold 16 elements}}
    threadblock.store %s grid_map [0] : !threadblock.tile<4x8xf32>
  } : (tensor<16x64xf16>) -> tensor<17x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<16x64xf16>) {
  %r = kernel.graph_defined ins(%x) grid [4] loop [8] {
  ^bb0(%xa: tensor<16x64xf16>):
    %t = threadblock.load %xa grid_map [0] loop_map [1] : (tensor<16x64xf16>) -> !threadblock.tile<4x8xf16>
    %s = threadblock.accumulate %t : (!threadblock.tile<4x8xf16>) -> !threadblock.tile<4x8xf32>
    // expected-error @below {{'threadblock.store' op result 0: a tile of rank 2 cannot hold part of a rank-3 tensor}}
    threadblock.store %s grid_map [1] : !threadblock.tile<4x8xf32>
  } : (tensor<16x64xf16>) -> tensor<1x16x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<16x64xf16>) {
  %r = kernel.graph_defined ins(%x) grid [4] loop [8] {
  ^bb0(%xa: tensor<16x64xf16>):
    %t = threadblock.load %xa grid_map [0] loop_map [1] : (tensor<16x64xf16>) -> !threadblock.tile<4x8xf16>
    %s = threadblock.accumulate %t : (!threadblock.tile<4x8xf16>) -> !threadblock.tile<4x8xf32>
    // expected-error @below {{'threadblock.store' op maps grid axis 0 to no dim, but its 4 blocks hold different tiles: they would overwrite each other}}
    threadblock.store %s grid_map [_] : !threadblock.tile<4x8xf32>
  } : (tensor<16x64xf16>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<16x64xf16>) {
  %r = kernel.graph_defined ins(%x) grid [4] loop [8] {
  ^bb0(%xa: tensor<16x64xf16>):
    %t = threadblock.load %xa grid_map [0] loop_map [1] : (tensor<16x64xf16>) -> !threadblock.tile<4x8xf16>
    %s = threadblock.accumulate %t across [0] : (!threadblock.tile<4x8xf16>) -> !threadblock.tile<4x8xf32>
    // expected-error @below {{'threadblock.store' op maps grid axis 0 to dim 0, but the tile was accumulated across it: its entry must be _}}
    threadblock.store %s grid_map [0] : !threadblock.tile<4x8xf32>
  } : (tensor<16x64xf16>) -> tensor<16x8xf32>
  func.return
}

// -----

// Every element of a result comes from a valid one: rows 16 and 17 do not exist.
func.func @f(%x: tensor<16x64xf16>) {
  %r = kernel.graph_defined ins(%x) grid [4] loop [8] {
  ^bb0(%xa: tensor<16x64xf16>):
    %t = threadblock.load %xa grid_map [0] loop_map [1] : (tensor<16x64xf16>) -> !threadblock.tile<5x8xf16>
    %s = threadblock.accumulate %t : (!threadblock.tile<5x8xf16>) -> !threadblock.tile<5x8xf32>
    // expected-error @below {{'threadblock.store' op dim 0 of result 0 needs tiles of 5 of 18 cut by grid axis 0, but the tile is ragged there as tiles of 5 of 16 cut by grid axis 0}}
    threadblock.store %s grid_map [0] : !threadblock.tile<5x8xf32>
  } : (tensor<16x64xf16>) -> tensor<18x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<16x64xf16>) {
  %r = kernel.graph_defined ins(%x) grid [4] loop [8] {
  ^bb0(%xa: tensor<16x64xf16>):
    %t = threadblock.load %xa grid_map [0] loop_map [1] : (tensor<16x64xf16>) -> !threadblock.tile<4x8xf16>
    // expected-error @below {{'threadblock.exp' op uses a value that its graph does not compute before it}}
    %e = threadblock.exp %late : (!threadblock.tile<4x8xf32>) -> !threadblock.tile<4x8xf32>
    %s = threadblock.accumulate %e : (!threadblock.tile<4x8xf32>) -> !threadblock.tile<4x8xf32>
    threadblock.store %s grid_map [0] : !threadblock.tile<4x8xf32>
    %late = threadblock.exp %t : (!threadblock.tile<4x8xf16>) -> !threadblock.tile<4x8xf32>
  } : (tensor<16x64xf16>) -> tensor<16x8xf32>
  func.return
}

// -----

// A ragged tile leaves a gap.
func.func @f(%x: tensor<16x64xf16>) {
  %r = kernel.graph_defined ins(%x) grid [3] loop [1] {
  ^bb0(%xa: tensor<16x64xf16>):
    %t = threadblock.load %xa grid_map [1] loop_map [_] : (tensor<16x64xf16>) -> !threadblock.tile<16x24xf16>
    // expected-error @below {{'threadblock.concat' op concatenates along dim 1, where operand 0 is ragged: 24 of 64 cut by grid axis 0}}
    %c = threadblock.concat %t, %t {dim = 1 : i64} : (!threadblock.tile<16x24xf16>, !threadblock.tile<16x24xf16>) -> !threadblock.tile<16x48xf16>
    threadblock.store %c grid_map [1] : !threadblock.tile<16x48xf16>
  } : (tensor<16x64xf16>) -> tensor<16x144xf16>
  func.return
}

// -----

// Several blocks: a tile is loaded in one, and the tensor is an argument of another.
func.func @f(%x: tensor<16x64xf16>) {
  %r = kernel.graph_defined ins(%x) grid [1] {
    // expected-error @below {{'threadblock.load' op loads from a value that is no argument of its graph}}
    %t = threadblock.load %a grid_map [_] : (tensor<16x64xf16>) -> !threadblock.tile<16x64xf16>
    threadblock.store %t grid_map [_] : !threadblock.tile<16x64xf16>
  ^bb0(%a: tensor<16x64xf16>):
  } : (tensor<16x64xf16>) -> tensor<16x64xf16>
  func.return
}
