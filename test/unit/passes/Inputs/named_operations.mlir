// Named operations.
func.func @f(%a: tensor<4x8xf32>, %b: tensor<8xf32>) -> (tensor<4xf32>, tensor<8x4xf32>, tensor<4x8xf32>) {
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %z = linalg.fill ins(%c : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %v = linalg.matvec ins(%a, %b : tensor<4x8xf32>, tensor<8xf32>) outs(%z : tensor<4xf32>) -> tensor<4xf32>
  %e2 = tensor.empty() : tensor<4x8xf32>
  %x = linalg.exp ins(%a : tensor<4x8xf32>) outs(%e2 : tensor<4x8xf32>) -> tensor<4x8xf32>
  %r = linalg.reduce { arith.maximumf } ins(%x : tensor<4x8xf32>) outs(%z : tensor<4xf32>) dimensions = [1]
  %q = linalg.broadcast ins(%v : tensor<4xf32>) outs(%e2 : tensor<4x8xf32>) dimensions = [1]
  %m = linalg.map { arith.addf } ins(%q, %x : tensor<4x8xf32>, tensor<4x8xf32>) outs(%e2 : tensor<4x8xf32>)
  %t = tensor.empty() : tensor<8x4xf32>
  %n = linalg.transpose ins(%m : tensor<4x8xf32>) outs(%t : tensor<8x4xf32>) permutation = [1, 0]
  func.return %r, %n, %m : tensor<4xf32>, tensor<8x4xf32>, tensor<4x8xf32>
}
