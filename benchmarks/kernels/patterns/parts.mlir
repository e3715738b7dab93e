// Parts of models of other sizes: what takes long in a step, losses, and stencils.

func.func @video_attention(%q: tensor<24x1560x128xbf16>, %k: tensor<24x1560x128xbf16>, %v: tensor<24x1560x128xbf16>) -> (tensor<24x1560x128xbf16>) {
  %v0 = kernel.transpose %k {permutation = array<i64: 0, 2, 1>} : (tensor<24x1560x128xbf16>) -> tensor<24x128x1560xbf16>
  %v1 = kernel.matmul %q, %v0 : (tensor<24x1560x128xbf16>, tensor<24x128x1560xbf16>) -> tensor<24x1560x1560xf32>
  %v2 = kernel.scale %v1 {factor = 0.08838835 : f32} : (tensor<24x1560x1560xf32>) -> tensor<24x1560x1560xf32>
  %v3 = kernel.softmax %v2 {dim = 2 : i64} : (tensor<24x1560x1560xf32>) -> tensor<24x1560x1560xf32>
  %v4 = kernel.cast %v3 : (tensor<24x1560x1560xf32>) -> tensor<24x1560x1560xbf16>
  %v5 = kernel.matmul %v4, %v : (tensor<24x1560x1560xbf16>, tensor<24x1560x128xbf16>) -> tensor<24x1560x128xbf16>
  func.return %v5 : tensor<24x1560x128xbf16>
}

func.func @rms_qkv_96(%x: tensor<96x2048xbf16>, %g: tensor<2048xbf16>, %a: tensor<2048x2048xbf16> {kernel.constant}, %b: tensor<2048x512xbf16> {kernel.constant}, %c: tensor<2048x512xbf16> {kernel.constant}) -> (tensor<96x2048xbf16>, tensor<96x512xbf16>, tensor<96x512xbf16>) {
  %v0 = kernel.rms_norm %x, %g {eps = 1.0e-06 : f32} : (tensor<96x2048xbf16>, tensor<2048xbf16>) -> tensor<96x2048xbf16>
  %v1 = kernel.matmul %v0, %a : (tensor<96x2048xbf16>, tensor<2048x2048xbf16>) -> tensor<96x2048xbf16>
  %v2 = kernel.matmul %v0, %b : (tensor<96x2048xbf16>, tensor<2048x512xbf16>) -> tensor<96x512xbf16>
  %v3 = kernel.matmul %v0, %c : (tensor<96x2048xbf16>, tensor<2048x512xbf16>) -> tensor<96x512xbf16>
  func.return %v1, %v2, %v3 : tensor<96x2048xbf16>, tensor<96x512xbf16>, tensor<96x512xbf16>
}

func.func @geglu_bias_300(%x: tensor<300x2304xf16>, %u: tensor<2304x6144xf16> {kernel.constant}, %bu: tensor<6144xf16>, %w: tensor<2304x6144xf16> {kernel.constant}, %bw: tensor<6144xf16>) -> (tensor<300x6144xf16>) {
  %v0 = kernel.matmul %x, %u : (tensor<300x2304xf16>, tensor<2304x6144xf16>) -> tensor<300x6144xf16>
  %v1 = kernel.add %v0, %bu : (tensor<300x6144xf16>, tensor<6144xf16>) -> tensor<300x6144xf16>
  %v2 = kernel.gelu %v1 : (tensor<300x6144xf16>) -> tensor<300x6144xf16>
  %v3 = kernel.matmul %x, %w : (tensor<300x2304xf16>, tensor<2304x6144xf16>) -> tensor<300x6144xf16>
  %v4 = kernel.add %v3, %bw : (tensor<300x6144xf16>, tensor<6144xf16>) -> tensor<300x6144xf16>
  %v5 = kernel.mul %v2, %v4 : (tensor<300x6144xf16>, tensor<300x6144xf16>) -> tensor<300x6144xf16>
  func.return %v5 : tensor<300x6144xf16>
}

func.func @ln_fc1_77(%x: tensor<77x1280xf16>, %g: tensor<1280xf16>, %b: tensor<1280xf16>, %w: tensor<1280x5120xf16> {kernel.constant}, %c: tensor<5120xf16>) -> (tensor<77x5120xf16>) {
  %v0 = kernel.layer_norm %x, %g, %b {eps = 1.0e-05 : f32} : (tensor<77x1280xf16>, tensor<1280xf16>, tensor<1280xf16>) -> tensor<77x1280xf16>
  %v1 = kernel.matmul %v0, %w : (tensor<77x1280xf16>, tensor<1280x5120xf16>) -> tensor<77x5120xf16>
  %v2 = kernel.add %v1, %c : (tensor<77x5120xf16>, tensor<5120xf16>) -> tensor<77x5120xf16>
  %v3 = kernel.gelu %v2 : (tensor<77x5120xf16>) -> tensor<77x5120xf16>
  func.return %v3 : tensor<77x5120xf16>
}

