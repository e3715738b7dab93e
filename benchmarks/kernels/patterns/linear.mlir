// Linear layers with what is before and behind them.
func.func @conv1x1_bn(%x: tensor<3136x256xf16>, %w: tensor<256x1024xf16>, %s: tensor<1024xf16>, %t: tensor<1024xf16>) -> tensor<3136x1024xf16> {
  %0 = kernel.matmul %x, %w : (tensor<3136x256xf16>, tensor<256x1024xf16>) -> tensor<3136x1024xf16>
  %1 = kernel.mul %0, %s : (tensor<3136x1024xf16>, tensor<1024xf16>) -> tensor<3136x1024xf16>
  %2 = kernel.add %1, %t : (tensor<3136x1024xf16>, tensor<1024xf16>) -> tensor<3136x1024xf16>
  %3 = kernel.relu %2 : (tensor<3136x1024xf16>) -> tensor<3136x1024xf16>
  func.return %3 : tensor<3136x1024xf16>
}

func.func @nerf(%x: tensor<65536x64xf16>, %a: tensor<64x64xf16>, %c: tensor<64x64xf16>, %d: tensor<64x64xf16>) -> tensor<65536x64xf16> {
  %0 = kernel.matmul %x, %a : (tensor<65536x64xf16>, tensor<64x64xf16>) -> tensor<65536x64xf16>
  %1 = kernel.relu %0 : (tensor<65536x64xf16>) -> tensor<65536x64xf16>
  %2 = kernel.matmul %1, %c : (tensor<65536x64xf16>, tensor<64x64xf16>) -> tensor<65536x64xf16>
  %3 = kernel.relu %2 : (tensor<65536x64xf16>) -> tensor<65536x64xf16>
  %4 = kernel.matmul %3, %d : (tensor<65536x64xf16>, tensor<64x64xf16>) -> tensor<65536x64xf16>
  %5 = kernel.relu %4 : (tensor<65536x64xf16>) -> tensor<65536x64xf16>
  func.return %5 : tensor<65536x64xf16>
}

func.func @gcn(%a: tensor<2708x2708xf16>, %x: tensor<2708x512xf16>, %w: tensor<512x256xf16>) -> tensor<2708x256xf16> {
  %0 = kernel.matmul %x, %w : (tensor<2708x512xf16>, tensor<512x256xf16>) -> tensor<2708x256xf16>
  %1 = kernel.matmul %a, %0 : (tensor<2708x2708xf16>, tensor<2708x256xf16>) -> tensor<2708x256xf16>
  %2 = kernel.relu %1 : (tensor<2708x256xf16>) -> tensor<2708x256xf16>
  func.return %2 : tensor<2708x256xf16>
}

func.func @low_rank3(%x: tensor<1024x4096xf16>, %a: tensor<4096x64xf16>, %s: tensor<64x64xf16>, %c: tensor<64x4096xf16>) -> tensor<1024x4096xf16> {
  %0 = kernel.matmul %x, %a : (tensor<1024x4096xf16>, tensor<4096x64xf16>) -> tensor<1024x64xf16>
  %1 = kernel.matmul %0, %s : (tensor<1024x64xf16>, tensor<64x64xf16>) -> tensor<1024x64xf16>
  %2 = kernel.matmul %1, %c : (tensor<1024x64xf16>, tensor<64x4096xf16>) -> tensor<1024x4096xf16>
  func.return %2 : tensor<1024x4096xf16>
}

func.func @expert_mlp(%x: tensor<8x64x1024xf16>, %u: tensor<8x1024x2048xf16>, %d: tensor<8x2048x1024xf16>) -> tensor<8x64x1024xf16> {
  %0 = kernel.matmul %x, %u : (tensor<8x64x1024xf16>, tensor<8x1024x2048xf16>) -> tensor<8x64x2048xf16>
  %1 = kernel.silu %0 : (tensor<8x64x2048xf16>) -> tensor<8x64x2048xf16>
  %2 = kernel.matmul %1, %d : (tensor<8x64x2048xf16>, tensor<8x2048x1024xf16>) -> tensor<8x64x1024xf16>
  func.return %2 : tensor<8x64x1024xf16>
}

func.func @experts(%x: tensor<16x128x1024xf16>, %u: tensor<16x1024x512xf16>, %d: tensor<16x512x1024xf16>) -> tensor<16x128x1024xf16> {
  %0 = kernel.matmul %x, %u : (tensor<16x128x1024xf16>, tensor<16x1024x512xf16>) -> tensor<16x128x512xf16>
  %1 = kernel.relu %0 : (tensor<16x128x512xf16>) -> tensor<16x128x512xf16>
  %2 = kernel.matmul %1, %d : (tensor<16x128x512xf16>, tensor<16x512x1024xf16>) -> tensor<16x128x1024xf16>
  func.return %2 : tensor<16x128x1024xf16>
}

