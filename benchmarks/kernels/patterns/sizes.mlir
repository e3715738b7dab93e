// Norms with linear layers, gated MLPs, LoRA, projections and attention at sizes drawn at random: 4 to 1,536 rows, hidden
// sizes of known models, weights [in, out] and [out, in], masks whose rows have odd lengths.

func.func @s01_norm_linear_12_1536_f16_io(%a0: tensor<12x1536xf16>, %a1: tensor<1536xf16> {kernel.constant}, %a2: tensor<1536x2304xf16> {kernel.constant}) -> (tensor<12x2304xf16>) {
  %0 = kernel.rms_norm %a0, %a1 {eps = 1.0e-05 : f32} : (tensor<12x1536xf16>, tensor<1536xf16>) -> tensor<12x1536xf16>
  %1 = kernel.matmul %0, %a2 : (tensor<12x1536xf16>, tensor<1536x2304xf16>) -> tensor<12x2304xf16>
  func.return %1 : tensor<12x2304xf16>
}

func.func @s02_norm_linear_12_1024_bf16_io(%a0: tensor<12x1024xbf16>, %a1: tensor<1024xbf16> {kernel.constant}, %a2: tensor<1024x1536xbf16> {kernel.constant}) -> (tensor<12x1536xbf16>) {
  %0 = kernel.rms_norm %a0, %a1 {eps = 1.0e-05 : f32} : (tensor<12x1024xbf16>, tensor<1024xbf16>) -> tensor<12x1024xbf16>
  %1 = kernel.matmul %0, %a2 : (tensor<12x1024xbf16>, tensor<1024x1536xbf16>) -> tensor<12x1536xbf16>
  func.return %1 : tensor<12x1536xbf16>
}

func.func @s03_norm_linear_1536_1024_f16_oi(%a0: tensor<1536x1024xf16>, %a1: tensor<1024xf16> {kernel.constant}, %a2: tensor<1024x1024xf16> {kernel.constant}) -> (tensor<1536x1024xf16>) {
  %0 = kernel.rms_norm %a0, %a1 {eps = 1.0e-05 : f32} : (tensor<1536x1024xf16>, tensor<1024xf16>) -> tensor<1536x1024xf16>
  %1 = kernel.transpose %a2 {permutation = array<i64: 1, 0>} : (tensor<1024x1024xf16>) -> tensor<1024x1024xf16>
  %2 = kernel.matmul %0, %1 : (tensor<1536x1024xf16>, tensor<1024x1024xf16>) -> tensor<1536x1024xf16>
  func.return %2 : tensor<1536x1024xf16>
}

func.func @s04_norm_linear_48_6144_f16_io(%a0: tensor<48x6144xf16>, %a1: tensor<6144xf16> {kernel.constant}, %a2: tensor<6144x16384xf16> {kernel.constant}) -> (tensor<48x16384xf16>) {
  %0 = kernel.rms_norm %a0, %a1 {eps = 1.0e-05 : f32} : (tensor<48x6144xf16>, tensor<6144xf16>) -> tensor<48x6144xf16>
  %1 = kernel.matmul %0, %a2 : (tensor<48x6144xf16>, tensor<6144x16384xf16>) -> tensor<48x16384xf16>
  func.return %1 : tensor<48x16384xf16>
}

func.func @s05_norm_linear_640_3072_bf16_io(%a0: tensor<640x3072xbf16>, %a1: tensor<3072xbf16> {kernel.constant}, %a2: tensor<3072x8192xbf16> {kernel.constant}) -> (tensor<640x8192xbf16>) {
  %0 = kernel.rms_norm %a0, %a1 {eps = 1.0e-05 : f32} : (tensor<640x3072xbf16>, tensor<3072xbf16>) -> tensor<640x3072xbf16>
  %1 = kernel.matmul %0, %a2 : (tensor<640x3072xbf16>, tensor<3072x8192xbf16>) -> tensor<640x8192xbf16>
  func.return %1 : tensor<640x8192xbf16>
}

func.func @s06_norm_glu_1_6144_16384_bf16_oi(%a0: tensor<1x6144xbf16>, %a1: tensor<6144xbf16> {kernel.constant}, %a2: tensor<16384x6144xbf16> {kernel.constant}, %a3: tensor<16384x6144xbf16> {kernel.constant}) -> (tensor<1x16384xbf16>) {
  %0 = kernel.rms_norm %a0, %a1 {eps = 1.0e-05 : f32} : (tensor<1x6144xbf16>, tensor<6144xbf16>) -> tensor<1x6144xbf16>
  %1 = kernel.transpose %a2 {permutation = array<i64: 1, 0>} : (tensor<16384x6144xbf16>) -> tensor<6144x16384xbf16>
  %2 = kernel.matmul %0, %1 : (tensor<1x6144xbf16>, tensor<6144x16384xbf16>) -> tensor<1x16384xbf16>
  %3 = kernel.transpose %a3 {permutation = array<i64: 1, 0>} : (tensor<16384x6144xbf16>) -> tensor<6144x16384xbf16>
  %4 = kernel.matmul %0, %3 : (tensor<1x6144xbf16>, tensor<6144x16384xbf16>) -> tensor<1x16384xbf16>
  %5 = kernel.silu %2 : (tensor<1x16384xbf16>) -> tensor<1x16384xbf16>
  %6 = kernel.mul %5, %4 : (tensor<1x16384xbf16>, tensor<1x16384xbf16>) -> tensor<1x16384xbf16>
  func.return %6 : tensor<1x16384xbf16>
}

func.func @s07_norm_glu_12_1024_4096_bf16_oi(%a0: tensor<12x1024xbf16>, %a1: tensor<1024xbf16> {kernel.constant}, %a2: tensor<4096x1024xbf16> {kernel.constant}, %a3: tensor<4096x1024xbf16> {kernel.constant}) -> (tensor<12x4096xbf16>) {
  %0 = kernel.rms_norm %a0, %a1 {eps = 1.0e-05 : f32} : (tensor<12x1024xbf16>, tensor<1024xbf16>) -> tensor<12x1024xbf16>
  %1 = kernel.transpose %a2 {permutation = array<i64: 1, 0>} : (tensor<4096x1024xbf16>) -> tensor<1024x4096xbf16>
  %2 = kernel.matmul %0, %1 : (tensor<12x1024xbf16>, tensor<1024x4096xbf16>) -> tensor<12x4096xbf16>
  %3 = kernel.transpose %a3 {permutation = array<i64: 1, 0>} : (tensor<4096x1024xbf16>) -> tensor<1024x4096xbf16>
  %4 = kernel.matmul %0, %3 : (tensor<12x1024xbf16>, tensor<1024x4096xbf16>) -> tensor<12x4096xbf16>
  %5 = kernel.silu %2 : (tensor<12x4096xbf16>) -> tensor<12x4096xbf16>
  %6 = kernel.mul %5, %4 : (tensor<12x4096xbf16>, tensor<12x4096xbf16>) -> tensor<12x4096xbf16>
  func.return %6 : tensor<12x4096xbf16>
}

