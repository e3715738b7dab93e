// Copies that there are not.
// RUN: mirage-opt %s --verify-diagnostics --split-input-file

func.func @f(%x: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %y = kernel.graph_defined ins(%x) grid [8] cluster [4] {
  ^bb0(%a: tensor<64x64xf16>):
    // expected-error @below {{has copy "bulk", which is none of "tensor", "async", "threads", "realigned"}}
    %t = threadblock.load %a grid_map [0] {copy = "bulk"} : (tensor<64x64xf16>) -> !threadblock.tile<8x64xf16>
    threadblock.store %t grid_map [0] : !threadblock.tile<8x64xf16>
  } : (tensor<64x64xf16>) -> tensor<64x64xf16>
  func.return %y : tensor<64x64xf16>
}

// -----

func.func @f(%x: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %y = kernel.graph_defined ins(%x) grid [8] cluster [4] {
  ^bb0(%a: tensor<64x64xf16>):
    // expected-error @below {{takes `copy = "tensor"`, not 1 : i64}}
    %t = threadblock.load %a grid_map [0] {copy = 1 : i64} : (tensor<64x64xf16>) -> !threadblock.tile<8x64xf16>
    threadblock.store %t grid_map [0] : !threadblock.tile<8x64xf16>
  } : (tensor<64x64xf16>) -> tensor<64x64xf16>
  func.return %y : tensor<64x64xf16>
}

// -----

func.func @f(%x: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %y = kernel.graph_defined ins(%x) grid [8] cluster [4] {
  ^bb0(%a: tensor<64x64xf16>):
    // expected-error @below {{has multicast by 1 blocks: at least 2 share a tile}}
    %t = threadblock.load %a grid_map [0] {copy = "tensor", multicast = 1 : i64} : (tensor<64x64xf16>) -> !threadblock.tile<8x64xf16>
    threadblock.store %t grid_map [0] : !threadblock.tile<8x64xf16>
  } : (tensor<64x64xf16>) -> tensor<64x64xf16>
  func.return %y : tensor<64x64xf16>
}

// -----

func.func @f(%x: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %y = kernel.graph_defined ins(%x) grid [8] cluster [4] {
  ^bb0(%a: tensor<64x64xf16>):
    // expected-error @below {{is multicast, which takes copy = "tensor"}}
    %t = threadblock.load %a grid_map [0] {multicast = 4 : i64} : (tensor<64x64xf16>) -> !threadblock.tile<8x64xf16>
    threadblock.store %t grid_map [0] : !threadblock.tile<8x64xf16>
  } : (tensor<64x64xf16>) -> tensor<64x64xf16>
  func.return %y : tensor<64x64xf16>
}

// -----

func.func @f(%x: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %y = kernel.graph_defined ins(%x) grid [8] cluster [4] {
  ^bb0(%a: tensor<64x64xf16>):
    // expected-error @below {{is packed, which takes copy = "tensor"}}
    %t = threadblock.load %a grid_map [0] {packed} : (tensor<64x64xf16>) -> !threadblock.tile<8x64xf16>
    threadblock.store %t grid_map [0] : !threadblock.tile<8x64xf16>
  } : (tensor<64x64xf16>) -> tensor<64x64xf16>
  func.return %y : tensor<64x64xf16>
}

// -----

func.func @f(%x: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %y = kernel.graph_defined ins(%x) grid [8] cluster [4] {
  ^bb0(%a: tensor<64x64xf16>):
    // expected-error @below {{has no attribute 'multcast' (it has grid_map, loop_map, copy, eviction_priority, multicast, packed); did you mean 'multicast'?}}
    %t = threadblock.load %a grid_map [0] {copy = "tensor", multcast = 4 : i64} : (tensor<64x64xf16>) -> !threadblock.tile<8x64xf16>
    threadblock.store %t grid_map [0] : !threadblock.tile<8x64xf16>
  } : (tensor<64x64xf16>) -> tensor<64x64xf16>
  func.return %y : tensor<64x64xf16>
}

// -----

func.func @f(%x: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %y = kernel.graph_defined ins(%x) grid [8] {
  ^bb0(%a: tensor<64x64xf16>):
    // expected-error @below {{has eviction_priority "last", which is none of "evict_first", "evict_last"}}
    %t = threadblock.load %a grid_map [0] {copy = "tensor", eviction_priority = "last"} : (tensor<64x64xf16>) -> !threadblock.tile<8x64xf16>
    threadblock.store %t grid_map [0] : !threadblock.tile<8x64xf16>
  } : (tensor<64x64xf16>) -> tensor<64x64xf16>
  func.return %y : tensor<64x64xf16>
}

// -----

func.func @f(%x: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %y = kernel.graph_defined ins(%x) grid [8] {
  ^bb0(%a: tensor<64x64xf16>):
    // expected-error @below {{has eviction_priority, which copies of threads do not take}}
    %t = threadblock.load %a grid_map [0] {copy = "async", eviction_priority = "evict_last"} : (tensor<64x64xf16>) -> !threadblock.tile<8x64xf16>
    threadblock.store %t grid_map [0] : !threadblock.tile<8x64xf16>
  } : (tensor<64x64xf16>) -> tensor<64x64xf16>
  func.return %y : tensor<64x64xf16>
}
