// RUN: mirage-opt %s -p 'fuse-thread-graphs,select-mma,select-copies,assign-layouts{target=H200},fuse-horizontally{target=H200}' | filecheck %s

// The host does more than launch kernels: their order is its own.
// CHECK-LABEL: func.func @host
// CHECK-NOT:     joins_launch
func.func private @between()
func.func @host(%x: tensor<8x64xf32>) -> (tensor<8x64xf32>, tensor<8x64xf32>) {
  %p = kernel.graph_defined ins(%x) grid [2] {
  ^bb0(%0: tensor<8x64xf32>):
    %1 = threadblock.load %0 grid_map [0] : (tensor<8x64xf32>) -> !threadblock.tile<4x64xf32>
    threadblock.store %1 grid_map [0] : !threadblock.tile<4x64xf32>
  } : (tensor<8x64xf32>) -> tensor<8x64xf32>
  func.call @between() : () -> ()
  %q = kernel.graph_defined ins(%x) grid [2] {
  ^bb0(%0: tensor<8x64xf32>):
    %1 = threadblock.load %0 grid_map [0] : (tensor<8x64xf32>) -> !threadblock.tile<4x64xf32>
    threadblock.store %1 grid_map [0] : !threadblock.tile<4x64xf32>
  } : (tensor<8x64xf32>) -> tensor<8x64xf32>
  func.return %p, %q : tensor<8x64xf32>, tensor<8x64xf32>
}