func.func @s08_norm_glu_640_2560_10240_bf16_oi(%a0: tensor<640x2560xbf16>, %a1: tensor<2560xbf16> {kernel.constant}, %a2: tensor<10240x2560xbf16> {kernel.constant}, %a3: tensor<10240x2560xbf16> {kernel.constant}) -> (tensor<640x10240xbf16>) {
  %0 = kernel.rms_norm %a0, %a1 {eps = 1.0e-05 : f32} : (tensor<640x2560xbf16>, tensor<2560xbf16>) -> tensor<640x2560xbf16>
  %1 = kernel.transpose %a2 {permutation = array<i64: 1, 0>} : (tensor<10240x2560xbf16>) -> tensor<2560x10240xbf16>
  %2 = kernel.matmul %0, %1 : (tensor<640x2560xbf16>, tensor<2560x10240xbf16>) -> tensor<640x10240xbf16>
  %3 = kernel.transpose %a3 {permutation = array<i64: 1, 0>} : (tensor<10240x2560xbf16>) -> tensor<2560x10240xbf16>
  %4 = kernel.matmul %0, %3 : (tensor<640x2560xbf16>, tensor<2560x10240xbf16>) -> tensor<640x10240xbf16>
  %5 = kernel.silu %2 : (tensor<640x10240xbf16>) -> tensor<640x10240xbf16>
  %6 = kernel.mul %5, %4 : (tensor<640x10240xbf16>, tensor<640x10240xbf16>) -> tensor<640x10240xbf16>
  func.return %6 : tensor<640x10240xbf16>
}

func.func @s09_norm_glu_64_2048_5632_bf16_oi(%a0: tensor<64x2048xbf16>, %a1: tensor<2048xbf16> {kernel.constant}, %a2: tensor<5632x2048xbf16> {kernel.constant}, %a3: tensor<5632x2048xbf16> {kernel.constant}) -> (tensor<64x5632xbf16>) {
  %0 = kernel.rms_norm %a0, %a1 {eps = 1.0e-05 : f32} : (tensor<64x2048xbf16>, tensor<2048xbf16>) -> tensor<64x2048xbf16>
  %1 = kernel.transpose %a2 {permutation = array<i64: 1, 0>} : (tensor<5632x2048xbf16>) -> tensor<2048x5632xbf16>
  %2 = kernel.matmul %0, %1 : (tensor<64x2048xbf16>, tensor<2048x5632xbf16>) -> tensor<64x5632xbf16>
  %3 = kernel.transpose %a3 {permutation = array<i64: 1, 0>} : (tensor<5632x2048xbf16>) -> tensor<2048x5632xbf16>
  %4 = kernel.matmul %0, %3 : (tensor<64x2048xbf16>, tensor<2048x5632xbf16>) -> tensor<64x5632xbf16>
  %5 = kernel.gelu %2 : (tensor<64x5632xbf16>) -> tensor<64x5632xbf16>
  %6 = kernel.mul %5, %4 : (tensor<64x5632xbf16>, tensor<64x5632xbf16>) -> tensor<64x5632xbf16>
  func.return %6 : tensor<64x5632xbf16>
}

func.func @s10_norm_glu_32_8192_28672_bf16_oi(%a0: tensor<32x8192xbf16>, %a1: tensor<8192xbf16> {kernel.constant}, %a2: tensor<28672x8192xbf16> {kernel.constant}, %a3: tensor<28672x8192xbf16> {kernel.constant}) -> (tensor<32x28672xbf16>) {
  %0 = kernel.rms_norm %a0, %a1 {eps = 1.0e-05 : f32} : (tensor<32x8192xbf16>, tensor<8192xbf16>) -> tensor<32x8192xbf16>
  %1 = kernel.transpose %a2 {permutation = array<i64: 1, 0>} : (tensor<28672x8192xbf16>) -> tensor<8192x28672xbf16>
  %2 = kernel.matmul %0, %1 : (tensor<32x8192xbf16>, tensor<8192x28672xbf16>) -> tensor<32x28672xbf16>
  %3 = kernel.transpose %a3 {permutation = array<i64: 1, 0>} : (tensor<28672x8192xbf16>) -> tensor<8192x28672xbf16>
  %4 = kernel.matmul %0, %3 : (tensor<32x8192xbf16>, tensor<8192x28672xbf16>) -> tensor<32x28672xbf16>
  %5 = kernel.silu %2 : (tensor<32x28672xbf16>) -> tensor<32x28672xbf16>
  %6 = kernel.mul %5, %4 : (tensor<32x28672xbf16>, tensor<32x28672xbf16>) -> tensor<32x28672xbf16>
  func.return %6 : tensor<32x28672xbf16>
}

func.func @s11_down_residual_48_13824_5120_f16_oi(%a0: tensor<48x13824xf16>, %a1: tensor<5120x13824xf16> {kernel.constant}, %a2: tensor<5120xf16> {kernel.constant}, %a3: tensor<48x5120xf16>) -> (tensor<48x5120xf16>) {
  %0 = kernel.transpose %a1 {permutation = array<i64: 1, 0>} : (tensor<5120x13824xf16>) -> tensor<13824x5120xf16>
  %1 = kernel.matmul %a0, %0 : (tensor<48x13824xf16>, tensor<13824x5120xf16>) -> tensor<48x5120xf16>
  %2 = kernel.add %1, %a2 : (tensor<48x5120xf16>, tensor<5120xf16>) -> tensor<48x5120xf16>
  %3 = kernel.add %2, %a3 : (tensor<48x5120xf16>, tensor<48x5120xf16>) -> tensor<48x5120xf16>
  func.return %3 : tensor<48x5120xf16>
}

