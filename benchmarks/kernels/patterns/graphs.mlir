// A graph attention layer on a dense adjacency: 1,200 nodes, 8 heads of 64.
func.func @gat_dense(%h: tensor<8x1200x64xf16>, %a_src: tensor<8x64x1xf16> {kernel.constant}, %a_dst: tensor<8x64x1xf16> {kernel.constant}, %adj: tensor<1200x1200xf16>) -> tensor<8x1200x64xf16> {
  %0 = kernel.matmul %h, %a_src : (tensor<8x1200x64xf16>, tensor<8x64x1xf16>) -> tensor<8x1200x1xf16>
  %1 = kernel.cast %0 : (tensor<8x1200x1xf16>) -> tensor<8x1200x1xf32>
  %2 = kernel.matmul %h, %a_dst : (tensor<8x1200x64xf16>, tensor<8x64x1xf16>) -> tensor<8x1200x1xf16>
  %3 = kernel.cast %2 : (tensor<8x1200x1xf16>) -> tensor<8x1200x1xf32>
  %4 = kernel.transpose %3 {permutation = array<i64: 0, 2, 1>} : (tensor<8x1200x1xf32>) -> tensor<8x1x1200xf32>
  %5 = kernel.add %1, %4 : (tensor<8x1200x1xf32>, tensor<8x1x1200xf32>) -> tensor<8x1200x1200xf32>
  %6 = kernel.scale %5 {factor = 2.000000e-01 : f32} : (tensor<8x1200x1200xf32>) -> tensor<8x1200x1200xf32>
  %7 = kernel.constant {value = 0.000000e+00 : f32} : tensor<1x1x1xf32>
  %8 = kernel.compare %5, %7 {predicate = "gt"} : (tensor<8x1200x1200xf32>, tensor<1x1x1xf32>) -> tensor<8x1200x1200xf32>
  %9 = kernel.select %8, %5, %6 : (tensor<8x1200x1200xf32>, tensor<8x1200x1200xf32>, tensor<8x1200x1200xf32>) -> tensor<8x1200x1200xf32>
  %10 = kernel.constant {value = -1.000000e+09 : f32} : tensor<f32>
  %11 = kernel.constant {value = 0.000000e+00 : f32} : tensor<1x1xf16>
  %12 = kernel.compare %adj, %11 {predicate = "gt"} : (tensor<1200x1200xf16>, tensor<1x1xf16>) -> tensor<1200x1200xf16>
  %13 = kernel.cast %12 : (tensor<1200x1200xf16>) -> tensor<1200x1200xf32>
  %14 = kernel.select %13, %9, %10 : (tensor<1200x1200xf32>, tensor<8x1200x1200xf32>, tensor<f32>) -> tensor<8x1200x1200xf32>
  %15 = kernel.softmax %14 {dim = 2 : i64} : (tensor<8x1200x1200xf32>) -> tensor<8x1200x1200xf32>
  %16 = kernel.cast %15 : (tensor<8x1200x1200xf32>) -> tensor<8x1200x1200xf16>
  %17 = kernel.matmul %16, %h : (tensor<8x1200x1200xf16>, tensor<8x1200x64xf16>) -> tensor<8x1200x64xf16>
  %18 = kernel.constant {value = 0.000000e+00 : f32} : tensor<1x1x1xf16>
  %19 = kernel.min %17, %18 : (tensor<8x1200x64xf16>, tensor<1x1x1xf16>) -> tensor<8x1200x64xf16>
  %20 = kernel.scale %19 {factor = 1.000000e+00 : f32} : (tensor<8x1200x64xf16>) -> tensor<8x1200x64xf16>
  %21 = kernel.expm1 %20 : (tensor<8x1200x64xf16>) -> tensor<8x1200x64xf16>
  %22 = kernel.relu %17 : (tensor<8x1200x64xf16>) -> tensor<8x1200x64xf16>
  %23 = kernel.scale %22 {factor = 1.000000e+00 : f32} : (tensor<8x1200x64xf16>) -> tensor<8x1200x64xf16>
  %24 = kernel.scale %21 {factor = 1.000000e+00 : f32} : (tensor<8x1200x64xf16>) -> tensor<8x1200x64xf16>
  %25 = kernel.add %23, %24 : (tensor<8x1200x64xf16>, tensor<8x1200x64xf16>) -> tensor<8x1200x64xf16>
  func.return %25 : tensor<8x1200x64xf16>
}

