// RMSNorm and Linear at sizes that no tile divides: 2560 = 26 * 96 + 64 in the loop,
// 1003 = 31 * 32 + 11 over the grid, and 3 rows in tiles of 16.
// RUN: mirage-opt %s | mirage-opt | filecheck %s
// RUN: mirage-opt %s --verify-equivalence="reference=rmsnorm_linear_ragged_reference candidate=rmsnorm_linear_ragged" 2>&1 | filecheck %s --check-prefix=EQUAL

func.func @rmsnorm_linear_ragged_reference(%x: tensor<3x2560xf16>, %w: tensor<2560x1003xf16> {kernel.constant}) -> tensor<3x1003xf16> {
  %y = kernel.rms_norm %x {eps = 1.0e-05 : f32} : (tensor<3x2560xf16>) -> tensor<3x2560xf16>
  %o = kernel.matmul %y, %w : (tensor<3x2560xf16>, tensor<2560x1003xf16>) -> tensor<3x1003xf16>
  func.return %o : tensor<3x1003xf16>
}

// CHECK-LABEL: func.func @rmsnorm_linear_ragged(
// CHECK:         kernel.graph_defined ins(%x, %w) grid [32] loop [27] {
// EQUAL:       remark: @rmsnorm_linear_ragged is @rmsnorm_linear_ragged_reference
func.func @rmsnorm_linear_ragged(%x: tensor<3x2560xf16>, %w: tensor<2560x1003xf16> {kernel.constant}) -> tensor<3x1003xf16> {
  %o = kernel.graph_defined ins(%x, %w) grid [32] loop [27] {
  ^bb0(%xa: tensor<3x2560xf16>, %wa: tensor<2560x1003xf16>):
    %xt = threadblock.load %xa grid_map [_] loop_map [1] : (tensor<3x2560xf16>) -> !threadblock.tile<16x96xf16>
    %wt = threadblock.load %wa grid_map [1] loop_map [0] : (tensor<2560x1003xf16>) -> !threadblock.tile<96x32xf16>
    %xw = threadblock.matmul %xt, %wt : (!threadblock.tile<16x96xf16>, !threadblock.tile<96x32xf16>) -> !threadblock.tile<16x32xf32>
    %sq = threadblock.square %xt : (!threadblock.tile<16x96xf16>) -> !threadblock.tile<16x96xf32>
    %s1 = threadblock.reduce_sum %sq {dims = array<i64: 1>} : (!threadblock.tile<16x96xf32>) -> !threadblock.tile<16x1xf32>
    %a = threadblock.accumulate %xw : (!threadblock.tile<16x32xf32>) -> !threadblock.tile<16x32xf32>
    %b = threadblock.accumulate %s1 : (!threadblock.tile<16x1xf32>) -> !threadblock.tile<16x1xf32>
    %ms = threadblock.scale %b {factor = 3.90625e-04 : f32} : (!threadblock.tile<16x1xf32>) -> !threadblock.tile<16x1xf32>
    %e = threadblock.constant {value = 1.0e-05 : f32} : !threadblock.tile<16x1xf32>
    %me = threadblock.add %ms, %e : (!threadblock.tile<16x1xf32>, !threadblock.tile<16x1xf32>) -> !threadblock.tile<16x1xf32>
    %r = threadblock.sqrt %me : (!threadblock.tile<16x1xf32>) -> !threadblock.tile<16x1xf32>
    %z = threadblock.div %a, %r : (!threadblock.tile<16x32xf32>, !threadblock.tile<16x1xf32>) -> !threadblock.tile<16x32xf32>
    %zo = threadblock.cast %z : (!threadblock.tile<16x32xf32>) -> !threadblock.tile<16x32xf16>
    threadblock.store %zo grid_map [1] : !threadblock.tile<16x32xf16>
  } : (tensor<3x2560xf16>, tensor<2560x1003xf16>) -> tensor<3x1003xf16>
  func.return %o : tensor<3x1003xf16>
}
