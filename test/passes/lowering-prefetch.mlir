// What a kernel asks L2 for, and when it lets the next one start.
// RUN: mirage-opt %s --sink-reductions --fuse-thread-graphs --split-cross-block-sums="target=sm_90a" --select-mma --select-copies --assign-layouts="target=sm_90a" --software-pipeline="target=sm_90a" --plan-memory="target=sm_90a" --overlap-launches="target=sm_90a" --lower-to-nvvm="target=sm_90a" | filecheck %s
// RUN: mirage-opt %s --sink-reductions --fuse-thread-graphs --split-cross-block-sums="target=sm_80" --select-mma --select-copies --assign-layouts="target=sm_80" --software-pipeline="target=sm_80" --plan-memory="target=sm_80" --overlap-launches="target=sm_80" --lower-to-nvvm="target=sm_80" | filecheck %s --check-prefix=A100
// The last one takes the interpreter longer than all others, and has no prefetch.
// RUN: sed '/^func.func @many/,$d' %s | mirage-opt --sink-reductions --fuse-thread-graphs --split-cross-block-sums="target=sm_90a" --select-mma --select-copies --assign-layouts="target=sm_90a" --software-pipeline="target=sm_90a" --plan-memory="target=sm_90a" --overlap-launches="target=sm_90a" --lower-to-nvvm="target=sm_90a" --check-lowered-kernels 2>&1 | filecheck %s --check-prefix=RIGHT

// RIGHT: @alone: 1 kernel runs without a fault
// RIGHT: @shared: 1 kernel runs without a fault
// RIGHT: @two: 2 kernels run without a fault
// RIGHT: @few: 1 kernel runs without a fault

// A100-NOT: nvvm.prefetch

// Rows of 100 f16 are two lines each, of which six rows have 12; the last block has but five rows:
// the interpreter says that nobody asks for what there is not.
// CHECK-LABEL: llvm.func @alone_kernel_0
// CHECK:         grid_dep_action launch_dependents
// CHECK:         nvvm.prefetch
// CHECK-NOT:     nvvm.prefetch
// CHECK:         grid_dep_action wait
// CHECK-NOT:     launch_dependents
// CHECK:         llvm.return
func.func @alone(%x: tensor<17x100xf16>) -> tensor<17x100xf16> {
  %o = kernel.graph_defined ins(%x) grid [3] {
  ^bb0(%0: tensor<17x100xf16>):
    %1 = threadblock.load %0 grid_map [0] : (tensor<17x100xf16>) -> !threadblock.tile<6x100xf16>
    %2 = threadblock.exp %1 : (!threadblock.tile<6x100xf16>) -> !threadblock.tile<6x100xf16>
    threadblock.store %2 grid_map [0] : !threadblock.tile<6x100xf16>
  } : (tensor<17x100xf16>) -> tensor<17x100xf16>
  func.return %o : tensor<17x100xf16>
}

// All blocks read the row of factors: the first one asks for it.
// CHECK-LABEL: llvm.func @shared_kernel_0
// CHECK:         %[[BLOCK:.*]] = nvvm.read.ptx.sreg.ctaid.x
// CHECK:         nvvm.prefetch
// CHECK:         %[[FIRST:.*]] = arith.cmpi eq, %[[BLOCK]], %{{.*}} : i32
// CHECK-NEXT:    scf.if %[[FIRST]]
// CHECK:         nvvm.prefetch
// CHECK:         grid_dep_action wait
func.func @shared(%x: tensor<8x64xf32>, %g: tensor<64xf32>) -> tensor<8x64xf32> {
  %o = kernel.graph_defined ins(%x, %g) grid [8] {
  ^bb0(%0: tensor<8x64xf32>, %1: tensor<64xf32>):
    %2 = threadblock.load %0 grid_map [0] : (tensor<8x64xf32>) -> !threadblock.tile<1x64xf32>
    %3 = threadblock.load %1 grid_map [_] : (tensor<64xf32>) -> !threadblock.tile<64xf32>
    %4 = threadblock.mul %2, %3 : (!threadblock.tile<1x64xf32>, !threadblock.tile<64xf32>) -> !threadblock.tile<1x64xf32>
    threadblock.store %4 grid_map [0] : !threadblock.tile<1x64xf32>
  } : (tensor<8x64xf32>, tensor<64xf32>) -> tensor<8x64xf32>
  func.return %o : tensor<8x64xf32>
}