// SchNet's filters of 12,000 edges: 50 Gaussians, two layers of 128, a cosine cutoff, f32.
func.func @schnet_filter(%d: tensor<12000xf32>, %xj: tensor<12000x128xf32>, %mu: tensor<50xf32>, %w1: tensor<50x128xf32> {kernel.constant}, %b1: tensor<128xf32>, %w2: tensor<128x128xf32> {kernel.constant}, %b2: tensor<128xf32>) -> tensor<12000x128xf32> {
  %0 = kernel.abs %d : (tensor<12000xf32>) -> tensor<12000xf32>
  %1 = kernel.reshape %0 : (tensor<12000xf32>) -> tensor<12000x1xf32>
  %2 = kernel.sub %1, %mu : (tensor<12000x1xf32>, tensor<50xf32>) -> tensor<12000x50xf32>
  %3 = kernel.square %2 : (tensor<12000x50xf32>) -> tensor<12000x50xf32>
  %4 = kernel.scale %3 {factor = -1.000000e+01 : f32} : (tensor<12000x50xf32>) -> tensor<12000x50xf32>
  %5 = kernel.exp %4 : (tensor<12000x50xf32>) -> tensor<12000x50xf32>
  %6 = kernel.matmul %5, %w1 : (tensor<12000x50xf32>, tensor<50x128xf32>) -> tensor<12000x128xf32>
  %7 = kernel.add %6, %b1 : (tensor<12000x128xf32>, tensor<128xf32>) -> tensor<12000x128xf32>
  %8 = kernel.scale %7 {factor = 1.000000e+00 : f32} : (tensor<12000x128xf32>) -> tensor<12000x128xf32>
  %9 = kernel.abs %8 : (tensor<12000x128xf32>) -> tensor<12000x128xf32>
  %10 = kernel.neg %9 : (tensor<12000x128xf32>) -> tensor<12000x128xf32>
  %11 = kernel.exp %10 : (tensor<12000x128xf32>) -> tensor<12000x128xf32>
  %12 = kernel.log1p %11 : (tensor<12000x128xf32>) -> tensor<12000x128xf32>
  %13 = kernel.relu %8 : (tensor<12000x128xf32>) -> tensor<12000x128xf32>
  %14 = kernel.add %13, %12 : (tensor<12000x128xf32>, tensor<12000x128xf32>) -> tensor<12000x128xf32>
  %15 = kernel.scale %14 {factor = 1.000000e+00 : f32} : (tensor<12000x128xf32>) -> tensor<12000x128xf32>
  %16 = kernel.constant {value = 0.693147182 : f32} : tensor<1x1xf32>
  %17 = kernel.sub %15, %16 : (tensor<12000x128xf32>, tensor<1x1xf32>) -> tensor<12000x128xf32>
  %18 = kernel.matmul %17, %w2 : (tensor<12000x128xf32>, tensor<128x128xf32>) -> tensor<12000x128xf32>
  %19 = kernel.add %18, %b2 : (tensor<12000x128xf32>, tensor<128xf32>) -> tensor<12000x128xf32>
  %20 = kernel.scale %1 {factor = 0.628318548 : f32} : (tensor<12000x1xf32>) -> tensor<12000x1xf32>
  %21 = kernel.cos %20 : (tensor<12000x1xf32>) -> tensor<12000x1xf32>
  %22 = kernel.constant {value = 1.000000e+00 : f32} : tensor<1x1xf32>
  %23 = kernel.add %21, %22 : (tensor<12000x1xf32>, tensor<1x1xf32>) -> tensor<12000x1xf32>
  %24 = kernel.scale %23 {factor = 5.000000e-01 : f32} : (tensor<12000x1xf32>) -> tensor<12000x1xf32>
  %25 = kernel.constant {value = 5.000000e+00 : f32} : tensor<1x1xf32>
  %26 = kernel.compare %1, %25 {predicate = "lt"} : (tensor<12000x1xf32>, tensor<1x1xf32>) -> tensor<12000x1xf32>
  %27 = kernel.mul %24, %26 : (tensor<12000x1xf32>, tensor<12000x1xf32>) -> tensor<12000x1xf32>
  %28 = kernel.mul %xj, %19 : (tensor<12000x128xf32>, tensor<12000x128xf32>) -> tensor<12000x128xf32>
  %29 = kernel.mul %28, %27 : (tensor<12000x128xf32>, tensor<12000x1xf32>) -> tensor<12000x128xf32>
  func.return %29 : tensor<12000x128xf32>
}
