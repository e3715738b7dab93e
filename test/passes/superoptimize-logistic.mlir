// silu as frameworks spell it out: one kernel computes both products and what follows them.
// RUN: mirage-opt %s --superoptimize="target=H200" | filecheck %s

// CHECK-LABEL: func.func @gated
// CHECK:         kernel.graph_defined
// CHECK-COUNT-2: threadblock.matmul
// CHECK-NOT:     threadblock.exp
// CHECK:         threadblock.silu
// CHECK-NOT:     kernel.graph_defined
// CHECK:         func.return
func.func @gated(%x: tensor<16x256xbf16>, %w1: tensor<256x512xbf16>, %w3: tensor<256x512xbf16>) -> tensor<16x512xbf16> {
  %a = kernel.matmul %x, %w1 : (tensor<16x256xbf16>, tensor<256x512xbf16>) -> tensor<16x512xbf16>
  %f = kernel.cast %a : (tensor<16x512xbf16>) -> tensor<16x512xf32>
  %n = kernel.neg %f : (tensor<16x512xf32>) -> tensor<16x512xf32>
  %e = kernel.exp %n : (tensor<16x512xf32>) -> tensor<16x512xf32>
  %one = kernel.constant {value = 1.0 : f32} : tensor<1x1xf32>
  %p = kernel.add %e, %one : (tensor<16x512xf32>, tensor<1x1xf32>) -> tensor<16x512xf32>
  %q = kernel.div %f, %p : (tensor<16x512xf32>, tensor<16x512xf32>) -> tensor<16x512xf32>
  %c = kernel.cast %q : (tensor<16x512xf32>) -> tensor<16x512xbf16>
  %b = kernel.matmul %x, %w3 : (tensor<16x256xbf16>, tensor<256x512xbf16>) -> tensor<16x512xbf16>
  %d = kernel.mul %c, %b : (tensor<16x512xbf16>, tensor<16x512xbf16>) -> tensor<16x512xbf16>
  func.return %d : tensor<16x512xbf16>
}
