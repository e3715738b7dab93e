// RUN: %roundtrip
// RUN: %generic-roundtrip

// Tensors of 8-bit floats are cast from and to the types that operators take.
// CHECK-LABEL: func.func @through
// CHECK: kernel.cast %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf8E4M3FN>
// CHECK: kernel.cast %{{.*}} : (tensor<4x8xf8E4M3FN>) -> tensor<4x8xf8E5M2>
// CHECK: kernel.cast %{{.*}} : (tensor<4x8xf8E5M2>) -> tensor<4x8xf16>
// CHECK-GENERIC: "kernel.cast"(%{{.*}}) : (tensor<4x8xf8E5M2>) -> tensor<4x8xf16>
func.func @through(%x: tensor<4x8xf32>) -> tensor<4x8xf16> {
  %a = kernel.cast %x : (tensor<4x8xf32>) -> tensor<4x8xf8E4M3FN>
  %b = kernel.cast %a : (tensor<4x8xf8E4M3FN>) -> tensor<4x8xf8E5M2>
  %c = kernel.cast %b : (tensor<4x8xf8E5M2>) -> tensor<4x8xf16>
  func.return %c : tensor<4x8xf16>
}
