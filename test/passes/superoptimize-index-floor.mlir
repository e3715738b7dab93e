// RUN: mirage-opt --superoptimize=target=H200 %s | filecheck %s
// RUN: not mirage-opt --verify-equivalence="reference=segments candidate=scaled" %s 2>&1 | filecheck %s --check-prefix=SCALED

// A floor of an index: 41 times the f32 next to 1/41 is below 1, so that what the search knows as a
// product with 1/41 is written as a quotient.

// CHECK-LABEL: @segments
// CHECK:      %[[DIVISOR:.*]] = threadblock.constant {value = 4.100000e+01 : f32}
// CHECK:      threadblock.div %{{.*}}, %[[DIVISOR]]
// CHECK-NEXT: threadblock.floor
func.func @segments(%x: tensor<128xf32>) -> tensor<128xf32> {
  %i = kernel.iota {dim = 0 : i64} : tensor<128xf32>
  %c = kernel.constant {value = 41.0 : f32} : tensor<128xf32>
  %q = kernel.div %i, %c : (tensor<128xf32>, tensor<128xf32>) -> tensor<128xf32>
  %f = kernel.floor %q : (tensor<128xf32>) -> tensor<128xf32>
  %o = kernel.mul %x, %f : (tensor<128xf32>, tensor<128xf32>) -> tensor<128xf32>
  func.return %o : tensor<128xf32>
}

// SCALED: @scaled is @segments but inaccurate: 'kernel.floor' of indices is 0 in f32 where it should be 1
func.func @scaled(%x: tensor<128xf32>) -> tensor<128xf32> {
  %i = kernel.iota {dim = 0 : i64} : tensor<128xf32>
  %q = kernel.scale %i {factor = 0.024390243902439025 : f32} : (tensor<128xf32>) -> tensor<128xf32>
  %f = kernel.floor %q : (tensor<128xf32>) -> tensor<128xf32>
  %o = kernel.mul %x, %f : (tensor<128xf32>, tensor<128xf32>) -> tensor<128xf32>
  func.return %o : tensor<128xf32>
}
