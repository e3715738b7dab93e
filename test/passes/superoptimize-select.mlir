// Comparisons and selections are part of kernels, with what they are computed from and lead to.
// RUN: mirage-opt --superoptimize="max-kernels=2" %s | filecheck %s

// CHECK: func.func @select_of_transposed(
// CHECK: %t = kernel.transpose
// CHECK-NEXT: kernel.graph_defined ins(%m, %t, %y) grid [2]
func.func @select_of_transposed(%m: tensor<8x4x6xf32>, %x: tensor<4x8x6xf32>, %y: tensor<8x4x6xf32>) -> tensor<8x4x6xf32> {
  %t = kernel.transpose %x {permutation = array<i64: 1, 0, 2>} : (tensor<4x8x6xf32>) -> tensor<8x4x6xf32>
  %s = kernel.select %m, %t, %y : (tensor<8x4x6xf32>, tensor<8x4x6xf32>, tensor<8x4x6xf32>) -> tensor<8x4x6xf32>
  func.return %s : tensor<8x4x6xf32>
}

// CHECK: func.func @leaky_linear(
// CHECK-NEXT: kernel.graph_defined ins(%x, %w)
// CHECK: %[[SUM:.*]] = threadblock.matmul
// CHECK: threadblock.compare %[[SUM]], {{.*}} {predicate = "gt"}
// CHECK: threadblock.select
// CHECK-NOT: kernel.graph_defined
func.func @leaky_linear(%x: tensor<64x256xf16>, %w: tensor<256x128xf16>) -> tensor<64x128xf16> {
  %h = kernel.matmul %x, %w : (tensor<64x256xf16>, tensor<256x128xf16>) -> tensor<64x128xf16>
  %zero = kernel.constant {value = 0.0 : f32} : tensor<1x1xf16>
  %above = kernel.compare %h, %zero {predicate = "gt"} : (tensor<64x128xf16>, tensor<1x1xf16>) -> tensor<64x128xf16>
  %low = kernel.scale %h {factor = 0.1 : f32} : (tensor<64x128xf16>) -> tensor<64x128xf16>
  %y = kernel.select %above, %h, %low : (tensor<64x128xf16>, tensor<64x128xf16>, tensor<64x128xf16>) -> tensor<64x128xf16>
  func.return %y : tensor<64x128xf16>
}

// The mask comes first: its axes are no order for those of the scores.
// CHECK: func.func @masked_attention(
// CHECK: kernel.graph_defined ins(%m, %q, %kt, %v) {{.*}} loop
// CHECK: threadblock.matmul
// CHECK: threadblock.select
// CHECK: threadblock.matmul
// CHECK-NOT: kernel.graph_defined
func.func @masked_attention(%q: tensor<16x2048x64xf16>, %k: tensor<16x2048x64xf16>, %v: tensor<16x2048x64xf16>, %m: tensor<2048x2048xf16>) -> tensor<16x2048x64xf16> {
  %kt = kernel.transpose %k {permutation = array<i64: 0, 2, 1>} : (tensor<16x2048x64xf16>) -> tensor<16x64x2048xf16>
  %qk = kernel.matmul %q, %kt : (tensor<16x2048x64xf16>, tensor<16x64x2048xf16>) -> tensor<16x2048x2048xf16>
  %s = kernel.scale %qk {factor = 0.125 : f32} : (tensor<16x2048x2048xf16>) -> tensor<16x2048x2048xf16>
  %low = kernel.constant {value = -30000.0 : f32} : tensor<1x1x1xf16>
  %masked = kernel.select %m, %s, %low : (tensor<2048x2048xf16>, tensor<16x2048x2048xf16>, tensor<1x1x1xf16>) -> tensor<16x2048x2048xf16>
  %p = kernel.softmax %masked {dim = 2 : i64} : (tensor<16x2048x2048xf16>) -> tensor<16x2048x2048xf16>
  %o = kernel.matmul %p, %v : (tensor<16x2048x2048xf16>, tensor<16x2048x64xf16>) -> tensor<16x2048x64xf16>
  func.return %o : tensor<16x2048x64xf16>
}
