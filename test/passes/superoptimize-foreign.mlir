// What is not searched is named.
// RUN: mirage-opt --superoptimize %s --verify-diagnostics

func.func @foreign(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %e = tensor.empty() : tensor<4x4xf32>
  // expected-remark @+1 {{'linalg.exp' op is no operator of the kernel dialect: its function is not searched; convert-linalg-to-kernel and convert-stablehlo-to-kernel convert}}
  %t = linalg.exp ins(%a : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %u = linalg.exp ins(%t : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %u : tensor<4x4xf32>
}
