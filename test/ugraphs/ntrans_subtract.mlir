// RUN: mirage-opt %s --verify-equivalence="reference=reference candidate=ugraph" --verify-diagnostics
// RUN: mirage-opt %s > %t && mirage-opt %t --print-op-generic | mirage-opt | diff %t -

// The normalized residual as the paper on nGPT has it, norm(x + alpha * (norm(h) - x)), many rows.
//
// The idea. x + alpha (n - x) = (1 - alpha) x + alpha n, with one alpha per column, as it is learned.
// As many rows as multiprocessors: one wave of blocks, each with one row and the whole of alpha.
func.func @reference(%h: tensor<128x1024xf16>, %x: tensor<128x1024xf16>, %alpha: tensor<1024xf16> {kernel.constant}) -> tensor<128x1024xf16> {
  %n = kernel.rms_norm %h {eps = 1.0e-05 : f32} : (tensor<128x1024xf16>) -> tensor<128x1024xf16>
  %d = kernel.sub %n, %x : (tensor<128x1024xf16>, tensor<128x1024xf16>) -> tensor<128x1024xf16>
  %a = kernel.mul %alpha, %d : (tensor<1024xf16>, tensor<128x1024xf16>) -> tensor<128x1024xf16>
  %r = kernel.add %x, %a : (tensor<128x1024xf16>, tensor<128x1024xf16>) -> tensor<128x1024xf16>
  %o = kernel.rms_norm %r {eps = 1.0e-05 : f32} : (tensor<128x1024xf16>) -> tensor<128x1024xf16>
  func.return %o : tensor<128x1024xf16>
}

// expected-remark @+1 {{@ugraph is @reference: proved: the normal forms are equal; tested: equal modulo random primes}}
func.func @ugraph(%h: tensor<128x1024xf16>, %x: tensor<128x1024xf16>, %alpha: tensor<1024xf16> {kernel.constant}) -> tensor<128x1024xf16> {
  %o = kernel.graph_defined ins(%h, %x, %alpha) grid [128] {
  ^bb0(%ha: tensor<128x1024xf16>, %xa: tensor<128x1024xf16>, %aa: tensor<1024xf16>):
    %ht = threadblock.load %ha grid_map [0] : (tensor<128x1024xf16>) -> !threadblock.tile<1x1024xf16>
    %xt = threadblock.load %xa grid_map [0] : (tensor<128x1024xf16>) -> !threadblock.tile<1x1024xf16>
    %at = threadblock.load %aa grid_map [_] : (tensor<1024xf16>) -> !threadblock.tile<1024xf16>
    %eps = threadblock.constant {value = 1.0e-05 : f32} : !threadblock.tile<1x1xf32>
    %hq = threadblock.square %ht : (!threadblock.tile<1x1024xf16>) -> !threadblock.tile<1x1024xf32>
    %hs = threadblock.reduce_sum %hq {dims = array<i64: 1>} : (!threadblock.tile<1x1024xf32>) -> !threadblock.tile<1x1xf32>
    %hm = threadblock.scale %hs {factor = 9.765625e-04 : f32} : (!threadblock.tile<1x1xf32>) -> !threadblock.tile<1x1xf32>
    %he = threadblock.add %hm, %eps : (!threadblock.tile<1x1xf32>, !threadblock.tile<1x1xf32>) -> !threadblock.tile<1x1xf32>
    %hr = threadblock.rsqrt %he : (!threadblock.tile<1x1xf32>) -> !threadblock.tile<1x1xf32>
    %n = threadblock.mul %ht, %hr : (!threadblock.tile<1x1024xf16>, !threadblock.tile<1x1xf32>) -> !threadblock.tile<1x1024xf32>
    %one = threadblock.constant {value = 1.0 : f32} : !threadblock.tile<1024xf32>
    %rest = threadblock.sub %one, %at : (!threadblock.tile<1024xf32>, !threadblock.tile<1024xf16>) -> !threadblock.tile<1024xf32>
    %xs = threadblock.mul %xt, %rest : (!threadblock.tile<1x1024xf16>, !threadblock.tile<1024xf32>) -> !threadblock.tile<1x1024xf32>
    %ns = threadblock.mul %n, %at : (!threadblock.tile<1x1024xf32>, !threadblock.tile<1024xf16>) -> !threadblock.tile<1x1024xf32>
    %r = threadblock.add %xs, %ns : (!threadblock.tile<1x1024xf32>, !threadblock.tile<1x1024xf32>) -> !threadblock.tile<1x1024xf32>
    %rq = threadblock.square %r : (!threadblock.tile<1x1024xf32>) -> !threadblock.tile<1x1024xf32>
    %rs = threadblock.reduce_sum %rq {dims = array<i64: 1>} : (!threadblock.tile<1x1024xf32>) -> !threadblock.tile<1x1xf32>
    %rm = threadblock.scale %rs {factor = 9.765625e-04 : f32} : (!threadblock.tile<1x1xf32>) -> !threadblock.tile<1x1xf32>
    %re = threadblock.add %rm, %eps : (!threadblock.tile<1x1xf32>, !threadblock.tile<1x1xf32>) -> !threadblock.tile<1x1xf32>
    %rr = threadblock.rsqrt %re : (!threadblock.tile<1x1xf32>) -> !threadblock.tile<1x1xf32>
    %z = threadblock.mul %r, %rr : (!threadblock.tile<1x1024xf32>, !threadblock.tile<1x1xf32>) -> !threadblock.tile<1x1024xf32>
    %zo = threadblock.cast %z : (!threadblock.tile<1x1024xf32>) -> !threadblock.tile<1x1024xf16>
    threadblock.store %zo grid_map [0] : !threadblock.tile<1x1024xf16>
  } : (tensor<128x1024xf16>, tensor<128x1024xf16>, tensor<1024xf16>) -> tensor<128x1024xf16>
  func.return %o : tensor<128x1024xf16>
}
