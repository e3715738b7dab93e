// RUN: mirage-opt %s --split-input-file --verify-diagnostics --sink-reductions --fuse-thread-graphs --split-cross-block-sums="target=A100" --select-mma --select-copies --assign-layouts="target=A100" --software-pipeline --plan-memory --overlap-launches --lower-to-nvvm

// Both operands in shared memory at once are more than a block has.
func.func @too_large(%x: tensor<128x1024xf16>, %w: tensor<1024x128xf16>) -> tensor<128x128xf32> {
  // expected-error @+1 {{'kernel.graph_defined' op needs 524288 bytes of shared memory, a block has at most 166912}}
  %o = kernel.graph_defined ins(%x, %w) grid [1] {
  ^bb0(%a: tensor<128x1024xf16>, %b: tensor<1024x128xf16>):
    %t = threadblock.load %a grid_map [_] : (tensor<128x1024xf16>) -> !threadblock.tile<128x1024xf16>
    %u = threadblock.load %b grid_map [_] : (tensor<1024x128xf16>) -> !threadblock.tile<1024x128xf16>
    %p = threadblock.matmul %t, %u : (!threadblock.tile<128x1024xf16>, !threadblock.tile<1024x128xf16>) -> !threadblock.tile<128x128xf32>
    threadblock.store %p grid_map [_] : !threadblock.tile<128x128xf32>
  } : (tensor<128x1024xf16>, tensor<1024x128xf16>) -> tensor<128x128xf32>
  func.return %o : tensor<128x128xf32>
}

// -----

// An operator that no kernel runs.
func.func @no_kernel(%x: tensor<16x64xf16>) -> tensor<16x64xf16> {
  // expected-error @+2 {{'kernel.exp' op is neither a kernel nor a view that strides can express}}
  // expected-note @+1 {{superoptimize makes a kernel of each operator that is not one}}
  %y = kernel.exp %x : (tensor<16x64xf16>) -> tensor<16x64xf16>
  func.return %y : tensor<16x64xf16>
}

// -----

// A result that nobody writes.
func.func @argument(%x: tensor<16x64xf16>) -> tensor<16x64xf16> {
  // expected-error @+1 {{'func.return' op result 0 is a view of other memory; a kernel must write it}}
  func.return %x : tensor<16x64xf16>
}

// -----

// A block multiplies by one matrix, not by several.
func.func @several(%x: tensor<2x16x64xf16>, %w: tensor<2x64x16xf16>) -> tensor<2x16x16xf32> {
  %o = kernel.graph_defined ins(%x, %w) grid [1] {
  ^bb0(%a: tensor<2x16x64xf16>, %b: tensor<2x64x16xf16>):
    %t = threadblock.load %a grid_map [_] : (tensor<2x16x64xf16>) -> !threadblock.tile<2x16x64xf16>
    %u = threadblock.load %b grid_map [_] : (tensor<2x64x16xf16>) -> !threadblock.tile<2x64x16xf16>
    // expected-error @+1 {{'threadblock.matmul' op has several matrices on its right side (2x64x16): a block multiplies by one}}
    %p = threadblock.matmul %t, %u : (!threadblock.tile<2x16x64xf16>, !threadblock.tile<2x64x16xf16>) -> !threadblock.tile<2x16x16xf32>
    threadblock.store %p grid_map [_] : !threadblock.tile<2x16x16xf32>
  } : (tensor<2x16x64xf16>, tensor<2x64x16xf16>) -> tensor<2x16x16xf32>
  func.return %o : tensor<2x16x16xf32>
}

// -----

