// Distillation at temperature 2: the divergence of rows, and its gradient; 192 x 100,352.
func.func @distill_kl(%student: tensor<192x100352xbf16>, %teacher: tensor<192x100352xbf16>) -> (tensor<192xf32>, tensor<192x100352xbf16>) {
  %0 = kernel.cast %student : (tensor<192x100352xbf16>) -> tensor<192x100352xf32>
  %1 = kernel.scale %0 {factor = 5.000000e-01 : f32} : (tensor<192x100352xf32>) -> tensor<192x100352xf32>
  %2 = kernel.reduce_max %1 {dims = array<i64: 1>} : (tensor<192x100352xf32>) -> tensor<192x1xf32>
  %3 = kernel.sub %1, %2 : (tensor<192x100352xf32>, tensor<192x1xf32>) -> tensor<192x100352xf32>
  %4 = kernel.exp %3 : (tensor<192x100352xf32>) -> tensor<192x100352xf32>
  %5 = kernel.reduce_sum %4 {dims = array<i64: 1>} : (tensor<192x100352xf32>) -> tensor<192x1xf32>
  %6 = kernel.log %5 : (tensor<192x1xf32>) -> tensor<192x1xf32>
  %7 = kernel.add %2, %6 : (tensor<192x1xf32>, tensor<192x1xf32>) -> tensor<192x1xf32>
  %8 = kernel.sub %1, %7 : (tensor<192x100352xf32>, tensor<192x1xf32>) -> tensor<192x100352xf32>
  %9 = kernel.cast %teacher : (tensor<192x100352xbf16>) -> tensor<192x100352xf32>
  %10 = kernel.scale %9 {factor = 5.000000e-01 : f32} : (tensor<192x100352xf32>) -> tensor<192x100352xf32>
  %11 = kernel.reduce_max %10 {dims = array<i64: 1>} : (tensor<192x100352xf32>) -> tensor<192x1xf32>
  %12 = kernel.sub %10, %11 : (tensor<192x100352xf32>, tensor<192x1xf32>) -> tensor<192x100352xf32>
  %13 = kernel.exp %12 : (tensor<192x100352xf32>) -> tensor<192x100352xf32>
  %14 = kernel.reduce_sum %13 {dims = array<i64: 1>} : (tensor<192x100352xf32>) -> tensor<192x1xf32>
  %15 = kernel.log %14 : (tensor<192x1xf32>) -> tensor<192x1xf32>
  %16 = kernel.add %11, %15 : (tensor<192x1xf32>, tensor<192x1xf32>) -> tensor<192x1xf32>
  %17 = kernel.sub %10, %16 : (tensor<192x100352xf32>, tensor<192x1xf32>) -> tensor<192x100352xf32>
  %18 = kernel.exp %17 : (tensor<192x100352xf32>) -> tensor<192x100352xf32>
  %19 = kernel.sub %17, %8 : (tensor<192x100352xf32>, tensor<192x100352xf32>) -> tensor<192x100352xf32>
  %20 = kernel.mul %18, %19 : (tensor<192x100352xf32>, tensor<192x100352xf32>) -> tensor<192x100352xf32>
  %21 = kernel.reduce_sum %20 {dims = array<i64: 1>} : (tensor<192x100352xf32>) -> tensor<192x1xf32>
  %22 = kernel.reshape %21 : (tensor<192x1xf32>) -> tensor<192xf32>
  %23 = kernel.scale %22 {factor = 4.000000e+00 : f32} : (tensor<192xf32>) -> tensor<192xf32>
  %24 = kernel.exp %8 : (tensor<192x100352xf32>) -> tensor<192x100352xf32>
  %25 = kernel.sub %24, %18 : (tensor<192x100352xf32>, tensor<192x100352xf32>) -> tensor<192x100352xf32>
  %26 = kernel.scale %25 {factor = 2.000000e+00 : f32} : (tensor<192x100352xf32>) -> tensor<192x100352xf32>
  %27 = kernel.cast %26 : (tensor<192x100352xf32>) -> tensor<192x100352xbf16>
  func.return %23, %27 : tensor<192xf32>, tensor<192x100352xbf16>
}

