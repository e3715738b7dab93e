// The normalized residual of nGPT, a row per block: three rows in, one out, nothing between.
// RUN: mirage-opt %s | mirage-opt | filecheck %s
// RUN: mirage-opt %s --verify-equivalence="reference=ntrans_reference candidate=ntrans" 2>&1 | filecheck %s --check-prefix=EQUAL

func.func @ntrans_reference(%h: tensor<8x4096xf16>, %x: tensor<8x4096xf16>, %alpha: tensor<8x4096xf16>) -> tensor<8x4096xf16> {
  %n = kernel.rms_norm %h {eps = 1.0e-05 : f32} : (tensor<8x4096xf16>) -> tensor<8x4096xf16>
  %d = kernel.add %n, %x : (tensor<8x4096xf16>, tensor<8x4096xf16>) -> tensor<8x4096xf16>
  %a = kernel.mul %alpha, %d : (tensor<8x4096xf16>, tensor<8x4096xf16>) -> tensor<8x4096xf16>
  %r = kernel.add %x, %a : (tensor<8x4096xf16>, tensor<8x4096xf16>) -> tensor<8x4096xf16>
  %o = kernel.rms_norm %r {eps = 1.0e-05 : f32} : (tensor<8x4096xf16>) -> tensor<8x4096xf16>
  func.return %o : tensor<8x4096xf16>
}

// CHECK-LABEL: func.func @ntrans(
// CHECK:         kernel.graph_defined ins(%h, %x, %alpha) grid [8] {
// EQUAL:       remark: @ntrans is @ntrans_reference
func.func @ntrans(%h: tensor<8x4096xf16>, %x: tensor<8x4096xf16>, %alpha: tensor<8x4096xf16>) -> tensor<8x4096xf16> {
  %o = kernel.graph_defined ins(%h, %x, %alpha) grid [8] {
  ^bb0(%ha: tensor<8x4096xf16>, %xa: tensor<8x4096xf16>, %aa: tensor<8x4096xf16>):
    %ht = threadblock.load %ha grid_map [0] : (tensor<8x4096xf16>) -> !threadblock.tile<1x4096xf16>
    %xt = threadblock.load %xa grid_map [0] : (tensor<8x4096xf16>) -> !threadblock.tile<1x4096xf16>
    %at = threadblock.load %aa grid_map [0] : (tensor<8x4096xf16>) -> !threadblock.tile<1x4096xf16>
    %e = threadblock.constant {value = 1.0e-05 : f32} : !threadblock.tile<1x1xf32>
    %hq = threadblock.square %ht : (!threadblock.tile<1x4096xf16>) -> !threadblock.tile<1x4096xf32>
    %hs = threadblock.reduce_sum %hq {dims = array<i64: 1>} : (!threadblock.tile<1x4096xf32>) -> !threadblock.tile<1x1xf32>
    %hm = threadblock.scale %hs {factor = 2.44140625e-04 : f32} : (!threadblock.tile<1x1xf32>) -> !threadblock.tile<1x1xf32>
    %he = threadblock.add %hm, %e : (!threadblock.tile<1x1xf32>, !threadblock.tile<1x1xf32>) -> !threadblock.tile<1x1xf32>
    %hr = threadblock.sqrt %he : (!threadblock.tile<1x1xf32>) -> !threadblock.tile<1x1xf32>
    %n = threadblock.div %ht, %hr : (!threadblock.tile<1x4096xf16>, !threadblock.tile<1x1xf32>) -> !threadblock.tile<1x4096xf32>
    %d = threadblock.add %n, %xt : (!threadblock.tile<1x4096xf32>, !threadblock.tile<1x4096xf16>) -> !threadblock.tile<1x4096xf32>
    %a = threadblock.mul %at, %d : (!threadblock.tile<1x4096xf16>, !threadblock.tile<1x4096xf32>) -> !threadblock.tile<1x4096xf32>
    %r = threadblock.add %xt, %a : (!threadblock.tile<1x4096xf16>, !threadblock.tile<1x4096xf32>) -> !threadblock.tile<1x4096xf32>
    %rq = threadblock.square %r : (!threadblock.tile<1x4096xf32>) -> !threadblock.tile<1x4096xf32>
    %rs = threadblock.reduce_sum %rq {dims = array<i64: 1>} : (!threadblock.tile<1x4096xf32>) -> !threadblock.tile<1x1xf32>
    %rm = threadblock.scale %rs {factor = 2.44140625e-04 : f32} : (!threadblock.tile<1x1xf32>) -> !threadblock.tile<1x1xf32>
    %re = threadblock.add %rm, %e : (!threadblock.tile<1x1xf32>, !threadblock.tile<1x1xf32>) -> !threadblock.tile<1x1xf32>
    %rr = threadblock.sqrt %re : (!threadblock.tile<1x1xf32>) -> !threadblock.tile<1x1xf32>
    %z = threadblock.div %r, %rr : (!threadblock.tile<1x4096xf32>, !threadblock.tile<1x1xf32>) -> !threadblock.tile<1x4096xf32>
    %zo = threadblock.cast %z : (!threadblock.tile<1x4096xf32>) -> !threadblock.tile<1x4096xf16>
    threadblock.store %zo grid_map [0] : !threadblock.tile<1x4096xf16>
  } : (tensor<8x4096xf16>, tensor<8x4096xf16>, tensor<8x4096xf16>) -> tensor<8x4096xf16>
  func.return %o : tensor<8x4096xf16>
}