func.func @router_64(%x: tensor<4096x2048xbf16>, %w: tensor<2048x64xbf16> {kernel.constant}) -> (tensor<4096x64xf32>) {
  %v0 = kernel.matmul %x, %w : (tensor<4096x2048xbf16>, tensor<2048x64xbf16>) -> tensor<4096x64xf32>
  %v1 = kernel.softmax %v0 {dim = 1 : i64} : (tensor<4096x64xf32>) -> tensor<4096x64xf32>
  func.return %v1 : tensor<4096x64xf32>
}

func.func @mlm_transform(%x: tensor<640x768xf16>, %w: tensor<768x768xf16> {kernel.constant}, %c: tensor<768xf16>, %g: tensor<768xf16>, %b: tensor<768xf16>) -> (tensor<640x768xf16>) {
  %v0 = kernel.matmul %x, %w : (tensor<640x768xf16>, tensor<768x768xf16>) -> tensor<640x768xf16>
  %v1 = kernel.add %v0, %c : (tensor<640x768xf16>, tensor<768xf16>) -> tensor<640x768xf16>
  %v2 = kernel.gelu %v1 : (tensor<640x768xf16>) -> tensor<640x768xf16>
  %v3 = kernel.layer_norm %v2, %g, %b {eps = 1.0e-05 : f32} : (tensor<640x768xf16>, tensor<768xf16>, tensor<768xf16>) -> tensor<640x768xf16>
  func.return %v3 : tensor<640x768xf16>
}

func.func @label_smoothing(%x: tensor<512x32768xbf16>, %t: tensor<512x1xf32>) -> (tensor<512x1xf32>) {
  %v0 = kernel.cast %x : (tensor<512x32768xbf16>) -> tensor<512x32768xf32>
  %v1 = kernel.reduce_max %v0 {dims = array<i64: 1>} : (tensor<512x32768xf32>) -> tensor<512x1xf32>
  %v2 = kernel.sub %v0, %v1 : (tensor<512x32768xf32>, tensor<512x1xf32>) -> tensor<512x32768xf32>
  %v3 = kernel.exp %v2 : (tensor<512x32768xf32>) -> tensor<512x32768xf32>
  %v4 = kernel.reduce_sum %v3 {dims = array<i64: 1>} : (tensor<512x32768xf32>) -> tensor<512x1xf32>
  %v5 = kernel.log %v4 : (tensor<512x1xf32>) -> tensor<512x1xf32>
  %v6 = kernel.add %v5, %v1 : (tensor<512x1xf32>, tensor<512x1xf32>) -> tensor<512x1xf32>
  %v7 = kernel.reduce_mean %v0 {dims = array<i64: 1>} : (tensor<512x32768xf32>) -> tensor<512x1xf32>
  %v8 = kernel.scale %t {factor = 0.9 : f32} : (tensor<512x1xf32>) -> tensor<512x1xf32>
  %v9 = kernel.scale %v7 {factor = 0.1 : f32} : (tensor<512x1xf32>) -> tensor<512x1xf32>
  %v10 = kernel.add %v8, %v9 : (tensor<512x1xf32>, tensor<512x1xf32>) -> tensor<512x1xf32>
  %v11 = kernel.sub %v6, %v10 : (tensor<512x1xf32>, tensor<512x1xf32>) -> tensor<512x1xf32>
  func.return %v11 : tensor<512x1xf32>
}

func.func @cosine_rows(%x: tensor<8192x1024xf16>, %y: tensor<8192x1024xf16>) -> (tensor<8192x1xf32>) {
  %v0 = kernel.cast %x : (tensor<8192x1024xf16>) -> tensor<8192x1024xf32>
  %v1 = kernel.cast %y : (tensor<8192x1024xf16>) -> tensor<8192x1024xf32>
  %v2 = kernel.mul %v0, %v1 : (tensor<8192x1024xf32>, tensor<8192x1024xf32>) -> tensor<8192x1024xf32>
  %v3 = kernel.reduce_sum %v2 {dims = array<i64: 1>} : (tensor<8192x1024xf32>) -> tensor<8192x1xf32>
  %v4 = kernel.square %v0 : (tensor<8192x1024xf32>) -> tensor<8192x1024xf32>
  %v5 = kernel.reduce_sum %v4 {dims = array<i64: 1>} : (tensor<8192x1024xf32>) -> tensor<8192x1xf32>
  %v6 = kernel.square %v1 : (tensor<8192x1024xf32>) -> tensor<8192x1024xf32>
  %v7 = kernel.reduce_sum %v6 {dims = array<i64: 1>} : (tensor<8192x1024xf32>) -> tensor<8192x1xf32>
  %v8 = kernel.mul %v5, %v7 : (tensor<8192x1xf32>, tensor<8192x1xf32>) -> tensor<8192x1xf32>
  %v9 = kernel.sqrt %v8 : (tensor<8192x1xf32>) -> tensor<8192x1xf32>
  %v10 = kernel.div %v3, %v9 : (tensor<8192x1xf32>, tensor<8192x1xf32>) -> tensor<8192x1xf32>
  func.return %v10 : tensor<8192x1xf32>
}