// Muon: Nesterov's momentum, a norm of the matrix, and a step of Newton and Schulz, bf16.
func.func @muon_step(%grad: tensor<1280x1920xf32>, %momentum: tensor<1280x1920xf32>) -> (tensor<1280x1920xf32>, tensor<1280x1920xbf16>) {
  %0 = kernel.scale %momentum {factor = 9.500000e-01 : f32} : (tensor<1280x1920xf32>) -> tensor<1280x1920xf32>
  %1 = kernel.scale %grad {factor = 5.000000e-02 : f32} : (tensor<1280x1920xf32>) -> tensor<1280x1920xf32>
  %2 = kernel.add %0, %1 : (tensor<1280x1920xf32>, tensor<1280x1920xf32>) -> tensor<1280x1920xf32>
  %3 = kernel.scale %grad {factor = 5.000000e-02 : f32} : (tensor<1280x1920xf32>) -> tensor<1280x1920xf32>
  %4 = kernel.scale %2 {factor = 9.500000e-01 : f32} : (tensor<1280x1920xf32>) -> tensor<1280x1920xf32>
  %5 = kernel.add %3, %4 : (tensor<1280x1920xf32>, tensor<1280x1920xf32>) -> tensor<1280x1920xf32>
  %6 = kernel.square %5 : (tensor<1280x1920xf32>) -> tensor<1280x1920xf32>
  %7 = kernel.reduce_sum %6 {dims = array<i64: 0, 1>} : (tensor<1280x1920xf32>) -> tensor<1x1xf32>
  %8 = kernel.sqrt %7 : (tensor<1x1xf32>) -> tensor<1x1xf32>
  %9 = kernel.reshape %8 : (tensor<1x1xf32>) -> tensor<f32>
  %10 = kernel.constant {value = 1.000000e-07 : f32} : tensor<f32>
  %11 = kernel.add %9, %10 : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %12 = kernel.div %5, %11 : (tensor<1280x1920xf32>, tensor<f32>) -> tensor<1280x1920xf32>
  %13 = kernel.cast %12 : (tensor<1280x1920xf32>) -> tensor<1280x1920xbf16>
  %14 = kernel.transpose %13 {permutation = array<i64: 1, 0>} : (tensor<1280x1920xbf16>) -> tensor<1920x1280xbf16>
  %15 = kernel.matmul %13, %14 : (tensor<1280x1920xbf16>, tensor<1920x1280xbf16>) -> tensor<1280x1280xbf16>
  %16 = kernel.scale %15 {factor = -4.775000e+00 : f32} : (tensor<1280x1280xbf16>) -> tensor<1280x1280xbf16>
  %17 = kernel.matmul %15, %15 : (tensor<1280x1280xbf16>, tensor<1280x1280xbf16>) -> tensor<1280x1280xbf16>
  %18 = kernel.scale %17 {factor = 2.031500e+00 : f32} : (tensor<1280x1280xbf16>) -> tensor<1280x1280xbf16>
  %19 = kernel.add %16, %18 : (tensor<1280x1280xbf16>, tensor<1280x1280xbf16>) -> tensor<1280x1280xbf16>
  %20 = kernel.scale %13 {factor = 3.444500e+00 : f32} : (tensor<1280x1920xbf16>) -> tensor<1280x1920xbf16>
  %21 = kernel.matmul %19, %13 : (tensor<1280x1280xbf16>, tensor<1280x1920xbf16>) -> tensor<1280x1920xbf16>
  %22 = kernel.add %20, %21 : (tensor<1280x1920xbf16>, tensor<1280x1920xbf16>) -> tensor<1280x1920xbf16>
  func.return %2, %22 : tensor<1280x1920xf32>, tensor<1280x1920xbf16>
}

