// RUN: mirage-opt %s --split-input-file --verify-diagnostics --superoptimize | filecheck %s

// Attention with capped scores, as in Gemma 2: one kernel.

// CHECK-LABEL: func.func @capped_attention
// CHECK:         kernel.graph_defined
// CHECK-DAG:       threadblock.matmul
// CHECK-DAG:       cap = 5.000000e+01
// CHECK-NOT:     kernel.graph_defined
// CHECK-NOT:     kernel.softcap
func.func @capped_attention(%q: tensor<32x16x64xf16>, %k: tensor<32x128x64xf16>, %v: tensor<32x128x64xf16>) -> tensor<32x16x64xf16> {
  %t = kernel.transpose %k {permutation = array<i64: 0, 2, 1>} : (tensor<32x128x64xf16>) -> tensor<32x64x128xf16>
  %s = kernel.matmul %q, %t : (tensor<32x16x64xf16>, tensor<32x64x128xf16>) -> tensor<32x16x128xf32>
  %c = kernel.softcap %s {cap = 50.0 : f32} : (tensor<32x16x128xf32>) -> tensor<32x16x128xf32>
  %p = kernel.softmax %c {dim = 2 : i64} : (tensor<32x16x128xf32>) -> tensor<32x16x128xf32>
  %h = kernel.cast %p : (tensor<32x16x128xf32>) -> tensor<32x16x128xf16>
  %o = kernel.matmul %h, %v : (tensor<32x16x128xf16>, tensor<32x128x64xf16>) -> tensor<32x16x64xf16>
  func.return %o : tensor<32x16x64xf16>
}

// -----

// Between elementwise operators.

// CHECK-LABEL: func.func @capped
// CHECK:         kernel.graph_defined
// CHECK-NOT:     kernel.graph_defined
// CHECK-NOT:     kernel.softcap
func.func @capped(%x: tensor<33x65xf32>, %b: tensor<65xf32>) -> tensor<33x65xf32> {
  %0 = kernel.add %x, %b : (tensor<33x65xf32>, tensor<65xf32>) -> tensor<33x65xf32>
  %1 = kernel.softcap %0 {cap = 30.0 : f32} : (tensor<33x65xf32>) -> tensor<33x65xf32>
  %2 = kernel.mul %1, %x : (tensor<33x65xf32>, tensor<33x65xf32>) -> tensor<33x65xf32>
  func.return %2 : tensor<33x65xf32>
}