func.func @mlp_relu_small(%x: tensor<8x4096xbf16>, %u: tensor<4096x14336xbf16>, %d: tensor<14336x4096xbf16>) -> tensor<8x4096xbf16> {
  %0 = kernel.matmul %x, %u : (tensor<8x4096xbf16>, tensor<4096x14336xbf16>) -> tensor<8x14336xbf16>
  %1 = kernel.relu %0 : (tensor<8x14336xbf16>) -> tensor<8x14336xbf16>
  %2 = kernel.matmul %1, %d : (tensor<8x14336xbf16>, tensor<14336x4096xbf16>) -> tensor<8x4096xbf16>
  func.return %2 : tensor<8x4096xbf16>
}

func.func @mixer_channels(%x: tensor<64x512x196xf16>, %w: tensor<196x512xf16>, %bi: tensor<512xf16>) -> tensor<64x512x512xf16> {
  %0 = kernel.transpose %x {permutation = array<i64: 0, 2, 1>} : (tensor<64x512x196xf16>) -> tensor<64x196x512xf16>
  %1 = kernel.transpose %0 {permutation = array<i64: 0, 2, 1>} : (tensor<64x196x512xf16>) -> tensor<64x512x196xf16>
  %2 = kernel.matmul %1, %w : (tensor<64x512x196xf16>, tensor<196x512xf16>) -> tensor<64x512x512xf16>
  %3 = kernel.add %2, %bi : (tensor<64x512x512xf16>, tensor<512xf16>) -> tensor<64x512x512xf16>
  %4 = kernel.gelu %3 : (tensor<64x512x512xf16>) -> tensor<64x512x512xf16>
  func.return %4 : tensor<64x512x512xf16>
}

func.func @norm_up_bf16(%x: tensor<4096x2048xbf16>, %g: tensor<2048xbf16>, %w: tensor<2048x8192xbf16>) -> tensor<4096x8192xbf16> {
  %0 = kernel.cast %x : (tensor<4096x2048xbf16>) -> tensor<4096x2048xf32>
  %1 = kernel.cast %x : (tensor<4096x2048xbf16>) -> tensor<4096x2048xf32>
  %2 = kernel.square %1 : (tensor<4096x2048xf32>) -> tensor<4096x2048xf32>
  %3 = kernel.reduce_mean %2 {dims = array<i64: 1>} : (tensor<4096x2048xf32>) -> tensor<4096x1xf32>
  %4 = kernel.constant {value = 1.000000e-05 : f32} : tensor<1x1xf32>
  %5 = kernel.add %3, %4 : (tensor<4096x1xf32>, tensor<1x1xf32>) -> tensor<4096x1xf32>
  %6 = kernel.rsqrt %5 : (tensor<4096x1xf32>) -> tensor<4096x1xf32>
  %7 = kernel.mul %0, %6 : (tensor<4096x2048xf32>, tensor<4096x1xf32>) -> tensor<4096x2048xf32>
  %8 = kernel.cast %7 : (tensor<4096x2048xf32>) -> tensor<4096x2048xbf16>
  %9 = kernel.mul %8, %g : (tensor<4096x2048xbf16>, tensor<2048xbf16>) -> tensor<4096x2048xbf16>
  %10 = kernel.matmul %9, %w : (tensor<4096x2048xbf16>, tensor<2048x8192xbf16>) -> tensor<4096x8192xbf16>
  %11 = kernel.silu %10 : (tensor<4096x8192xbf16>) -> tensor<4096x8192xbf16>
  func.return %11 : tensor<4096x8192xbf16>
}

func.func @head_bias_norm(%x: tensor<32x4096xbf16>, %w: tensor<4096x1024xbf16>, %bi: tensor<1024xbf16>, %g: tensor<4096xbf16>) -> tensor<32x1024xbf16> {
  %0 = kernel.cast %x : (tensor<32x4096xbf16>) -> tensor<32x4096xf32>
  %1 = kernel.cast %x : (tensor<32x4096xbf16>) -> tensor<32x4096xf32>
  %2 = kernel.square %1 : (tensor<32x4096xf32>) -> tensor<32x4096xf32>
  %3 = kernel.reduce_mean %2 {dims = array<i64: 1>} : (tensor<32x4096xf32>) -> tensor<32x1xf32>
  %4 = kernel.constant {value = 1.000000e-05 : f32} : tensor<1x1xf32>
  %5 = kernel.add %3, %4 : (tensor<32x1xf32>, tensor<1x1xf32>) -> tensor<32x1xf32>
  %6 = kernel.rsqrt %5 : (tensor<32x1xf32>) -> tensor<32x1xf32>
  %7 = kernel.mul %0, %6 : (tensor<32x4096xf32>, tensor<32x1xf32>) -> tensor<32x4096xf32>
  %8 = kernel.cast %7 : (tensor<32x4096xf32>) -> tensor<32x4096xbf16>
  %9 = kernel.mul %8, %g : (tensor<32x4096xbf16>, tensor<4096xbf16>) -> tensor<32x4096xbf16>
  %10 = kernel.matmul %9, %w : (tensor<32x4096xbf16>, tensor<4096x1024xbf16>) -> tensor<32x1024xbf16>
  %11 = kernel.add %10, %bi : (tensor<32x1024xbf16>, tensor<1024xbf16>) -> tensor<32x1024xbf16>
  %12 = kernel.tanh %11 : (tensor<32x1024xbf16>) -> tensor<32x1024xbf16>
  func.return %12 : tensor<32x1024xbf16>
}

