// RUN: mirage-opt %s -t 'ptx{target=H200}' | filecheck %s

// Matrix descriptors are put together from halves of 32 bits. Of sums of 64 bits, which LLVM carries from one
// iteration to the next where it may, ptxas 13.0 made code that read other memory.
// CHECK-NOT: add.s64 {{.*}} 46116862
// CHECK:     wgmma.mma_async
// CHECK-NOT: add.s64 {{.*}} 46116862
func.func @lora(%input0: tensor<16x256xf16>, %input1: tensor<256x4096xf16> {kernel.constant}, %input2: tensor<256x16xf16> {kernel.constant}, %input3: tensor<16x4096xf16> {kernel.constant}) -> tensor<16x4096xf16> {
  %0 = kernel.graph_defined ins(%input0, %input1, %input2, %input3) grid [2, 64] loop [4] {
  ^bb0(%1: tensor<16x256xf16>, %2: tensor<256x4096xf16>, %3: tensor<256x16xf16>, %4: tensor<16x4096xf16>):
    %5 = threadblock.load %1 grid_map [0, _] loop_map [1] : (tensor<16x256xf16>) -> !threadblock.tile<8x64xf16>
    %6 = threadblock.load %2 grid_map [_, 1] loop_map [0] : (tensor<256x4096xf16>) -> !threadblock.tile<64x64xf16>
    %7 = threadblock.load %3 grid_map [_, _] loop_map [0] : (tensor<256x16xf16>) -> !threadblock.tile<64x16xf16>
    %8 = threadblock.load %4 grid_map [_, 1] loop_map [_] : (tensor<16x4096xf16>) -> !threadblock.tile<16x64xf16>
    %9 = threadblock.matmul %5, %6 : (!threadblock.tile<8x64xf16>, !threadblock.tile<64x64xf16>) -> !threadblock.tile<8x64xf32>
    %10 = threadblock.matmul %5, %7 : (!threadblock.tile<8x64xf16>, !threadblock.tile<64x16xf16>) -> !threadblock.tile<8x16xf32>
    %11 = threadblock.accumulate %9 : (!threadblock.tile<8x64xf32>) -> !threadblock.tile<8x64xf32>
    %12 = threadblock.accumulate %10 : (!threadblock.tile<8x16xf32>) -> !threadblock.tile<8x16xf32>
    %13 = threadblock.cast %12 : (!threadblock.tile<8x16xf32>) -> !threadblock.tile<8x16xf16>
    %14 = threadblock.matmul %13, %8 : (!threadblock.tile<8x16xf16>, !threadblock.tile<16x64xf16>) -> !threadblock.tile<8x64xf32>
    %15 = threadblock.add %11, %14 : (!threadblock.tile<8x64xf32>, !threadblock.tile<8x64xf32>) -> !threadblock.tile<8x64xf32>
    %16 = threadblock.cast %15 : (!threadblock.tile<8x64xf32>) -> !threadblock.tile<8x64xf16>
    threadblock.store %16 grid_map [0, 1] : !threadblock.tile<8x64xf16>
  } : (tensor<16x256xf16>, tensor<256x4096xf16>, tensor<256x16xf16>, tensor<16x4096xf16>) -> tensor<16x4096xf16>
  func.return %0 : tensor<16x4096xf16>
}
