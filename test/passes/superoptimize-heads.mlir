// The two halves of each head, as rotary embeddings read them, are read along the inputs, in which
// neighbours lie: not element by element. One kernel computes both and puts them together: blocks
// that have some indices of each half stack them.
//
// RUN: mirage-opt %s --superoptimize="max-kernels=1" --explain 2>&1 >%t | filecheck %s
// RUN: filecheck %s --check-prefix=GRAPH < %t
// RUN: mirage-opt %t --sink-reductions --fuse-thread-graphs --split-cross-block-sums --select-mma --select-copies --assign-layouts --software-pipeline --plan-memory --overlap-launches --lower-to-nvvm="target=sm_90a" --check-lowered-kernels 2>&1 >/dev/null | filecheck %s --check-prefix=RUNS

// CHECK: @halves for sm_90a: 1 kernel
// CHECK: copies: TMA
// CHECK-NOT: 2 bytes
// CHECK: for sm_80

// GRAPH: kernel.graph_defined {{.*}} grid [8, 2
// GRAPH: threadblock.load {{.*}} -> !threadblock.tile<1x{{[0-9]+}}x16xf16>
// GRAPH: threadblock.concat {{.*}} -> !threadblock.tile<32x1x2x16xf16>
// GRAPH-NEXT: threadblock.store
// GRAPH-NOT: threadblock.load {{.*}}tile<{{[0-9]+}}x1x{{[0-9]+}}xf16>

// RUNS: @halves: 1 kernel runs without a fault

func.func @halves(%x: tensor<32x1024xf16>, %w: tensor<512x1024xf16>, %c: tensor<32x1x64xf16>) -> tensor<32x8x64xf16> {
  %t = kernel.transpose %w {permutation = array<i64: 1, 0>} : (tensor<512x1024xf16>) -> tensor<1024x512xf16>
  %y = kernel.matmul %x, %t : (tensor<32x1024xf16>, tensor<1024x512xf16>) -> tensor<32x512xf16>
  %h = kernel.reshape %y : (tensor<32x512xf16>) -> tensor<32x8x64xf16>
  %a = kernel.slice %h {offsets = array<i64: 0, 0, 0>, sizes = array<i64: 32, 8, 32>, strides = array<i64: 1, 1, 1>} : (tensor<32x8x64xf16>) -> tensor<32x8x32xf16>
  %b = kernel.slice %h {offsets = array<i64: 0, 0, 32>, sizes = array<i64: 32, 8, 32>, strides = array<i64: 1, 1, 1>} : (tensor<32x8x64xf16>) -> tensor<32x8x32xf16>
  %n = kernel.neg %b : (tensor<32x8x32xf16>) -> tensor<32x8x32xf16>
  %r = kernel.concat %n, %a {dim = 2 : i64} : (tensor<32x8x32xf16>, tensor<32x8x32xf16>) -> tensor<32x8x64xf16>
  %m = kernel.mul %r, %c : (tensor<32x8x64xf16>, tensor<32x1x64xf16>) -> tensor<32x8x64xf16>
  %z = kernel.add %m, %h : (tensor<32x8x64xf16>, tensor<32x8x64xf16>) -> tensor<32x8x64xf16>
  func.return %z : tensor<32x8x64xf16>
}
