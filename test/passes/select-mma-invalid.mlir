// RUN: mirage-opt %s --split-input-file --verify-diagnostics --select-mma

func.func @not_fused(%in: tensor<16x64xf32>) -> tensor<16x64xf32> {
  %o = kernel.graph_defined ins(%in) grid [1] {
  ^bb0(%xa: tensor<16x64xf32>):
    %x = threadblock.load %xa grid_map [_] : (tensor<16x64xf32>) -> !threadblock.tile<16x64xf32>
    // expected-error @below {{'threadblock.exp' op has no lowering; run fuse-thread-graphs first}}
    %e = threadblock.exp %x : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x64xf32>
    threadblock.store %e grid_map [_] : !threadblock.tile<16x64xf32>
  } : (tensor<16x64xf32>) -> tensor<16x64xf32>
  func.return %o : tensor<16x64xf32>
}

// -----

func.func @matrices(%in: tensor<2x16x64xf16>, %weight: tensor<2x64x32xf16>) -> tensor<2x16x32xf32> {
  %o = kernel.graph_defined ins(%in, %weight) grid [1] {
  ^bb0(%xa: tensor<2x16x64xf16>, %wa: tensor<2x64x32xf16>):
    %x = threadblock.load %xa grid_map [_] : (tensor<2x16x64xf16>) -> !threadblock.tile<2x16x64xf16>
    %w = threadblock.load %wa grid_map [_] : (tensor<2x64x32xf16>) -> !threadblock.tile<2x64x32xf16>
    // expected-error @below {{has several matrices on its right side (2x64x32): a block multiplies by one}}
    %p = threadblock.matmul %x, %w : (!threadblock.tile<2x16x64xf16>, !threadblock.tile<2x64x32xf16>) -> !threadblock.tile<2x16x32xf32>
    threadblock.store %p grid_map [_] : !threadblock.tile<2x16x32xf32>
  } : (tensor<2x16x64xf16>, tensor<2x64x32xf16>) -> tensor<2x16x32xf32>
  func.return %o : tensor<2x16x32xf32>
}
