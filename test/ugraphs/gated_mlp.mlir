// The gated half of an MLP: both products in one loop over X, the gate after it.
// RUN: mirage-opt %s | mirage-opt | filecheck %s
// RUN: mirage-opt %s --verify-equivalence="reference=gated_mlp_reference candidate=gated_mlp" 2>&1 | filecheck %s --check-prefix=EQUAL

func.func @gated_mlp_reference(%x: tensor<8x4096xf16>, %w1: tensor<4096x4096xf16> {kernel.constant}, %w3: tensor<4096x4096xf16> {kernel.constant}) -> tensor<8x4096xf16> {
  %g = kernel.matmul %x, %w1 : (tensor<8x4096xf16>, tensor<4096x4096xf16>) -> tensor<8x4096xf16>
  %u = kernel.matmul %x, %w3 : (tensor<8x4096xf16>, tensor<4096x4096xf16>) -> tensor<8x4096xf16>
  %s = kernel.silu %g : (tensor<8x4096xf16>) -> tensor<8x4096xf16>
  %o = kernel.mul %s, %u : (tensor<8x4096xf16>, tensor<8x4096xf16>) -> tensor<8x4096xf16>
  func.return %o : tensor<8x4096xf16>
}

// CHECK-LABEL: func.func @gated_mlp(
// CHECK:         kernel.graph_defined ins(%x, %w1, %w3) grid [128] loop [64] {
// EQUAL:       remark: @gated_mlp is @gated_mlp_reference
func.func @gated_mlp(%x: tensor<8x4096xf16>, %w1: tensor<4096x4096xf16> {kernel.constant}, %w3: tensor<4096x4096xf16> {kernel.constant}) -> tensor<8x4096xf16> {
  %o = kernel.graph_defined ins(%x, %w1, %w3) grid [128] loop [64] {
  ^bb0(%xa: tensor<8x4096xf16>, %w1a: tensor<4096x4096xf16>, %w3a: tensor<4096x4096xf16>):
    %xt = threadblock.load %xa grid_map [_] loop_map [1] : (tensor<8x4096xf16>) -> !threadblock.tile<8x64xf16>
    %w1t = threadblock.load %w1a grid_map [1] loop_map [0] : (tensor<4096x4096xf16>) -> !threadblock.tile<64x32xf16>
    %w3t = threadblock.load %w3a grid_map [1] loop_map [0] : (tensor<4096x4096xf16>) -> !threadblock.tile<64x32xf16>
    %g = threadblock.matmul %xt, %w1t : (!threadblock.tile<8x64xf16>, !threadblock.tile<64x32xf16>) -> !threadblock.tile<8x32xf32>
    %u = threadblock.matmul %xt, %w3t : (!threadblock.tile<8x64xf16>, !threadblock.tile<64x32xf16>) -> !threadblock.tile<8x32xf32>
    %ga = threadblock.accumulate %g : (!threadblock.tile<8x32xf32>) -> !threadblock.tile<8x32xf32>
    %ua = threadblock.accumulate %u : (!threadblock.tile<8x32xf32>) -> !threadblock.tile<8x32xf32>
    %s = threadblock.silu %ga : (!threadblock.tile<8x32xf32>) -> !threadblock.tile<8x32xf32>
    %z = threadblock.mul %s, %ua : (!threadblock.tile<8x32xf32>, !threadblock.tile<8x32xf32>) -> !threadblock.tile<8x32xf32>
    %zo = threadblock.cast %z : (!threadblock.tile<8x32xf32>) -> !threadblock.tile<8x32xf16>
    threadblock.store %zo grid_map [1] : !threadblock.tile<8x32xf16>
  } : (tensor<8x4096xf16>, tensor<4096x4096xf16>, tensor<4096x4096xf16>) -> tensor<8x4096xf16>
  func.return %o : tensor<8x4096xf16>
}
