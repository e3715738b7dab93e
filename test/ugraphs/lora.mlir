// LoRA in one kernel: two accumulators over the loop, then the small second product of the adapter,
// whose right operand was loaded before the loop.
// RUN: mirage-opt %s | mirage-opt | filecheck %s
// RUN: mirage-opt %s --verify-equivalence="reference=lora_reference candidate=lora" 2>&1 | filecheck %s --check-prefix=EQUAL

func.func @lora_reference(%x: tensor<16x256xf16>, %w: tensor<256x4096xf16> {kernel.constant}, %a: tensor<256x16xf16> {kernel.constant}, %b: tensor<16x4096xf16> {kernel.constant}) -> tensor<16x4096xf16> {
  %xw = kernel.matmul %x, %w : (tensor<16x256xf16>, tensor<256x4096xf16>) -> tensor<16x4096xf16>
  %xa = kernel.matmul %x, %a : (tensor<16x256xf16>, tensor<256x16xf16>) -> tensor<16x16xf16>
  %xab = kernel.matmul %xa, %b : (tensor<16x16xf16>, tensor<16x4096xf16>) -> tensor<16x4096xf16>
  %o = kernel.add %xw, %xab : (tensor<16x4096xf16>, tensor<16x4096xf16>) -> tensor<16x4096xf16>
  func.return %o : tensor<16x4096xf16>
}

// CHECK-LABEL: func.func @lora(
// CHECK:         kernel.graph_defined ins(%x, %w, %a, %b) grid [128] loop [4] {
// EQUAL:       remark: @lora is @lora_reference
func.func @lora(%x: tensor<16x256xf16>, %w: tensor<256x4096xf16> {kernel.constant}, %a: tensor<256x16xf16> {kernel.constant}, %b: tensor<16x4096xf16> {kernel.constant}) -> tensor<16x4096xf16> {
  %o = kernel.graph_defined ins(%x, %w, %a, %b) grid [128] loop [4] {
  ^bb0(%xs: tensor<16x256xf16>, %ws: tensor<256x4096xf16>, %as: tensor<256x16xf16>, %bs: tensor<16x4096xf16>):
    %xt = threadblock.load %xs grid_map [_] loop_map [1] : (tensor<16x256xf16>) -> !threadblock.tile<16x64xf16>
    %wt = threadblock.load %ws grid_map [1] loop_map [0] : (tensor<256x4096xf16>) -> !threadblock.tile<64x32xf16>
    %at = threadblock.load %as grid_map [_] loop_map [0] : (tensor<256x16xf16>) -> !threadblock.tile<64x16xf16>
    %bt = threadblock.load %bs grid_map [1] loop_map [_] : (tensor<16x4096xf16>) -> !threadblock.tile<16x32xf16>
    %xw = threadblock.matmul %xt, %wt : (!threadblock.tile<16x64xf16>, !threadblock.tile<64x32xf16>) -> !threadblock.tile<16x32xf32>
    %xa = threadblock.matmul %xt, %at : (!threadblock.tile<16x64xf16>, !threadblock.tile<64x16xf16>) -> !threadblock.tile<16x16xf32>
    %axw = threadblock.accumulate %xw : (!threadblock.tile<16x32xf32>) -> !threadblock.tile<16x32xf32>
    %axa = threadblock.accumulate %xa : (!threadblock.tile<16x16xf32>) -> !threadblock.tile<16x16xf32>
    %l = threadblock.cast %axa : (!threadblock.tile<16x16xf32>) -> !threadblock.tile<16x16xf16>
    %lb = threadblock.matmul %l, %bt : (!threadblock.tile<16x16xf16>, !threadblock.tile<16x32xf16>) -> !threadblock.tile<16x32xf32>
    %s = threadblock.add %axw, %lb : (!threadblock.tile<16x32xf32>, !threadblock.tile<16x32xf32>) -> !threadblock.tile<16x32xf32>
    %so = threadblock.cast %s : (!threadblock.tile<16x32xf32>) -> !threadblock.tile<16x32xf16>
    threadblock.store %so grid_map [1] : !threadblock.tile<16x32xf16>
  } : (tensor<16x256xf16>, tensor<256x4096xf16>, tensor<256x16xf16>, tensor<16x4096xf16>) -> tensor<16x4096xf16>
  func.return %o : tensor<16x4096xf16>
}