func.func @s12_down_residual_32_13824_5120_bf16_oi(%a0: tensor<32x13824xbf16>, %a1: tensor<5120x13824xbf16> {kernel.constant}, %a2: tensor<32x5120xbf16>) -> (tensor<32x5120xbf16>) {
  %0 = kernel.transpose %a1 {permutation = array<i64: 1, 0>} : (tensor<5120x13824xbf16>) -> tensor<13824x5120xbf16>
  %1 = kernel.matmul %a0, %0 : (tensor<32x13824xbf16>, tensor<13824x5120xbf16>) -> tensor<32x5120xbf16>
  %2 = kernel.add %1, %a2 : (tensor<32x5120xbf16>, tensor<32x5120xbf16>) -> tensor<32x5120xbf16>
  func.return %2 : tensor<32x5120xbf16>
}

func.func @s13_down_residual_12_5632_2048_bf16_oi(%a0: tensor<12x5632xbf16>, %a1: tensor<2048x5632xbf16> {kernel.constant}, %a2: tensor<12x2048xbf16>) -> (tensor<12x2048xbf16>) {
  %0 = kernel.transpose %a1 {permutation = array<i64: 1, 0>} : (tensor<2048x5632xbf16>) -> tensor<5632x2048xbf16>
  %1 = kernel.matmul %a0, %0 : (tensor<12x5632xbf16>, tensor<5632x2048xbf16>) -> tensor<12x2048xbf16>
  %2 = kernel.add %1, %a2 : (tensor<12x2048xbf16>, tensor<12x2048xbf16>) -> tensor<12x2048xbf16>
  func.return %2 : tensor<12x2048xbf16>
}

func.func @s14_down_residual_32_16384_6144_bf16_oi(%a0: tensor<32x16384xbf16>, %a1: tensor<6144x16384xbf16> {kernel.constant}, %a2: tensor<32x6144xbf16>) -> (tensor<32x6144xbf16>) {
  %0 = kernel.transpose %a1 {permutation = array<i64: 1, 0>} : (tensor<6144x16384xbf16>) -> tensor<16384x6144xbf16>
  %1 = kernel.matmul %a0, %0 : (tensor<32x16384xbf16>, tensor<16384x6144xbf16>) -> tensor<32x6144xbf16>
  %2 = kernel.add %1, %a2 : (tensor<32x6144xbf16>, tensor<32x6144xbf16>) -> tensor<32x6144xbf16>
  func.return %2 : tensor<32x6144xbf16>
}

func.func @s15_down_residual_1536_28672_8192_bf16_oi(%a0: tensor<1536x28672xbf16>, %a1: tensor<8192x28672xbf16> {kernel.constant}, %a2: tensor<8192xbf16> {kernel.constant}, %a3: tensor<1536x8192xbf16>) -> (tensor<1536x8192xbf16>) {
  %0 = kernel.transpose %a1 {permutation = array<i64: 1, 0>} : (tensor<8192x28672xbf16>) -> tensor<28672x8192xbf16>
  %1 = kernel.matmul %a0, %0 : (tensor<1536x28672xbf16>, tensor<28672x8192xbf16>) -> tensor<1536x8192xbf16>
  %2 = kernel.add %1, %a2 : (tensor<1536x8192xbf16>, tensor<8192xbf16>) -> tensor<1536x8192xbf16>
  %3 = kernel.add %2, %a3 : (tensor<1536x8192xbf16>, tensor<1536x8192xbf16>) -> tensor<1536x8192xbf16>
  func.return %3 : tensor<1536x8192xbf16>
}

func.func @s16_fc_gelu_100_2560_10240_f16_oi(%a0: tensor<100x2560xf16>, %a1: tensor<2560xf16> {kernel.constant}, %a2: tensor<2560xf16> {kernel.constant}, %a3: tensor<10240x2560xf16> {kernel.constant}, %a4: tensor<10240xf16> {kernel.constant}) -> (tensor<100x10240xf16>) {
  %0 = kernel.layer_norm %a0, %a1, %a2 {eps = 1.0e-05 : f32} : (tensor<100x2560xf16>, tensor<2560xf16>, tensor<2560xf16>) -> tensor<100x2560xf16>
  %1 = kernel.transpose %a3 {permutation = array<i64: 1, 0>} : (tensor<10240x2560xf16>) -> tensor<2560x10240xf16>
  %2 = kernel.matmul %0, %1 : (tensor<100x2560xf16>, tensor<2560x10240xf16>) -> tensor<100x10240xf16>
  %3 = kernel.add %2, %a4 : (tensor<100x10240xf16>, tensor<10240xf16>) -> tensor<100x10240xf16>
  %4 = kernel.gelu %3 : (tensor<100x10240xf16>) -> tensor<100x10240xf16>
  func.return %4 : tensor<100x10240xf16>
}

func.func @s17_fc_gelu_64_768_3072_f16_oi(%a0: tensor<64x768xf16>, %a1: tensor<768xf16> {kernel.constant}, %a2: tensor<768xf16> {kernel.constant}, %a3: tensor<3072x768xf16> {kernel.constant}, %a4: tensor<3072xf16> {kernel.constant}) -> (tensor<64x3072xf16>) {
  %0 = kernel.layer_norm %a0, %a1, %a2 {eps = 1.0e-05 : f32} : (tensor<64x768xf16>, tensor<768xf16>, tensor<768xf16>) -> tensor<64x768xf16>
  %1 = kernel.transpose %a3 {permutation = array<i64: 1, 0>} : (tensor<3072x768xf16>) -> tensor<768x3072xf16>
  %2 = kernel.matmul %0, %1 : (tensor<64x768xf16>, tensor<768x3072xf16>) -> tensor<64x3072xf16>
  %3 = kernel.add %2, %a4 : (tensor<64x3072xf16>, tensor<3072xf16>) -> tensor<64x3072xf16>
  %4 = kernel.gelu %3 : (tensor<64x3072xf16>) -> tensor<64x3072xf16>
  func.return %4 : tensor<64x3072xf16>
}

func.func @s18_fc_gelu_64_768_3072_f16_oi(%a0: tensor<64x768xf16>, %a1: tensor<768xf16> {kernel.constant}, %a2: tensor<768xf16> {kernel.constant}, %a3: tensor<3072x768xf16> {kernel.constant}, %a4: tensor<3072xf16> {kernel.constant}) -> (tensor<64x3072xf16>) {
  %0 = kernel.layer_norm %a0, %a1, %a2 {eps = 1.0e-05 : f32} : (tensor<64x768xf16>, tensor<768xf16>, tensor<768xf16>) -> tensor<64x768xf16>
  %1 = kernel.transpose %a3 {permutation = array<i64: 1, 0>} : (tensor<3072x768xf16>) -> tensor<768x3072xf16>
  %2 = kernel.matmul %0, %1 : (tensor<64x768xf16>, tensor<768x3072xf16>) -> tensor<64x3072xf16>
  %3 = kernel.add %2, %a4 : (tensor<64x3072xf16>, tensor<3072xf16>) -> tensor<64x3072xf16>
  %4 = kernel.gelu %3 : (tensor<64x3072xf16>) -> tensor<64x3072xf16>
  func.return %4 : tensor<64x3072xf16>
}

