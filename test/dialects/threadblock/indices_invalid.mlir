// Indices and bounds that there are not.
// RUN: mirage-opt %s --verify-diagnostics --split-input-file

func.func @f() -> tensor<64xf32> {
  %o = kernel.graph_defined ins() grid [4] {
    // expected-error @below {{has 1 sizes but 2 strides}}
    %i = threadblock.iota of [64] strides [1, 1] grid_map [0] : !threadblock.tile<16xf32>
    threadblock.store %i grid_map [0] : !threadblock.tile<16xf32>
  } : () -> tensor<64xf32>
  func.return %o : tensor<64xf32>
}

// -----

func.func @f() -> tensor<64xf32> {
  %o = kernel.graph_defined ins() grid [4] {
    // expected-error @below {{cuts a tensor of 64x1 into tiles of 16}}
    %i = threadblock.iota of [64, 1] strides [1, 1] grid_map [0] : !threadblock.tile<16xf32>
    threadblock.store %i grid_map [0] : !threadblock.tile<16xf32>
  } : () -> tensor<64xf32>
  func.return %o : tensor<64xf32>
}

// -----

func.func @f() -> tensor<64xf32> {
  %o = kernel.graph_defined ins() grid [4] {
    // expected-error @below {{dim 0 (size 80) is not covered: 4 blocks x tiles of 16 hold 64 elements}}
    %i = threadblock.iota of [80] strides [1] grid_map [0] : !threadblock.tile<16xf32>
    threadblock.store %i grid_map [0] : !threadblock.tile<16xf32>
  } : () -> tensor<64xf32>
  func.return %o : tensor<64xf32>
}

// -----

func.func @f() -> tensor<64xf16> {
  %o = kernel.graph_defined ins() grid [4] {
    // expected-error @below {{computes indices in f32, not f16}}
    %i = threadblock.iota of [64] strides [1] grid_map [0] : !threadblock.tile<16xf16>
    threadblock.store %i grid_map [0] : !threadblock.tile<16xf16>
  } : () -> tensor<64xf16>
  func.return %o : tensor<64xf16>
}

// -----

func.func @f() -> tensor<64xf32> {
  // expected-error @below {{first is [1, 2]: [s, c, d] is floor((s * b + c) / d)}}
  %o = kernel.graph_defined ins() grid [4] loop [2] bounds <first = [1, 2]> {
    %i = threadblock.iota of [64] strides [1] grid_map [0] : !threadblock.tile<16xf32>
    threadblock.store %i grid_map [0] : !threadblock.tile<16xf32>
  } : () -> tensor<64xf32>
  func.return %o : tensor<64xf32>
}

// -----

func.func @f() -> tensor<64xf32> {
  // expected-error @below {{end is [1, 2, 0]: [s, c, d] is floor((s * b + c) / d)}}
  %o = kernel.graph_defined ins() grid [4] loop [2] bounds <end = [1, 2, 0]> {
    %i = threadblock.iota of [64] strides [1] grid_map [0] : !threadblock.tile<16xf32>
    threadblock.store %i grid_map [0] : !threadblock.tile<16xf32>
  } : () -> tensor<64xf32>
  func.return %o : tensor<64xf32>
}

// -----

func.func @f() -> tensor<64xf32> {
  // expected-error @below {{bounds nothing: it has neither first nor end}}
  %o = kernel.graph_defined ins() grid [4] loop [2] bounds <axis = 1> {
    %i = threadblock.iota of [64] strides [1] grid_map [0] : !threadblock.tile<16xf32>
    threadblock.store %i grid_map [0] : !threadblock.tile<16xf32>
  } : () -> tensor<64xf32>
  func.return %o : tensor<64xf32>
}

// -----

func.func @f() -> tensor<64xf32> {
  // expected-error @below {{has bounds by grid axis 1 of a grid of 1 axes}}
  %o = kernel.graph_defined ins() grid [4] loop [2] bounds <axis = 1, end = [1, 1, 1]> {
    %i = threadblock.iota of [64] strides [1] grid_map [0] : !threadblock.tile<16xf32>
    threadblock.store %i grid_map [0] : !threadblock.tile<16xf32>
  } : () -> tensor<64xf32>
  func.return %o : tensor<64xf32>
}

// -----

func.func @f() -> tensor<64xf32> {
  // expected-error @below {{has bounds, and 0 loops: they are of a single one}}
  %o = kernel.graph_defined ins() grid [4] bounds <end = [1, 1, 1]> {
    %i = threadblock.iota of [64] strides [1] grid_map [0] : !threadblock.tile<16xf32>
    threadblock.store %i grid_map [0] : !threadblock.tile<16xf32>
  } : () -> tensor<64xf32>
  func.return %o : tensor<64xf32>
}

// -----

func.func @f() -> tensor<64xf32> {
  // expected-error @below {{is to start blocks with long loops first, and has no bounds}}
  %o = kernel.graph_defined ins() grid [4] schedule <longest_first> {
    %i = threadblock.iota of [64] strides [1] grid_map [0] : !threadblock.tile<16xf32>
    threadblock.store %i grid_map [0] : !threadblock.tile<16xf32>
  } : () -> tensor<64xf32>
  func.return %o : tensor<64xf32>
}

// -----

func.func @negative() -> tensor<64xf32> {
  %o = kernel.graph_defined ins() grid [4] {
  ^bb0:
    // expected-error @+1 {{'threadblock.iota' op has indices from -5 to 58; f32 counts from 0 to 16777216}}
    %i = threadblock.iota of [64] strides [1] grid_map [0] {start = -5 : i64} : !threadblock.tile<16xf32>
    threadblock.store %i grid_map [0] : !threadblock.tile<16xf32>
  } : () -> tensor<64xf32>
  func.return %o : tensor<64xf32>
}

// -----

func.func @inexact() -> tensor<64xf32> {
  %o = kernel.graph_defined ins() grid [4] {
  ^bb0:
    // expected-error @+1 {{'threadblock.iota' op has indices from 0 to 18900000; f32 counts from 0 to 16777216}}
    %i = threadblock.iota of [64] strides [300000] grid_map [0] : !threadblock.tile<16xf32>
    threadblock.store %i grid_map [0] : !threadblock.tile<16xf32>
  } : () -> tensor<64xf32>
  func.return %o : tensor<64xf32>
}
