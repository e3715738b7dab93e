// Tensors whose dimensions are permuted: pixels shuffled, patches, channels first and last, windows.

func.func @pixel_shuffle(%x: tensor<4x256x128x128xf16>, %y: tensor<4x64x256x256xf16>) -> tensor<4x64x256x256xf16> {
  %1 = kernel.reshape %x : (tensor<4x256x128x128xf16>) -> tensor<4x64x2x2x128x128xf16>
  %2 = kernel.transpose %1 {permutation = array<i64: 0, 1, 4, 2, 5, 3>} : (tensor<4x64x2x2x128x128xf16>) -> tensor<4x64x128x2x128x2xf16>
  %3 = kernel.reshape %2 : (tensor<4x64x128x2x128x2xf16>) -> tensor<4x64x256x256xf16>
  %4 = kernel.silu %3 : (tensor<4x64x256x256xf16>) -> tensor<4x64x256x256xf16>
  %5 = kernel.add %4, %y : (tensor<4x64x256x256xf16>, tensor<4x64x256x256xf16>) -> tensor<4x64x256x256xf16>
  func.return %5 : tensor<4x64x256x256xf16>
}

func.func @pixel_shuffle_f32(%x: tensor<4x256x128x128xf32>, %y: tensor<4x64x256x256xf32>) -> tensor<4x64x256x256xf32> {
  %1 = kernel.reshape %x : (tensor<4x256x128x128xf32>) -> tensor<4x64x2x2x128x128xf32>
  %2 = kernel.transpose %1 {permutation = array<i64: 0, 1, 4, 2, 5, 3>} : (tensor<4x64x2x2x128x128xf32>) -> tensor<4x64x128x2x128x2xf32>
  %3 = kernel.reshape %2 : (tensor<4x64x128x2x128x2xf32>) -> tensor<4x64x256x256xf32>
  %4 = kernel.silu %3 : (tensor<4x64x256x256xf32>) -> tensor<4x64x256x256xf32>
  %5 = kernel.add %4, %y : (tensor<4x64x256x256xf32>, tensor<4x64x256x256xf32>) -> tensor<4x64x256x256xf32>
  func.return %5 : tensor<4x64x256x256xf32>
}

func.func @pixel_shuffle_4(%x: tensor<2x512x64x64xf16>, %y: tensor<2x32x256x256xf16>) -> tensor<2x32x256x256xf16> {
  %1 = kernel.reshape %x : (tensor<2x512x64x64xf16>) -> tensor<2x32x4x4x64x64xf16>
  %2 = kernel.transpose %1 {permutation = array<i64: 0, 1, 4, 2, 5, 3>} : (tensor<2x32x4x4x64x64xf16>) -> tensor<2x32x64x4x64x4xf16>
  %3 = kernel.reshape %2 : (tensor<2x32x64x4x64x4xf16>) -> tensor<2x32x256x256xf16>
  %4 = kernel.silu %3 : (tensor<2x32x256x256xf16>) -> tensor<2x32x256x256xf16>
  %5 = kernel.add %4, %y : (tensor<2x32x256x256xf16>, tensor<2x32x256x256xf16>) -> tensor<2x32x256x256xf16>
  func.return %5 : tensor<2x32x256x256xf16>
}

func.func @patchify_c_last(%x: tensor<8x3x224x224xf16>, %g: tensor<768xf16>, %h: tensor<768xf16>, %w: tensor<768x768xf16>) -> tensor<1568x768xf16> {
  %1 = kernel.reshape %x : (tensor<8x3x224x224xf16>) -> tensor<8x3x14x16x14x16xf16>
  %2 = kernel.transpose %1 {permutation = array<i64: 0, 2, 4, 3, 5, 1>} : (tensor<8x3x14x16x14x16xf16>) -> tensor<8x14x14x16x16x3xf16>
  %3 = kernel.reshape %2 : (tensor<8x14x14x16x16x3xf16>) -> tensor<1568x768xf16>
  %4 = kernel.layer_norm %3, %g, %h {eps = 1.0e-05 : f32} : (tensor<1568x768xf16>, tensor<768xf16>, tensor<768xf16>) -> tensor<1568x768xf16>
  %5 = kernel.matmul %4, %w : (tensor<1568x768xf16>, tensor<768x768xf16>) -> tensor<1568x768xf16>
  func.return %5 : tensor<1568x768xf16>
}