func.func @s19_fc_gelu_24_896_4864_f16_oi(%a0: tensor<24x896xf16>, %a1: tensor<896xf16> {kernel.constant}, %a2: tensor<896xf16> {kernel.constant}, %a3: tensor<4864x896xf16> {kernel.constant}, %a4: tensor<4864xf16> {kernel.constant}) -> (tensor<24x4864xf16>) {
  %0 = kernel.layer_norm %a0, %a1, %a2 {eps = 1.0e-05 : f32} : (tensor<24x896xf16>, tensor<896xf16>, tensor<896xf16>) -> tensor<24x896xf16>
  %1 = kernel.transpose %a3 {permutation = array<i64: 1, 0>} : (tensor<4864x896xf16>) -> tensor<896x4864xf16>
  %2 = kernel.matmul %0, %1 : (tensor<24x896xf16>, tensor<896x4864xf16>) -> tensor<24x4864xf16>
  %3 = kernel.add %2, %a4 : (tensor<24x4864xf16>, tensor<4864xf16>) -> tensor<24x4864xf16>
  %4 = kernel.gelu %3 : (tensor<24x4864xf16>) -> tensor<24x4864xf16>
  func.return %4 : tensor<24x4864xf16>
}

func.func @s20_lora_48_896_16_bf16_io(%a0: tensor<48x896xbf16>, %a1: tensor<896x896xbf16> {kernel.constant}, %a2: tensor<896x16xbf16> {kernel.constant}, %a3: tensor<16x896xbf16> {kernel.constant}) -> (tensor<48x896xbf16>) {
  %0 = kernel.matmul %a0, %a1 : (tensor<48x896xbf16>, tensor<896x896xbf16>) -> tensor<48x896xbf16>
  %1 = kernel.matmul %a0, %a2 : (tensor<48x896xbf16>, tensor<896x16xbf16>) -> tensor<48x16xbf16>
  %2 = kernel.matmul %1, %a3 : (tensor<48x16xbf16>, tensor<16x896xbf16>) -> tensor<48x896xbf16>
  %3 = kernel.scale %2 {factor = 2.0 : f32} : (tensor<48x896xbf16>) -> tensor<48x896xbf16>
  %4 = kernel.add %0, %3 : (tensor<48x896xbf16>, tensor<48x896xbf16>) -> tensor<48x896xbf16>
  func.return %4 : tensor<48x896xbf16>
}

func.func @s21_lora_100_768_16_f16_oi(%a0: tensor<100x768xf16>, %a1: tensor<768x768xf16> {kernel.constant}, %a2: tensor<16x768xf16> {kernel.constant}, %a3: tensor<768x16xf16> {kernel.constant}) -> (tensor<100x768xf16>) {
  %0 = kernel.transpose %a1 {permutation = array<i64: 1, 0>} : (tensor<768x768xf16>) -> tensor<768x768xf16>
  %1 = kernel.matmul %a0, %0 : (tensor<100x768xf16>, tensor<768x768xf16>) -> tensor<100x768xf16>
  %2 = kernel.transpose %a2 {permutation = array<i64: 1, 0>} : (tensor<16x768xf16>) -> tensor<768x16xf16>
  %3 = kernel.matmul %a0, %2 : (tensor<100x768xf16>, tensor<768x16xf16>) -> tensor<100x16xf16>
  %4 = kernel.transpose %a3 {permutation = array<i64: 1, 0>} : (tensor<768x16xf16>) -> tensor<16x768xf16>
  %5 = kernel.matmul %3, %4 : (tensor<100x16xf16>, tensor<16x768xf16>) -> tensor<100x768xf16>
  %6 = kernel.scale %5 {factor = 2.0 : f32} : (tensor<100x768xf16>) -> tensor<100x768xf16>
  %7 = kernel.add %1, %6 : (tensor<100x768xf16>, tensor<100x768xf16>) -> tensor<100x768xf16>
  func.return %7 : tensor<100x768xf16>
}

func.func @s22_lora_384_1024_8_f16_oi(%a0: tensor<384x1024xf16>, %a1: tensor<1024x1024xf16> {kernel.constant}, %a2: tensor<8x1024xf16> {kernel.constant}, %a3: tensor<1024x8xf16> {kernel.constant}) -> (tensor<384x1024xf16>) {
  %0 = kernel.transpose %a1 {permutation = array<i64: 1, 0>} : (tensor<1024x1024xf16>) -> tensor<1024x1024xf16>
  %1 = kernel.matmul %a0, %0 : (tensor<384x1024xf16>, tensor<1024x1024xf16>) -> tensor<384x1024xf16>
  %2 = kernel.transpose %a2 {permutation = array<i64: 1, 0>} : (tensor<8x1024xf16>) -> tensor<1024x8xf16>
  %3 = kernel.matmul %a0, %2 : (tensor<384x1024xf16>, tensor<1024x8xf16>) -> tensor<384x8xf16>
  %4 = kernel.transpose %a3 {permutation = array<i64: 1, 0>} : (tensor<1024x8xf16>) -> tensor<8x1024xf16>
  %5 = kernel.matmul %3, %4 : (tensor<384x8xf16>, tensor<8x1024xf16>) -> tensor<384x1024xf16>
  %6 = kernel.scale %5 {factor = 2.0 : f32} : (tensor<384x1024xf16>) -> tensor<384x1024xf16>
  %7 = kernel.add %1, %6 : (tensor<384x1024xf16>, tensor<384x1024xf16>) -> tensor<384x1024xf16>
  func.return %7 : tensor<384x1024xf16>
}

