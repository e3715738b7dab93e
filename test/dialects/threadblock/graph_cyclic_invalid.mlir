// RUN: mirage-opt %s --verify-diagnostics --split-input-file

func.func @no_loop(%x: tensor<16x64xf16>) {
  // expected-error @below {{'kernel.graph_defined' op is cyclic, but no grid axis and loop cut the same dim of a tensor}}
  %r = kernel.graph_defined ins(%x) grid [4] cyclic {
  ^bb0(%xa: tensor<16x64xf16>):
    %t = threadblock.load %xa grid_map [0] : (tensor<16x64xf16>) -> !threadblock.tile<4x64xf16>
    threadblock.store %t grid_map [0] : !threadblock.tile<4x64xf16>
  } : (tensor<16x64xf16>) -> tensor<16x64xf16>
  func.return
}

// -----

func.func @other_dims(%x: tensor<16x64xf16>, %y: tensor<64x16xf16>) {
  // expected-error @below {{'kernel.graph_defined' op is cyclic, but no grid axis and loop cut the same dim of a tensor}}
  %r = kernel.graph_defined ins(%x, %y) grid [4] loop [8] cyclic {
  ^bb0(%xa: tensor<16x64xf16>, %ya: tensor<64x16xf16>):
    %t = threadblock.load %xa grid_map [0] loop_map [1] : (tensor<16x64xf16>) -> !threadblock.tile<4x8xf16>
    %u = threadblock.load %ya grid_map [_] loop_map [0] : (tensor<64x16xf16>) -> !threadblock.tile<8x16xf16>
    %p = threadblock.matmul %t, %u : (!threadblock.tile<4x8xf16>, !threadblock.tile<8x16xf16>) -> !threadblock.tile<4x16xf32>
    %s = threadblock.accumulate %p : (!threadblock.tile<4x16xf32>) -> !threadblock.tile<4x16xf32>
    threadblock.store %s grid_map [0] : !threadblock.tile<4x16xf32>
  } : (tensor<16x64xf16>, tensor<64x16xf16>) -> tensor<16x16xf32>
  func.return
}

// -----

// All tiles together are as many as without the property.
func.func @not_covered(%x: tensor<70x8xf16>) {
  %r = kernel.graph_defined ins(%x) grid [4] loop [4] cyclic {
  ^bb0(%xa: tensor<70x8xf16>):
    // expected-error @below {{'threadblock.load' op dim 0 (size 70) is not covered: 4 iterations x 4 blocks x tiles of 4 hold 64 elements}}
    %t = threadblock.load %xa grid_map [0] loop_map [0] : (tensor<70x8xf16>) -> !threadblock.tile<4x8xf16>
    threadblock.store %t grid_map [0] loop_map [0] : !threadblock.tile<4x8xf16>
  } : (tensor<70x8xf16>) -> tensor<70x8xf16>
  func.return
}

// -----

// Block 2 has a ragged tile in its first iteration, and nothing whole behind.
func.func @ragged(%x: tensor<5x8xf32>) {
  %r = kernel.graph_defined ins(%x) grid [3] loop [2] cyclic {
  ^bb0(%xa: tensor<5x8xf32>):
    %t = threadblock.load %xa grid_map [0] loop_map [0] : (tensor<5x8xf32>) -> !threadblock.tile<2x8xf32>
    %s = threadblock.accumulate %t : (!threadblock.tile<2x8xf32>) -> !threadblock.tile<2x8xf32>
    // expected-error @below {{'threadblock.store' op dim 0 of result 0 needs tiles of 2 of 6 cut by grid axis 0, but the tile is ragged there as tiles of 2 of 5 cut by grid axis 0}}
    threadblock.store %s grid_map [0] : !threadblock.tile<2x8xf32>
  } : (tensor<5x8xf32>) -> tensor<6x8xf32>
  func.return
}