func.func @patchify_c_first(%x: tensor<8x3x224x224xf16>, %g: tensor<768xf16>, %h: tensor<768xf16>, %w: tensor<768x768xf16>) -> tensor<1568x768xf16> {
  %1 = kernel.reshape %x : (tensor<8x3x224x224xf16>) -> tensor<8x3x14x16x14x16xf16>
  %2 = kernel.transpose %1 {permutation = array<i64: 0, 2, 4, 1, 3, 5>} : (tensor<8x3x14x16x14x16xf16>) -> tensor<8x14x14x3x16x16xf16>
  %3 = kernel.reshape %2 : (tensor<8x14x14x3x16x16xf16>) -> tensor<1568x768xf16>
  %4 = kernel.layer_norm %3, %g, %h {eps = 1.0e-05 : f32} : (tensor<1568x768xf16>, tensor<768xf16>, tensor<768xf16>) -> tensor<1568x768xf16>
  %5 = kernel.matmul %4, %w : (tensor<1568x768xf16>, tensor<768x768xf16>) -> tensor<1568x768xf16>
  func.return %5 : tensor<1568x768xf16>
}

func.func @merge_swin(%x: tensor<8x192x56x56xf16>, %g: tensor<768xf16>, %h: tensor<768xf16>, %w: tensor<768x384xf16>) -> tensor<6272x384xf16> {
  %1 = kernel.reshape %x : (tensor<8x192x56x56xf16>) -> tensor<8x192x28x2x28x2xf16>
  %2 = kernel.transpose %1 {permutation = array<i64: 0, 2, 4, 5, 3, 1>} : (tensor<8x192x28x2x28x2xf16>) -> tensor<8x28x28x2x2x192xf16>
  %3 = kernel.reshape %2 : (tensor<8x28x28x2x2x192xf16>) -> tensor<6272x768xf16>
  %4 = kernel.layer_norm %3, %g, %h {eps = 1.0e-05 : f32} : (tensor<6272x768xf16>, tensor<768xf16>, tensor<768xf16>) -> tensor<6272x768xf16>
  %5 = kernel.matmul %4, %w : (tensor<6272x768xf16>, tensor<768x384xf16>) -> tensor<6272x384xf16>
  func.return %5 : tensor<6272x384xf16>
}

func.func @convnext_ln(%x: tensor<16x192x56x56xf16>, %g: tensor<192xf16>, %h: tensor<192xf16>) -> tensor<16x192x56x56xf16> {
  %1 = kernel.transpose %x {permutation = array<i64: 0, 2, 3, 1>} : (tensor<16x192x56x56xf16>) -> tensor<16x56x56x192xf16>
  %2 = kernel.layer_norm %1, %g, %h {eps = 1.0e-06 : f32} : (tensor<16x56x56x192xf16>, tensor<192xf16>, tensor<192xf16>) -> tensor<16x56x56x192xf16>
  %3 = kernel.transpose %2 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<16x56x56x192xf16>) -> tensor<16x192x56x56xf16>
  func.return %3 : tensor<16x192x56x56xf16>
}

func.func @convnext_ln_f32(%x: tensor<16x192x56x56xf32>, %g: tensor<192xf32>, %h: tensor<192xf32>) -> tensor<16x192x56x56xf32> {
  %1 = kernel.transpose %x {permutation = array<i64: 0, 2, 3, 1>} : (tensor<16x192x56x56xf32>) -> tensor<16x56x56x192xf32>
  %2 = kernel.layer_norm %1, %g, %h {eps = 1.0e-06 : f32} : (tensor<16x56x56x192xf32>, tensor<192xf32>, tensor<192xf32>) -> tensor<16x56x56x192xf32>
  %3 = kernel.transpose %2 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<16x56x56x192xf32>) -> tensor<16x192x56x56xf32>
  func.return %3 : tensor<16x192x56x56xf32>
}

func.func @channels_last_gelu(%x: tensor<16x256x3136xf16>, %r: tensor<16x3136x256xf16>) -> tensor<16x3136x256xf16> {
  %1 = kernel.transpose %x {permutation = array<i64: 0, 2, 1>} : (tensor<16x256x3136xf16>) -> tensor<16x3136x256xf16>
  %2 = kernel.gelu %1 : (tensor<16x3136x256xf16>) -> tensor<16x3136x256xf16>
  %3 = kernel.add %2, %r : (tensor<16x3136x256xf16>, tensor<16x3136x256xf16>) -> tensor<16x3136x256xf16>
  func.return %3 : tensor<16x3136x256xf16>
}

