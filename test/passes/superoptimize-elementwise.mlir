// Chains of elementwise operators are one kernel, whatever sign or constants they have.
// RUN: mirage-opt %s --superoptimize="target=H200" | filecheck %s

// softplus as frameworks decompose it: exp of what has a minus sign is a value of its own.
// CHECK-LABEL: func.func @softplus
// CHECK:         kernel.graph_defined
// CHECK:         threadblock.log1p
// CHECK-NOT:     kernel.graph_defined
// CHECK:         func.return
func.func @softplus(%x: tensor<512x96xf32>) -> tensor<512x96xf32> {
  %a = kernel.abs %x : (tensor<512x96xf32>) -> tensor<512x96xf32>
  %n = kernel.neg %a : (tensor<512x96xf32>) -> tensor<512x96xf32>
  %e = kernel.exp %n : (tensor<512x96xf32>) -> tensor<512x96xf32>
  %l = kernel.log1p %e : (tensor<512x96xf32>) -> tensor<512x96xf32>
  %r = kernel.relu %x : (tensor<512x96xf32>) -> tensor<512x96xf32>
  %y = kernel.add %r, %l : (tensor<512x96xf32>, tensor<512x96xf32>) -> tensor<512x96xf32>
  func.return %y : tensor<512x96xf32>
}

// A Gaussian of distances to a norm's rows, which needs a sum before.
// CHECK-LABEL: func.func @radial
// CHECK:         kernel.graph_defined
// CHECK:         threadblock.exp
// CHECK-NOT:     kernel.graph_defined
// CHECK:         func.return
func.func @radial(%x: tensor<64x128xf32>, %c: tensor<128xf32>) -> tensor<64x1xf32> {
  %d = kernel.sub %x, %c : (tensor<64x128xf32>, tensor<128xf32>) -> tensor<64x128xf32>
  %s = kernel.square %d : (tensor<64x128xf32>) -> tensor<64x128xf32>
  %t = kernel.reduce_sum %s {dims = array<i64: 1>} : (tensor<64x128xf32>) -> tensor<64x1xf32>
  %m = kernel.scale %t {factor = -0.3 : f32} : (tensor<64x1xf32>) -> tensor<64x1xf32>
  %e = kernel.exp %m : (tensor<64x1xf32>) -> tensor<64x1xf32>
  func.return %e : tensor<64x1xf32>
}

// The square of 0.707 is no f32: graphs multiply by it twice. Rounded, they were rejected.
// CHECK-LABEL: func.func @squared_constant
// CHECK:         kernel.graph_defined
// CHECK:         threadblock.scale {{.*}} {factor = {{-?}}0.707106769 : f32}
// CHECK-NOT:     kernel.graph_defined
// CHECK:         func.return
func.func @squared_constant(%x: tensor<512x96xf32>) -> tensor<512x96xf32> {
  %s = kernel.scale %x {factor = 0.707106769 : f32} : (tensor<512x96xf32>) -> tensor<512x96xf32>
  %q = kernel.mul %s, %s : (tensor<512x96xf32>, tensor<512x96xf32>) -> tensor<512x96xf32>
  %n = kernel.neg %q : (tensor<512x96xf32>) -> tensor<512x96xf32>
  %e = kernel.exp %n : (tensor<512x96xf32>) -> tensor<512x96xf32>
  func.return %e : tensor<512x96xf32>
}