// GRPO's loss of 256 answers of 4,096 tokens, with a penalty by the reference, f32.
func.func @grpo_loss(%logp: tensor<256x4096xf32>, %old: tensor<256x4096xf32>, %reference: tensor<256x4096xf32>, %advantage: tensor<256x1xf32>, %mask: tensor<256x4096xf32>) -> tensor<256xf32> {
  %0 = kernel.sub %logp, %old : (tensor<256x4096xf32>, tensor<256x4096xf32>) -> tensor<256x4096xf32>
  %1 = kernel.exp %0 : (tensor<256x4096xf32>) -> tensor<256x4096xf32>
  %2 = kernel.mul %1, %advantage : (tensor<256x4096xf32>, tensor<256x1xf32>) -> tensor<256x4096xf32>
  %3 = kernel.clamp %1 {min = 8.000000e-01 : f32, max = 1.200000e+00 : f32} : (tensor<256x4096xf32>) -> tensor<256x4096xf32>
  %4 = kernel.mul %3, %advantage : (tensor<256x4096xf32>, tensor<256x1xf32>) -> tensor<256x4096xf32>
  %5 = kernel.min %2, %4 : (tensor<256x4096xf32>, tensor<256x4096xf32>) -> tensor<256x4096xf32>
  %6 = kernel.sub %reference, %logp : (tensor<256x4096xf32>, tensor<256x4096xf32>) -> tensor<256x4096xf32>
  %7 = kernel.exp %6 : (tensor<256x4096xf32>) -> tensor<256x4096xf32>
  %8 = kernel.sub %7, %6 : (tensor<256x4096xf32>, tensor<256x4096xf32>) -> tensor<256x4096xf32>
  %9 = kernel.constant {value = 1.000000e+00 : f32} : tensor<1x1xf32>
  %10 = kernel.sub %8, %9 : (tensor<256x4096xf32>, tensor<1x1xf32>) -> tensor<256x4096xf32>
  %11 = kernel.scale %10 {factor = 4.000000e-02 : f32} : (tensor<256x4096xf32>) -> tensor<256x4096xf32>
  %12 = kernel.sub %11, %5 : (tensor<256x4096xf32>, tensor<256x4096xf32>) -> tensor<256x4096xf32>
  %13 = kernel.constant {value = 0.000000e+00 : f32} : tensor<1x1xf32>
  %14 = kernel.compare %mask, %13 {predicate = "gt"} : (tensor<256x4096xf32>, tensor<1x1xf32>) -> tensor<256x4096xf32>
  %15 = kernel.mul %12, %14 : (tensor<256x4096xf32>, tensor<256x4096xf32>) -> tensor<256x4096xf32>
  %16 = kernel.reduce_sum %15 {dims = array<i64: 1>} : (tensor<256x4096xf32>) -> tensor<256x1xf32>
  %17 = kernel.reshape %16 : (tensor<256x1xf32>) -> tensor<256xf32>
  %18 = kernel.reduce_sum %14 {dims = array<i64: 1>} : (tensor<256x4096xf32>) -> tensor<256x1xf32>
  %19 = kernel.reshape %18 : (tensor<256x1xf32>) -> tensor<256xf32>
  %20 = kernel.constant {value = 1.000000e+00 : f32} : tensor<1xf32>
  %21 = kernel.max %19, %20 : (tensor<256xf32>, tensor<1xf32>) -> tensor<256xf32>
  %22 = kernel.div %17, %21 : (tensor<256xf32>, tensor<256xf32>) -> tensor<256xf32>
  func.return %22 : tensor<256xf32>
}