func.func @permuted_201(%x: tensor<64x512x512xf16>, %r: tensor<512x64x512xf16>) -> tensor<512x64x512xf16> {
  %1 = kernel.transpose %x {permutation = array<i64: 2, 0, 1>} : (tensor<64x512x512xf16>) -> tensor<512x64x512xf16>
  %2 = kernel.gelu %1 : (tensor<512x64x512xf16>) -> tensor<512x64x512xf16>
  %3 = kernel.add %2, %r : (tensor<512x64x512xf16>, tensor<512x64x512xf16>) -> tensor<512x64x512xf16>
  func.return %3 : tensor<512x64x512xf16>
}

func.func @permuted_210(%x: tensor<64x128x512xf16>, %r: tensor<512x128x64xf16>) -> tensor<512x128x64xf16> {
  %1 = kernel.transpose %x {permutation = array<i64: 2, 1, 0>} : (tensor<64x128x512xf16>) -> tensor<512x128x64xf16>
  %2 = kernel.gelu %1 : (tensor<512x128x64xf16>) -> tensor<512x128x64xf16>
  %3 = kernel.add %2, %r : (tensor<512x128x64xf16>, tensor<512x128x64xf16>) -> tensor<512x128x64xf16>
  func.return %3 : tensor<512x128x64xf16>
}

func.func @channel_shuffle(%x: tensor<16x256x56x56xf16>) -> tensor<16x256x56x56xf16> {
  %1 = kernel.reshape %x : (tensor<16x256x56x56xf16>) -> tensor<16x4x64x56x56xf16>
  %2 = kernel.transpose %1 {permutation = array<i64: 0, 2, 1, 3, 4>} : (tensor<16x4x64x56x56xf16>) -> tensor<16x64x4x56x56xf16>
  %3 = kernel.reshape %2 : (tensor<16x64x4x56x56xf16>) -> tensor<16x256x56x56xf16>
  %4 = kernel.relu %3 : (tensor<16x256x56x56xf16>) -> tensor<16x256x56x56xf16>
  func.return %4 : tensor<16x256x56x56xf16>
}

func.func @fived(%x: tensor<4x4x64x8x32xf16>, %y: tensor<4x4x32x64x8xf16>) -> tensor<4x4x32x64x8xf16> {
  %1 = kernel.transpose %x {permutation = array<i64: 0, 1, 4, 2, 3>} : (tensor<4x4x64x8x32xf16>) -> tensor<4x4x32x64x8xf16>
  %2 = kernel.mul %1, %y : (tensor<4x4x32x64x8xf16>, tensor<4x4x32x64x8xf16>) -> tensor<4x4x32x64x8xf16>
  %3 = kernel.softmax %2 {dim = 4 : i64} : (tensor<4x4x32x64x8xf16>) -> tensor<4x4x32x64x8xf16>
  func.return %3 : tensor<4x4x32x64x8xf16>
}

func.func @softmax_moved(%x: tensor<64x128x64x32xf16>) -> tensor<64x32x128x64xf16> {
  %1 = kernel.transpose %x {permutation = array<i64: 0, 3, 1, 2>} : (tensor<64x128x64x32xf16>) -> tensor<64x32x128x64xf16>
  %2 = kernel.softmax %1 {dim = 3 : i64} : (tensor<64x32x128x64xf16>) -> tensor<64x32x128x64xf16>
  func.return %2 : tensor<64x32x128x64xf16>
}

func.func @scores_dt(%q: tensor<4x16x64x512xf16>, %k: tensor<4x16x64x512xf16>) -> tensor<4x16x512x512xf16> {
  %1 = kernel.transpose %q {permutation = array<i64: 0, 1, 3, 2>} : (tensor<4x16x64x512xf16>) -> tensor<4x16x512x64xf16>
  %2 = kernel.matmul %1, %k : (tensor<4x16x512x64xf16>, tensor<4x16x64x512xf16>) -> tensor<4x16x512x512xf16>
  %3 = kernel.softmax %2 {dim = 3 : i64} : (tensor<4x16x512x512xf16>) -> tensor<4x16x512x512xf16>
  func.return %3 : tensor<4x16x512x512xf16>
}

func.func @merge_heads_linear(%x: tensor<8x16x64x512xf16>, %w: tensor<1024x1024xf16>) -> tensor<4096x1024xf16> {
  %1 = kernel.transpose %x {permutation = array<i64: 0, 3, 1, 2>} : (tensor<8x16x64x512xf16>) -> tensor<8x512x16x64xf16>
  %2 = kernel.reshape %1 : (tensor<8x512x16x64xf16>) -> tensor<4096x1024xf16>
  %3 = kernel.matmul %2, %w : (tensor<4096x1024xf16>, tensor<1024x1024xf16>) -> tensor<4096x1024xf16>
  func.return %3 : tensor<4096x1024xf16>
}