func.func @windowed_values(%a: tensor<48x197x197xf16>, %v: tensor<48x197x64xf16>, %r: tensor<48x197x64xf16>) -> (tensor<48x197x64xf16>) {
  %v0 = kernel.matmul %a, %v : (tensor<48x197x197xf16>, tensor<48x197x64xf16>) -> tensor<48x197x64xf16>
  %v1 = kernel.scale %v0 {factor = 0.5 : f32} : (tensor<48x197x64xf16>) -> tensor<48x197x64xf16>
  %v2 = kernel.add %v1, %r : (tensor<48x197x64xf16>, tensor<48x197x64xf16>) -> tensor<48x197x64xf16>
  func.return %v2 : tensor<48x197x64xf16>
}

func.func @kv_state(%q: tensor<32x512x64xbf16>, %k: tensor<32x512x64xbf16>, %v: tensor<32x512x64xbf16>) -> (tensor<32x512x64xbf16>) {
  %v0 = kernel.transpose %k {permutation = array<i64: 0, 2, 1>} : (tensor<32x512x64xbf16>) -> tensor<32x64x512xbf16>
  %v1 = kernel.matmul %v0, %v : (tensor<32x64x512xbf16>, tensor<32x512x64xbf16>) -> tensor<32x64x64xbf16>
  %v2 = kernel.matmul %q, %v1 : (tensor<32x512x64xbf16>, tensor<32x64x64xbf16>) -> tensor<32x512x64xbf16>
  func.return %v2 : tensor<32x512x64xbf16>
}

func.func @primer_ffn(%x: tensor<1024x1024xf16>, %u: tensor<1024x4096xf16> {kernel.constant}, %d: tensor<4096x1024xf16> {kernel.constant}) -> (tensor<1024x1024xf16>) {
  %v0 = kernel.matmul %x, %u : (tensor<1024x1024xf16>, tensor<1024x4096xf16>) -> tensor<1024x4096xf16>
  %v1 = kernel.relu %v0 : (tensor<1024x4096xf16>) -> tensor<1024x4096xf16>
  %v2 = kernel.square %v1 : (tensor<1024x4096xf16>) -> tensor<1024x4096xf16>
  %v3 = kernel.matmul %v2, %d : (tensor<1024x4096xf16>, tensor<4096x1024xf16>) -> tensor<1024x1024xf16>
  func.return %v3 : tensor<1024x1024xf16>
}

func.func @poly_norm(%x: tensor<2048x4096xbf16>, %w: tensor<3x1x1xf32>) -> (tensor<2048x4096xbf16>) {
  %v0 = kernel.cast %x : (tensor<2048x4096xbf16>) -> tensor<2048x4096xf32>
  %v1 = kernel.square %v0 : (tensor<2048x4096xf32>) -> tensor<2048x4096xf32>
  %v2 = kernel.mul %v1, %v0 : (tensor<2048x4096xf32>, tensor<2048x4096xf32>) -> tensor<2048x4096xf32>
  %v3 = kernel.slice %w {offsets = array<i64: 0, 0, 0>, sizes = array<i64: 1, 1, 1>, strides = array<i64: 1, 1, 1>} : (tensor<3x1x1xf32>) -> tensor<1x1x1xf32>
  %v4 = kernel.reshape %v3 : (tensor<1x1x1xf32>) -> tensor<1x1xf32>
  %v5 = kernel.slice %w {offsets = array<i64: 1, 0, 0>, sizes = array<i64: 1, 1, 1>, strides = array<i64: 1, 1, 1>} : (tensor<3x1x1xf32>) -> tensor<1x1x1xf32>
  %v6 = kernel.reshape %v5 : (tensor<1x1x1xf32>) -> tensor<1x1xf32>
  %v7 = kernel.slice %w {offsets = array<i64: 2, 0, 0>, sizes = array<i64: 1, 1, 1>, strides = array<i64: 1, 1, 1>} : (tensor<3x1x1xf32>) -> tensor<1x1x1xf32>
  %v8 = kernel.reshape %v7 : (tensor<1x1x1xf32>) -> tensor<1x1xf32>
  %v9 = kernel.rms_norm %v0 {eps = 1.0e-06 : f32} : (tensor<2048x4096xf32>) -> tensor<2048x4096xf32>
  %v10 = kernel.mul %v9, %v4 : (tensor<2048x4096xf32>, tensor<1x1xf32>) -> tensor<2048x4096xf32>
  %v11 = kernel.rms_norm %v1 {eps = 1.0e-06 : f32} : (tensor<2048x4096xf32>) -> tensor<2048x4096xf32>
  %v12 = kernel.mul %v11, %v6 : (tensor<2048x4096xf32>, tensor<1x1xf32>) -> tensor<2048x4096xf32>
  %v13 = kernel.rms_norm %v2 {eps = 1.0e-06 : f32} : (tensor<2048x4096xf32>) -> tensor<2048x4096xf32>
  %v14 = kernel.mul %v13, %v8 : (tensor<2048x4096xf32>, tensor<1x1xf32>) -> tensor<2048x4096xf32>
  %v15 = kernel.add %v10, %v12 : (tensor<2048x4096xf32>, tensor<2048x4096xf32>) -> tensor<2048x4096xf32>
  %v16 = kernel.add %v15, %v14 : (tensor<2048x4096xf32>, tensor<2048x4096xf32>) -> tensor<2048x4096xf32>
  %v17 = kernel.cast %v16 : (tensor<2048x4096xf32>) -> tensor<2048x4096xbf16>
  func.return %v17 : tensor<2048x4096xbf16>
}

