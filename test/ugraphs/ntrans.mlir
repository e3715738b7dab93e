// RUN: mirage-opt %s --verify-equivalence="reference=reference candidate=ugraph" --verify-diagnostics
// RUN: mirage-opt %s > %t && mirage-opt %t --print-op-generic | mirage-opt | diff %t -

// The normalized residual of nGPT, norm(x + alpha * (norm(h) + x)), a row per block and no loop.
//
// The idea. A row of three tensors fits into the registers of a block: it is read once, and nothing but
// the result goes back to memory. Without a loop there is nothing to accumulate, and all operators run
// once; both reductions see the whole row.
func.func @reference(%h: tensor<8x4096xf16>, %x: tensor<8x4096xf16>, %alpha: tensor<8x4096xf16>) -> tensor<8x4096xf16> {
  %n = kernel.rms_norm %h {eps = 1.0e-05 : f32} : (tensor<8x4096xf16>) -> tensor<8x4096xf16>
  %d = kernel.add %n, %x : (tensor<8x4096xf16>, tensor<8x4096xf16>) -> tensor<8x4096xf16>
  %a = kernel.mul %alpha, %d : (tensor<8x4096xf16>, tensor<8x4096xf16>) -> tensor<8x4096xf16>
  %r = kernel.add %x, %a : (tensor<8x4096xf16>, tensor<8x4096xf16>) -> tensor<8x4096xf16>
  %o = kernel.rms_norm %r {eps = 1.0e-05 : f32} : (tensor<8x4096xf16>) -> tensor<8x4096xf16>
  func.return %o : tensor<8x4096xf16>
}

// expected-remark @+1 {{@ugraph is @reference: proved: the normal forms are equal; tested: equal modulo random primes}}
func.func @ugraph(%h: tensor<8x4096xf16>, %x: tensor<8x4096xf16>, %alpha: tensor<8x4096xf16>) -> tensor<8x4096xf16> {
  %o = kernel.graph_defined ins(%h, %x, %alpha) grid [8] {
  ^bb0(%ha: tensor<8x4096xf16>, %xa: tensor<8x4096xf16>, %aa: tensor<8x4096xf16>):
    %ht = threadblock.load %ha grid_map [0] : (tensor<8x4096xf16>) -> !threadblock.tile<1x4096xf16>
    %xt = threadblock.load %xa grid_map [0] : (tensor<8x4096xf16>) -> !threadblock.tile<1x4096xf16>
    %at = threadblock.load %aa grid_map [0] : (tensor<8x4096xf16>) -> !threadblock.tile<1x4096xf16>
    %eps = threadblock.constant {value = 1.0e-05 : f32} : !threadblock.tile<1x1xf32>

    // norm(h)
    %hq = threadblock.square %ht : (!threadblock.tile<1x4096xf16>) -> !threadblock.tile<1x4096xf32>
    %hs = threadblock.reduce_sum %hq {dims = array<i64: 1>} : (!threadblock.tile<1x4096xf32>) -> !threadblock.tile<1x1xf32>
    %hm = threadblock.scale %hs {factor = 2.44140625e-04 : f32} : (!threadblock.tile<1x1xf32>) -> !threadblock.tile<1x1xf32>
    %he = threadblock.add %hm, %eps : (!threadblock.tile<1x1xf32>, !threadblock.tile<1x1xf32>) -> !threadblock.tile<1x1xf32>
    %hr = threadblock.sqrt %he : (!threadblock.tile<1x1xf32>) -> !threadblock.tile<1x1xf32>
    %n = threadblock.div %ht, %hr : (!threadblock.tile<1x4096xf16>, !threadblock.tile<1x1xf32>) -> !threadblock.tile<1x4096xf32>

    // x + alpha * (norm(h) + x), in f32 although its operands came in f16
    %d = threadblock.add %n, %xt : (!threadblock.tile<1x4096xf32>, !threadblock.tile<1x4096xf16>) -> !threadblock.tile<1x4096xf32>
    %a = threadblock.mul %at, %d : (!threadblock.tile<1x4096xf16>, !threadblock.tile<1x4096xf32>) -> !threadblock.tile<1x4096xf32>
    %r = threadblock.add %xt, %a : (!threadblock.tile<1x4096xf16>, !threadblock.tile<1x4096xf32>) -> !threadblock.tile<1x4096xf32>

    %rq = threadblock.square %r : (!threadblock.tile<1x4096xf32>) -> !threadblock.tile<1x4096xf32>
    %rs = threadblock.reduce_sum %rq {dims = array<i64: 1>} : (!threadblock.tile<1x4096xf32>) -> !threadblock.tile<1x1xf32>
    %rm = threadblock.scale %rs {factor = 2.44140625e-04 : f32} : (!threadblock.tile<1x1xf32>) -> !threadblock.tile<1x1xf32>
    %re = threadblock.add %rm, %eps : (!threadblock.tile<1x1xf32>, !threadblock.tile<1x1xf32>) -> !threadblock.tile<1x1xf32>
    %rr = threadblock.sqrt %re : (!threadblock.tile<1x1xf32>) -> !threadblock.tile<1x1xf32>
    %z = threadblock.div %r, %rr : (!threadblock.tile<1x4096xf32>, !threadblock.tile<1x1xf32>) -> !threadblock.tile<1x4096xf32>
    %zo = threadblock.cast %z : (!threadblock.tile<1x4096xf32>) -> !threadblock.tile<1x4096xf16>
    threadblock.store %zo grid_map [0] : !threadblock.tile<1x4096xf16>
  } : (tensor<8x4096xf16>, tensor<8x4096xf16>, tensor<8x4096xf16>) -> tensor<8x4096xf16>
  func.return %o : tensor<8x4096xf16>
}