func.func @mixer_block(%x: tensor<16x196x768xf16>, %g: tensor<768xf16>, %h: tensor<768xf16>, %w: tensor<196x384xf16>, %v: tensor<384x196xf16>) -> tensor<16x196x768xf16> {
  %0 = kernel.layer_norm %x, %g, %h {eps = 1.0e-05 : f32} : (tensor<16x196x768xf16>, tensor<768xf16>, tensor<768xf16>) -> tensor<16x196x768xf16>
  %1 = kernel.transpose %0 {permutation = array<i64: 0, 2, 1>} : (tensor<16x196x768xf16>) -> tensor<16x768x196xf16>
  %2 = kernel.reshape %1 : (tensor<16x768x196xf16>) -> tensor<12288x196xf16>
  %3 = kernel.matmul %2, %w : (tensor<12288x196xf16>, tensor<196x384xf16>) -> tensor<12288x384xf16>
  %4 = kernel.gelu %3 : (tensor<12288x384xf16>) -> tensor<12288x384xf16>
  %5 = kernel.matmul %4, %v : (tensor<12288x384xf16>, tensor<384x196xf16>) -> tensor<12288x196xf16>
  %6 = kernel.reshape %5 : (tensor<12288x196xf16>) -> tensor<16x768x196xf16>
  %7 = kernel.transpose %6 {permutation = array<i64: 0, 2, 1>} : (tensor<16x768x196xf16>) -> tensor<16x196x768xf16>
  %8 = kernel.add %7, %x : (tensor<16x196x768xf16>, tensor<16x196x768xf16>) -> tensor<16x196x768xf16>
  func.return %8 : tensor<16x196x768xf16>
}

func.func @sum_last_of_moved(%x: tensor<32x64x64x64xf16>) -> tensor<32x64x64x1xf16> {
  %1 = kernel.transpose %x {permutation = array<i64: 0, 2, 3, 1>} : (tensor<32x64x64x64xf16>) -> tensor<32x64x64x64xf16>
  %2 = kernel.square %1 : (tensor<32x64x64x64xf16>) -> tensor<32x64x64x64xf16>
  %3 = kernel.reduce_sum %2 {dims = array<i64: 3>} : (tensor<32x64x64x64xf16>) -> tensor<32x64x64x1xf16>
  func.return %3 : tensor<32x64x64x1xf16>
}

func.func @norm2d(%x: tensor<16x192x3136xf16>, %g: tensor<192x1xf16>, %h: tensor<192x1xf16>) -> tensor<16x192x3136xf16> {
  %1 = kernel.reduce_sum %x {dims = array<i64: 1>} : (tensor<16x192x3136xf16>) -> tensor<16x1x3136xf16>
  %2 = kernel.scale %1 {factor = 0.005208333333333333 : f32} : (tensor<16x1x3136xf16>) -> tensor<16x1x3136xf16>
  %3 = kernel.sub %x, %2 : (tensor<16x192x3136xf16>, tensor<16x1x3136xf16>) -> tensor<16x192x3136xf16>
  %4 = kernel.square %3 : (tensor<16x192x3136xf16>) -> tensor<16x192x3136xf16>
  %5 = kernel.reduce_sum %4 {dims = array<i64: 1>} : (tensor<16x192x3136xf16>) -> tensor<16x1x3136xf16>
  %6 = kernel.scale %5 {factor = 0.005208333333333333 : f32} : (tensor<16x1x3136xf16>) -> tensor<16x1x3136xf16>
  %7 = kernel.constant {value = 1.0e-06 : f32} : tensor<16x1x3136xf16>
  %8 = kernel.add %6, %7 : (tensor<16x1x3136xf16>, tensor<16x1x3136xf16>) -> tensor<16x1x3136xf16>
  %9 = kernel.rsqrt %8 : (tensor<16x1x3136xf16>) -> tensor<16x1x3136xf16>
  %10 = kernel.mul %3, %9 : (tensor<16x192x3136xf16>, tensor<16x1x3136xf16>) -> tensor<16x192x3136xf16>
  %11 = kernel.mul %10, %g : (tensor<16x192x3136xf16>, tensor<192x1xf16>) -> tensor<16x192x3136xf16>
  %12 = kernel.add %11, %h : (tensor<16x192x3136xf16>, tensor<192x1xf16>) -> tensor<16x192x3136xf16>
  func.return %12 : tensor<16x192x3136xf16>
}

