// A product with heads that are put side by side first, as behind attention, sums over heads and over
// the elements of each. One kernel reads them as they lie: blocks walk the heads, and multiply one at
// a time. What follows the product is in the kernel, too.
//
// RUN: mirage-opt %s --superoptimize --explain 2>&1 >%t | filecheck %s
// RUN: filecheck %s --check-prefix=GRAPH < %t
// RUN: mirage-opt %t --sink-reductions --fuse-thread-graphs --split-cross-block-sums --select-mma --select-copies --assign-layouts --software-pipeline --plan-memory --overlap-launches --lower-to-nvvm="target=sm_90a" --check-lowered-kernels 2>&1 >/dev/null | filecheck %s --check-prefix=RUNS

// CHECK: @heads for sm_90a: 1 kernel
// CHECK: MMA: {{wgmma|mma}}
// CHECK: copies: {{.*}}TMA
// CHECK: @heads for sm_80: 1 kernel

// GRAPH: kernel.graph_defined {{.*}} loop [4
// GRAPH: threadblock.load {{.*}} -> !threadblock.tile<{{[0-9]+}}x1x128xf16>
// GRAPH: threadblock.matmul
// GRAPH: threadblock.add

// RUNS: @heads: 1 kernel runs without a fault

func.func @heads(%x: tensor<4x64x128xf16>, %w: tensor<512x64xf16>, %r: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %t = kernel.transpose %x {permutation = array<i64: 1, 0, 2>} : (tensor<4x64x128xf16>) -> tensor<64x4x128xf16>
  %m = kernel.reshape %t : (tensor<64x4x128xf16>) -> tensor<64x512xf16>
  %y = kernel.matmul %m, %w : (tensor<64x512xf16>, tensor<512x64xf16>) -> tensor<64x64xf16>
  %s = kernel.add %y, %r : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
  func.return %s : tensor<64x64xf16>
}
