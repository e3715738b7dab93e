// Attention in two kernels (FlashDecoding): eight blocks share the context of each tile of queries
// and store partial sums, relative to the largest score that each saw; the second kernel merges them.
// RUN: mirage-opt %s | mirage-opt | filecheck %s
// RUN: mirage-opt %s --verify-equivalence="reference=attention_split_kv_reference candidate=attention_split_kv" 2>&1 | filecheck %s --check-prefix=EQUAL

func.func @attention_split_kv_reference(%q: tensor<2x256x64xf16>, %k: tensor<2x64x4096xf16>, %v: tensor<2x4096x64xf16>) -> tensor<2x256x64xf16> {
  %s = kernel.matmul %q, %k : (tensor<2x256x64xf16>, tensor<2x64x4096xf16>) -> tensor<2x256x4096xf16>
  %p = kernel.softmax %s {dim = 2 : i64} : (tensor<2x256x4096xf16>) -> tensor<2x256x4096xf16>
  %o = kernel.matmul %p, %v : (tensor<2x256x4096xf16>, tensor<2x4096x64xf16>) -> tensor<2x256x64xf16>
  func.return %o : tensor<2x256x64xf16>
}

// CHECK-LABEL: func.func @attention_split_kv(
// CHECK:         kernel.graph_defined ins(%q, %k, %v) grid [2, 4, 8] loop [8] {
// CHECK:         threadblock.accumulate %{{.*}} rescale %{{.*}} :
// CHECK:         kernel.graph_defined ins(%{{.*}}, %{{.*}}, %{{.*}}) grid [2, 16] loop [8] {
// EQUAL:       remark: @attention_split_kv is @attention_split_kv_reference
func.func @attention_split_kv(%q: tensor<2x256x64xf16>, %k: tensor<2x64x4096xf16>, %v: tensor<2x4096x64xf16>) -> tensor<2x256x64xf16> {
  %op, %lp, %mp = kernel.graph_defined ins(%q, %k, %v) grid [2, 4, 8] loop [8] {
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
    %am = threadblock.accumulate %m {kind = "max"} : (!threadblock.tile<1x64x1xf32>) -> !threadblock.tile<1x64x1xf32>
    %al = threadblock.accumulate %l rescale %m : (!threadblock.tile<1x64x1xf32>, !threadblock.tile<1x64x1xf32>) -> !threadblock.tile<1x64x1xf32>
    %ao = threadblock.accumulate %pv rescale %m : (!threadblock.tile<1x64x64xf32>, !threadblock.tile<1x64x1xf32>) -> !threadblock.tile<1x64x64xf32>
    %bo = threadblock.broadcast %ao : (!threadblock.tile<1x64x64xf32>) -> !threadblock.tile<1x1x64x64xf32>
    %bl = threadblock.broadcast %al : (!threadblock.tile<1x64x1xf32>) -> !threadblock.tile<1x1x64x1xf32>
    %bm = threadblock.broadcast %am : (!threadblock.tile<1x64x1xf32>) -> !threadblock.tile<1x1x64x1xf32>
    threadblock.store %bo grid_map [1, 2, 0] : !threadblock.tile<1x1x64x64xf32>
    threadblock.store %bl grid_map [1, 2, 0] : !threadblock.tile<1x1x64x1xf32>
    threadblock.store %bm grid_map [1, 2, 0] : !threadblock.tile<1x1x64x1xf32>
  } : (tensor<2x256x64xf16>, tensor<2x64x4096xf16>, tensor<2x4096x64xf16>) -> (tensor<8x2x256x64xf32>, tensor<8x2x256x1xf32>, tensor<8x2x256x1xf32>)
  %o = kernel.graph_defined ins(%op, %lp, %mp) grid [2, 16] loop [8] {
  ^bb0(%oa: tensor<8x2x256x64xf32>, %la: tensor<8x2x256x1xf32>, %ma: tensor<8x2x256x1xf32>):
    %ot = threadblock.load %oa grid_map [1, 2] loop_map [0] : (tensor<8x2x256x64xf32>) -> !threadblock.tile<1x1x16x64xf32>
    %lt = threadblock.load %la grid_map [1, 2] loop_map [0] : (tensor<8x2x256x1xf32>) -> !threadblock.tile<1x1x16x1xf32>
    %mt = threadblock.load %ma grid_map [1, 2] loop_map [0] : (tensor<8x2x256x1xf32>) -> !threadblock.tile<1x1x16x1xf32>
    %ao = threadblock.accumulate %ot rescale %mt : (!threadblock.tile<1x1x16x64xf32>, !threadblock.tile<1x1x16x1xf32>) -> !threadblock.tile<1x1x16x64xf32>
    %al = threadblock.accumulate %lt rescale %mt : (!threadblock.tile<1x1x16x1xf32>, !threadblock.tile<1x1x16x1xf32>) -> !threadblock.tile<1x1x16x1xf32>
    %z = threadblock.div %ao, %al : (!threadblock.tile<1x1x16x64xf32>, !threadblock.tile<1x1x16x1xf32>) -> !threadblock.tile<1x1x16x64xf32>
    %zo = threadblock.cast %z : (!threadblock.tile<1x1x16x64xf32>) -> !threadblock.tile<1x1x16x64xf16>
    threadblock.store %zo grid_map [1, 2] : !threadblock.tile<1x1x16x64xf16>
  } : (tensor<8x2x256x64xf32>, tensor<8x2x256x1xf32>, tensor<8x2x256x1xf32>) -> tensor<1x2x256x64xf16>
  %r = kernel.reshape %o : (tensor<1x2x256x64xf16>) -> tensor<2x256x64xf16>
  func.return %r : tensor<2x256x64xf16>
}
