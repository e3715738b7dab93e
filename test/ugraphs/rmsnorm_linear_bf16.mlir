// RUN: mirage-opt %s --verify-equivalence="reference=reference candidate=ugraph" --verify-diagnostics
// RUN: mirage-opt %s > %t && mirage-opt %t --print-op-generic | mirage-opt | diff %t -

// RMSNorm with a weight, then Linear, for one token, in bf16.
//
// The idea. The weight of the norm belongs to the columns of x and must stay inside the sum, the norm
// itself may still be divided out after it: sum_k x_k g_k W_kj / r. The tile x g is a value of our own,
// so an operand of the tensor core must be made of it: in bf16, by a cast.
func.func @reference(%x: tensor<1x896xbf16>, %g: tensor<896xbf16> {kernel.constant}, %w: tensor<896x4864xbf16> {kernel.constant}) -> tensor<1x4864xbf16> {
  %y = kernel.rms_norm %x, %g {eps = 1.0e-06 : f32} : (tensor<1x896xbf16>, tensor<896xbf16>) -> tensor<1x896xbf16>
  %o = kernel.matmul %y, %w : (tensor<1x896xbf16>, tensor<896x4864xbf16>) -> tensor<1x4864xbf16>
  func.return %o : tensor<1x4864xbf16>
}

// expected-remark @+1 {{@ugraph is @reference: proved: the normal forms are equal; tested: equal modulo random primes}}
func.func @ugraph(%x: tensor<1x896xbf16>, %g: tensor<896xbf16> {kernel.constant}, %w: tensor<896x4864xbf16> {kernel.constant}) -> tensor<1x4864xbf16> {
  %o = kernel.graph_defined ins(%x, %g, %w) grid [76] loop [7] {
  ^bb0(%xa: tensor<1x896xbf16>, %ga: tensor<896xbf16>, %wa: tensor<896x4864xbf16>):
    %xt = threadblock.load %xa grid_map [_] loop_map [1] : (tensor<1x896xbf16>) -> !threadblock.tile<1x128xbf16>
    // A tile has the rank of its tensor; operators broadcast as in numpy, so a vector is a row.
    %gt = threadblock.load %ga grid_map [_] loop_map [0] : (tensor<896xbf16>) -> !threadblock.tile<128xbf16>
    %wt = threadblock.load %wa grid_map [1] loop_map [0] : (tensor<896x4864xbf16>) -> !threadblock.tile<128x64xbf16>
    %xg = threadblock.mul %xt, %gt : (!threadblock.tile<1x128xbf16>, !threadblock.tile<128xbf16>) -> !threadblock.tile<1x128xf32>
    %xgc = threadblock.cast %xg : (!threadblock.tile<1x128xf32>) -> !threadblock.tile<1x128xbf16>
    %p = threadblock.matmul %xgc, %wt : (!threadblock.tile<1x128xbf16>, !threadblock.tile<128x64xbf16>) -> !threadblock.tile<1x64xf32>
    %q = threadblock.square %xt : (!threadblock.tile<1x128xbf16>) -> !threadblock.tile<1x128xf32>
    %xw = threadblock.accumulate %p : (!threadblock.tile<1x64xf32>) -> !threadblock.tile<1x64xf32>
    // Squares may as well be added up element by element and reduced once, after the loop.
    %qs = threadblock.accumulate %q : (!threadblock.tile<1x128xf32>) -> !threadblock.tile<1x128xf32>
    %ss = threadblock.reduce_sum %qs {dims = array<i64: 1>} : (!threadblock.tile<1x128xf32>) -> !threadblock.tile<1x1xf32>
    %mean = threadblock.scale %ss {factor = 1.11607143e-03 : f32} : (!threadblock.tile<1x1xf32>) -> !threadblock.tile<1x1xf32>
    %eps = threadblock.constant {value = 1.0e-06 : f32} : !threadblock.tile<1x1xf32>
    %shifted = threadblock.add %mean, %eps : (!threadblock.tile<1x1xf32>, !threadblock.tile<1x1xf32>) -> !threadblock.tile<1x1xf32>
    %r = threadblock.rsqrt %shifted : (!threadblock.tile<1x1xf32>) -> !threadblock.tile<1x1xf32>
    %z = threadblock.mul %xw, %r : (!threadblock.tile<1x64xf32>, !threadblock.tile<1x1xf32>) -> !threadblock.tile<1x64xf32>
    %zo = threadblock.cast %z : (!threadblock.tile<1x64xf32>) -> !threadblock.tile<1x64xbf16>
    threadblock.store %zo grid_map [1] : !threadblock.tile<1x64xbf16>
  } : (tensor<1x896xbf16>, tensor<896xbf16>, tensor<896x4864xbf16>) -> tensor<1x4864xbf16>
  func.return %o : tensor<1x4864xbf16>
}