func.func @s23_lora_12_6144_8_bf16_oi(%a0: tensor<12x6144xbf16>, %a1: tensor<6144x6144xbf16> {kernel.constant}, %a2: tensor<8x6144xbf16> {kernel.constant}, %a3: tensor<6144x8xbf16> {kernel.constant}) -> (tensor<12x6144xbf16>) {
  %0 = kernel.transpose %a1 {permutation = array<i64: 1, 0>} : (tensor<6144x6144xbf16>) -> tensor<6144x6144xbf16>
  %1 = kernel.matmul %a0, %0 : (tensor<12x6144xbf16>, tensor<6144x6144xbf16>) -> tensor<12x6144xbf16>
  %2 = kernel.transpose %a2 {permutation = array<i64: 1, 0>} : (tensor<8x6144xbf16>) -> tensor<6144x8xbf16>
  %3 = kernel.matmul %a0, %2 : (tensor<12x6144xbf16>, tensor<6144x8xbf16>) -> tensor<12x8xbf16>
  %4 = kernel.transpose %a3 {permutation = array<i64: 1, 0>} : (tensor<6144x8xbf16>) -> tensor<8x6144xbf16>
  %5 = kernel.matmul %3, %4 : (tensor<12x8xbf16>, tensor<8x6144xbf16>) -> tensor<12x6144xbf16>
  %6 = kernel.scale %5 {factor = 2.0 : f32} : (tensor<12x6144xbf16>) -> tensor<12x6144xbf16>
  %7 = kernel.add %1, %6 : (tensor<12x6144xbf16>, tensor<12x6144xbf16>) -> tensor<12x6144xbf16>
  func.return %7 : tensor<12x6144xbf16>
}

func.func @s24_add_norm_qkv_100_5120_f16_oi(%a0: tensor<100x5120xf16>, %a1: tensor<100x5120xf16>, %a2: tensor<5120xf16> {kernel.constant}, %a3: tensor<5120x5120xf16> {kernel.constant}, %a4: tensor<1280x5120xf16> {kernel.constant}, %a5: tensor<1280x5120xf16> {kernel.constant}) -> (tensor<100x5120xf16>, tensor<100x5120xf16>, tensor<100x1280xf16>, tensor<100x1280xf16>) {
  %0 = kernel.add %a0, %a1 : (tensor<100x5120xf16>, tensor<100x5120xf16>) -> tensor<100x5120xf16>
  %1 = kernel.rms_norm %0, %a2 {eps = 1.0e-05 : f32} : (tensor<100x5120xf16>, tensor<5120xf16>) -> tensor<100x5120xf16>
  %2 = kernel.transpose %a3 {permutation = array<i64: 1, 0>} : (tensor<5120x5120xf16>) -> tensor<5120x5120xf16>
  %3 = kernel.matmul %1, %2 : (tensor<100x5120xf16>, tensor<5120x5120xf16>) -> tensor<100x5120xf16>
  %4 = kernel.transpose %a4 {permutation = array<i64: 1, 0>} : (tensor<1280x5120xf16>) -> tensor<5120x1280xf16>
  %5 = kernel.matmul %1, %4 : (tensor<100x5120xf16>, tensor<5120x1280xf16>) -> tensor<100x1280xf16>
  %6 = kernel.transpose %a5 {permutation = array<i64: 1, 0>} : (tensor<1280x5120xf16>) -> tensor<5120x1280xf16>
  %7 = kernel.matmul %1, %6 : (tensor<100x5120xf16>, tensor<5120x1280xf16>) -> tensor<100x1280xf16>
  func.return %0, %3, %5, %7 : tensor<100x5120xf16>, tensor<100x5120xf16>, tensor<100x1280xf16>, tensor<100x1280xf16>
}

func.func @s25_add_norm_qkv_384_3584_bf16_io(%a0: tensor<384x3584xbf16>, %a1: tensor<384x3584xbf16>, %a2: tensor<3584xbf16> {kernel.constant}, %a3: tensor<3584x3584xbf16> {kernel.constant}, %a4: tensor<3584x896xbf16> {kernel.constant}, %a5: tensor<3584x896xbf16> {kernel.constant}) -> (tensor<384x3584xbf16>, tensor<384x3584xbf16>, tensor<384x896xbf16>, tensor<384x896xbf16>) {
  %0 = kernel.add %a0, %a1 : (tensor<384x3584xbf16>, tensor<384x3584xbf16>) -> tensor<384x3584xbf16>
  %1 = kernel.rms_norm %0, %a2 {eps = 1.0e-05 : f32} : (tensor<384x3584xbf16>, tensor<3584xbf16>) -> tensor<384x3584xbf16>
  %2 = kernel.matmul %1, %a3 : (tensor<384x3584xbf16>, tensor<3584x3584xbf16>) -> tensor<384x3584xbf16>
  %3 = kernel.matmul %1, %a4 : (tensor<384x3584xbf16>, tensor<3584x896xbf16>) -> tensor<384x896xbf16>
  %4 = kernel.matmul %1, %a5 : (tensor<384x3584xbf16>, tensor<3584x896xbf16>) -> tensor<384x896xbf16>
  func.return %0, %2, %3, %4 : tensor<384x3584xbf16>, tensor<384x3584xbf16>, tensor<384x896xbf16>, tensor<384x896xbf16>
}

func.func @s26_add_norm_qkv_384_2560_f16_io(%a0: tensor<384x2560xf16>, %a1: tensor<384x2560xf16>, %a2: tensor<2560xf16> {kernel.constant}, %a3: tensor<2560x2560xf16> {kernel.constant}, %a4: tensor<2560x640xf16> {kernel.constant}, %a5: tensor<2560x640xf16> {kernel.constant}) -> (tensor<384x2560xf16>, tensor<384x2560xf16>, tensor<384x640xf16>, tensor<384x640xf16>) {
  %0 = kernel.add %a0, %a1 : (tensor<384x2560xf16>, tensor<384x2560xf16>) -> tensor<384x2560xf16>
  %1 = kernel.rms_norm %0, %a2 {eps = 1.0e-05 : f32} : (tensor<384x2560xf16>, tensor<2560xf16>) -> tensor<384x2560xf16>
  %2 = kernel.matmul %1, %a3 : (tensor<384x2560xf16>, tensor<2560x2560xf16>) -> tensor<384x2560xf16>
  %3 = kernel.matmul %1, %a4 : (tensor<384x2560xf16>, tensor<2560x640xf16>) -> tensor<384x640xf16>
  %4 = kernel.matmul %1, %a5 : (tensor<384x2560xf16>, tensor<2560x640xf16>) -> tensor<384x640xf16>
  func.return %0, %2, %3, %4 : tensor<384x2560xf16>, tensor<384x2560xf16>, tensor<384x640xf16>, tensor<384x640xf16>
}

