// Attention in one kernel with the context split over the eight blocks of a cluster: every
// accumulator is across them, rescaled to the largest score that any of them saw.
// RUN: mirage-opt %s | mirage-opt | filecheck %s
// RUN: mirage-opt %s --verify-equivalence="reference=attention_across_reference candidate=attention_across" 2>&1 | filecheck %s --check-prefix=EQUAL

func.func @attention_across_reference(%q: tensor<2x256x64xf16>, %k: tensor<2x64x4096xf16>, %v: tensor<2x4096x64xf16>) -> tensor<2x256x64xf16> {
  %s = kernel.matmul %q, %k : (tensor<2x256x64xf16>, tensor<2x64x4096xf16>) -> tensor<2x256x4096xf16>
  %p = kernel.softmax %s {dim = 2 : i64} : (tensor<2x256x4096xf16>) -> tensor<2x256x4096xf16>
  %o = kernel.matmul %p, %v : (tensor<2x256x4096xf16>, tensor<2x4096x64xf16>) -> tensor<2x256x64xf16>
  func.return %o : tensor<2x256x64xf16>
}

// CHECK-LABEL: func.func @attention_across(
// CHECK:         kernel.graph_defined ins(%q, %k, %v) grid [2, 4, 8] cluster [1, 1, 8] loop [8] {
// CHECK:         threadblock.accumulate %{{.*}} across [2] rescale %{{.*}} :
// EQUAL:       remark: @attention_across is @attention_across_reference
func.func @attention_across(%q: tensor<2x256x64xf16>, %k: tensor<2x64x4096xf16>, %v: tensor<2x4096x64xf16>) -> tensor<2x256x64xf16> {
  %o = kernel.graph_defined ins(%q, %k, %v) grid [2, 4, 8] cluster [1, 1, 8] loop [8] {
  ^bb0(%qa: tensor<2x256x64xf16>, %ka: tensor<2x64x4096xf16>, %va: tensor<2x4096x64xf16>):
    %qt = threadblock.load %qa grid_map [0, 1, _] loop_map [_] : (tensor<2x256x64xf16>) -> !threadblock.tile<1x64x64xf16>
    %kt = threadblock.load %ka grid_map [0, _, 2] loop_map [2] : (tensor<2x64x4096xf16>) -> !threadblock.tile<1x64x64xf16>
    %vt = threadblock.load %va grid_map [0, _, 1] loop_map [1] : (tensor<2x4096x64xf16>) -> !threadblock.tile<1x64x64xf16>
    %s = threadblock.matmul %qt, %kt : (!threadblock.tile<1x64x64xf16>, !threadblock.tile<1x64x64xf16>) -> !threadblock.tile<1x64x64xf32>
    %m = threadblock.reduce_max %s {dims = array<i64: 2>} : (!threadblock.tile<1x64x64xf32>) -> !threadblock.tile<1x64x1xf32>
    %sm = threadblock.sub %s, %m : (!threadblock.tile<1x64x64xf32>, !threadblock.tile<1x64x1xf32>) -> !threadblock.tile<1x64x64xf32>
    %p = threadblock.exp %sm : (!threadblock.tile<1x64x64xf32>) -> !threadblock.tile<1x64x64xf32>
    %l = threadblock.reduce_sum %p {dims = array<i64: 2>} : (!threadblock.tile<1x64x64xf32>) -> !threadblock.tile<1x64x1xf32>
    %ph = threadblock.cast %p : (!threadblock.tile<1x64x64xf32>) -> !threadblock.tile<1x64x64xf16>
    %pv = threadblock.matmul %ph, %vt : (!threadblock.tile<1x64x64xf16>, !threadblock.tile<1x64x64xf16>) -> !threadblock.tile<1x64x64xf32>
    %al = threadblock.accumulate %l across [2] rescale %m : (!threadblock.tile<1x64x1xf32>, !threadblock.tile<1x64x1xf32>) -> !threadblock.tile<1x64x1xf32>
    %ao = threadblock.accumulate %pv across [2] rescale %m : (!threadblock.tile<1x64x64xf32>, !threadblock.tile<1x64x1xf32>) -> !threadblock.tile<1x64x64xf32>
    %z = threadblock.div %ao, %al : (!threadblock.tile<1x64x64xf32>, !threadblock.tile<1x64x1xf32>) -> !threadblock.tile<1x64x64xf32>
    %zo = threadblock.cast %z : (!threadblock.tile<1x64x64xf32>) -> !threadblock.tile<1x64x64xf16>
    threadblock.store %zo grid_map [0, 1, _] : !threadblock.tile<1x64x64xf16>
  } : (tensor<2x256x64xf16>, tensor<2x64x4096xf16>, tensor<2x4096x64xf16>) -> tensor<2x256x64xf16>
  func.return %o : tensor<2x256x64xf16>
}