func.func @lora_qkv_8(%x: tensor<8x4096xf16>, %a: tensor<4096x16xf16> {kernel.constant}, %b: tensor<16x4096xf16> {kernel.constant}, %w: tensor<4096x4096xf16> {kernel.constant}, %a2: tensor<4096x16xf16> {kernel.constant}, %b2: tensor<16x1024xf16> {kernel.constant}, %w2: tensor<4096x1024xf16> {kernel.constant}) -> (tensor<8x4096xf16>, tensor<8x1024xf16>) {
  %v0 = kernel.matmul %x, %w : (tensor<8x4096xf16>, tensor<4096x4096xf16>) -> tensor<8x4096xf16>
  %v1 = kernel.matmul %x, %a : (tensor<8x4096xf16>, tensor<4096x16xf16>) -> tensor<8x16xf16>
  %v2 = kernel.matmul %v1, %b : (tensor<8x16xf16>, tensor<16x4096xf16>) -> tensor<8x4096xf16>
  %v3 = kernel.add %v0, %v2 : (tensor<8x4096xf16>, tensor<8x4096xf16>) -> tensor<8x4096xf16>
  %v4 = kernel.matmul %x, %w2 : (tensor<8x4096xf16>, tensor<4096x1024xf16>) -> tensor<8x1024xf16>
  %v5 = kernel.matmul %x, %a2 : (tensor<8x4096xf16>, tensor<4096x16xf16>) -> tensor<8x16xf16>
  %v6 = kernel.matmul %v5, %b2 : (tensor<8x16xf16>, tensor<16x1024xf16>) -> tensor<8x1024xf16>
  %v7 = kernel.add %v4, %v6 : (tensor<8x1024xf16>, tensor<8x1024xf16>) -> tensor<8x1024xf16>
  func.return %v3, %v7 : tensor<8x4096xf16>, tensor<8x1024xf16>
}

func.func @dice_loss(%p: tensor<16x262144xf32>, %t: tensor<16x262144xf32>) -> (tensor<16x1xf32>) {
  %v0 = kernel.sigmoid %p : (tensor<16x262144xf32>) -> tensor<16x262144xf32>
  %v1 = kernel.mul %v0, %t : (tensor<16x262144xf32>, tensor<16x262144xf32>) -> tensor<16x262144xf32>
  %v2 = kernel.reduce_sum %v1 {dims = array<i64: 1>} : (tensor<16x262144xf32>) -> tensor<16x1xf32>
  %v3 = kernel.reduce_sum %v0 {dims = array<i64: 1>} : (tensor<16x262144xf32>) -> tensor<16x1xf32>
  %v4 = kernel.reduce_sum %t {dims = array<i64: 1>} : (tensor<16x262144xf32>) -> tensor<16x1xf32>
  %v5 = kernel.add %v3, %v4 : (tensor<16x1xf32>, tensor<16x1xf32>) -> tensor<16x1xf32>
  %v6 = kernel.constant {value = 1.0 : f32} : tensor<1x1xf32>
  %v7 = kernel.scale %v2 {factor = 2.0 : f32} : (tensor<16x1xf32>) -> tensor<16x1xf32>
  %v8 = kernel.add %v7, %v6 : (tensor<16x1xf32>, tensor<1x1xf32>) -> tensor<16x1xf32>
  %v9 = kernel.add %v5, %v6 : (tensor<16x1xf32>, tensor<1x1xf32>) -> tensor<16x1xf32>
  %v10 = kernel.div %v8, %v9 : (tensor<16x1xf32>, tensor<16x1xf32>) -> tensor<16x1xf32>
  %v11 = kernel.sub %v6, %v10 : (tensor<1x1xf32>, tensor<16x1xf32>) -> tensor<16x1xf32>
  func.return %v11 : tensor<16x1xf32>
}

func.func @policy_mlp(%x: tensor<65536x17xf32>, %a: tensor<17x64xf32> {kernel.constant}, %ba: tensor<64xf32>, %b: tensor<64x64xf32> {kernel.constant}, %bb: tensor<64xf32>, %c: tensor<64x6xf32> {kernel.constant}, %bc: tensor<6xf32>) -> (tensor<65536x6xf32>) {
  %v0 = kernel.matmul %x, %a : (tensor<65536x17xf32>, tensor<17x64xf32>) -> tensor<65536x64xf32>
  %v1 = kernel.add %v0, %ba : (tensor<65536x64xf32>, tensor<64xf32>) -> tensor<65536x64xf32>
  %v2 = kernel.tanh %v1 : (tensor<65536x64xf32>) -> tensor<65536x64xf32>
  %v3 = kernel.matmul %v2, %b : (tensor<65536x64xf32>, tensor<64x64xf32>) -> tensor<65536x64xf32>
  %v4 = kernel.add %v3, %bb : (tensor<65536x64xf32>, tensor<64xf32>) -> tensor<65536x64xf32>
  %v5 = kernel.tanh %v4 : (tensor<65536x64xf32>) -> tensor<65536x64xf32>
  %v6 = kernel.matmul %v5, %c : (tensor<65536x64xf32>, tensor<64x6xf32>) -> tensor<65536x6xf32>
  %v7 = kernel.add %v6, %bc : (tensor<65536x6xf32>, tensor<6xf32>) -> tensor<65536x6xf32>
  func.return %v7 : tensor<65536x6xf32>
}

