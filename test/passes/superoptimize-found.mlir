// Programs whose kernels were all refused as inaccurate, or inaccurate on hard inputs, once.
// RUN: mirage-opt %s --superoptimize --split-input-file 2>/dev/null | filecheck %s

// One channel of 1.5e4 with a gain of 5 stays finite.
// CHECK-LABEL: @gain_overflow
// CHECK: kernel.graph_defined
func.func @gain_overflow(%x: tensor<16x256xf16>, %g: tensor<256xf16>, %w: tensor<256x32xf16>) -> tensor<16x32xf16> {
  %v0 = kernel.rms_norm %x, %g {eps = 1.000000000e-05 : f32} : (tensor<16x256xf16>, tensor<256xf16>) -> tensor<16x256xf16>
  %v1 = kernel.matmul %v0, %w  : (tensor<16x256xf16>, tensor<256x32xf16>) -> tensor<16x32xf16>
  func.return %v1 : tensor<16x32xf16>
}

// -----

// An output that depends on a few operators of many.
// CHECK-LABEL: @unused_softmax
// CHECK: kernel.graph_defined
func.func @unused_softmax(%x: tensor<4x12xf32>, %a1: tensor<12x96xf32>, %a2: tensor<96x127xf32>, %a3: tensor<4x96xf32>) -> tensor<12x96xf32> {
  %v0 = kernel.matmul %x, %a1  : (tensor<4x12xf32>, tensor<12x96xf32>) -> tensor<4x96xf32>
  %v1 = kernel.square %v0  : (tensor<4x96xf32>) -> tensor<4x96xf32>
  %v2 = kernel.constant {value = 2.000000000e+00 : f32} : tensor<1x1xf32>
  %v3 = kernel.add %v1, %v2  : (tensor<4x96xf32>, tensor<1x1xf32>) -> tensor<4x96xf32>
  %v4 = kernel.div %v0, %v3  : (tensor<4x96xf32>, tensor<4x96xf32>) -> tensor<4x96xf32>
  %v5 = kernel.matmul %v4, %a2  : (tensor<4x96xf32>, tensor<96x127xf32>) -> tensor<4x127xf32>
  %v6 = kernel.softmax %v5 {dim = 0 : i64} : (tensor<4x127xf32>) -> tensor<4x127xf32>
  %v7 = kernel.transpose %x {permutation = array<i64: 1, 0>} : (tensor<4x12xf32>) -> tensor<12x4xf32>
  %v8 = kernel.matmul %v7, %a3  : (tensor<12x4xf32>, tensor<4x96xf32>) -> tensor<12x96xf32>
  %v9 = kernel.sigmoid %v8  : (tensor<12x96xf32>) -> tensor<12x96xf32>
  func.return %v9 : tensor<12x96xf32>
}

// -----

// A norm of 9 channels in front of a concat.
// CHECK-LABEL: @norm_and_concat
// CHECK: kernel.graph_defined
func.func @norm_and_concat(%x: tensor<128x9xf16>, %a1: tensor<9x13xf16>, %a2: tensor<128x3xf16>, %a3: tensor<16x7xf16>) -> tensor<128x7xf16> {
  %v0 = kernel.layer_norm %x {eps = 1.000000000e-05 : f32} : (tensor<128x9xf16>) -> tensor<128x9xf16>
  %v1 = kernel.matmul %v0, %a1  : (tensor<128x9xf16>, tensor<9x13xf16>) -> tensor<128x13xf16>
  %v2 = kernel.concat %a2, %v1 {dim = 1 : i64} : (tensor<128x3xf16>, tensor<128x13xf16>) -> tensor<128x16xf16>
  %v3 = kernel.matmul %v2, %a3  : (tensor<128x16xf16>, tensor<16x7xf16>) -> tensor<128x7xf16>
  func.return %v3 : tensor<128x7xf16>
}