func.func @two_orders(%x: tensor<64x128x256xf16>, %y: tensor<128x256x64xf16>) -> tensor<64x256x128xf16> {
  %1 = kernel.transpose %x {permutation = array<i64: 0, 2, 1>} : (tensor<64x128x256xf16>) -> tensor<64x256x128xf16>
  %2 = kernel.transpose %y {permutation = array<i64: 2, 1, 0>} : (tensor<128x256x64xf16>) -> tensor<64x256x128xf16>
  %3 = kernel.add %1, %2 : (tensor<64x256x128xf16>, tensor<64x256x128xf16>) -> tensor<64x256x128xf16>
  func.return %3 : tensor<64x256x128xf16>
}

func.func @odd_last(%x: tensor<16x255x3137xf16>, %r: tensor<16x3137x255xf16>) -> tensor<16x3137x255xf16> {
  %1 = kernel.transpose %x {permutation = array<i64: 0, 2, 1>} : (tensor<16x255x3137xf16>) -> tensor<16x3137x255xf16>
  %2 = kernel.gelu %1 : (tensor<16x3137x255xf16>) -> tensor<16x3137x255xf16>
  %3 = kernel.add %2, %r : (tensor<16x3137x255xf16>, tensor<16x3137x255xf16>) -> tensor<16x3137x255xf16>
  func.return %3 : tensor<16x3137x255xf16>
}

func.func @transposed_relu_f32(%x: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %1 = kernel.transpose %x {permutation = array<i64: 1, 0>} : (tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %2 = kernel.relu %1 : (tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  func.return %2 : tensor<4096x4096xf32>
}

func.func @softmax_dim1(%x: tensor<64x128x1024xf16>) -> tensor<64x128x1024xf16> {
  %1 = kernel.softmax %x {dim = 1 : i64} : (tensor<64x128x1024xf16>) -> tensor<64x128x1024xf16>
  func.return %1 : tensor<64x128x1024xf16>
}

func.func @windows_norm(%x: tensor<8x56x56x96xbf16>, %g: tensor<96xbf16>, %h: tensor<96xbf16>) -> tensor<512x49x96xbf16> {
  %1 = kernel.reshape %x : (tensor<8x56x56x96xbf16>) -> tensor<8x8x7x8x7x96xbf16>
  %2 = kernel.transpose %1 {permutation = array<i64: 0, 1, 3, 2, 4, 5>} : (tensor<8x8x7x8x7x96xbf16>) -> tensor<8x8x8x7x7x96xbf16>
  %3 = kernel.reshape %2 : (tensor<8x8x8x7x7x96xbf16>) -> tensor<512x49x96xbf16>
  %4 = kernel.layer_norm %3, %g, %h {eps = 1.0e-05 : f32} : (tensor<512x49x96xbf16>, tensor<96xbf16>, tensor<96xbf16>) -> tensor<512x49x96xbf16>
  func.return %4 : tensor<512x49x96xbf16>
}

func.func @pixel_unshuffle(%x: tensor<8x64x128x128xf16>) -> tensor<8x256x64x64xf16> {
  %1 = kernel.reshape %x : (tensor<8x64x128x128xf16>) -> tensor<8x64x64x2x64x2xf16>
  %2 = kernel.transpose %1 {permutation = array<i64: 0, 1, 3, 5, 2, 4>} : (tensor<8x64x64x2x64x2xf16>) -> tensor<8x64x2x2x64x64xf16>
  %3 = kernel.reshape %2 : (tensor<8x64x2x2x64x64xf16>) -> tensor<8x256x64x64xf16>
  %4 = kernel.relu %3 : (tensor<8x256x64x64xf16>) -> tensor<8x256x64x64xf16>
  func.return %4 : tensor<8x256x64x64xf16>
}

func.func @scaled_token_mean(%x: tensor<32x196x768xf16>, %m: tensor<196xf16>) -> tensor<32x768x1xf16> {
  %1 = kernel.transpose %x {permutation = array<i64: 0, 2, 1>} : (tensor<32x196x768xf16>) -> tensor<32x768x196xf16>
  %2 = kernel.mul %1, %m : (tensor<32x768x196xf16>, tensor<196xf16>) -> tensor<32x768x196xf16>
  %3 = kernel.reduce_sum %2 {dims = array<i64: 2>} : (tensor<32x768x196xf16>) -> tensor<32x768x1xf16>
  func.return %3 : tensor<32x768x1xf16>
}