// Shared memory has two sides to be seen from.
func.func @permuted(%x: tensor<2x16x64xf16>) -> tensor<16x2x64xf16> {
  %o = kernel.graph_defined ins(%x) grid [1] {
  ^bb0(%a: tensor<2x16x64xf16>):
    %t = threadblock.load %a grid_map [_] : (tensor<2x16x64xf16>) -> !threadblock.tile<2x16x64xf16>
    // expected-error @+1 {{'threadblock.transpose' op permutes dims as (1, 0, 2); only rows and columns can be exchanged}}
    %u = threadblock.transpose %t {permutation = array<i64: 1, 0, 2>} : (!threadblock.tile<2x16x64xf16>) -> !threadblock.tile<16x2x64xf16>
    threadblock.store %u grid_map [_] : !threadblock.tile<16x2x64xf16>
  } : (tensor<2x16x64xf16>) -> tensor<16x2x64xf16>
  func.return %o : tensor<16x2x64xf16>
}

// -----

// A block has one cluster.
func.func @two_ways(%x: tensor<16x64xf32>) -> (tensor<16x1xf32>, tensor<1x64xf32>) {
  %o, %q = kernel.graph_defined ins(%x) grid [2, 2] {
  ^bb0(%a: tensor<16x64xf32>):
    %t = threadblock.load %a grid_map [1, 0] : (tensor<16x64xf32>) -> !threadblock.tile<8x32xf32>
    %r = threadblock.reduce_sum %t {dims = array<i64: 1>} : (!threadblock.tile<8x32xf32>) -> !threadblock.tile<8x1xf32>
    %s = threadblock.reduce_sum %t {dims = array<i64: 0>} : (!threadblock.tile<8x32xf32>) -> !threadblock.tile<1x32xf32>
    %b = threadblock.accumulate %r across [0] : (!threadblock.tile<8x1xf32>) -> !threadblock.tile<8x1xf32>
    // expected-error @+1 {{'threadblock.accumulate' op sums across grid axes [1], an earlier one [0]}}
    %c = threadblock.accumulate %s across [1] : (!threadblock.tile<1x32xf32>) -> !threadblock.tile<1x32xf32>
    threadblock.store %b grid_map [_, 0] : !threadblock.tile<8x1xf32>
    threadblock.store %c grid_map [1, _] : !threadblock.tile<1x32xf32>
  } : (tensor<16x64xf32>) -> (tensor<16x1xf32>, tensor<1x64xf32>)
  func.return %o, %q : tensor<16x1xf32>, tensor<1x64xf32>
}

// -----

// A caller gets memory of its own for each result.
func.func @twice(%x: tensor<16x64xf32>) -> (tensor<16x64xf32>, tensor<16x64xf32>) {
  %o = kernel.graph_defined ins(%x) grid [1] {
  ^bb0(%a: tensor<16x64xf32>):
    %t = threadblock.load %a grid_map [_] : (tensor<16x64xf32>) -> !threadblock.tile<16x64xf32>
    threadblock.store %t grid_map [_] : !threadblock.tile<16x64xf32>
  } : (tensor<16x64xf32>) -> tensor<16x64xf32>
  // expected-error @+1 {{'func.return' op result 1 is the same tensor as an earlier one}}
  func.return %o, %o : tensor<16x64xf32>, tensor<16x64xf32>
}

// -----

// No launch takes as many blocks behind the first axis.
func.func @too_many_rows(%x: tensor<8x70000xf32>) -> tensor<8x70000xf32> {
  // expected-error @+2 {{'kernel.graph_defined' op has 70000 blocks along grid axis 1, of which a launch takes 65535}}
  // expected-note @+1 {{the first axis may have 2147483647}}
  %o = kernel.graph_defined ins(%x) grid [2, 70000] {
  ^bb0(%a: tensor<8x70000xf32>):
    %t = threadblock.load %a grid_map [0, 1] : (tensor<8x70000xf32>) -> !threadblock.tile<4x1xf32>
    %e = threadblock.exp %t : (!threadblock.tile<4x1xf32>) -> !threadblock.tile<4x1xf32>
    threadblock.store %e grid_map [0, 1] : !threadblock.tile<4x1xf32>
  } : (tensor<8x70000xf32>) -> tensor<8x70000xf32>
  func.return %o : tensor<8x70000xf32>
}