func.func @biased_attention_777(%q: tensor<12x777x80xf16>, %k: tensor<12x777x80xf16>, %v: tensor<12x777x80xf16>, %b: tensor<12x777x777xf16>) -> (tensor<12x777x80xf16>) {
  %v0 = kernel.transpose %k {permutation = array<i64: 0, 2, 1>} : (tensor<12x777x80xf16>) -> tensor<12x80x777xf16>
  %v1 = kernel.matmul %q, %v0 : (tensor<12x777x80xf16>, tensor<12x80x777xf16>) -> tensor<12x777x777xf16>
  %v2 = kernel.scale %v1 {factor = 0.1118034 : f32} : (tensor<12x777x777xf16>) -> tensor<12x777x777xf16>
  %v3 = kernel.add %v2, %b : (tensor<12x777x777xf16>, tensor<12x777x777xf16>) -> tensor<12x777x777xf16>
  %v4 = kernel.softmax %v3 {dim = 2 : i64} : (tensor<12x777x777xf16>) -> tensor<12x777x777xf16>
  %v5 = kernel.matmul %v4, %v : (tensor<12x777x777xf16>, tensor<12x777x80xf16>) -> tensor<12x777x80xf16>
  func.return %v5 : tensor<12x777x80xf16>
}

func.func @column_softmax(%x: tensor<64x1024x128xf16>) -> (tensor<64x1024x128xf16>) {
  %v0 = kernel.softmax %x {dim = 1 : i64} : (tensor<64x1024x128xf16>) -> tensor<64x1024x128xf16>
  func.return %v0 : tensor<64x1024x128xf16>
}

func.func @gated_rms(%x: tensor<2048x4096xbf16>, %z: tensor<2048x4096xbf16>, %g: tensor<4096xbf16>) -> (tensor<2048x4096xbf16>) {
  %v0 = kernel.silu %z : (tensor<2048x4096xbf16>) -> tensor<2048x4096xbf16>
  %v1 = kernel.mul %x, %v0 : (tensor<2048x4096xbf16>, tensor<2048x4096xbf16>) -> tensor<2048x4096xbf16>
  %v2 = kernel.rms_norm %v1, %g {eps = 1.0e-06 : f32} : (tensor<2048x4096xbf16>, tensor<4096xbf16>) -> tensor<2048x4096xbf16>
  func.return %v2 : tensor<2048x4096xbf16>
}

func.func @attention_pooling(%x: tensor<64x512x768xf16>, %v: tensor<768x1xf16>) -> (tensor<64x1x768xf16>) {
  %v0 = kernel.matmul %x, %v : (tensor<64x512x768xf16>, tensor<768x1xf16>) -> tensor<64x512x1xf16>
  %v1 = kernel.softmax %v0 {dim = 1 : i64} : (tensor<64x512x1xf16>) -> tensor<64x512x1xf16>
  %v2 = kernel.mul %x, %v1 : (tensor<64x512x768xf16>, tensor<64x512x1xf16>) -> tensor<64x512x768xf16>
  %v3 = kernel.reduce_sum %v2 {dims = array<i64: 1>} : (tensor<64x512x768xf16>) -> tensor<64x1x768xf16>
  func.return %v3 : tensor<64x1x768xf16>
}

