// How a tile is copied: what the passes decide about a load.
// RUN: %roundtrip
// RUN: %generic-roundtrip

// CHECK: threadblock.load %{{.*}} grid_map [0] {copy = "tensor", eviction_priority = "evict_last", multicast = 4 : i64, packed} : (tensor<64x64xf16>)
func.func @f(%x: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %y = kernel.graph_defined ins(%x) grid [8] cluster [4] {
  ^bb0(%a: tensor<64x64xf16>):
    %t = threadblock.load %a grid_map [0] {copy = "tensor", eviction_priority = "evict_last", multicast = 4 : i64, packed} : (tensor<64x64xf16>) -> !threadblock.tile<8x64xf16>
    threadblock.store %t grid_map [0] : !threadblock.tile<8x64xf16>
  } : (tensor<64x64xf16>) -> tensor<64x64xf16>
  func.return %y : tensor<64x64xf16>
}