func.func @s27_add_norm_qkv_256_2048_f16_oi(%a0: tensor<256x2048xf16>, %a1: tensor<256x2048xf16>, %a2: tensor<2048xf16> {kernel.constant}, %a3: tensor<2048x2048xf16> {kernel.constant}, %a4: tensor<512x2048xf16> {kernel.constant}, %a5: tensor<512x2048xf16> {kernel.constant}) -> (tensor<256x2048xf16>, tensor<256x2048xf16>, tensor<256x512xf16>, tensor<256x512xf16>) {
  %0 = kernel.add %a0, %a1 : (tensor<256x2048xf16>, tensor<256x2048xf16>) -> tensor<256x2048xf16>
  %1 = kernel.rms_norm %0, %a2 {eps = 1.0e-05 : f32} : (tensor<256x2048xf16>, tensor<2048xf16>) -> tensor<256x2048xf16>
  %2 = kernel.transpose %a3 {permutation = array<i64: 1, 0>} : (tensor<2048x2048xf16>) -> tensor<2048x2048xf16>
  %3 = kernel.matmul %1, %2 : (tensor<256x2048xf16>, tensor<2048x2048xf16>) -> tensor<256x2048xf16>
  %4 = kernel.transpose %a4 {permutation = array<i64: 1, 0>} : (tensor<512x2048xf16>) -> tensor<2048x512xf16>
  %5 = kernel.matmul %1, %4 : (tensor<256x2048xf16>, tensor<2048x512xf16>) -> tensor<256x512xf16>
  %6 = kernel.transpose %a5 {permutation = array<i64: 1, 0>} : (tensor<512x2048xf16>) -> tensor<2048x512xf16>
  %7 = kernel.matmul %1, %6 : (tensor<256x2048xf16>, tensor<2048x512xf16>) -> tensor<256x512xf16>
  func.return %0, %3, %5, %7 : tensor<256x2048xf16>, tensor<256x2048xf16>, tensor<256x512xf16>, tensor<256x512xf16>
}

func.func @s28_attention_4_8_1_577_80_bf16(%a0: tensor<4x8x1x80xbf16>, %a1: tensor<4x8x577x80xbf16>, %a2: tensor<4x8x577x80xbf16>) -> (tensor<4x8x1x80xbf16>) {
  %0 = kernel.transpose %a1 {permutation = array<i64: 0, 1, 3, 2>} : (tensor<4x8x577x80xbf16>) -> tensor<4x8x80x577xbf16>
  %1 = kernel.matmul %a0, %0 : (tensor<4x8x1x80xbf16>, tensor<4x8x80x577xbf16>) -> tensor<4x8x1x577xbf16>
  %2 = kernel.scale %1 {factor = 0.111803 : f32} : (tensor<4x8x1x577xbf16>) -> tensor<4x8x1x577xbf16>
  %3 = kernel.softmax %2 {dim = 3 : i64} : (tensor<4x8x1x577xbf16>) -> tensor<4x8x1x577xbf16>
  %4 = kernel.matmul %3, %a2 : (tensor<4x8x1x577xbf16>, tensor<4x8x577x80xbf16>) -> tensor<4x8x1x80xbf16>
  func.return %4 : tensor<4x8x1x80xbf16>
}

func.func @s29_attention_4_16_1_256_64_bf16(%a0: tensor<4x16x1x64xbf16>, %a1: tensor<4x16x256x64xbf16>, %a2: tensor<4x16x256x64xbf16>) -> (tensor<4x16x1x64xbf16>) {
  %0 = kernel.transpose %a1 {permutation = array<i64: 0, 1, 3, 2>} : (tensor<4x16x256x64xbf16>) -> tensor<4x16x64x256xbf16>
  %1 = kernel.matmul %a0, %0 : (tensor<4x16x1x64xbf16>, tensor<4x16x64x256xbf16>) -> tensor<4x16x1x256xbf16>
  %2 = kernel.scale %1 {factor = 0.125000 : f32} : (tensor<4x16x1x256xbf16>) -> tensor<4x16x1x256xbf16>
  %3 = kernel.softmax %2 {dim = 3 : i64} : (tensor<4x16x1x256xbf16>) -> tensor<4x16x1x256xbf16>
  %4 = kernel.matmul %3, %a2 : (tensor<4x16x1x256xbf16>, tensor<4x16x256x64xbf16>) -> tensor<4x16x1x64xbf16>
  func.return %4 : tensor<4x16x1x64xbf16>
}

func.func @s30_attention_4_8_197_197_64_bf16(%a0: tensor<4x8x197x64xbf16>, %a1: tensor<4x8x197x64xbf16>, %a2: tensor<4x8x197x64xbf16>, %a3: tensor<4x1x197x197xbf16>) -> (tensor<4x8x197x64xbf16>) {
  %0 = kernel.transpose %a1 {permutation = array<i64: 0, 1, 3, 2>} : (tensor<4x8x197x64xbf16>) -> tensor<4x8x64x197xbf16>
  %1 = kernel.matmul %a0, %0 : (tensor<4x8x197x64xbf16>, tensor<4x8x64x197xbf16>) -> tensor<4x8x197x197xbf16>
  %2 = kernel.scale %1 {factor = 0.125000 : f32} : (tensor<4x8x197x197xbf16>) -> tensor<4x8x197x197xbf16>
  %3 = kernel.add %2, %a3 : (tensor<4x8x197x197xbf16>, tensor<4x1x197x197xbf16>) -> tensor<4x8x197x197xbf16>
  %4 = kernel.softmax %3 {dim = 3 : i64} : (tensor<4x8x197x197xbf16>) -> tensor<4x8x197x197xbf16>
  %5 = kernel.matmul %4, %a2 : (tensor<4x8x197x197xbf16>, tensor<4x8x197x64xbf16>) -> tensor<4x8x197x64xbf16>
  func.return %5 : tensor<4x8x197x64xbf16>
}

func.func @s31_attention_1_8_1_2048_80_f16(%a0: tensor<1x8x1x80xf16>, %a1: tensor<1x8x2048x80xf16>, %a2: tensor<1x8x2048x80xf16>) -> (tensor<1x8x1x80xf16>) {
  %0 = kernel.transpose %a1 {permutation = array<i64: 0, 1, 3, 2>} : (tensor<1x8x2048x80xf16>) -> tensor<1x8x80x2048xf16>
  %1 = kernel.matmul %a0, %0 : (tensor<1x8x1x80xf16>, tensor<1x8x80x2048xf16>) -> tensor<1x8x1x2048xf16>
  %2 = kernel.scale %1 {factor = 0.111803 : f32} : (tensor<1x8x1x2048xf16>) -> tensor<1x8x1x2048xf16>
  %3 = kernel.softmax %2 {dim = 3 : i64} : (tensor<1x8x1x2048xf16>) -> tensor<1x8x1x2048xf16>
  %4 = kernel.matmul %3, %a2 : (tensor<1x8x1x2048xf16>, tensor<1x8x2048x80xf16>) -> tensor<1x8x1x80xf16>
  func.return %4 : tensor<1x8x1x80xf16>
}