func.func @depthwise_3(%x: tensor<32x66x66x64xf16>, %w: tensor<9x64xf16>, %b: tensor<64xf16>) -> (tensor<32x64x64x64xf16>) {
  %v0 = kernel.slice %x {offsets = array<i64: 0, 0, 0, 0>, sizes = array<i64: 32, 64, 64, 64>, strides = array<i64: 1, 1, 1, 1>} : (tensor<32x66x66x64xf16>) -> tensor<32x64x64x64xf16>
  %v1 = kernel.cast %v0 : (tensor<32x64x64x64xf16>) -> tensor<32x64x64x64xf32>
  %v2 = kernel.slice %w {offsets = array<i64: 0, 0>, sizes = array<i64: 1, 64>, strides = array<i64: 1, 1>} : (tensor<9x64xf16>) -> tensor<1x64xf16>
  %v3 = kernel.reshape %v2 : (tensor<1x64xf16>) -> tensor<64xf16>
  %v4 = kernel.cast %v3 : (tensor<64xf16>) -> tensor<64xf32>
  %v5 = kernel.mul %v1, %v4 : (tensor<32x64x64x64xf32>, tensor<64xf32>) -> tensor<32x64x64x64xf32>
  %v6 = kernel.slice %x {offsets = array<i64: 0, 0, 1, 0>, sizes = array<i64: 32, 64, 64, 64>, strides = array<i64: 1, 1, 1, 1>} : (tensor<32x66x66x64xf16>) -> tensor<32x64x64x64xf16>
  %v7 = kernel.cast %v6 : (tensor<32x64x64x64xf16>) -> tensor<32x64x64x64xf32>
  %v8 = kernel.slice %w {offsets = array<i64: 1, 0>, sizes = array<i64: 1, 64>, strides = array<i64: 1, 1>} : (tensor<9x64xf16>) -> tensor<1x64xf16>
  %v9 = kernel.reshape %v8 : (tensor<1x64xf16>) -> tensor<64xf16>
  %v10 = kernel.cast %v9 : (tensor<64xf16>) -> tensor<64xf32>
  %v11 = kernel.mul %v7, %v10 : (tensor<32x64x64x64xf32>, tensor<64xf32>) -> tensor<32x64x64x64xf32>
  %v12 = kernel.add %v5, %v11 : (tensor<32x64x64x64xf32>, tensor<32x64x64x64xf32>) -> tensor<32x64x64x64xf32>
  %v13 = kernel.slice %x {offsets = array<i64: 0, 0, 2, 0>, sizes = array<i64: 32, 64, 64, 64>, strides = array<i64: 1, 1, 1, 1>} : (tensor<32x66x66x64xf16>) -> tensor<32x64x64x64xf16>
  %v14 = kernel.cast %v13 : (tensor<32x64x64x64xf16>) -> tensor<32x64x64x64xf32>
  %v15 = kernel.slice %w {offsets = array<i64: 2, 0>, sizes = array<i64: 1, 64>, strides = array<i64: 1, 1>} : (tensor<9x64xf16>) -> tensor<1x64xf16>
  %v16 = kernel.reshape %v15 : (tensor<1x64xf16>) -> tensor<64xf16>
  %v17 = kernel.cast %v16 : (tensor<64xf16>) -> tensor<64xf32>
  %v18 = kernel.mul %v14, %v17 : (tensor<32x64x64x64xf32>, tensor<64xf32>) -> tensor<32x64x64x64xf32>
  %v19 = kernel.add %v12, %v18 : (tensor<32x64x64x64xf32>, tensor<32x64x64x64xf32>) -> tensor<32x64x64x64xf32>
  %v20 = kernel.slice %x {offsets = array<i64: 0, 1, 0, 0>, sizes = array<i64: 32, 64, 64, 64>, strides = array<i64: 1, 1, 1, 1>} : (tensor<32x66x66x64xf16>) -> tensor<32x64x64x64xf16>
  %v21 = kernel.cast %v20 : (tensor<32x64x64x64xf16>) -> tensor<32x64x64x64xf32>
  %v22 = kernel.slice %w {offsets = array<i64: 3, 0>, sizes = array<i64: 1, 64>, strides = array<i64: 1, 1>} : (tensor<9x64xf16>) -> tensor<1x64xf16>
  %v23 = kernel.reshape %v22 : (tensor<1x64xf16>) -> tensor<64xf16>
  %v24 = kernel.cast %v23 : (tensor<64xf16>) -> tensor<64xf32>
  %v25 = kernel.mul %v21, %v24 : (tensor<32x64x64x64xf32>, tensor<64xf32>) -> tensor<32x64x64x64xf32>
  %v26 = kernel.add %v19, %v25 : (tensor<32x64x64x64xf32>, tensor<32x64x64x64xf32>) -> tensor<32x64x64x64xf32>
  %v27 = kernel.slice %x {offsets = array<i64: 0, 1, 1, 0>, sizes = array<i64: 32, 64, 64, 64>, strides = array<i64: 1, 1, 1, 1>} : (tensor<32x66x66x64xf16>) -> tensor<32x64x64x64xf16>
  %v28 = kernel.cast %v27 : (tensor<32x64x64x64xf16>) -> tensor<32x64x64x64xf32>
  %v29 = kernel.slice %w {offsets = array<i64: 4, 0>, sizes = array<i64: 1, 64>, strides = array<i64: 1, 1>} : (tensor<9x64xf16>) -> tensor<1x64xf16>
  %v30 = kernel.reshape %v29 : (tensor<1x64xf16>) -> tensor<64xf16>
  %v31 = kernel.cast %v30 : (tensor<64xf16>) -> tensor<64xf32>
  %v32 = kernel.mul %v28, %v31 : (tensor<32x64x64x64xf32>, tensor<64xf32>) -> tensor<32x64x64x64xf32>
  %v33 = kernel.add %v26, %v32 : (tensor<32x64x64x64xf32>, tensor<32x64x64x64xf32>) -> tensor<32x64x64x64xf32>
  %v34 = kernel.slice %x {offsets = array<i64: 0, 1, 2, 0>, sizes = array<i64: 32, 64, 64, 64>, strides = array<i64: 1, 1, 1, 1>} : (tensor<32x66x66x64xf16>) -> tensor<32x64x64x64xf16>
  %v35 = kernel.cast %v34 : (tensor<32x64x64x64xf16>) -> tensor<32x64x64x64xf32>
  %v36 = kernel.slice %w {offsets = array<i64: 5, 0>, sizes = array<i64: 1, 64>, strides = array<i64: 1, 1>} : (tensor<9x64xf16>) -> tensor<1x64xf16>
  %v37 = kernel.reshape %v36 : (tensor<1x64xf16>) -> tensor<64xf16>
  %v38 = kernel.cast %v37 : (tensor<64xf16>) -> tensor<64xf32>
  %v39 = kernel.mul %v35, %v38 : (tensor<32x64x64x64xf32>, tensor<64xf32>) -> tensor<32x64x64x64xf32>
  %v40 = kernel.add %v33, %v39 : (tensor<32x64x64x64xf32>, tensor<32x64x64x64xf32>) -> tensor<32x64x64x64xf32>
  %v41 = kernel.slice %x {offsets = array<i64: 0, 2, 0, 0>, sizes = array<i64: 32, 64, 64, 64>, strides = array<i64: 1, 1, 1, 1>} : (tensor<32x66x66x64xf16>) -> tensor<32x64x64x64xf16>
  %v42 = kernel.cast %v41 : (tensor<32x64x64x64xf16>) -> tensor<32x64x64x64xf32>
  %v43 = kernel.slice %w {offsets = array<i64: 6, 0>, sizes = array<i64: 1, 64>, strides = array<i64: 1, 1>} : (tensor<9x64xf16>) -> tensor<1x64xf16>
  %v44 = kernel.reshape %v43 : (tensor<1x64xf16>) -> tensor<64xf16>
  %v45 = kernel.cast %v44 : (tensor<64xf16>) -> tensor<64xf32>
  %v46 = kernel.mul %v42, %v45 : (tensor<32x64x64x64xf32>, tensor<64xf32>) -> tensor<32x64x64x64xf32>
  %v47 = kernel.add %v40, %v46 : (tensor<32x64x64x64xf32>, tensor<32x64x64x64xf32>) -> tensor<32x64x64x64xf32>
  %v48 = kernel.slice %x {offsets = array<i64: 0, 2, 1, 0>, sizes = array<i64: 32, 64, 64, 64>, strides = array<i64: 1, 1, 1, 1>} : (tensor<32x66x66x64xf16>) -> tensor<32x64x64x64xf16>
  %v49 = kernel.cast %v48 : (tensor<32x64x64x64xf16>) -> tensor<32x64x64x64xf32>
  %v50 = kernel.slice %w {offsets = array<i64: 7, 0>, sizes = array<i64: 1, 64>, strides = array<i64: 1, 1>} : (tensor<9x64xf16>) -> tensor<1x64xf16>
  %v51 = kernel.reshape %v50 : (tensor<1x64xf16>) -> tensor<64xf16>
  %v52 = kernel.cast %v51 : (tensor<64xf16>) -> tensor<64xf32>
  %v53 = kernel.mul %v49, %v52 : (tensor<32x64x64x64xf32>, tensor<64xf32>) -> tensor<32x64x64x64xf32>
  %v54 = kernel.add %v47, %v53 : (tensor<32x64x64x64xf32>, tensor<32x64x64x64xf32>) -> tensor<32x64x64x64xf32>
  %v55 = kernel.slice %x {offsets = array<i64: 0, 2, 2, 0>, sizes = array<i64: 32, 64, 64, 64>, strides = array<i64: 1, 1, 1, 1>} : (tensor<32x66x66x64xf16>) -> tensor<32x64x64x64xf16>
  %v56 = kernel.cast %v55 : (tensor<32x64x64x64xf16>) -> tensor<32x64x64x64xf32>
  %v57 = kernel.slice %w {offsets = array<i64: 8, 0>, sizes = array<i64: 1, 64>, strides = array<i64: 1, 1>} : (tensor<9x64xf16>) -> tensor<1x64xf16>
  %v58 = kernel.reshape %v57 : (tensor<1x64xf16>) -> tensor<64xf16>
  %v59 = kernel.cast %v58 : (tensor<64xf16>) -> tensor<64xf32>
  %v60 = kernel.mul %v56, %v59 : (tensor<32x64x64x64xf32>, tensor<64xf32>) -> tensor<32x64x64x64xf32>
  %v61 = kernel.add %v54, %v60 : (tensor<32x64x64x64xf32>, tensor<32x64x64x64xf32>) -> tensor<32x64x64x64xf32>
  %v62 = kernel.cast %b : (tensor<64xf16>) -> tensor<64xf32>
  %v63 = kernel.add %v61, %v62 : (tensor<32x64x64x64xf32>, tensor<64xf32>) -> tensor<32x64x64x64xf32>
  %v64 = kernel.relu %v63 : (tensor<32x64x64x64xf32>) -> tensor<32x64x64x64xf32>
  %v65 = kernel.cast %v64 : (tensor<32x64x64x64xf32>) -> tensor<32x64x64x64xf16>
  func.return %v65 : tensor<32x64x64x64xf16>
}

