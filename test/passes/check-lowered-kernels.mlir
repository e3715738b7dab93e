// RUN: mirage-opt %s --sink-reductions --fuse-thread-graphs --split-cross-block-sums --select-mma --select-copies --assign-layouts --software-pipeline --plan-memory --overlap-launches --lower-to-nvvm --check-lowered-kernels 2>&1 | filecheck %s
// RUN: mirage-opt %s --sink-reductions --fuse-thread-graphs --split-cross-block-sums --select-mma --select-copies --assign-layouts --software-pipeline --plan-memory --overlap-launches --lower-to-nvvm | sed 's/tensor<3x40xf16>, tensor<40x9xf16>\]/tensor<3x40xf16>, tensor<39x9xf16>]/' | not mirage-opt --check-lowered-kernels 2>&1 | filecheck %s --check-prefix=BOUNDS
// RUN: mirage-opt %s --sink-reductions --fuse-thread-graphs --split-cross-block-sums=target=A100 --select-mma --select-copies --assign-layouts=target=A100 --software-pipeline --plan-memory --overlap-launches --lower-to-nvvm | sed 's/tensor<3x40xf16>, tensor<40x9xf16>\]/tensor<3x40xf16>, tensor<39x9xf16>]/' | not mirage-opt --check-lowered-kernels 2>&1 | filecheck %s --check-prefix=LOADS

// CHECK: check-lowered-kernels.mlir:12:1: remark: @linear: 1 kernel runs without a fault
// CHECK: llvm.func @linear_kernel_0

// A kernel for an input that is a row shorter than it thinks: what it asks L2 for lies outside, and where a
// chip is not asked, what it loads.
// BOUNDS: error: 'nvvm.prefetch' op has thread {{[0-9]+}} access bytes 702 to 702 of input:1, which has 702 in block (0, 0, 0) of linear_kernel_0 (out of bounds)
// LOADS: error: 'llvm.load' op has thread {{[0-9]+}} access bytes 702 to 703 of input:1, which has 702 in block (0, 0, 0) of linear_kernel_0 (out of bounds)
func.func @linear(%x: tensor<3x40xf16>, %w: tensor<40x9xf16>) -> tensor<3x9xf16> {
  %o = kernel.graph_defined ins(%x, %w) grid [1] loop [3] {
  ^bb0(%xa: tensor<3x40xf16>, %wa: tensor<40x9xf16>):
    %xt = threadblock.load %xa grid_map [_] loop_map [1] : (tensor<3x40xf16>) -> !threadblock.tile<3x16xf16>
    %wt = threadblock.load %wa grid_map [_] loop_map [0] : (tensor<40x9xf16>) -> !threadblock.tile<16x9xf16>
    %p = threadblock.matmul %xt, %wt : (!threadblock.tile<3x16xf16>, !threadblock.tile<16x9xf16>) -> !threadblock.tile<3x9xf32>
    %a = threadblock.accumulate %p : (!threadblock.tile<3x9xf32>) -> !threadblock.tile<3x9xf32>
    %c = threadblock.cast %a : (!threadblock.tile<3x9xf32>) -> !threadblock.tile<3x9xf16>
    threadblock.store %c grid_map [_] : !threadblock.tile<3x9xf16>
  } : (tensor<3x40xf16>, tensor<40x9xf16>) -> tensor<3x9xf16>
  func.return %o : tensor<3x9xf16>
}
