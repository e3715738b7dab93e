// RMSNorm and Linear in one kernel: the norm's sums are gathered beside the product, and divide it.
// RUN: mirage-opt %s | mirage-opt | filecheck %s
// RUN: mirage-opt %s --verify-equivalence="reference=rmsnorm_linear_reference candidate=rmsnorm_linear" 2>&1 | filecheck %s --check-prefix=EQUAL

func.func @rmsnorm_linear_reference(%x: tensor<16x4096xf16>, %w: tensor<4096x6144xf16> {kernel.constant}) -> tensor<16x6144xf16> {
  %y = kernel.rms_norm %x {eps = 1.0e-05 : f32} : (tensor<16x4096xf16>) -> tensor<16x4096xf16>
  %o = kernel.matmul %y, %w : (tensor<16x4096xf16>, tensor<4096x6144xf16>) -> tensor<16x6144xf16>
  func.return %o : tensor<16x6144xf16>
}

// CHECK-LABEL: func.func @rmsnorm_linear(
// CHECK:         kernel.graph_defined ins(%x, %w) grid [128] loop [64] {
// EQUAL:       remark: @rmsnorm_linear is @rmsnorm_linear_reference
func.func @rmsnorm_linear(%x: tensor<16x4096xf16>, %w: tensor<4096x6144xf16> {kernel.constant}) -> tensor<16x6144xf16> {
  %o = kernel.graph_defined ins(%x, %w) grid [128] loop [64] {
  ^bb0(%xa: tensor<16x4096xf16>, %wa: tensor<4096x6144xf16>):
    %xt = threadblock.load %xa grid_map [_] loop_map [1] : (tensor<16x4096xf16>) -> !threadblock.tile<16x64xf16>
    %wt = threadblock.load %wa grid_map [1] loop_map [0] : (tensor<4096x6144xf16>) -> !threadblock.tile<64x48xf16>
    %xw = threadblock.matmul %xt, %wt : (!threadblock.tile<16x64xf16>, !threadblock.tile<64x48xf16>) -> !threadblock.tile<16x48xf32>
    %sq = threadblock.square %xt : (!threadblock.tile<16x64xf16>) -> !threadblock.tile<16x64xf32>
    %s1 = threadblock.reduce_sum %sq {dims = array<i64: 1>} : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x1xf32>
    %a = threadblock.accumulate %xw : (!threadblock.tile<16x48xf32>) -> !threadblock.tile<16x48xf32>
    %b = threadblock.accumulate %s1 : (!threadblock.tile<16x1xf32>) -> !threadblock.tile<16x1xf32>
    %ms = threadblock.scale %b {factor = 2.44140625e-04 : f32} : (!threadblock.tile<16x1xf32>) -> !threadblock.tile<16x1xf32>
    %e = threadblock.constant {value = 1.0e-05 : f32} : !threadblock.tile<16x1xf32>
    %me = threadblock.add %ms, %e : (!threadblock.tile<16x1xf32>, !threadblock.tile<16x1xf32>) -> !threadblock.tile<16x1xf32>
    %r = threadblock.sqrt %me : (!threadblock.tile<16x1xf32>) -> !threadblock.tile<16x1xf32>
    %z = threadblock.div %a, %r : (!threadblock.tile<16x48xf32>, !threadblock.tile<16x1xf32>) -> !threadblock.tile<16x48xf32>
    %zo = threadblock.cast %z : (!threadblock.tile<16x48xf32>) -> !threadblock.tile<16x48xf16>
    threadblock.store %zo grid_map [1] : !threadblock.tile<16x48xf16>
  } : (tensor<16x4096xf16>, tensor<4096x6144xf16>) -> tensor<16x6144xf16>
  func.return %o : tensor<16x6144xf16>
}
