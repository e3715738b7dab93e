// The same with the contracted dimension split over four blocks: each has a quarter of both sums,
// and the division needs the whole of them.
// RUN: mirage-opt %s | mirage-opt | filecheck %s
// RUN: mirage-opt %s --verify-equivalence="reference=rmsnorm_linear_split_k_reference candidate=rmsnorm_linear_split_k" 2>&1 | filecheck %s --check-prefix=EQUAL

func.func @rmsnorm_linear_split_k_reference(%x: tensor<16x4096xf16>, %w: tensor<4096x6144xf16> {kernel.constant}) -> tensor<16x6144xf16> {
  %y = kernel.rms_norm %x {eps = 1.0e-05 : f32} : (tensor<16x4096xf16>) -> tensor<16x4096xf16>
  %o = kernel.matmul %y, %w : (tensor<16x4096xf16>, tensor<4096x6144xf16>) -> tensor<16x6144xf16>
  func.return %o : tensor<16x6144xf16>
}

// CHECK-LABEL: func.func @rmsnorm_linear_split_k(
// CHECK:         kernel.graph_defined ins(%x, %w) grid [48, 4] cluster [1, 4] loop [16] {
// CHECK:         threadblock.accumulate %{{.*}} across [1] :
// EQUAL:       remark: @rmsnorm_linear_split_k is @rmsnorm_linear_split_k_reference
func.func @rmsnorm_linear_split_k(%x: tensor<16x4096xf16>, %w: tensor<4096x6144xf16> {kernel.constant}) -> tensor<16x6144xf16> {
  %o = kernel.graph_defined ins(%x, %w) grid [48, 4] cluster [1, 4] loop [16] {
  ^bb0(%xa: tensor<16x4096xf16>, %wa: tensor<4096x6144xf16>):
    %xt = threadblock.load %xa grid_map [_, 1] loop_map [1] : (tensor<16x4096xf16>) -> !threadblock.tile<16x64xf16>
    %wt = threadblock.load %wa grid_map [1, 0] loop_map [0] : (tensor<4096x6144xf16>) -> !threadblock.tile<64x128xf16>
    %xw = threadblock.matmul %xt, %wt : (!threadblock.tile<16x64xf16>, !threadblock.tile<64x128xf16>) -> !threadblock.tile<16x128xf32>
    %sq = threadblock.square %xt : (!threadblock.tile<16x64xf16>) -> !threadblock.tile<16x64xf32>
    %s1 = threadblock.reduce_sum %sq {dims = array<i64: 1>} : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x1xf32>
    %a = threadblock.accumulate %xw across [1] : (!threadblock.tile<16x128xf32>) -> !threadblock.tile<16x128xf32>
    %b = threadblock.accumulate %s1 across [1] : (!threadblock.tile<16x1xf32>) -> !threadblock.tile<16x1xf32>
    %ms = threadblock.scale %b {factor = 2.44140625e-04 : f32} : (!threadblock.tile<16x1xf32>) -> !threadblock.tile<16x1xf32>
    %e = threadblock.constant {value = 1.0e-05 : f32} : !threadblock.tile<16x1xf32>
    %me = threadblock.add %ms, %e : (!threadblock.tile<16x1xf32>, !threadblock.tile<16x1xf32>) -> !threadblock.tile<16x1xf32>
    %r = threadblock.sqrt %me : (!threadblock.tile<16x1xf32>) -> !threadblock.tile<16x1xf32>
    %z = threadblock.div %a, %r : (!threadblock.tile<16x128xf32>, !threadblock.tile<16x1xf32>) -> !threadblock.tile<16x128xf32>
    %zo = threadblock.cast %z : (!threadblock.tile<16x128xf32>) -> !threadblock.tile<16x128xf16>
    threadblock.store %zo grid_map [1, _] : !threadblock.tile<16x128xf16>
  } : (tensor<16x4096xf16>, tensor<4096x6144xf16>) -> tensor<16x6144xf16>
  func.return %o : tensor<16x6144xf16>
}
