// ConvNeXt-V2's global response norm and second product: 32 pictures of 14 x 14.
func.func @convnextv2_grn(%x: tensor<32x196x768xf16>, %gamma: tensor<768xf16>, %beta: tensor<768xf16>, %w: tensor<768x192xf16> {kernel.constant}, %b: tensor<192xf16>, %residual: tensor<32x196x192xf16>) -> tensor<32x196x192xf16> {
  %0 = kernel.cast %x : (tensor<32x196x768xf16>) -> tensor<32x196x768xf32>
  %1 = kernel.square %0 : (tensor<32x196x768xf32>) -> tensor<32x196x768xf32>
  %2 = kernel.reduce_sum %1 {dims = array<i64: 1>} : (tensor<32x196x768xf32>) -> tensor<32x1x768xf32>
  %3 = kernel.sqrt %2 : (tensor<32x1x768xf32>) -> tensor<32x1x768xf32>
  %4 = kernel.reduce_mean %3 {dims = array<i64: 2>} : (tensor<32x1x768xf32>) -> tensor<32x1x1xf32>
  %5 = kernel.constant {value = 1.000000e-06 : f32} : tensor<1x1x1xf32>
  %6 = kernel.add %4, %5 : (tensor<32x1x1xf32>, tensor<1x1x1xf32>) -> tensor<32x1x1xf32>
  %7 = kernel.div %3, %6 : (tensor<32x1x768xf32>, tensor<32x1x1xf32>) -> tensor<32x1x768xf32>
  %8 = kernel.cast %gamma : (tensor<768xf16>) -> tensor<768xf32>
  %9 = kernel.mul %0, %7 : (tensor<32x196x768xf32>, tensor<32x1x768xf32>) -> tensor<32x196x768xf32>
  %10 = kernel.mul %8, %9 : (tensor<768xf32>, tensor<32x196x768xf32>) -> tensor<32x196x768xf32>
  %11 = kernel.cast %beta : (tensor<768xf16>) -> tensor<768xf32>
  %12 = kernel.add %10, %11 : (tensor<32x196x768xf32>, tensor<768xf32>) -> tensor<32x196x768xf32>
  %13 = kernel.add %12, %0 : (tensor<32x196x768xf32>, tensor<32x196x768xf32>) -> tensor<32x196x768xf32>
  %14 = kernel.cast %13 : (tensor<32x196x768xf32>) -> tensor<32x196x768xf16>
  %15 = kernel.matmul %14, %w : (tensor<32x196x768xf16>, tensor<768x192xf16>) -> tensor<32x196x192xf16>
  %16 = kernel.add %15, %b : (tensor<32x196x192xf16>, tensor<192xf16>) -> tensor<32x196x192xf16>
  %17 = kernel.add %16, %residual : (tensor<32x196x192xf16>, tensor<32x196x192xf16>) -> tensor<32x196x192xf16>
  func.return %17 : tensor<32x196x192xf16>
}

// XCiT's attention of channels: 16 pictures of 784 patches, 8 heads of 48.
func.func @xcit_attention(%q: tensor<16x8x48x784xf16>, %k: tensor<16x8x48x784xf16>, %v: tensor<16x8x48x784xf16>, %temperature: tensor<8x1x1xf32>) -> tensor<16x784x384xf16> {
  %0 = kernel.cast %q : (tensor<16x8x48x784xf16>) -> tensor<16x8x48x784xf32>
  %1 = kernel.square %0 : (tensor<16x8x48x784xf32>) -> tensor<16x8x48x784xf32>
  %2 = kernel.reduce_sum %1 {dims = array<i64: 3>} : (tensor<16x8x48x784xf32>) -> tensor<16x8x48x1xf32>
  %3 = kernel.sqrt %2 : (tensor<16x8x48x1xf32>) -> tensor<16x8x48x1xf32>
  %4 = kernel.constant {value = 1.000000e-12 : f32} : tensor<1x1x1x1xf32>
  %5 = kernel.max %3, %4 : (tensor<16x8x48x1xf32>, tensor<1x1x1x1xf32>) -> tensor<16x8x48x1xf32>
  %6 = kernel.broadcast %5 : (tensor<16x8x48x1xf32>) -> tensor<16x8x48x784xf32>
  %7 = kernel.div %0, %6 : (tensor<16x8x48x784xf32>, tensor<16x8x48x784xf32>) -> tensor<16x8x48x784xf32>
  %8 = kernel.cast %7 : (tensor<16x8x48x784xf32>) -> tensor<16x8x48x784xf16>
  %9 = kernel.cast %k : (tensor<16x8x48x784xf16>) -> tensor<16x8x48x784xf32>
  %10 = kernel.square %9 : (tensor<16x8x48x784xf32>) -> tensor<16x8x48x784xf32>
  %11 = kernel.reduce_sum %10 {dims = array<i64: 3>} : (tensor<16x8x48x784xf32>) -> tensor<16x8x48x1xf32>
  %12 = kernel.sqrt %11 : (tensor<16x8x48x1xf32>) -> tensor<16x8x48x1xf32>
  %13 = kernel.constant {value = 1.000000e-12 : f32} : tensor<1x1x1x1xf32>
  %14 = kernel.max %12, %13 : (tensor<16x8x48x1xf32>, tensor<1x1x1x1xf32>) -> tensor<16x8x48x1xf32>
  %15 = kernel.broadcast %14 : (tensor<16x8x48x1xf32>) -> tensor<16x8x48x784xf32>
  %16 = kernel.div %9, %15 : (tensor<16x8x48x784xf32>, tensor<16x8x48x784xf32>) -> tensor<16x8x48x784xf32>
  %17 = kernel.cast %16 : (tensor<16x8x48x784xf32>) -> tensor<16x8x48x784xf16>
  %18 = kernel.transpose %17 {permutation = array<i64: 0, 1, 3, 2>} : (tensor<16x8x48x784xf16>) -> tensor<16x8x784x48xf16>
  %19 = kernel.matmul %8, %18 : (tensor<16x8x48x784xf16>, tensor<16x8x784x48xf16>) -> tensor<16x8x48x48xf16>
  %20 = kernel.cast %19 : (tensor<16x8x48x48xf16>) -> tensor<16x8x48x48xf32>
  %21 = kernel.mul %20, %temperature : (tensor<16x8x48x48xf32>, tensor<8x1x1xf32>) -> tensor<16x8x48x48xf32>
  %22 = kernel.scale %21 {factor = 8.000000e+00 : f32} : (tensor<16x8x48x48xf32>) -> tensor<16x8x48x48xf32>
  %23 = kernel.softmax %22 {dim = 3 : i64} : (tensor<16x8x48x48xf32>) -> tensor<16x8x48x48xf32>
  %24 = kernel.cast %23 : (tensor<16x8x48x48xf32>) -> tensor<16x8x48x48xf16>
  %25 = kernel.matmul %24, %v : (tensor<16x8x48x48xf16>, tensor<16x8x48x784xf16>) -> tensor<16x8x48x784xf16>
  %26 = kernel.transpose %25 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<16x8x48x784xf16>) -> tensor<16x784x8x48xf16>
  %27 = kernel.reshape %26 : (tensor<16x784x8x48xf16>) -> tensor<16x784x384xf16>
  func.return %27 : tensor<16x784x384xf16>
}