// The gradients of LayerNorm with weight and bias: 4,096 rows of 1,600 (GPT-2 XL).
func.func @layernorm_backward(%x: tensor<4096x1600xbf16>, %g: tensor<1600xbf16>, %b: tensor<1600xbf16>, %grad0: tensor<4096x1600xbf16>) -> (tensor<4096x1600xbf16>, tensor<1600xbf16>, tensor<1600xbf16>) {
  %0 = kernel.reshape %g : (tensor<1600xbf16>) -> tensor<1600xbf16>
  %1 = kernel.cast %x : (tensor<4096x1600xbf16>) -> tensor<4096x1600xf32>
  %2 = kernel.reduce_sum %1 {dims = array<i64: 1>} : (tensor<4096x1600xf32>) -> tensor<4096x1xf32>
  %3 = kernel.scale %2 {factor = 6.250000e-04 : f32} : (tensor<4096x1xf32>) -> tensor<4096x1xf32>
  %4 = kernel.sub %1, %3 : (tensor<4096x1600xf32>, tensor<4096x1xf32>) -> tensor<4096x1600xf32>
  %5 = kernel.cast %grad0 : (tensor<4096x1600xbf16>) -> tensor<4096x1600xf32>
  %6 = kernel.square %4 : (tensor<4096x1600xf32>) -> tensor<4096x1600xf32>
  %7 = kernel.reduce_sum %6 {dims = array<i64: 1>} : (tensor<4096x1600xf32>) -> tensor<4096x1xf32>
  %8 = kernel.scale %7 {factor = 6.250000e-04 : f32} : (tensor<4096x1xf32>) -> tensor<4096x1xf32>
  %9 = kernel.constant {value = 1.000000e-05 : f32} : tensor<1x1xf32>
  %10 = kernel.add %8, %9 : (tensor<4096x1xf32>, tensor<1x1xf32>) -> tensor<4096x1xf32>
  %11 = kernel.rsqrt %10 : (tensor<4096x1xf32>) -> tensor<4096x1xf32>
  %12 = kernel.cast %0 : (tensor<1600xbf16>) -> tensor<1600xf32>
  %13 = kernel.mul %5, %12 : (tensor<4096x1600xf32>, tensor<1600xf32>) -> tensor<4096x1600xf32>
  %14 = kernel.mul %13, %4 : (tensor<4096x1600xf32>, tensor<4096x1600xf32>) -> tensor<4096x1600xf32>
  %15 = kernel.reduce_sum %14 {dims = array<i64: 1>} : (tensor<4096x1600xf32>) -> tensor<4096x1xf32>
  %16 = kernel.scale %15 {factor = 6.250000e-04 : f32} : (tensor<4096x1xf32>) -> tensor<4096x1xf32>
  %17 = kernel.mul %11, %11 : (tensor<4096x1xf32>, tensor<4096x1xf32>) -> tensor<4096x1xf32>
  %18 = kernel.mul %16, %17 : (tensor<4096x1xf32>, tensor<4096x1xf32>) -> tensor<4096x1xf32>
  %19 = kernel.mul %4, %18 : (tensor<4096x1600xf32>, tensor<4096x1xf32>) -> tensor<4096x1600xf32>
  %20 = kernel.sub %13, %19 : (tensor<4096x1600xf32>, tensor<4096x1600xf32>) -> tensor<4096x1600xf32>
  %21 = kernel.mul %11, %20 : (tensor<4096x1xf32>, tensor<4096x1600xf32>) -> tensor<4096x1600xf32>
  %22 = kernel.mul %4, %11 : (tensor<4096x1600xf32>, tensor<4096x1xf32>) -> tensor<4096x1600xf32>
  %23 = kernel.mul %5, %22 : (tensor<4096x1600xf32>, tensor<4096x1600xf32>) -> tensor<4096x1600xf32>
  %24 = kernel.reduce_sum %23 {dims = array<i64: 0>} : (tensor<4096x1600xf32>) -> tensor<1x1600xf32>
  %25 = kernel.reshape %24 : (tensor<1x1600xf32>) -> tensor<1600xf32>
  %26 = kernel.reduce_sum %21 {dims = array<i64: 1>} : (tensor<4096x1600xf32>) -> tensor<4096x1xf32>
  %27 = kernel.scale %26 {factor = 6.250000e-04 : f32} : (tensor<4096x1xf32>) -> tensor<4096x1xf32>
  %28 = kernel.sub %21, %27 : (tensor<4096x1600xf32>, tensor<4096x1xf32>) -> tensor<4096x1600xf32>
  %29 = kernel.reduce_sum %5 {dims = array<i64: 0>} : (tensor<4096x1600xf32>) -> tensor<1x1600xf32>
  %30 = kernel.reshape %29 : (tensor<1x1600xf32>) -> tensor<1600xf32>
  %31 = kernel.cast %30 : (tensor<1600xf32>) -> tensor<1600xbf16>
  %32 = kernel.cast %25 : (tensor<1600xf32>) -> tensor<1600xbf16>
  %33 = kernel.cast %28 : (tensor<4096x1600xf32>) -> tensor<4096x1600xbf16>
  func.return %33, %32, %31 : tensor<4096x1600xbf16>, tensor<1600xbf16>, tensor<1600xbf16>
}