func.func @decode_gqa_scores(%q: tensor<16x8x8x128xf16>, %k: tensor<16x8x2048x128xf16>, %v: tensor<16x8x2048x128xf16>, %m: tensor<16x1x1x2048xf16>) -> (tensor<16x8x8x128xf16>) {
  %v0 = kernel.transpose %k {permutation = array<i64: 0, 1, 3, 2>} : (tensor<16x8x2048x128xf16>) -> tensor<16x8x128x2048xf16>
  %v1 = kernel.matmul %q, %v0 : (tensor<16x8x8x128xf16>, tensor<16x8x128x2048xf16>) -> tensor<16x8x8x2048xf16>
  %v2 = kernel.scale %v1 {factor = 0.08838835 : f32} : (tensor<16x8x8x2048xf16>) -> tensor<16x8x8x2048xf16>
  %v3 = kernel.add %v2, %m : (tensor<16x8x8x2048xf16>, tensor<16x1x1x2048xf16>) -> tensor<16x8x8x2048xf16>
  %v4 = kernel.softmax %v3 {dim = 3 : i64} : (tensor<16x8x8x2048xf16>) -> tensor<16x8x8x2048xf16>
  %v5 = kernel.matmul %v4, %v : (tensor<16x8x8x2048xf16>, tensor<16x8x2048x128xf16>) -> tensor<16x8x8x128xf16>
  func.return %v5 : tensor<16x8x8x128xf16>
}