func.func @s32_attention_2_8_8_256_128_bf16(%a0: tensor<2x8x8x128xbf16>, %a1: tensor<2x8x256x128xbf16>, %a2: tensor<2x8x256x128xbf16>, %a3: tensor<2x1x8x256xbf16>) -> (tensor<2x8x8x128xbf16>) {
  %0 = kernel.transpose %a1 {permutation = array<i64: 0, 1, 3, 2>} : (tensor<2x8x256x128xbf16>) -> tensor<2x8x128x256xbf16>
  %1 = kernel.matmul %a0, %0 : (tensor<2x8x8x128xbf16>, tensor<2x8x128x256xbf16>) -> tensor<2x8x8x256xbf16>
  %2 = kernel.scale %1 {factor = 0.088388 : f32} : (tensor<2x8x8x256xbf16>) -> tensor<2x8x8x256xbf16>
  %3 = kernel.add %2, %a3 : (tensor<2x8x8x256xbf16>, tensor<2x1x8x256xbf16>) -> tensor<2x8x8x256xbf16>
  %4 = kernel.softmax %3 {dim = 3 : i64} : (tensor<2x8x8x256xbf16>) -> tensor<2x8x8x256xbf16>
  %5 = kernel.matmul %4, %a2 : (tensor<2x8x8x256xbf16>, tensor<2x8x256x128xbf16>) -> tensor<2x8x8x128xbf16>
  func.return %5 : tensor<2x8x8x128xbf16>
}

func.func @s33_attention_1_12_577_577_96_f16(%a0: tensor<1x12x577x96xf16>, %a1: tensor<1x12x577x96xf16>, %a2: tensor<1x12x577x96xf16>, %a3: tensor<1x1x577x577xf16>) -> (tensor<1x12x577x96xf16>) {
  %0 = kernel.transpose %a1 {permutation = array<i64: 0, 1, 3, 2>} : (tensor<1x12x577x96xf16>) -> tensor<1x12x96x577xf16>
  %1 = kernel.matmul %a0, %0 : (tensor<1x12x577x96xf16>, tensor<1x12x96x577xf16>) -> tensor<1x12x577x577xf16>
  %2 = kernel.scale %1 {factor = 0.102062 : f32} : (tensor<1x12x577x577xf16>) -> tensor<1x12x577x577xf16>
  %3 = kernel.add %2, %a3 : (tensor<1x12x577x577xf16>, tensor<1x1x577x577xf16>) -> tensor<1x12x577x577xf16>
  %4 = kernel.softmax %3 {dim = 3 : i64} : (tensor<1x12x577x577xf16>) -> tensor<1x12x577x577xf16>
  %5 = kernel.matmul %4, %a2 : (tensor<1x12x577x577xf16>, tensor<1x12x577x96xf16>) -> tensor<1x12x577x96xf16>
  func.return %5 : tensor<1x12x577x96xf16>
}

func.func @s34_attention_2_16_77_77_64_bf16(%a0: tensor<2x16x77x64xbf16>, %a1: tensor<2x16x77x64xbf16>, %a2: tensor<2x16x77x64xbf16>, %a3: tensor<2x1x77x77xbf16>) -> (tensor<2x16x77x64xbf16>) {
  %0 = kernel.transpose %a1 {permutation = array<i64: 0, 1, 3, 2>} : (tensor<2x16x77x64xbf16>) -> tensor<2x16x64x77xbf16>
  %1 = kernel.matmul %a0, %0 : (tensor<2x16x77x64xbf16>, tensor<2x16x64x77xbf16>) -> tensor<2x16x77x77xbf16>
  %2 = kernel.scale %1 {factor = 0.125000 : f32} : (tensor<2x16x77x77xbf16>) -> tensor<2x16x77x77xbf16>
  %3 = kernel.add %2, %a3 : (tensor<2x16x77x77xbf16>, tensor<2x1x77x77xbf16>) -> tensor<2x16x77x77xbf16>
  %4 = kernel.softmax %3 {dim = 3 : i64} : (tensor<2x16x77x77xbf16>) -> tensor<2x16x77x77xbf16>
  %5 = kernel.matmul %4, %a2 : (tensor<2x16x77x77xbf16>, tensor<2x16x77x64xbf16>) -> tensor<2x16x77x64xbf16>
  func.return %5 : tensor<2x16x77x64xbf16>
}

func.func @s35_mlp_4_8192_8192_bf16_oi(%a0: tensor<4x8192xbf16>, %a1: tensor<8192x8192xbf16> {kernel.constant}, %a2: tensor<8192xbf16> {kernel.constant}, %a3: tensor<8192x8192xbf16> {kernel.constant}, %a4: tensor<8192xbf16> {kernel.constant}) -> (tensor<4x8192xbf16>) {
  %0 = kernel.transpose %a1 {permutation = array<i64: 1, 0>} : (tensor<8192x8192xbf16>) -> tensor<8192x8192xbf16>
  %1 = kernel.matmul %a0, %0 : (tensor<4x8192xbf16>, tensor<8192x8192xbf16>) -> tensor<4x8192xbf16>
  %2 = kernel.add %1, %a2 : (tensor<4x8192xbf16>, tensor<8192xbf16>) -> tensor<4x8192xbf16>
  %3 = kernel.silu %2 : (tensor<4x8192xbf16>) -> tensor<4x8192xbf16>
  %4 = kernel.transpose %a3 {permutation = array<i64: 1, 0>} : (tensor<8192x8192xbf16>) -> tensor<8192x8192xbf16>
  %5 = kernel.matmul %3, %4 : (tensor<4x8192xbf16>, tensor<8192x8192xbf16>) -> tensor<4x8192xbf16>
  %6 = kernel.add %5, %a4 : (tensor<4x8192xbf16>, tensor<8192xbf16>) -> tensor<4x8192xbf16>
  func.return %6 : tensor<4x8192xbf16>
}

