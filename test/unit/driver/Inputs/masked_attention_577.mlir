// Found for masked attention: 240 blocks of warpgroups, which share 132 multiprocessors.
builtin.module {
  func.func @masked_attention_577(%a0: tensor<1x12x577x96xf16>, %a1: tensor<1x12x577x96xf16>, %a2: tensor<1x12x577x96xf16>, %a3: tensor<1x1x577x577xf16>) -> tensor<1x12x577x96xf16> {
    %0 = kernel.transpose %a1 {permutation = array<i64: 0, 1, 3, 2>} : (tensor<1x12x577x96xf16>) -> tensor<1x12x96x577xf16>
    %1 = kernel.graph_defined ins(%a0, %0, %a3, %a2) grid [5, 12, 4] loop [5] {
    ^bb0(%2: tensor<1x12x577x96xf16>, %3: tensor<1x12x96x577xf16>, %4: tensor<1x1x577x577xf16>, %5: tensor<1x12x577x96xf16>):
      %6 = threadblock.load %2 grid_map [2, 1, _] loop_map [_] : (tensor<1x12x577x96xf16>) -> !threadblock.tile<1x1x128x96xf16>
      %7 = threadblock.load %3 grid_map [_, 1, 3] loop_map [3] : (tensor<1x12x96x577xf16>) -> !threadblock.tile<1x1x96x32xf16>
      %8 = threadblock.load %4 grid_map [2, _, 3] loop_map [3] : (tensor<1x1x577x577xf16>) -> !threadblock.tile<1x1x128x32xf16>
      %9 = threadblock.load %5 grid_map [_, 1, 2] loop_map [2] : (tensor<1x12x577x96xf16>) -> !threadblock.tile<1x1x32x96xf16>
      %10 = threadblock.matmul %6, %7 : (!threadblock.tile<1x1x128x96xf16>, !threadblock.tile<1x1x96x32xf16>) -> !threadblock.tile<1x1x128x32xf32>
      %11 = threadblock.scale %10 {factor = 1.020620e-01 : f32} : (!threadblock.tile<1x1x128x32xf32>) -> !threadblock.tile<1x1x128x32xf32>
      %12 = threadblock.add %11, %8 : (!threadblock.tile<1x1x128x32xf32>, !threadblock.tile<1x1x128x32xf16>) -> !threadblock.tile<1x1x128x32xf32>
      %13 = threadblock.constant {value = -1.70141183e+38 : f32} : !threadblock.tile<1x1x128x32xf32>
      %14 = threadblock.max %12, %13 : (!threadblock.tile<1x1x128x32xf32>, !threadblock.tile<1x1x128x32xf32>) -> !threadblock.tile<1x1x128x32xf32>
      %15 = threadblock.reduce_max %14 {dims = array<i64: 3>} : (!threadblock.tile<1x1x128x32xf32>) -> !threadblock.tile<1x1x128x1xf32>
      %16 = threadblock.sub %12, %15 : (!threadblock.tile<1x1x128x32xf32>, !threadblock.tile<1x1x128x1xf32>) -> !threadblock.tile<1x1x128x32xf32>
      %17 = threadblock.exp %16 : (!threadblock.tile<1x1x128x32xf32>) -> !threadblock.tile<1x1x128x32xf32>
      %18 = threadblock.cast %17 : (!threadblock.tile<1x1x128x32xf32>) -> !threadblock.tile<1x1x128x32xf16>
      %19 = threadblock.matmul %18, %9 : (!threadblock.tile<1x1x128x32xf16>, !threadblock.tile<1x1x32x96xf16>) -> !threadblock.tile<1x1x128x96xf32>
      %20 = threadblock.accumulate %17 across [2] rescale %15 : (!threadblock.tile<1x1x128x32xf32>, !threadblock.tile<1x1x128x1xf32>) -> !threadblock.tile<1x1x128x32xf32>
      %21 = threadblock.reduce_sum %20 {dims = array<i64: 3>} : (!threadblock.tile<1x1x128x32xf32>) -> !threadblock.tile<1x1x128x1xf32>
      %22 = threadblock.constant {value = 1.000000e+00 : f32} : !threadblock.tile<1x1x128x1xf32>
      %23 = threadblock.div %22, %21 : (!threadblock.tile<1x1x128x1xf32>, !threadblock.tile<1x1x128x1xf32>) -> !threadblock.tile<1x1x128x1xf32>
      %24 = threadblock.accumulate %19 across [2] rescale %15 : (!threadblock.tile<1x1x128x96xf32>, !threadblock.tile<1x1x128x1xf32>) -> !threadblock.tile<1x1x128x96xf32>
      %25 = threadblock.mul %23, %24 : (!threadblock.tile<1x1x128x1xf32>, !threadblock.tile<1x1x128x96xf32>) -> !threadblock.tile<1x1x128x96xf32>
      %26 = threadblock.cast %25 : (!threadblock.tile<1x1x128x96xf32>) -> !threadblock.tile<1x1x128x96xf16>
      threadblock.store %26 grid_map [2, 1, _] : !threadblock.tile<1x1x128x96xf16>
    } : (tensor<1x12x577x96xf16>, tensor<1x12x96x577xf16>, tensor<1x1x577x577xf16>, tensor<1x12x577x96xf16>) -> tensor<1x12x577x96xf16>
    func.return %1 : tensor<1x12x577x96xf16>
  }
}

