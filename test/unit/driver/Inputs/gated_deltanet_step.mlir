// A step of a gated delta rule: each thread has 16 elements of a state, and of what becomes of it.
builtin.module attributes {kernel.target = #kernel.target<"H200">} {
  func.func @gated_deltanet_step(%state: tensor<32x16x128x128xf32>, %q: tensor<32x16x128xbf16>, %k: tensor<32x16x128xbf16>, %v: tensor<32x16x128xbf16>, %g: tensor<32x16xf32>, %beta: tensor<32x16xbf16>) -> (tensor<32x16x128x128xf32>, tensor<32x16x128xbf16>) {
    %0 = kernel.reshape %state : (tensor<32x16x128x128xf32>) -> tensor<512x128x128xf32>
    %1 = kernel.reshape %g : (tensor<32x16xf32>) -> tensor<512xf32>
    %2 = kernel.reshape %k : (tensor<32x16x128xbf16>) -> tensor<512x128xbf16>
    %3 = kernel.reshape %v : (tensor<32x16x128xbf16>) -> tensor<512x128xbf16>
    %4 = kernel.reshape %beta : (tensor<32x16xbf16>) -> tensor<512xbf16>
    %5 = kernel.reshape %q : (tensor<32x16x128xbf16>) -> tensor<512x128xbf16>
    %6, %7 = kernel.graph_defined ins(%0, %1, %2, %3, %4, %5) grid [512, 2] {
    ^bb0(%8: tensor<512x128x128xf32>, %9: tensor<512xf32>, %10: tensor<512x128xbf16>, %11: tensor<512x128xbf16>, %12: tensor<512xbf16>, %13: tensor<512x128xbf16>):
      %14 = threadblock.load %8 grid_map [0, 2] : (tensor<512x128x128xf32>) -> !threadblock.tile<1x128x64xf32>
      %15 = threadblock.load %9 grid_map [0, _] : (tensor<512xf32>) -> !threadblock.tile<1xf32>
      %16 = threadblock.load %10 grid_map [0, _] : (tensor<512x128xbf16>) -> !threadblock.tile<1x128xbf16>
      %17 = threadblock.load %11 grid_map [0, 1] : (tensor<512x128xbf16>) -> !threadblock.tile<1x64xbf16>
      %18 = threadblock.load %12 grid_map [0, _] : (tensor<512xbf16>) -> !threadblock.tile<1xbf16>
      %19 = threadblock.load %13 grid_map [0, _] : (tensor<512x128xbf16>) -> !threadblock.tile<1x128xbf16>
      %20 = threadblock.abs %15 : (!threadblock.tile<1xf32>) -> !threadblock.tile<1xf32>
      %21 = threadblock.relu %15 : (!threadblock.tile<1xf32>) -> !threadblock.tile<1xf32>
      %22 = threadblock.sigmoid %18 : (!threadblock.tile<1xbf16>) -> !threadblock.tile<1xf32>
      %23 = threadblock.scale %16 {factor = 0.0883883461 : f32} : (!threadblock.tile<1x128xbf16>) -> !threadblock.tile<1x128xf32>
      %24 = threadblock.scale %20 {factor = -1.000000e+00 : f32} : (!threadblock.tile<1xf32>) -> !threadblock.tile<1xf32>
      %25 = threadblock.exp %24 : (!threadblock.tile<1xf32>) -> !threadblock.tile<1xf32>
      %26 = threadblock.log1p %25 : (!threadblock.tile<1xf32>) -> !threadblock.tile<1xf32>
      %27 = threadblock.scale %21 {factor = -1.000000e+00 : f32} : (!threadblock.tile<1xf32>) -> !threadblock.tile<1xf32>
      %28 = threadblock.sub %27, %26 : (!threadblock.tile<1xf32>, !threadblock.tile<1xf32>) -> !threadblock.tile<1xf32>
      %29 = threadblock.exp %28 : (!threadblock.tile<1xf32>) -> !threadblock.tile<1xf32>
      %30 = threadblock.broadcast %29 : (!threadblock.tile<1xf32>) -> !threadblock.tile<1x1x1xf32>
      %31 = threadblock.transpose %30 {permutation = array<i64: 2, 0, 1>} : (!threadblock.tile<1x1x1xf32>) -> !threadblock.tile<1x1x1xf32>
      %32 = threadblock.mul %14, %31 : (!threadblock.tile<1x128x64xf32>, !threadblock.tile<1x1x1xf32>) -> !threadblock.tile<1x128x64xf32>
      %33 = threadblock.broadcast %23 : (!threadblock.tile<1x128xf32>) -> !threadblock.tile<1x1x128xf32>
      %34 = threadblock.transpose %33 {permutation = array<i64: 1, 2, 0>} : (!threadblock.tile<1x1x128xf32>) -> !threadblock.tile<1x128x1xf32>
      %35 = threadblock.mul %32, %34 : (!threadblock.tile<1x128x64xf32>, !threadblock.tile<1x128x1xf32>) -> !threadblock.tile<1x128x64xf32>
      %36 = threadblock.reduce_sum %35 {dims = array<i64: 1>} : (!threadblock.tile<1x128x64xf32>) -> !threadblock.tile<1x1x64xf32>
      %37 = threadblock.broadcast %17 : (!threadblock.tile<1x64xbf16>) -> !threadblock.tile<1x1x64xbf16>
      %38 = threadblock.transpose %36 {permutation = array<i64: 1, 0, 2>} : (!threadblock.tile<1x1x64xf32>) -> !threadblock.tile<1x1x64xf32>
      %39 = threadblock.sub %37, %38 : (!threadblock.tile<1x1x64xbf16>, !threadblock.tile<1x1x64xf32>) -> !threadblock.tile<1x1x64xf32>
      %40 = threadblock.broadcast %22 : (!threadblock.tile<1xf32>) -> !threadblock.tile<1x1xf32>
      %41 = threadblock.transpose %40 {permutation = array<i64: 1, 0>} : (!threadblock.tile<1x1xf32>) -> !threadblock.tile<1x1xf32>
      %42 = threadblock.mul %23, %41 : (!threadblock.tile<1x128xf32>, !threadblock.tile<1x1xf32>) -> !threadblock.tile<1x128xf32>
      %43 = threadblock.broadcast %22 : (!threadblock.tile<1xf32>) -> !threadblock.tile<1x1x1xf32>
      %44 = threadblock.transpose %43 {permutation = array<i64: 0, 2, 1>} : (!threadblock.tile<1x1x1xf32>) -> !threadblock.tile<1x1x1xf32>
      %45 = threadblock.mul %39, %44 : (!threadblock.tile<1x1x64xf32>, !threadblock.tile<1x1x1xf32>) -> !threadblock.tile<1x1x64xf32>
      %46 = threadblock.transpose %39 {permutation = array<i64: 1, 0, 2>} : (!threadblock.tile<1x1x64xf32>) -> !threadblock.tile<1x1x64xf32>
      %47 = threadblock.broadcast %42 : (!threadblock.tile<1x128xf32>) -> !threadblock.tile<1x1x128xf32>
      %48 = threadblock.transpose %47 {permutation = array<i64: 1, 2, 0>} : (!threadblock.tile<1x1x128xf32>) -> !threadblock.tile<1x128x1xf32>
      %49 = threadblock.mul %46, %48 : (!threadblock.tile<1x1x64xf32>, !threadblock.tile<1x128x1xf32>) -> !threadblock.tile<1x128x64xf32>
      %50 = threadblock.add %32, %49 : (!threadblock.tile<1x128x64xf32>, !threadblock.tile<1x128x64xf32>) -> !threadblock.tile<1x128x64xf32>
      %51 = threadblock.mul %23, %19 : (!threadblock.tile<1x128xf32>, !threadblock.tile<1x128xbf16>) -> !threadblock.tile<1x128xf32>
      %52 = threadblock.transpose %45 {permutation = array<i64: 1, 0, 2>} : (!threadblock.tile<1x1x64xf32>) -> !threadblock.tile<1x1x64xf32>
      %53 = threadblock.broadcast %51 : (!threadblock.tile<1x128xf32>) -> !threadblock.tile<1x1x128xf32>
      %54 = threadblock.transpose %53 {permutation = array<i64: 1, 2, 0>} : (!threadblock.tile<1x1x128xf32>) -> !threadblock.tile<1x128x1xf32>
      %55 = threadblock.mul %52, %54 : (!threadblock.tile<1x1x64xf32>, !threadblock.tile<1x128x1xf32>) -> !threadblock.tile<1x128x64xf32>
      %56 = threadblock.broadcast %29 : (!threadblock.tile<1xf32>) -> !threadblock.tile<1x1xf32>
      %57 = threadblock.transpose %56 {permutation = array<i64: 1, 0>} : (!threadblock.tile<1x1xf32>) -> !threadblock.tile<1x1xf32>
      %58 = threadblock.mul %57, %19 : (!threadblock.tile<1x1xf32>, !threadblock.tile<1x128xbf16>) -> !threadblock.tile<1x128xf32>
      %59 = threadblock.broadcast %58 : (!threadblock.tile<1x128xf32>) -> !threadblock.tile<1x1x128xf32>
      %60 = threadblock.transpose %59 {permutation = array<i64: 1, 2, 0>} : (!threadblock.tile<1x1x128xf32>) -> !threadblock.tile<1x128x1xf32>
      %61 = threadblock.mul %14, %60 : (!threadblock.tile<1x128x64xf32>, !threadblock.tile<1x128x1xf32>) -> !threadblock.tile<1x128x64xf32>
      %62 = threadblock.add %61, %55 : (!threadblock.tile<1x128x64xf32>, !threadblock.tile<1x128x64xf32>) -> !threadblock.tile<1x128x64xf32>
      %63 = threadblock.reduce_sum %62 {dims = array<i64: 1>} : (!threadblock.tile<1x128x64xf32>) -> !threadblock.tile<1x1x64xf32>
      threadblock.store %50 grid_map [0, 2] : !threadblock.tile<1x128x64xf32>
      %64 = threadblock.cast %63 : (!threadblock.tile<1x1x64xf32>) -> !threadblock.tile<1x1x64xbf16>
      threadblock.store %64 grid_map [0, 2] : !threadblock.tile<1x1x64xbf16>
    } : (tensor<512x128x128xf32>, tensor<512xf32>, tensor<512x128xbf16>, tensor<512x128xbf16>, tensor<512xbf16>, tensor<512x128xbf16>) -> (tensor<512x128x128xf32>, tensor<512x1x128xbf16>)
    %8 = kernel.reshape %6 : (tensor<512x128x128xf32>) -> tensor<32x16x128x128xf32>
    %9 = kernel.reshape %7 : (tensor<512x1x128xbf16>) -> tensor<32x16x128xbf16>
    func.return %8, %9 : tensor<32x16x128x128xf32>, tensor<32x16x128xbf16>
  }
}
