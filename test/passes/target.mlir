// One target for all passes: the first one that depends on it notes it on the module, the others take that.
// RUN: mirage-opt %s --sink-reductions --fuse-thread-graphs --split-cross-block-sums --select-mma --select-copies --assign-layouts --software-pipeline --plan-memory --overlap-launches --lower-to-nvvm | filecheck %s --check-prefixes=H200,SM_90
// RUN: mirage-opt %s --sink-reductions --fuse-thread-graphs --split-cross-block-sums="target=H100" --select-mma --select-copies --assign-layouts="target=H100" --software-pipeline --plan-memory="target=sm_90a" --overlap-launches="target=sm_90a" --lower-to-nvvm | filecheck %s --check-prefixes=H100,SM_90
// RUN: mirage-opt %s --sink-reductions --fuse-thread-graphs --split-cross-block-sums="target=A100" --select-mma --select-copies --assign-layouts="target=A100" --software-pipeline --plan-memory="target=sm_80" --overlap-launches="target=sm_80" --lower-to-nvvm="target=A100" | filecheck %s --check-prefix=A100
// RUN: mirage-opt %s --superoptimize="target=A100" -t ptx | filecheck %s --check-prefix=PTX
// RUN: mirage-opt %s --sink-reductions --fuse-thread-graphs --split-cross-block-sums="target=A100" --select-mma --select-copies --assign-layouts="target=A100" --software-pipeline --plan-memory --overlap-launches --lower-to-nvvm -t ptx | filecheck %s --check-prefix=PTX

// H200: builtin.module attributes {kernel.target = #kernel.target<"H200">
// H100: builtin.module attributes {kernel.target = #kernel.target<"H100">
// SM_90: nvvm.cp.async.bulk.tensor
// SM_90: targets = [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx86">]
// A100: builtin.module attributes {kernel.target = #kernel.target<"A100">
// A100: nvvm.cp.async.shared.global
// A100: targets = [#nvvm.target<O = 3, chip = "sm_80", features = "+ptx80">]
// PTX: .target sm_80

// A search notes its target too, and the functions of a program that was cut are searched for the same.
// RUN: mirage-opt %s --superoptimize="target=H100" | filecheck %s --check-prefix=SEARCHED
// RUN: mirage-opt %s --partition-program="target=H100" --superoptimize | filecheck %s --check-prefix=SEARCHED
// SEARCHED: builtin.module attributes {kernel.target = #kernel.target<"H100">}

// Who asks for another one is told so.
// RUN: not mirage-opt %s --superoptimize="target=A100" --sink-reductions --fuse-thread-graphs --split-cross-block-sums --select-mma --assign-layouts="target=H200" 2>&1 | filecheck %s --check-prefixes=LAYOUTS,NOTE
// RUN: not mirage-opt %s --partition-program="target=H200" --superoptimize="target=H100" 2>&1 | filecheck %s --check-prefixes=SEARCH,NOTE
// RUN: not mirage-opt %s --sink-reductions --fuse-thread-graphs --split-cross-block-sums="target=H200" --select-mma --select-copies --assign-layouts="target=H200" --software-pipeline="target=H100" 2>&1 | filecheck %s --check-prefixes=SCHEDULE,NOTE
// RUN: not mirage-opt %s --sink-reductions --fuse-thread-graphs --split-cross-block-sums --select-mma --select-copies --assign-layouts --software-pipeline --plan-memory="target=sm_80" 2>&1 | filecheck %s --check-prefixes=MEMORY,NOTE
// RUN: not mirage-opt %s --sink-reductions --fuse-thread-graphs --split-cross-block-sums --select-mma --select-copies --assign-layouts --software-pipeline --plan-memory --overlap-launches --lower-to-nvvm="target=A100" 2>&1 | filecheck %s --check-prefixes=LOWER,NOTE
// RUN: not mirage-opt %s --superoptimize -t "ptx{target=A100}" 2>&1 | filecheck %s --check-prefixes=OUTPUT,NOTE
// LAYOUTS: target.mlir:{{[0-9]+}}:1: error: 'builtin.module' op is compiled for A100 (kernel.target), but assign-layouts is asked for H200
// SEARCH: error: 'builtin.module' op is compiled for H200 (kernel.target), but partition-program is asked for H100
// SCHEDULE: error: 'builtin.module' op is compiled for H200 (kernel.target), but software-pipeline is asked for H100
// MEMORY: error: 'builtin.module' op is compiled for H200 (kernel.target), but plan-memory is asked for sm_80
// LOWER: error: 'builtin.module' op is compiled for H200 (kernel.target), but lower-to-nvvm is asked for A100
// OUTPUT: error: 'builtin.module' op is compiled for H200 (kernel.target), but the output is asked for A100
// NOTE: note: leave out that option, or start without the attribute

// What was planned for clusters, by passes whose target nobody noted, is none for a chip without them.
// RUN: mirage-opt %s --sink-reductions --fuse-thread-graphs --split-cross-block-sums --select-mma --select-copies --assign-layouts --software-pipeline --plan-memory | sed 's/ attributes {kernel.target = #kernel.target<"H200">}//' | not mirage-opt --lower-to-nvvm="target=sm_80" 2>&1 | filecheck %s --check-prefix=CLUSTERS
// CLUSTERS: error: 'kernel.graph_defined' op sums across blocks, which sm_80 has no clusters for
// CLUSTERS: note: those that have them: H200, H100
func.func @across(%x: tensor<16x512xf16>, %w: tensor<512x64xf16>) -> tensor<16x64xf32> {
  %o = kernel.graph_defined ins(%x, %w) grid [2] loop [4] {
  ^bb0(%xa: tensor<16x512xf16>, %wa: tensor<512x64xf16>):
    %xt = threadblock.load %xa grid_map [1] loop_map [1] : (tensor<16x512xf16>) -> !threadblock.tile<16x64xf16>
    %wt = threadblock.load %wa grid_map [0] loop_map [0] : (tensor<512x64xf16>) -> !threadblock.tile<64x64xf16>
    %p = threadblock.matmul %xt, %wt : (!threadblock.tile<16x64xf16>, !threadblock.tile<64x64xf16>) -> !threadblock.tile<16x64xf32>
    %a = threadblock.accumulate %p across [0] : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x64xf32>
    threadblock.store %a grid_map [_] : !threadblock.tile<16x64xf32>
  } : (tensor<16x512xf16>, tensor<512x64xf16>) -> tensor<16x64xf32>
  func.return %o : tensor<16x64xf32>
}
