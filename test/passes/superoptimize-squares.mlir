// What is narrowed twice over, as the square of a product of a normalised tensor, whose quotients the
// search bounds: a sum stands in a denominator twice, and in the numerator once.
//
// RUN: mirage-opt %s --superoptimize --report 2>&1 >/dev/null | filecheck %s

// CHECK: found: 1 kernel
// CHECK: verified: proved

func.func @square_of_normalised(%x: tensor<16x96xf16>, %w: tensor<96x16xf16>) -> tensor<16x16xf16> {
  %s = kernel.square %x : (tensor<16x96xf16>) -> tensor<16x96xf16>
  %m = kernel.reduce_mean %s {dims = array<i64: 1>} : (tensor<16x96xf16>) -> tensor<16x1xf16>
  %r = kernel.rsqrt %m : (tensor<16x1xf16>) -> tensor<16x1xf16>
  %n = kernel.mul %x, %r : (tensor<16x96xf16>, tensor<16x1xf16>) -> tensor<16x96xf16>
  %y = kernel.matmul %n, %w : (tensor<16x96xf16>, tensor<96x16xf16>) -> tensor<16x16xf16>
  %q = kernel.square %y : (tensor<16x16xf16>) -> tensor<16x16xf16>
  func.return %q : tensor<16x16xf16>
}
