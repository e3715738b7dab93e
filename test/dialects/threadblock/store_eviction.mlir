// When L2 evicts what a block stores.
// RUN: mirage-opt %s --split-input-file --verify-diagnostics | filecheck %s
// RUN: mirage-opt %s --split-input-file --verify-diagnostics | mirage-opt --split-input-file | filecheck %s

// CHECK-LABEL: func.func @kept
// CHECK:         threadblock.store %t grid_map [0] {eviction_priority = "evict_last"} : !threadblock.tile<8x64xf16>
func.func @kept(%x: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %y = kernel.graph_defined ins(%x) grid [8] {
  ^bb0(%a: tensor<64x64xf16>):
    %t = threadblock.load %a grid_map [0] : (tensor<64x64xf16>) -> !threadblock.tile<8x64xf16>
    threadblock.store %t grid_map [0] {eviction_priority = "evict_last"} : !threadblock.tile<8x64xf16>
  } : (tensor<64x64xf16>) -> tensor<64x64xf16>
  func.return %y : tensor<64x64xf16>
}

// -----

func.func @unknown(%x: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %y = kernel.graph_defined ins(%x) grid [8] {
  ^bb0(%a: tensor<64x64xf16>):
    %t = threadblock.load %a grid_map [0] : (tensor<64x64xf16>) -> !threadblock.tile<8x64xf16>
    // expected-error @below {{has eviction_priority "never", which is none of "evict_first", "evict_last"}}
    threadblock.store %t grid_map [0] {eviction_priority = "never"} : !threadblock.tile<8x64xf16>
  } : (tensor<64x64xf16>) -> tensor<64x64xf16>
  func.return %y : tensor<64x64xf16>
}