// The second kernel reads inputs before it waits: the first one lets it start only when it has
// waited itself. What the first one wrote needs no prefetch.
// CHECK-LABEL: llvm.func @two_kernel_0
// CHECK:         nvvm.prefetch
// CHECK:         grid_dep_action wait
// CHECK:         grid_dep_action launch_dependents
// CHECK-LABEL: llvm.func @two_kernel_1
// CHECK:         grid_dep_action launch_dependents
// CHECK:         nvvm.prefetch
// CHECK-NOT:     nvvm.prefetch
// CHECK:         grid_dep_action wait
func.func @two(%x: tensor<4x64xf32>, %y: tensor<4x64xf32>) -> tensor<4x64xf32> {
  %a = kernel.graph_defined ins(%x) grid [4] {
  ^bb0(%0: tensor<4x64xf32>):
    %1 = threadblock.load %0 grid_map [0] : (tensor<4x64xf32>) -> !threadblock.tile<1x64xf32>
    %2 = threadblock.exp %1 : (!threadblock.tile<1x64xf32>) -> !threadblock.tile<1x64xf32>
    threadblock.store %2 grid_map [0] : !threadblock.tile<1x64xf32>
  } : (tensor<4x64xf32>) -> tensor<4x64xf32>
  %o = kernel.graph_defined ins(%a, %y) grid [4] {
  ^bb0(%0: tensor<4x64xf32>, %1: tensor<4x64xf32>):
    %2 = threadblock.load %0 grid_map [0] : (tensor<4x64xf32>) -> !threadblock.tile<1x64xf32>
    %3 = threadblock.load %1 grid_map [0] : (tensor<4x64xf32>) -> !threadblock.tile<1x64xf32>
    %4 = threadblock.mul %2, %3 : (!threadblock.tile<1x64xf32>, !threadblock.tile<1x64xf32>) -> !threadblock.tile<1x64xf32>
    threadblock.store %4 grid_map [0] : !threadblock.tile<1x64xf32>
  } : (tensor<4x64xf32>, tensor<4x64xf32>) -> tensor<4x64xf32>
  func.return %o : tensor<4x64xf32>
}

// A producer copies the tiles of the loop: of few bytes L2 is asked for before it may start, of many
// it has enough to do.
// CHECK-LABEL: llvm.func @few_kernel_0
// CHECK:         nvvm.prefetch
func.func @few(%x: tensor<16x1024xf16>, %w: tensor<1024x64xf16>) -> tensor<16x64xf16> {
  %o = kernel.graph_defined ins(%x, %w) grid [1] loop [16] {
  ^bb0(%0: tensor<16x1024xf16>, %1: tensor<1024x64xf16>):
    %2 = threadblock.load %0 grid_map [_] loop_map [1] : (tensor<16x1024xf16>) -> !threadblock.tile<16x64xf16>
    %3 = threadblock.load %1 grid_map [1] loop_map [0] : (tensor<1024x64xf16>) -> !threadblock.tile<64x64xf16>
    %4 = threadblock.matmul %2, %3 : (!threadblock.tile<16x64xf16>, !threadblock.tile<64x64xf16>) -> !threadblock.tile<16x64xf32>
    %5 = threadblock.accumulate %4 : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x64xf32>
    %6 = threadblock.cast %5 : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x64xf16>
    threadblock.store %6 grid_map [1] : !threadblock.tile<16x64xf16>
  } : (tensor<16x1024xf16>, tensor<1024x64xf16>) -> tensor<16x64xf16>
  func.return %o : tensor<16x64xf16>
}

// CHECK-LABEL: llvm.func @many_kernel_0
// CHECK-NOT:     nvvm.prefetch
// CHECK:         llvm.return
func.func @many(%x: tensor<16x1024xf16>, %w: tensor<1024x4096xf16>) -> tensor<16x4096xf16> {
  %o = kernel.graph_defined ins(%x, %w) grid [16] loop [16] {
  ^bb0(%0: tensor<16x1024xf16>, %1: tensor<1024x4096xf16>):
    %2 = threadblock.load %0 grid_map [_] loop_map [1] : (tensor<16x1024xf16>) -> !threadblock.tile<16x64xf16>
    %3 = threadblock.load %1 grid_map [1] loop_map [0] : (tensor<1024x4096xf16>) -> !threadblock.tile<64x256xf16>
    %4 = threadblock.matmul %2, %3 : (!threadblock.tile<16x64xf16>, !threadblock.tile<64x256xf16>) -> !threadblock.tile<16x256xf32>
    %5 = threadblock.accumulate %4 : (!threadblock.tile<16x256xf32>) -> !threadblock.tile<16x256xf32>
    %6 = threadblock.cast %5 : (!threadblock.tile<16x256xf32>) -> !threadblock.tile<16x256xf16>
    threadblock.store %6 grid_map [1] : !threadblock.tile<16x256xf16>
  } : (tensor<16x1024xf16>, tensor<1024x4096xf16>) -> tensor<16x4096xf16>
  func.return %o : tensor<16x4096xf16>
}
