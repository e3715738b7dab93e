// Prefix sums of many elements are cut into rows, where that is proved of the program.
// RUN: mirage-opt %s --superoptimize --verify-diagnostics | filecheck %s

// What Mamba-2 multiplies by: the decay from each place of a chunk to each later one.
// CHECK-LABEL: func.func @segment_sums
// CHECK:         kernel.iota {dim = 0 : i64} : tensor<8xf32>
// CHECK-COUNT-1: kernel.graph_defined
// CHECK-NOT:     kernel.graph_defined
func.func @segment_sums(%x: tensor<2x64xf32>) -> tensor<2x64x64xf32> {
  %i = kernel.iota {dim = 1 : i64} : tensor<1x64x1xf32>
  %j = kernel.iota {dim = 2 : i64} : tensor<1x1x64xf32>
  %mask = kernel.compare %i, %j {predicate = "ge"} : (tensor<1x64x1xf32>, tensor<1x1x64xf32>) -> tensor<1x64x64xf32>
  // expected-remark @+1 {{is not fused as one operator: it is taken apart, as kernel-decompose does}}
  %c = kernel.cumsum %x {dim = 1 : i64} : (tensor<2x64xf32>) -> tensor<2x64xf32>
  %to = kernel.reshape %c : (tensor<2x64xf32>) -> tensor<2x64x1xf32>
  %from = kernel.reshape %c : (tensor<2x64xf32>) -> tensor<2x1x64xf32>
  %d = kernel.sub %to, %from : (tensor<2x64x1xf32>, tensor<2x1x64xf32>) -> tensor<2x64x64xf32>
  %e = kernel.exp %d : (tensor<2x64x64xf32>) -> tensor<2x64x64xf32>
  %zero = kernel.constant {value = 0.0 : f32} : tensor<1x1x1xf32>
  %y = kernel.select %mask, %e, %zero : (tensor<1x64x64xf32>, tensor<2x64x64xf32>, tensor<1x1x1xf32>) -> tensor<2x64x64xf32>
  func.return %y : tensor<2x64x64xf32>
}

// Rows of 16 are no rows of 8: one mask.
// CHECK-LABEL: func.func @other_rows
// CHECK:         kernel.iota {dim = 0 : i64} : tensor<64xf32>
// CHECK-COUNT-1: kernel.graph_defined
// CHECK-NOT:     kernel.graph_defined
func.func @other_rows(%x: tensor<4x16xf32>) -> tensor<64xf32> {
  %a = kernel.reshape %x : (tensor<4x16xf32>) -> tensor<64xf32>
  // expected-remark @+1 {{is not fused as one operator: it is taken apart, as kernel-decompose does}}
  %c = kernel.cumsum %a {dim = 0 : i64} : (tensor<64xf32>) -> tensor<64xf32>
  %y = kernel.exp %c : (tensor<64xf32>) -> tensor<64xf32>
  func.return %y : tensor<64xf32>
}

// Prefix sums of what is made of prefix sums, as the gradient of their exponentials has them.
// CHECK-LABEL: func.func @gradient
// CHECK-NOT:     kernel.cumsum
func.func @gradient(%x: tensor<3x64xf32>, %g: tensor<3x64xf32>) -> tensor<3x64xf32> {
  // expected-remark @+1 {{is not fused as one operator: it is taken apart, as kernel-decompose does}}
  %c = kernel.cumsum %x {dim = 1 : i64} : (tensor<3x64xf32>) -> tensor<3x64xf32>
  %y = kernel.exp %c : (tensor<3x64xf32>) -> tensor<3x64xf32>
  %0 = kernel.mul %g, %y : (tensor<3x64xf32>, tensor<3x64xf32>) -> tensor<3x64xf32>
  // expected-remark @+1 {{is not fused as one operator: it is taken apart, as kernel-decompose does}}
  %1 = kernel.cumsum %0 {dim = 1 : i64} : (tensor<3x64xf32>) -> tensor<3x64xf32>
  %2 = kernel.sub %1, %0 : (tensor<3x64xf32>, tensor<3x64xf32>) -> tensor<3x64xf32>
  %3 = kernel.reduce_sum %0 {dims = array<i64: 1>} : (tensor<3x64xf32>) -> tensor<3x1xf32>
  %4 = kernel.sub %3, %2 : (tensor<3x1xf32>, tensor<3x64xf32>) -> tensor<3x64xf32>
  func.return %4 : tensor<3x64xf32>
}
