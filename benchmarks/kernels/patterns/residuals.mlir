// Matmuls of many rows to which something as large is added, or by which it is multiplied.
func.func @out_residual(%x: tensor<4096x1024xf16>, %w: tensor<1024x1024xf16>, %bi: tensor<1024xf16>, %r: tensor<4096x1024xf16>) -> tensor<4096x1024xf16> {
  %0 = kernel.matmul %x, %w : (tensor<4096x1024xf16>, tensor<1024x1024xf16>) -> tensor<4096x1024xf16>
  %1 = kernel.add %0, %bi : (tensor<4096x1024xf16>, tensor<1024xf16>) -> tensor<4096x1024xf16>
  %2 = kernel.add %1, %r : (tensor<4096x1024xf16>, tensor<4096x1024xf16>) -> tensor<4096x1024xf16>
  func.return %2 : tensor<4096x1024xf16>
}

func.func @o_proj(%x: tensor<512x4096xf16>, %w: tensor<4096x4096xf16> {kernel.constant}, %r: tensor<512x4096xf16>) -> tensor<512x4096xf16> {
  %0 = kernel.matmul %x, %w : (tensor<512x4096xf16>, tensor<4096x4096xf16>) -> tensor<512x4096xf16>
  %1 = kernel.add %0, %r : (tensor<512x4096xf16>, tensor<512x4096xf16>) -> tensor<512x4096xf16>
  func.return %1 : tensor<512x4096xf16>
}

func.func @down(%x: tensor<2048x5632xf16>, %w: tensor<5632x2048xf16> {kernel.constant}, %r: tensor<2048x2048xf16>) -> tensor<2048x2048xf16> {
  %0 = kernel.matmul %x, %w : (tensor<2048x5632xf16>, tensor<5632x2048xf16>) -> tensor<2048x2048xf16>
  %1 = kernel.add %0, %r : (tensor<2048x2048xf16>, tensor<2048x2048xf16>) -> tensor<2048x2048xf16>
  func.return %1 : tensor<2048x2048xf16>
}

func.func @gate_res(%x: tensor<2048x1024xf16>, %w: tensor<1024x4096xf16> {kernel.constant}, %g: tensor<2048x4096xf16>) -> tensor<2048x4096xf16> {
  %0 = kernel.matmul %x, %w : (tensor<2048x1024xf16>, tensor<1024x4096xf16>) -> tensor<2048x4096xf16>
  %1 = kernel.silu %0 : (tensor<2048x4096xf16>) -> tensor<2048x4096xf16>
  %2 = kernel.mul %1, %g : (tensor<2048x4096xf16>, tensor<2048x4096xf16>) -> tensor<2048x4096xf16>
  func.return %2 : tensor<2048x4096xf16>
}

func.func @res_bf16(%x: tensor<1024x2048xbf16>, %w: tensor<2048x1024xbf16> {kernel.constant}, %b: tensor<1024xbf16>, %r: tensor<1024x1024xbf16>) -> tensor<1024x1024xbf16> {
  %0 = kernel.matmul %x, %w : (tensor<1024x2048xbf16>, tensor<2048x1024xbf16>) -> tensor<1024x1024xbf16>
  %1 = kernel.add %0, %b : (tensor<1024x1024xbf16>, tensor<1024xbf16>) -> tensor<1024x1024xbf16>
  %2 = kernel.add %1, %r : (tensor<1024x1024xbf16>, tensor<1024x1024xbf16>) -> tensor<1024x1024xbf16>
  func.return %2 : tensor<1024x1024xbf16>
}

func.func @down_residual_ln(%x: tensor<1024x4096xf16>, %w: tensor<4096x1024xf16>, %bi: tensor<1024xf16>, %r: tensor<1024x1024xf16>, %g: tensor<1024xf16>, %bb: tensor<1024xf16>) -> tensor<1024x1024xf16> {
  %0 = kernel.matmul %x, %w : (tensor<1024x4096xf16>, tensor<4096x1024xf16>) -> tensor<1024x1024xf16>
  %1 = kernel.add %0, %bi : (tensor<1024x1024xf16>, tensor<1024xf16>) -> tensor<1024x1024xf16>
  %2 = kernel.add %1, %r : (tensor<1024x1024xf16>, tensor<1024x1024xf16>) -> tensor<1024x1024xf16>
  %3 = kernel.reshape %g : (tensor<1024xf16>) -> tensor<1024xf16>
  %4 = kernel.reshape %bb : (tensor<1024xf16>) -> tensor<1024xf16>
  %5 = kernel.layer_norm %2, %3, %4 {eps = 1.000000e-05 : f32} : (tensor<1024x1024xf16>, tensor<1024xf16>, tensor<1024xf16>) -> tensor<1024x1024xf16>
  func.return %5 : tensor<1024x1024xf16>
}