func.func @head_f32(%x: tensor<64x2048xbf16>, %g: tensor<2048xbf16>, %w: tensor<2048x1000xbf16>) -> tensor<64x1000xf32> {
  %0 = kernel.cast %x : (tensor<64x2048xbf16>) -> tensor<64x2048xf32>
  %1 = kernel.cast %x : (tensor<64x2048xbf16>) -> tensor<64x2048xf32>
  %2 = kernel.square %1 : (tensor<64x2048xf32>) -> tensor<64x2048xf32>
  %3 = kernel.reduce_mean %2 {dims = array<i64: 1>} : (tensor<64x2048xf32>) -> tensor<64x1xf32>
  %4 = kernel.constant {value = 1.000000e-05 : f32} : tensor<1x1xf32>
  %5 = kernel.add %3, %4 : (tensor<64x1xf32>, tensor<1x1xf32>) -> tensor<64x1xf32>
  %6 = kernel.rsqrt %5 : (tensor<64x1xf32>) -> tensor<64x1xf32>
  %7 = kernel.mul %0, %6 : (tensor<64x2048xf32>, tensor<64x1xf32>) -> tensor<64x2048xf32>
  %8 = kernel.cast %7 : (tensor<64x2048xf32>) -> tensor<64x2048xbf16>
  %9 = kernel.mul %8, %g : (tensor<64x2048xbf16>, tensor<2048xbf16>) -> tensor<64x2048xbf16>
  %10 = kernel.matmul %9, %w : (tensor<64x2048xbf16>, tensor<2048x1000xbf16>) -> tensor<64x1000xbf16>
  %11 = kernel.cast %10 : (tensor<64x1000xbf16>) -> tensor<64x1000xf32>
  func.return %11 : tensor<64x1000xf32>
}

func.func @glu_norm(%x: tensor<512x2048xf16>, %a: tensor<2048x1024xf16>, %c: tensor<2048x1024xf16>, %g: tensor<1024xf16>) -> tensor<512x1024xf16> {
  %0 = kernel.matmul %x, %a : (tensor<512x2048xf16>, tensor<2048x1024xf16>) -> tensor<512x1024xf16>
  %1 = kernel.sigmoid %0 : (tensor<512x1024xf16>) -> tensor<512x1024xf16>
  %2 = kernel.matmul %x, %c : (tensor<512x2048xf16>, tensor<2048x1024xf16>) -> tensor<512x1024xf16>
  %3 = kernel.mul %1, %2 : (tensor<512x1024xf16>, tensor<512x1024xf16>) -> tensor<512x1024xf16>
  %4 = kernel.cast %3 : (tensor<512x1024xf16>) -> tensor<512x1024xf32>
  %5 = kernel.cast %3 : (tensor<512x1024xf16>) -> tensor<512x1024xf32>
  %6 = kernel.square %5 : (tensor<512x1024xf32>) -> tensor<512x1024xf32>
  %7 = kernel.reduce_mean %6 {dims = array<i64: 1>} : (tensor<512x1024xf32>) -> tensor<512x1xf32>
  %8 = kernel.constant {value = 1.000000e-05 : f32} : tensor<1x1xf32>
  %9 = kernel.add %7, %8 : (tensor<512x1xf32>, tensor<1x1xf32>) -> tensor<512x1xf32>
  %10 = kernel.rsqrt %9 : (tensor<512x1xf32>) -> tensor<512x1xf32>
  %11 = kernel.mul %4, %10 : (tensor<512x1024xf32>, tensor<512x1xf32>) -> tensor<512x1024xf32>
  %12 = kernel.cast %11 : (tensor<512x1024xf32>) -> tensor<512x1024xf16>
  %13 = kernel.mul %12, %g : (tensor<512x1024xf16>, tensor<1024xf16>) -> tensor<512x1024xf16>
  func.return %13 : tensor<512x1024xf16>
}

