// The passes of the lowering need what those before them wrote, and targets that there are.
// RUN: not mirage-opt %s --select-mma 2>&1 | filecheck %s --check-prefix=MMA
// RUN: not mirage-opt %s --sink-reductions --fuse-thread-graphs --assign-layouts 2>&1 | filecheck %s --check-prefix=THREADS
// RUN: not mirage-opt %s --sink-reductions --fuse-thread-graphs --select-copies 2>&1 | filecheck %s --check-prefix=THREADS
// RUN: not mirage-opt %s --sink-reductions --fuse-thread-graphs --select-mma --software-pipeline 2>&1 | filecheck %s --check-prefix=SCHEDULE
// RUN: not mirage-opt %s --sink-reductions --fuse-thread-graphs --split-cross-block-sums --select-mma --select-copies --assign-layouts --plan-memory 2>&1 | filecheck %s --check-prefix=MEMORY
// RUN: not mirage-opt %s --sink-reductions --fuse-thread-graphs --split-cross-block-sums --select-mma --select-copies --assign-layouts --software-pipeline --lower-to-nvvm 2>&1 | filecheck %s --check-prefix=NVVM
// RUN: not mirage-opt %s --sink-reductions --fuse-thread-graphs --split-cross-block-sums --select-mma --select-copies --assign-layouts --software-pipeline --overlap-launches 2>&1 | filecheck %s --check-prefix=OVERLAP
// RUN: not mirage-opt %s --software-pipeline="stages=1" 2>&1 | filecheck %s --check-prefix=STAGES
// RUN: not mirage-opt %s --split-cross-block-sums="target=sm_70" 2>&1 | filecheck %s --check-prefix=TARGET
// RUN: not mirage-opt %s --select-mma="target=sm_70" 2>&1 | filecheck %s --check-prefix=TARGET
// RUN: not mirage-opt %s --select-copies="target=sm_70" 2>&1 | filecheck %s --check-prefix=TARGET
// RUN: not mirage-opt %s --assign-layouts="target=sm_70" 2>&1 | filecheck %s --check-prefix=TARGET
// RUN: not mirage-opt %s --software-pipeline="target=sm_70" 2>&1 | filecheck %s --check-prefix=TARGET
// RUN: not mirage-opt %s --plan-memory="target=sm_70" 2>&1 | filecheck %s --check-prefix=TARGET
// RUN: not mirage-opt %s --overlap-launches="target=sm_70" 2>&1 | filecheck %s --check-prefix=TARGET
// RUN: not mirage-opt %s --lower-to-nvvm="target=sm_70" 2>&1 | filecheck %s --check-prefix=TARGET
// RUN: not mirage-opt %s --pack-constants="target=sm_70" 2>&1 | filecheck %s --check-prefix=TARGET

// MMA:      lowering-order.mlir:32:10: error: 'threadblock.exp' op has no lowering; run fuse-thread-graphs first
// THREADS:  lowering-order.mlir:29:8: error: 'kernel.graph_defined' op has no threads; run select-mma first
// SCHEDULE: lowering-order.mlir:29:8: error: 'kernel.graph_defined' op has no layouts; run assign-layouts first
// MEMORY:   error: 'kernel.graph_defined' op has no schedule yet; run software-pipeline first
// NVVM:     error: 'kernel.graph_defined' op has no place for its results; run plan-memory first
// OVERLAP:  lowering-order.mlir:29:8: error: 'kernel.graph_defined' op has no memory plan; run plan-memory first
// STAGES:   mirage-opt: error: 'software-pipeline': stages is at least 2, not 1
// TARGET:   mirage-opt: error: '{{split-cross-block-sums|select-mma|select-copies|assign-layouts|software-pipeline|plan-memory|pack-constants|overlap-launches|lower-to-nvvm}}': unknown target 'sm_70': it is one of H200, H100, A100, sm_90a, sm_80
func.func @exps(%x: tensor<16x64xf32>) -> tensor<16x64xf32> {
  %o = kernel.graph_defined ins(%x) grid [1] {
  ^bb0(%a: tensor<16x64xf32>):
    %t = threadblock.load %a grid_map [_] : (tensor<16x64xf32>) -> !threadblock.tile<16x64xf32>
    %e = threadblock.exp %t : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x64xf32>
    threadblock.store %e grid_map [_] : !threadblock.tile<16x64xf32>
  } : (tensor<16x64xf32>) -> tensor<16x64xf32>
  func.return %o : tensor<16x64xf32>
}