func.func @pairwise_rbf(%x: tensor<2048x64xf32>, %y: tensor<1024x64xf32>) -> (tensor<2048x1024xf32>) {
  %v0 = kernel.square %x : (tensor<2048x64xf32>) -> tensor<2048x64xf32>
  %v1 = kernel.reduce_sum %v0 {dims = array<i64: 1>} : (tensor<2048x64xf32>) -> tensor<2048x1xf32>
  %v2 = kernel.square %y : (tensor<1024x64xf32>) -> tensor<1024x64xf32>
  %v3 = kernel.reduce_sum %v2 {dims = array<i64: 1>} : (tensor<1024x64xf32>) -> tensor<1024x1xf32>
  %v4 = kernel.transpose %v3 {permutation = array<i64: 1, 0>} : (tensor<1024x1xf32>) -> tensor<1x1024xf32>
  %v5 = kernel.add %v1, %v4 : (tensor<2048x1xf32>, tensor<1x1024xf32>) -> tensor<2048x1024xf32>
  %v6 = kernel.transpose %y {permutation = array<i64: 1, 0>} : (tensor<1024x64xf32>) -> tensor<64x1024xf32>
  %v7 = kernel.matmul %x, %v6 : (tensor<2048x64xf32>, tensor<64x1024xf32>) -> tensor<2048x1024xf32>
  %v8 = kernel.scale %v7 {factor = 2.0 : f32} : (tensor<2048x1024xf32>) -> tensor<2048x1024xf32>
  %v9 = kernel.sub %v5, %v8 : (tensor<2048x1024xf32>, tensor<2048x1024xf32>) -> tensor<2048x1024xf32>
  %v10 = kernel.scale %v9 {factor = -0.01 : f32} : (tensor<2048x1024xf32>) -> tensor<2048x1024xf32>
  %v11 = kernel.exp %v10 : (tensor<2048x1024xf32>) -> tensor<2048x1024xf32>
  func.return %v11 : tensor<2048x1024xf32>
}

func.func @moe_gate_up(%x: tensor<8x256x1024xbf16>, %a: tensor<8x1024x1408xbf16> {kernel.constant}, %b: tensor<8x1024x1408xbf16> {kernel.constant}) -> (tensor<8x256x1408xbf16>) {
  %v0 = kernel.matmul %x, %a : (tensor<8x256x1024xbf16>, tensor<8x1024x1408xbf16>) -> tensor<8x256x1408xbf16>
  %v1 = kernel.silu %v0 : (tensor<8x256x1408xbf16>) -> tensor<8x256x1408xbf16>
  %v2 = kernel.matmul %x, %b : (tensor<8x256x1024xbf16>, tensor<8x1024x1408xbf16>) -> tensor<8x256x1408xbf16>
  %v3 = kernel.mul %v1, %v2 : (tensor<8x256x1408xbf16>, tensor<8x256x1408xbf16>) -> tensor<8x256x1408xbf16>
  func.return %v3 : tensor<8x256x1408xbf16>
}

func.func @norm_residual_scale(%x: tensor<4096x3072xbf16>, %r: tensor<4096x3072xbf16>, %g: tensor<3072xbf16>, %sc: tensor<3072xbf16>) -> (tensor<4096x3072xbf16>, tensor<4096x3072xbf16>) {
  %v0 = kernel.mul %r, %sc : (tensor<4096x3072xbf16>, tensor<3072xbf16>) -> tensor<4096x3072xbf16>
  %v1 = kernel.add %x, %v0 : (tensor<4096x3072xbf16>, tensor<4096x3072xbf16>) -> tensor<4096x3072xbf16>
  %v2 = kernel.rms_norm %v1, %g {eps = 1.0e-06 : f32} : (tensor<4096x3072xbf16>, tensor<3072xbf16>) -> tensor<4096x3072xbf16>
  func.return %v1, %v2 : tensor<4096x3072xbf16>, tensor<4096x3072xbf16>
}
