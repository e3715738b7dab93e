// RUN: mirage-opt %s --split-input-file --verify-diagnostics --verify-equivalence="reference=f candidate=g" | filecheck %s

// An identity of functions: the argument is random tests, in which sigmoid is any function.
func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = kernel.silu %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}
// expected-remark @+1 {{@g is @f: proved: the normal forms are equal; tested: equal modulo random primes at all elements}}
func.func @g(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %s = kernel.sigmoid %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %y = kernel.mul %x, %s : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}

// The module stays as it is.
// CHECK-LABEL: func.func @f
// CHECK:         kernel.silu
// CHECK-LABEL: func.func @g
// CHECK:         kernel.sigmoid
// CHECK-NEXT:    kernel.mul

// -----

// Split-K over four blocks, at full size, with the ragged tile that 4100 columns leave.
func.func @f(%x: tensor<16x4100xf16>, %w: tensor<4100x1003xf16>) -> tensor<16x1003xf16> {
  %o = kernel.matmul %x, %w : (tensor<16x4100xf16>, tensor<4100x1003xf16>) -> tensor<16x1003xf16>
  func.return %o : tensor<16x1003xf16>
}
// expected-remark @+1 {{by Schwartz-Zippel, degree 2}}
func.func @g(%x: tensor<16x4100xf16>, %w: tensor<4100x1003xf16>) -> tensor<16x1003xf16> {
  %o = kernel.graph_defined ins(%x, %w) grid [16, 4] loop [17] {
  ^bb0(%xa: tensor<16x4100xf16>, %wa: tensor<4100x1003xf16>):
    %xt = threadblock.load %xa grid_map [_, 1] loop_map [1] : (tensor<16x4100xf16>) -> !threadblock.tile<16x64xf16>
    %wt = threadblock.load %wa grid_map [1, 0] loop_map [0] : (tensor<4100x1003xf16>) -> !threadblock.tile<64x64xf16>
    %p = threadblock.matmul %xt, %wt : (!threadblock.tile<16x64xf16>, !threadblock.tile<64x64xf16>) -> !threadblock.tile<16x64xf32>
    %a = threadblock.accumulate %p across [1] : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x64xf32>
    %h = threadblock.cast %a : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x64xf16>
    threadblock.store %h grid_map [1, _] : !threadblock.tile<16x64xf16>
  } : (tensor<16x4100xf16>, tensor<4100x1003xf16>) -> tensor<16x1003xf16>
  func.return %o : tensor<16x1003xf16>
}

// -----

// Several outputs.
func.func @f(%x: tensor<4x8xf32>) -> (tensor<4x1xf32>, tensor<4x8xf32>) {
  %m = kernel.reduce_mean %x {dims = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %c = kernel.sub %x, %m : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  func.return %m, %c : tensor<4x1xf32>, tensor<4x8xf32>
}
// expected-remark @+1 {{@g is @f: proved: the normal forms are equal; tested}}
func.func @g(%x: tensor<4x8xf32>) -> (tensor<4x1xf32>, tensor<4x8xf32>) {
  %s = kernel.reduce_sum %x {dims = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %m = kernel.scale %s {factor = 0.125 : f32} : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %n = kernel.scale %m {factor = -1.0 : f32} : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %c = kernel.add %x, %n : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  func.return %m, %c : tensor<4x1xf32>, tensor<4x8xf32>
}
