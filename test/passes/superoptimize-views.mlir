// RUN: mirage-opt %s --superoptimize -o %t
// RUN: filecheck %s --input-file %t
// RUN: mirage-opt %t --sink-reductions --fuse-thread-graphs --split-cross-block-sums --select-mma --select-copies --assign-layouts --software-pipeline --plan-memory --overlap-launches --lower-to-nvvm="target=sm_90a" --check-lowered-kernels 2>&1 >/dev/null | filecheck %s --check-prefix=LOWERED

// Keys and values that are repeated for the heads of a group are loaded once: the heads of a group
// are the rows of a tile.
// CHECK-LABEL: func.func @grouped_heads
// CHECK:         kernel.graph_defined
// CHECK:         threadblock.load {{.*}} : (tensor<2x4x64xf16>) -> !threadblock.tile<1x4x64xf16>
// CHECK:         threadblock.load {{.*}} : (tensor<2x256x64xf16>) -> !threadblock.tile<1x{{[0-9]+}}x64xf16>
// CHECK:         threadblock.matmul {{.*}} -> !threadblock.tile<1x4x{{[0-9]+}}xf32>
// CHECK-NOT:     kernel.graph_defined
// LOWERED: @grouped_heads: 1 kernel runs without a fault
func.func @grouped_heads(%q: tensor<1x8x1x64xf16>, %k: tensor<1x2x256x64xf16>, %v: tensor<1x2x256x64xf16>) -> tensor<1x8x1x64xf16> {
  %kr = kernel.repeat_interleave %k {dim = 1 : i64, times = 4 : i64} : (tensor<1x2x256x64xf16>) -> tensor<1x8x256x64xf16>
  %vr = kernel.repeat_interleave %v {dim = 1 : i64, times = 4 : i64} : (tensor<1x2x256x64xf16>) -> tensor<1x8x256x64xf16>
  %kt = kernel.transpose %kr {permutation = array<i64: 0, 1, 3, 2>} : (tensor<1x8x256x64xf16>) -> tensor<1x8x64x256xf16>
  %s = kernel.matmul %q, %kt : (tensor<1x8x1x64xf16>, tensor<1x8x64x256xf16>) -> tensor<1x8x1x256xf16>
  %p = kernel.softmax %s {dim = 3 : i64} : (tensor<1x8x1x256xf16>) -> tensor<1x8x1x256xf16>
  %o = kernel.matmul %p, %vr : (tensor<1x8x1x256xf16>, tensor<1x8x256x64xf16>) -> tensor<1x8x1x64xf16>
  func.return %o : tensor<1x8x1x64xf16>
}

// The halves that a rotary embedding exchanges are views of the argument; a block stores both as one.
// CHECK-LABEL: func.func @rotary
// CHECK-COUNT-6: kernel.slice
// CHECK:         kernel.graph_defined
// CHECK-COUNT-6: threadblock.load
// CHECK-NOT:     threadblock.load
// CHECK:         %[[BOTH:.*]] = threadblock.concat {{.*}} -> !threadblock.tile<{{.*}}x64xf16>
// CHECK:         threadblock.store %[[BOTH]]
// CHECK-NOT:     kernel.graph_defined
// LOWERED: @rotary: 1 kernel runs without a fault
func.func @rotary(%x: tensor<4x16x64xf16>, %cos: tensor<16x64xf16>, %sin: tensor<16x64xf16>) -> tensor<4x16x64xf16> {
  %a = kernel.slice %x {offsets = array<i64: 0, 0, 0>, sizes = array<i64: 4, 16, 32>, strides = array<i64: 1, 1, 1>} : (tensor<4x16x64xf16>) -> tensor<4x16x32xf16>
  %b = kernel.slice %x {offsets = array<i64: 0, 0, 32>, sizes = array<i64: 4, 16, 32>, strides = array<i64: 1, 1, 1>} : (tensor<4x16x64xf16>) -> tensor<4x16x32xf16>
  %m = kernel.scale %b {factor = -1.0 : f32} : (tensor<4x16x32xf16>) -> tensor<4x16x32xf16>
  %h = kernel.concat %m, %a {dim = 2 : i64} : (tensor<4x16x32xf16>, tensor<4x16x32xf16>) -> tensor<4x16x64xf16>
  %c = kernel.mul %x, %cos : (tensor<4x16x64xf16>, tensor<16x64xf16>) -> tensor<4x16x64xf16>
  %s = kernel.mul %h, %sin : (tensor<4x16x64xf16>, tensor<16x64xf16>) -> tensor<4x16x64xf16>
  %o = kernel.add %c, %s : (tensor<4x16x64xf16>, tensor<4x16x64xf16>) -> tensor<4x16x64xf16>
  func.return %o : tensor<4x16x64xf16>
}

// Slices of a product are products with slices; results that are parts of one tensor are copied.
// CHECK-LABEL: func.func @columns
// CHECK:         kernel.slice %w
// CHECK-NOT:     kernel.matmul
// LOWERED: @columns: 1 kernel runs without a fault
func.func @columns(%x: tensor<16x64xf16>, %w: tensor<64x96xf16>) -> tensor<16x32xf16> {
  %p = kernel.matmul %x, %w : (tensor<16x64xf16>, tensor<64x96xf16>) -> tensor<16x96xf16>
  %a = kernel.slice %p {offsets = array<i64: 0, 0>, sizes = array<i64: 16, 32>, strides = array<i64: 1, 1>} : (tensor<16x96xf16>) -> tensor<16x32xf16>
  %b = kernel.slice %p {offsets = array<i64: 0, 64>, sizes = array<i64: 16, 32>, strides = array<i64: 1, 1>} : (tensor<16x96xf16>) -> tensor<16x32xf16>
  %o = kernel.mul %a, %b : (tensor<16x32xf16>, tensor<16x32xf16>) -> tensor<16x32xf16>
  func.return %o : tensor<16x32xf16>
}
