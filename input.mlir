builtin.module attributes {kernel.target = #kernel.target<"H200">} {
  func.func @f(%x: tensor<128x256xf16>, %w: tensor<256x512xf16> {kernel.constant}, %v: tensor<512x64xf16>) -> tensor<128x64xf16> {
    %0 = kernel.graph_defined ins(%v, %x, %w) grid [4, 8] loop [4] attributes {threads = 128 : i64} {
    ^bb0(%1: tensor<512x64xf16>, %2: tensor<128x256xf16>, %3: tensor<256x512xf16>):
      %4 = threadblock.load %1 grid_map [_, 0] loop_map [_] {layout = #threadblock.shared<array<i64: 64, 1>, 4096 : i64, 1 : i64, "sum", 1 : i64, 128 : i64, 4096 : i64>, copy = "tensor"} : (tensor<512x64xf16>) -> !threadblock.tile<64x64xf16>
      %5 = threadblock.load %2 grid_map [0, _] loop_map [1] {layout = #threadblock.shared<array<i64: 64, 1>, 2048 : i64, 1 : i64, "sum", 1 : i64, 128 : i64, 2048 : i64>, copy = "tensor"} : (tensor<128x256xf16>) -> !threadblock.tile<32x64xf16>
      %6 = threadblock.load %3 grid_map [_, 1] loop_map [0] {layout = #threadblock.shared<array<i64: 64, 1>, 4096 : i64, 1 : i64, "sum", 1 : i64, 128 : i64, 4096 : i64>, copy = "tensor"} : (tensor<256x512xf16>) -> !threadblock.tile<64x64xf16>
      %7 = threadblock.matmul %5, %6 {unit = "wgmma", warps = array<i64: 1, 1, 1>, swapped, layout = #threadblock.registers<array<i64: 2, 0, 4, 0, 0, 1, 0, 2, 0, 4, 0, 16, 0, 32>, array<i64: 1, 0, 64, 4, 8, 0, 2, 0, 8, 2, 1, 0>, 0 : i64>} : (!threadblock.tile<32x64xf16>, !threadblock.tile<64x64xf16>) -> !threadblock.tile<32x64xf32>
      %8 = threadblock.accumulate %7 {layout = #threadblock.registers<array<i64: 2, 0, 4, 0, 0, 1, 0, 2, 0, 4, 0, 16, 0, 32>, array<i64: 1, 0, 64, 4, 8, 0, 2, 0, 8, 2, 1, 0>, 0 : i64>} : (!threadblock.tile<32x64xf32>) -> !threadblock.tile<32x64xf32>
      %9 = thread.graph ins(%8) attributes {layout = #threadblock.registers<array<i64: 2, 0, 4, 0, 0, 1, 0, 2, 0, 4, 0, 16, 0, 32>, array<i64: 1, 0, 64, 4, 8, 0, 2, 0, 8, 2, 1, 0>, 0 : i64>} {
      ^bb0(%10: f32):
        %11 = arith.constant 0.707106769 : f32
        %12 = arith.mulf %10, %11 : f32
        %13 = math.erf %12 : f32
        %14 = arith.constant 1.000000e+00 : f32
        %15 = arith.addf %13, %14 : f32
        %16 = arith.constant 5.000000e-01 : f32
        %17 = arith.mulf %10, %16 : f32
        %18 = arith.mulf %17, %15 : f32
        %19 = arith.truncf %18 : f32 to f16
        thread.store %19 : f16
      } : (!threadblock.tile<32x64xf32>) -> !threadblock.tile<32x64xf16>
      %10 = threadblock.convert_layout %9 {layout = #threadblock.shared<array<i64: 64, 1>, 2048 : i64, 1 : i64, "sum", 1 : i64, 128 : i64, 2048 : i64>} : !threadblock.tile<32x64xf16>
      %11 = threadblock.matmul %10, %4 {unit = "wgmma", warps = "wgmma", swapped, layout = #threadblock.registers<array<i64: 2, 0, 4, 0, 0, 1, 0, 2, 0, 4, 0, 16, 0, 32>, array<i64: 1, 0, 64, 4, 8, 0, 2, 0, 8, 2, 1, 0>, 0 : i64>} : (!threadblock.tile<32x64xf16>, !threadblock.tile<64x64xf16>) -> !threadblock.tile<32x64xf32>
      %12 = thread.graph ins(%11) attributes {layout = #threadblock.registers<array<i64: 2, 0, 4, 0, 0, 1, 0, 2, 0, 4, 0, 16, 0, 32>, array<i64: 1, 0, 64, 4, 8, 0, 2, 0, 8, 2, 1, 0>, 0 : i64>} {
      ^bb0(%13: f32):
        thread.store %13 : f32
      } : (!threadblock.tile<32x64xf32>) -> !threadblock.tile<1x32x64xf32>
      threadblock.store %12 grid_map [1, 0] : !threadblock.tile<1x32x64xf32>
    } : (tensor<512x64xf16>, tensor<128x256xf16>, tensor<256x512xf16>) -> tensor<8x128x64xf32>
    %1 = kernel.reshape %0 : (tensor<8x128x64xf32>) -> tensor<8x8192xf32>
    %2 = kernel.graph_defined ins(%1) grid [256] attributes {threads = 32 : i64} {
    ^bb0(%3: tensor<8x8192xf32>):
      %4 = threadblock.load %3 grid_map [1] {layout = #threadblock.global} : (tensor<8x8192xf32>) -> !threadblock.tile<8x32xf32>
      %5 = threadblock.reduce_sum %4 {layout = #threadblock.registers<array<i64: 0, 4, 0, 8, 0, 16, 0, 0, 0, 0>, array<i64: 1, 0, 32, 4, 0, 1>, 0 : i64>, dims = array<i64: 0>} : (!threadblock.tile<8x32xf32>) -> !threadblock.tile<1x32xf32>
      %6 = thread.graph ins(%5) attributes {layout = #threadblock.registers<array<i64: 0, 4, 0, 8, 0, 16, 0, 0, 0, 0>, array<i64: 1, 0, 32, 4, 0, 1>, 0 : i64>} {
      ^bb0(%7: f32):
        %8 = arith.truncf %7 : f32 to f16
        thread.store %8 : f16
      } : (!threadblock.tile<1x32xf32>) -> !threadblock.tile<1x32xf16>
      threadblock.store %6 grid_map [1] : !threadblock.tile<1x32xf16>
    } : (tensor<8x8192xf32>) -> tensor<1x8192xf16>
    %o = kernel.reshape %2 : (tensor<1x8192xf16>) -> tensor<128x64xf16>
    func.return %o : tensor<128x64xf16>
  }
}