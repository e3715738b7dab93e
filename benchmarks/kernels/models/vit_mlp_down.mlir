// A vision transformer's second product with layer scale and residual connection.
func.func @vit_mlp_down(%h: tensor<2056x4096xf16>, %w: tensor<4096x1024xf16> {kernel.constant}, %wb: tensor<1024xf16> {kernel.constant}, %ls: tensor<1024xf16>, %x: tensor<2056x1024xf16>) -> tensor<2056x1024xf16> {
  %0 = kernel.matmul %h, %w : (tensor<2056x4096xf16>, tensor<4096x1024xf16>) -> tensor<2056x1024xf16>
  %1 = kernel.add %0, %wb : (tensor<2056x1024xf16>, tensor<1024xf16>) -> tensor<2056x1024xf16>
  %2 = kernel.mul %ls, %1 : (tensor<1024xf16>, tensor<2056x1024xf16>) -> tensor<2056x1024xf16>
  %3 = kernel.add %x, %2 : (tensor<2056x1024xf16>, tensor<2056x1024xf16>) -> tensor<2056x1024xf16>
  func.return %3 : tensor<2056x1024xf16>
}
