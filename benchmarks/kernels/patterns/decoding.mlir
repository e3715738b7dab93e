// Gated experts after routing, weighted: 16 experts of 704, 96 tokens each of 1,024.
func.func @routed_experts(%x: tensor<16x96x1024xbf16>, %gate: tensor<16x1024x704xbf16> {kernel.constant}, %up: tensor<16x1024x704xbf16> {kernel.constant}, %down: tensor<16x704x1024xbf16> {kernel.constant}, %p: tensor<16x96x1xbf16>) -> tensor<16x96x1024xbf16> {
  %0 = kernel.matmul %x, %gate : (tensor<16x96x1024xbf16>, tensor<16x1024x704xbf16>) -> tensor<16x96x704xbf16>
  %1 = kernel.silu %0 : (tensor<16x96x704xbf16>) -> tensor<16x96x704xbf16>
  %2 = kernel.matmul %x, %up : (tensor<16x96x1024xbf16>, tensor<16x1024x704xbf16>) -> tensor<16x96x704xbf16>
  %3 = kernel.mul %1, %2 : (tensor<16x96x704xbf16>, tensor<16x96x704xbf16>) -> tensor<16x96x704xbf16>
  %4 = kernel.matmul %3, %down : (tensor<16x96x704xbf16>, tensor<16x704x1024xbf16>) -> tensor<16x96x1024xbf16>
  %5 = kernel.mul %4, %p : (tensor<16x96x1024xbf16>, tensor<16x96x1xbf16>) -> tensor<16x96x1024xbf16>
  func.return %5 : tensor<16x96x1024xbf16>
}

// EAGLE's first layer: a token's embedding beside its hidden state, a residual, RMSNorm, keys.
func.func @eagle_fuse(%e: tensor<1x3072xbf16>, %h: tensor<1x3072xbf16>, %w: tensor<6144x3072xbf16> {kernel.constant}, %g: tensor<3072xbf16>, %wk: tensor<3072x1024xbf16> {kernel.constant}) -> (tensor<1x3072xbf16>, tensor<1x1024xbf16>) {
  %0 = kernel.concat %e, %h {dim = 1 : i64} : (tensor<1x3072xbf16>, tensor<1x3072xbf16>) -> tensor<1x6144xbf16>
  %1 = kernel.matmul %0, %w : (tensor<1x6144xbf16>, tensor<6144x3072xbf16>) -> tensor<1x3072xbf16>
  %2 = kernel.add %1, %h : (tensor<1x3072xbf16>, tensor<1x3072xbf16>) -> tensor<1x3072xbf16>
  %3 = kernel.cast %2 : (tensor<1x3072xbf16>) -> tensor<1x3072xf32>
  %4 = kernel.rms_norm %3 {eps = 1.000000e-06 : f32} : (tensor<1x3072xf32>) -> tensor<1x3072xf32>
  %5 = kernel.cast %4 : (tensor<1x3072xf32>) -> tensor<1x3072xbf16>
  %6 = kernel.mul %5, %g : (tensor<1x3072xbf16>, tensor<3072xbf16>) -> tensor<1x3072xbf16>
  %7 = kernel.matmul %6, %wk : (tensor<1x3072xbf16>, tensor<3072x1024xbf16>) -> tensor<1x1024xbf16>
  func.return %2, %7 : tensor<1x3072xbf16>, tensor<1x1024xbf16>
}