func.func @sd_geglu(%x: tensor<16384x320xf16>, %w: tensor<320x1280xf16>, %bi: tensor<1280xf16>) -> tensor<16384x640xf16> {
  %0 = kernel.matmul %x, %w : (tensor<16384x320xf16>, tensor<320x1280xf16>) -> tensor<16384x1280xf16>
  %1 = kernel.add %0, %bi : (tensor<16384x1280xf16>, tensor<1280xf16>) -> tensor<16384x1280xf16>
  %2 = kernel.slice %1 {offsets = array<i64: 0, 0>, sizes = array<i64: 16384, 640>, strides = array<i64: 1, 1>} : (tensor<16384x1280xf16>) -> tensor<16384x640xf16>
  %3 = kernel.slice %1 {offsets = array<i64: 0, 640>, sizes = array<i64: 16384, 640>, strides = array<i64: 1, 1>} : (tensor<16384x1280xf16>) -> tensor<16384x640xf16>
  %4 = kernel.gelu %3 : (tensor<16384x640xf16>) -> tensor<16384x640xf16>
  %5 = kernel.mul %2, %4 : (tensor<16384x640xf16>, tensor<16384x640xf16>) -> tensor<16384x640xf16>
  func.return %5 : tensor<16384x640xf16>
}

func.func @sdxl_geglu(%x: tensor<4096x1280xf16>, %a: tensor<1280x2560xf16>, %g: tensor<1280x2560xf16>) -> tensor<4096x2560xf16> {
  %0 = kernel.matmul %x, %a : (tensor<4096x1280xf16>, tensor<1280x2560xf16>) -> tensor<4096x2560xf16>
  %1 = kernel.matmul %x, %g : (tensor<4096x1280xf16>, tensor<1280x2560xf16>) -> tensor<4096x2560xf16>
  %2 = kernel.gelu %1 : (tensor<4096x2560xf16>) -> tensor<4096x2560xf16>
  %3 = kernel.mul %0, %2 : (tensor<4096x2560xf16>, tensor<4096x2560xf16>) -> tensor<4096x2560xf16>
  func.return %3 : tensor<4096x2560xf16>
}

func.func @vit_up(%x: tensor<8192x768xf16>, %w: tensor<768x3072xf16>, %bi: tensor<3072xf16>) -> tensor<8192x3072xf16> {
  %0 = kernel.matmul %x, %w : (tensor<8192x768xf16>, tensor<768x3072xf16>) -> tensor<8192x3072xf16>
  %1 = kernel.add %0, %bi : (tensor<8192x3072xf16>, tensor<3072xf16>) -> tensor<8192x3072xf16>
  %2 = kernel.gelu %1 : (tensor<8192x3072xf16>) -> tensor<8192x3072xf16>
  func.return %2 : tensor<8192x3072xf16>
}

func.func @odd_gelu(%x: tensor<300x1000xf16>, %w: tensor<1000x777xf16>, %bi: tensor<777xf16>) -> tensor<300x777xf16> {
  %0 = kernel.matmul %x, %w : (tensor<300x1000xf16>, tensor<1000x777xf16>) -> tensor<300x777xf16>
  %1 = kernel.add %0, %bi : (tensor<300x777xf16>, tensor<777xf16>) -> tensor<300x777xf16>
  %2 = kernel.gelu %1 : (tensor<300x777xf16>) -> tensor<300x777xf16>
  func.return %2 : tensor<300x777xf16>
}

func.func @leaky_bf16(%x: tensor<2048x2048xbf16>, %w: tensor<2048x2048xbf16>, %bi: tensor<2048xbf16>) -> tensor<2048x2048xbf16> {
  %0 = kernel.matmul %x, %w : (tensor<2048x2048xbf16>, tensor<2048x2048xbf16>) -> tensor<2048x2048xbf16>
  %1 = kernel.add %0, %bi : (tensor<2048x2048xbf16>, tensor<2048xbf16>) -> tensor<2048x2048xbf16>
  %2 = kernel.scale %1 {factor = 1.000000e-01 : f32} : (tensor<2048x2048xbf16>) -> tensor<2048x2048xbf16>
  %3 = kernel.constant {value = 0.000000e+00 : f32} : tensor<1x1xbf16>
  %4 = kernel.compare %1, %3 {predicate = "gt"} : (tensor<2048x2048xbf16>, tensor<1x1xbf16>) -> tensor<2048x2048xbf16>
  %5 = kernel.select %4, %1, %2 : (tensor<2048x2048xbf16>, tensor<2048x2048xbf16>, tensor<2048x2048xbf16>) -> tensor<2048x2048xbf16>
  func.return %5 : tensor<2048x2048xbf16>
}