func.func @s36_mlp_48_768_3072_f16_oi(%a0: tensor<48x768xf16>, %a1: tensor<3072x768xf16> {kernel.constant}, %a2: tensor<3072xf16> {kernel.constant}, %a3: tensor<768x3072xf16> {kernel.constant}, %a4: tensor<768xf16> {kernel.constant}) -> (tensor<48x768xf16>) {
  %0 = kernel.transpose %a1 {permutation = array<i64: 1, 0>} : (tensor<3072x768xf16>) -> tensor<768x3072xf16>
  %1 = kernel.matmul %a0, %0 : (tensor<48x768xf16>, tensor<768x3072xf16>) -> tensor<48x3072xf16>
  %2 = kernel.add %1, %a2 : (tensor<48x3072xf16>, tensor<3072xf16>) -> tensor<48x3072xf16>
  %3 = kernel.silu %2 : (tensor<48x3072xf16>) -> tensor<48x3072xf16>
  %4 = kernel.transpose %a3 {permutation = array<i64: 1, 0>} : (tensor<768x3072xf16>) -> tensor<3072x768xf16>
  %5 = kernel.matmul %3, %4 : (tensor<48x3072xf16>, tensor<3072x768xf16>) -> tensor<48x768xf16>
  %6 = kernel.add %5, %a4 : (tensor<48x768xf16>, tensor<768xf16>) -> tensor<48x768xf16>
  func.return %6 : tensor<48x768xf16>
}

func.func @s37_mlp_32_768_3072_bf16_io(%a0: tensor<32x768xbf16>, %a1: tensor<768x3072xbf16> {kernel.constant}, %a2: tensor<3072xbf16> {kernel.constant}, %a3: tensor<3072x768xbf16> {kernel.constant}, %a4: tensor<768xbf16> {kernel.constant}) -> (tensor<32x768xbf16>) {
  %0 = kernel.matmul %a0, %a1 : (tensor<32x768xbf16>, tensor<768x3072xbf16>) -> tensor<32x3072xbf16>
  %1 = kernel.add %0, %a2 : (tensor<32x3072xbf16>, tensor<3072xbf16>) -> tensor<32x3072xbf16>
  %2 = kernel.relu %1 : (tensor<32x3072xbf16>) -> tensor<32x3072xbf16>
  %3 = kernel.matmul %2, %a3 : (tensor<32x3072xbf16>, tensor<3072x768xbf16>) -> tensor<32x768xbf16>
  %4 = kernel.add %3, %a4 : (tensor<32x768xbf16>, tensor<768xbf16>) -> tensor<32x768xbf16>
  func.return %4 : tensor<32x768xbf16>
}

func.func @s38_residual_norm_lin_act_1536_768_f16_io(%a0: tensor<1536x768xf16>, %a1: tensor<1536x768xf16>, %a2: tensor<768xf16> {kernel.constant}, %a3: tensor<768xf16> {kernel.constant}, %a4: tensor<768x384xf16> {kernel.constant}, %a5: tensor<384xf16> {kernel.constant}) -> (tensor<1536x768xf16>, tensor<1536x384xf16>) {
  %0 = kernel.add %a1, %a0 : (tensor<1536x768xf16>, tensor<1536x768xf16>) -> tensor<1536x768xf16>
  %1 = kernel.layer_norm %0, %a2, %a3 {eps = 1.0e-05 : f32} : (tensor<1536x768xf16>, tensor<768xf16>, tensor<768xf16>) -> tensor<1536x768xf16>
  %2 = kernel.matmul %1, %a4 : (tensor<1536x768xf16>, tensor<768x384xf16>) -> tensor<1536x384xf16>
  %3 = kernel.add %2, %a5 : (tensor<1536x384xf16>, tensor<384xf16>) -> tensor<1536x384xf16>
  %4 = kernel.sigmoid %3 : (tensor<1536x384xf16>) -> tensor<1536x384xf16>
  func.return %0, %4 : tensor<1536x768xf16>, tensor<1536x384xf16>
}

func.func @s39_residual_norm_lin_act_100_8192_f16_oi(%a0: tensor<100x8192xf16>, %a1: tensor<100x8192xf16>, %a2: tensor<8192xf16> {kernel.constant}, %a3: tensor<8192xf16> {kernel.constant}, %a4: tensor<4096x8192xf16> {kernel.constant}, %a5: tensor<4096xf16> {kernel.constant}) -> (tensor<100x8192xf16>, tensor<100x4096xf16>) {
  %0 = kernel.add %a1, %a0 : (tensor<100x8192xf16>, tensor<100x8192xf16>) -> tensor<100x8192xf16>
  %1 = kernel.layer_norm %0, %a2, %a3 {eps = 1.0e-05 : f32} : (tensor<100x8192xf16>, tensor<8192xf16>, tensor<8192xf16>) -> tensor<100x8192xf16>
  %2 = kernel.transpose %a4 {permutation = array<i64: 1, 0>} : (tensor<4096x8192xf16>) -> tensor<8192x4096xf16>
  %3 = kernel.matmul %1, %2 : (tensor<100x8192xf16>, tensor<8192x4096xf16>) -> tensor<100x4096xf16>
  %4 = kernel.add %3, %a5 : (tensor<100x4096xf16>, tensor<4096xf16>) -> tensor<100x4096xf16>
  %5 = kernel.sigmoid %4 : (tensor<100x4096xf16>) -> tensor<100x4096xf16>
  func.return %0, %5 : tensor<100x8192xf16>, tensor<100x4096xf16>
}

func.func @s40_residual_norm_lin_act_64_896_bf16_oi(%a0: tensor<64x896xbf16>, %a1: tensor<64x896xbf16>, %a2: tensor<896xbf16> {kernel.constant}, %a3: tensor<896xbf16> {kernel.constant}, %a4: tensor<448x896xbf16> {kernel.constant}, %a5: tensor<448xbf16> {kernel.constant}) -> (tensor<64x896xbf16>, tensor<64x448xbf16>) {
  %0 = kernel.add %a1, %a0 : (tensor<64x896xbf16>, tensor<64x896xbf16>) -> tensor<64x896xbf16>
  %1 = kernel.layer_norm %0, %a2, %a3 {eps = 1.0e-05 : f32} : (tensor<64x896xbf16>, tensor<896xbf16>, tensor<896xbf16>) -> tensor<64x896xbf16>
  %2 = kernel.transpose %a4 {permutation = array<i64: 1, 0>} : (tensor<448x896xbf16>) -> tensor<896x448xbf16>
  %3 = kernel.matmul %1, %2 : (tensor<64x896xbf16>, tensor<896x448xbf16>) -> tensor<64x448xbf16>
  %4 = kernel.add %3, %a5 : (tensor<64x448xbf16>, tensor<448xbf16>) -> tensor<64x448xbf16>
  %5 = kernel.sigmoid %4 : (tensor<64x448xbf16>) -> tensor<64x448xbf16>
  func.return %0, %5 : tensor<64x896xbf16>, tensor<64x448xbf16>
}