// Swin's patch merging: 16 maps of 56 x 56 x 96, LayerNorm, to 192.
func.func @patch_merging(%x: tensor<16x56x56x96xf16>, %g: tensor<384xf16>, %b: tensor<384xf16>, %w: tensor<384x192xf16> {kernel.constant}) -> tensor<16x28x28x192xf16> {
  %0 = kernel.slice %x {offsets = array<i64: 0, 0, 0, 0>, sizes = array<i64: 16, 28, 56, 96>, strides = array<i64: 1, 2, 1, 1>} : (tensor<16x56x56x96xf16>) -> tensor<16x28x56x96xf16>
  %1 = kernel.slice %0 {offsets = array<i64: 0, 0, 0, 0>, sizes = array<i64: 16, 28, 28, 96>, strides = array<i64: 1, 1, 2, 1>} : (tensor<16x28x56x96xf16>) -> tensor<16x28x28x96xf16>
  %2 = kernel.slice %x {offsets = array<i64: 0, 1, 0, 0>, sizes = array<i64: 16, 28, 56, 96>, strides = array<i64: 1, 2, 1, 1>} : (tensor<16x56x56x96xf16>) -> tensor<16x28x56x96xf16>
  %3 = kernel.slice %2 {offsets = array<i64: 0, 0, 0, 0>, sizes = array<i64: 16, 28, 28, 96>, strides = array<i64: 1, 1, 2, 1>} : (tensor<16x28x56x96xf16>) -> tensor<16x28x28x96xf16>
  %4 = kernel.slice %x {offsets = array<i64: 0, 0, 0, 0>, sizes = array<i64: 16, 28, 56, 96>, strides = array<i64: 1, 2, 1, 1>} : (tensor<16x56x56x96xf16>) -> tensor<16x28x56x96xf16>
  %5 = kernel.slice %4 {offsets = array<i64: 0, 0, 1, 0>, sizes = array<i64: 16, 28, 28, 96>, strides = array<i64: 1, 1, 2, 1>} : (tensor<16x28x56x96xf16>) -> tensor<16x28x28x96xf16>
  %6 = kernel.slice %x {offsets = array<i64: 0, 1, 0, 0>, sizes = array<i64: 16, 28, 56, 96>, strides = array<i64: 1, 2, 1, 1>} : (tensor<16x56x56x96xf16>) -> tensor<16x28x56x96xf16>
  %7 = kernel.slice %6 {offsets = array<i64: 0, 0, 1, 0>, sizes = array<i64: 16, 28, 28, 96>, strides = array<i64: 1, 1, 2, 1>} : (tensor<16x28x56x96xf16>) -> tensor<16x28x28x96xf16>
  %8 = kernel.concat %1, %3, %5, %7 {dim = 3 : i64} : (tensor<16x28x28x96xf16>, tensor<16x28x28x96xf16>, tensor<16x28x28x96xf16>, tensor<16x28x28x96xf16>) -> tensor<16x28x28x384xf16>
  %9 = kernel.reshape %g : (tensor<384xf16>) -> tensor<384xf16>
  %10 = kernel.reshape %b : (tensor<384xf16>) -> tensor<384xf16>
  %11 = kernel.layer_norm %8, %9, %10 {eps = 1.000000e-05 : f32} : (tensor<16x28x28x384xf16>, tensor<384xf16>, tensor<384xf16>) -> tensor<16x28x28x384xf16>
  %12 = kernel.matmul %11, %w : (tensor<16x28x28x384xf16>, tensor<384x192xf16>) -> tensor<16x28x28x192xf16>
  func.return %12 : tensor<16x28x28x192xf16>
}
