// Which kernels share a launch, and their order.
// RUN: mirage-opt %s --fuse-horizontally="target=H200" | filecheck %s
// RUN: mirage-opt %s --fuse-horizontally="target=H200" | mirage-opt | filecheck %s
// RUN: mirage-opt %s -p 'fuse-horizontally{target=H200},software-pipeline{target=H200},plan-memory{target=H200},overlap-launches{target=H200},lower-to-nvvm{target=H200}' | filecheck %s --check-prefix=LOWERED

#rows = #threadblock.registers<{register = [[0, 1], [0, 2], [2, 0]], lane = [[0, 4], [0, 8], [0, 16], [0, 32], [1, 0]]}>
#line = #threadblock.registers<{register = [[0, 1], [0, 2], [0, 128]], lane = [[0, 4], [0, 8], [0, 16], [0, 32], [0, 64]]}>

// %k reads what %p stores, and so comes behind %q, which needs no more than %n.
// CHECK-LABEL: func.func @moved
// CHECK:         %n = kernel.graph_defined ins(%x) grid [2] schedule <threads = {{[0-9]*}}> {
// CHECK:         %p = kernel.graph_defined ins(%n) grid [2] schedule <threads = {{[0-9]*}}> {
// CHECK:         %v = kernel.reshape %n
// CHECK-NEXT:    %q = kernel.graph_defined ins(%v) grid [2] schedule <threads = {{[0-9]*}}, joins_launch> {
// CHECK:         %k = kernel.graph_defined ins(%p) grid [2] schedule <threads = {{[0-9]*}}> {
// CHECK:         func.return %k, %q

// Each block of the second launch runs one of two kernels, which read the result of the first.
// LOWERED-LABEL: llvm.func @moved_kernel_1
// LOWERED-SAME:    kernel.launch = #kernel.launch<grid = [4, 1, 1], {{.*}}arguments = ["scratch:0", "scratch:2048", "output:1"]>
// LOWERED:         nvvm.read.ptx.sreg.ctaid.x
// LOWERED:         scf.if
// LOWERED:           grid_dep_action launch_dependents
// LOWERED:         scf.if
// LOWERED:           grid_dep_action launch_dependents
// LOWERED:         llvm.return
// LOWERED-LABEL: llvm.func @moved_kernel_2
func.func @moved(%x: tensor<8x64xf32>) -> (tensor<8x64xf32>, tensor<512xf32>) {
  %n = kernel.graph_defined ins(%x) grid [2] schedule <threads = 32> {
  ^bb0(%0: tensor<8x64xf32>):
    %1 = threadblock.load %0 grid_map [0] {layout = #threadblock.global} : (tensor<8x64xf32>) -> !threadblock.tile<4x64xf32>
    threadblock.store %1 grid_map [0] : !threadblock.tile<4x64xf32>
  } : (tensor<8x64xf32>) -> tensor<8x64xf32>
  %p = kernel.graph_defined ins(%n) grid [2] schedule <threads = 32> {
  ^bb0(%0: tensor<8x64xf32>):
    %1 = threadblock.load %0 grid_map [0] {layout = #threadblock.global} : (tensor<8x64xf32>) -> !threadblock.tile<4x64xf32>
    %2 = thread.graph ins(%1) attributes {layout = #rows} {
    ^bb0(%3: f32):
      %4 = math.exp %3 : f32
      thread.store %4 : f32
    } : (!threadblock.tile<4x64xf32>) -> !threadblock.tile<4x64xf32>
    threadblock.store %2 grid_map [0] : !threadblock.tile<4x64xf32>
  } : (tensor<8x64xf32>) -> tensor<8x64xf32>
  %k = kernel.graph_defined ins(%p) grid [2] schedule <threads = 32> {
  ^bb0(%0: tensor<8x64xf32>):
    %1 = threadblock.load %0 grid_map [0] {layout = #threadblock.global} : (tensor<8x64xf32>) -> !threadblock.tile<4x64xf32>
    %2 = thread.graph ins(%1) attributes {layout = #rows} {
    ^bb0(%3: f32):
      %4 = arith.mulf %3, %3 : f32
      thread.store %4 : f32
    } : (!threadblock.tile<4x64xf32>) -> !threadblock.tile<4x64xf32>
    threadblock.store %2 grid_map [0] : !threadblock.tile<4x64xf32>
  } : (tensor<8x64xf32>) -> tensor<8x64xf32>
  %v = kernel.reshape %n : (tensor<8x64xf32>) -> tensor<512xf32>
  %q = kernel.graph_defined ins(%v) grid [2] schedule <threads = 32> {
  ^bb0(%0: tensor<512xf32>):
    %1 = threadblock.load %0 grid_map [0] {layout = #threadblock.global} : (tensor<512xf32>) -> !threadblock.tile<256xf32>
    %2 = thread.graph ins(%1) attributes {layout = #line} {
    ^bb0(%3: f32):
      %4 = arith.mulf %3, %3 : f32
      thread.store %4 : f32
    } : (!threadblock.tile<256xf32>) -> !threadblock.tile<256xf32>
    threadblock.store %2 grid_map [0] : !threadblock.tile<256xf32>
  } : (tensor<512xf32>) -> tensor<512xf32>
  func.return %k, %q : tensor<8x64xf32>, tensor<512xf32>
}

// A large grid fills all multiprocessors by itself.
// CHECK-LABEL: func.func @large
// CHECK-NOT:     joins_launch
func.func @large(%x: tensor<4096x64xf32>) -> (tensor<4096x64xf32>, tensor<4096x64xf32>) {
  %p = kernel.graph_defined ins(%x) grid [1024] schedule <threads = 32> {
  ^bb0(%0: tensor<4096x64xf32>):
    %1 = threadblock.load %0 grid_map [0] {layout = #threadblock.global} : (tensor<4096x64xf32>) -> !threadblock.tile<4x64xf32>
    %2 = thread.graph ins(%1) attributes {layout = #rows} {
    ^bb0(%3: f32):
      %4 = math.exp %3 : f32
      thread.store %4 : f32
    } : (!threadblock.tile<4x64xf32>) -> !threadblock.tile<4x64xf32>
    threadblock.store %2 grid_map [0] : !threadblock.tile<4x64xf32>
  } : (tensor<4096x64xf32>) -> tensor<4096x64xf32>
  %q = kernel.graph_defined ins(%x) grid [1024] schedule <threads = 32> {
  ^bb0(%0: tensor<4096x64xf32>):
    %1 = threadblock.load %0 grid_map [0] {layout = #threadblock.global} : (tensor<4096x64xf32>) -> !threadblock.tile<4x64xf32>
    %2 = thread.graph ins(%1) attributes {layout = #rows} {
    ^bb0(%3: f32):
      %4 = arith.mulf %3, %3 : f32
      thread.store %4 : f32
    } : (!threadblock.tile<4x64xf32>) -> !threadblock.tile<4x64xf32>
    threadblock.store %2 grid_map [0] : !threadblock.tile<4x64xf32>
  } : (tensor<4096x64xf32>) -> tensor<4096x64xf32>
  func.return %p, %q : tensor<4096x64xf32>, tensor<4096x64xf32>
}
