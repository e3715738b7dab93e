// Which kernels run at the same time, and their order.
//
// RUN: mirage-opt %s --overlap-kernels="target=H200" | filecheck %s
// RUN: mirage-opt %s --overlap-kernels="target=H200" | mirage-opt | filecheck %s
// RUN: mirage-opt %s --overlap-kernels="target=A100" | filecheck %s --check-prefix=WITHOUT

// %k reads what %p stores, and so comes behind %q, which needs no more than %n.
// CHECK-LABEL: func.func @moved
// CHECK:         %n = kernel.graph_defined ins(%x) grid [2] {
// CHECK:         %p = kernel.graph_defined ins(%n) grid [2] {
// CHECK:         %v = kernel.reshape %n
// CHECK-NEXT:    %q = kernel.graph_defined ins(%v) grid [2] schedule <beside_previous> {
// CHECK:         %k = kernel.graph_defined ins(%p) grid [2] {
// CHECK:         func.return %k, %q
// WITHOUT-LABEL: func.func @moved
// WITHOUT-NOT:     beside_previous
// WITHOUT:         %k = kernel.graph_defined ins(%p) grid [2] {
// WITHOUT:         %q = kernel.graph_defined ins(%v) grid [2] {
func.func @moved(%x: tensor<8x64xf32>) -> (tensor<8x64xf32>, tensor<512xf32>) {
  %n = kernel.graph_defined ins(%x) grid [2] {
  ^bb0(%0: tensor<8x64xf32>):
    %1 = threadblock.load %0 grid_map [0] : (tensor<8x64xf32>) -> !threadblock.tile<4x64xf32>
    threadblock.store %1 grid_map [0] : !threadblock.tile<4x64xf32>
  } : (tensor<8x64xf32>) -> tensor<8x64xf32>
  %p = kernel.graph_defined ins(%n) grid [2] {
  ^bb0(%0: tensor<8x64xf32>):
    %1 = threadblock.load %0 grid_map [0] : (tensor<8x64xf32>) -> !threadblock.tile<4x64xf32>
    %2 = threadblock.exp %1 : (!threadblock.tile<4x64xf32>) -> !threadblock.tile<4x64xf32>
    threadblock.store %2 grid_map [0] : !threadblock.tile<4x64xf32>
  } : (tensor<8x64xf32>) -> tensor<8x64xf32>
  %k = kernel.graph_defined ins(%p) grid [2] {
  ^bb0(%0: tensor<8x64xf32>):
    %1 = threadblock.load %0 grid_map [0] : (tensor<8x64xf32>) -> !threadblock.tile<4x64xf32>
    %2 = threadblock.square %1 : (!threadblock.tile<4x64xf32>) -> !threadblock.tile<4x64xf32>
    threadblock.store %2 grid_map [0] : !threadblock.tile<4x64xf32>
  } : (tensor<8x64xf32>) -> tensor<8x64xf32>
  %v = kernel.reshape %n : (tensor<8x64xf32>) -> tensor<512xf32>
  %q = kernel.graph_defined ins(%v) grid [2] {
  ^bb0(%0: tensor<512xf32>):
    %1 = threadblock.load %0 grid_map [0] : (tensor<512xf32>) -> !threadblock.tile<256xf32>
    %2 = threadblock.square %1 : (!threadblock.tile<256xf32>) -> !threadblock.tile<256xf32>
    threadblock.store %2 grid_map [0] : !threadblock.tile<256xf32>
  } : (tensor<512xf32>) -> tensor<512xf32>
  func.return %k, %q : tensor<8x64xf32>, tensor<512xf32>
}

// Of two large grids most blocks of the second start when those of the first end: they run apart.
// CHECK-LABEL: func.func @large
// CHECK:         grid [1024] {
// CHECK:         grid [1024] {
func.func @large(%x: tensor<4096x64xf32>) -> (tensor<4096x64xf32>, tensor<4096x64xf32>) {
  %p = kernel.graph_defined ins(%x) grid [1024] {
  ^bb0(%0: tensor<4096x64xf32>):
    %1 = threadblock.load %0 grid_map [0] : (tensor<4096x64xf32>) -> !threadblock.tile<4x64xf32>
    %2 = threadblock.exp %1 : (!threadblock.tile<4x64xf32>) -> !threadblock.tile<4x64xf32>
    threadblock.store %2 grid_map [0] : !threadblock.tile<4x64xf32>
  } : (tensor<4096x64xf32>) -> tensor<4096x64xf32>
  %q = kernel.graph_defined ins(%x) grid [1024] {
  ^bb0(%0: tensor<4096x64xf32>):
    %1 = threadblock.load %0 grid_map [0] : (tensor<4096x64xf32>) -> !threadblock.tile<4x64xf32>
    %2 = threadblock.square %1 : (!threadblock.tile<4x64xf32>) -> !threadblock.tile<4x64xf32>
    threadblock.store %2 grid_map [0] : !threadblock.tile<4x64xf32>
  } : (tensor<4096x64xf32>) -> tensor<4096x64xf32>
  func.return %p, %q : tensor<4096x64xf32>, tensor<4096x64xf32>
}

// The host does more than launch kernels: their order is its own.
// CHECK-LABEL: func.func @host
// CHECK-NOT:     beside_previous
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