// The gradients of a linear layer with GELU: 2,048 rows, 1,024 to 1,536.
func.func @linear_gelu_backward(%x: tensor<2048x1024xf16>, %w: tensor<1024x1536xf16> {kernel.constant}, %b: tensor<1536xf16>, %grad0: tensor<2048x1536xf16>) -> (tensor<2048x1024xf16>, tensor<1024x1536xf16>, tensor<1536xf16>) {
  %0 = kernel.matmul %x, %w : (tensor<2048x1024xf16>, tensor<1024x1536xf16>) -> tensor<2048x1536xf16>
  %1 = kernel.add %0, %b : (tensor<2048x1536xf16>, tensor<1536xf16>) -> tensor<2048x1536xf16>
  %2 = kernel.cast %1 : (tensor<2048x1536xf16>) -> tensor<2048x1536xf32>
  %3 = kernel.scale %2 {factor = 0.707106769 : f32} : (tensor<2048x1536xf32>) -> tensor<2048x1536xf32>
  %4 = kernel.erf %3 : (tensor<2048x1536xf32>) -> tensor<2048x1536xf32>
  %5 = kernel.mul %3, %3 : (tensor<2048x1536xf32>, tensor<2048x1536xf32>) -> tensor<2048x1536xf32>
  %6 = kernel.scale %5 {factor = -1.000000e+00 : f32} : (tensor<2048x1536xf32>) -> tensor<2048x1536xf32>
  %7 = kernel.exp %6 : (tensor<2048x1536xf32>) -> tensor<2048x1536xf32>
  %8 = kernel.scale %7 {factor = 1.12837923 : f32} : (tensor<2048x1536xf32>) -> tensor<2048x1536xf32>
  %9 = kernel.scale %8 {factor = 0.707106769 : f32} : (tensor<2048x1536xf32>) -> tensor<2048x1536xf32>
  %10 = kernel.scale %2 {factor = 5.000000e-01 : f32} : (tensor<2048x1536xf32>) -> tensor<2048x1536xf32>
  %11 = kernel.constant {value = 1.000000e+00 : f32} : tensor<1x1xf32>
  %12 = kernel.add %11, %4 : (tensor<1x1xf32>, tensor<2048x1536xf32>) -> tensor<2048x1536xf32>
  %13 = kernel.scale %12 {factor = 5.000000e-01 : f32} : (tensor<2048x1536xf32>) -> tensor<2048x1536xf32>
  %14 = kernel.mul %10, %9 : (tensor<2048x1536xf32>, tensor<2048x1536xf32>) -> tensor<2048x1536xf32>
  %15 = kernel.add %13, %14 : (tensor<2048x1536xf32>, tensor<2048x1536xf32>) -> tensor<2048x1536xf32>
  %16 = kernel.cast %grad0 : (tensor<2048x1536xf16>) -> tensor<2048x1536xf32>
  %17 = kernel.mul %16, %15 : (tensor<2048x1536xf32>, tensor<2048x1536xf32>) -> tensor<2048x1536xf32>
  %18 = kernel.cast %17 : (tensor<2048x1536xf32>) -> tensor<2048x1536xf16>
  %19 = kernel.cast %18 : (tensor<2048x1536xf16>) -> tensor<2048x1536xf32>
  %20 = kernel.reduce_sum %19 {dims = array<i64: 0>} : (tensor<2048x1536xf32>) -> tensor<1x1536xf32>
  %21 = kernel.reshape %20 : (tensor<1x1536xf32>) -> tensor<1536xf32>
  %22 = kernel.cast %19 : (tensor<2048x1536xf32>) -> tensor<2048x1536xf16>
  %23 = kernel.transpose %w {permutation = array<i64: 1, 0>} : (tensor<1024x1536xf16>) -> tensor<1536x1024xf16>
  %24 = kernel.matmul %22, %23 : (tensor<2048x1536xf16>, tensor<1536x1024xf16>) -> tensor<2048x1024xf16>
  %25 = kernel.transpose %x {permutation = array<i64: 1, 0>} : (tensor<2048x1024xf16>) -> tensor<1024x2048xf16>
  %26 = kernel.matmul %25, %22 : (tensor<1024x2048xf16>, tensor<2048x1536xf16>) -> tensor<1024x1536xf16>
  %27 = kernel.cast %21 : (tensor<1536xf32>) -> tensor<1536xf16>
  func.return %24, %26, %27 : tensor<2048x1024xf16>, tensor<1024x1536xf16>, tensor<1536xf16>
}
