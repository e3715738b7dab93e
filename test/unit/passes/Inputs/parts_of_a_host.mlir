// Integers stay with the host; what is around them is called, and passes tensors on.
func.func private @log(tensor<4x4xf32>, f32)
func.func @f(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xi64>, tensor<4x4xf32>) {
  %c = arith.constant 0.0 : f32
  %k = arith.constant 2 : i64
  %e = tensor.empty() : tensor<4x4xf32>
  %z = linalg.fill ins(%c : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %m = linalg.matmul ins(%a, %b : tensor<4x8xf32>, tensor<8x4xf32>) outs(%z : tensor<4x4xf32>) -> tensor<4x4xf32>
  %n = linalg.exp ins(%m : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %i = tensor.empty() : tensor<4x4xi64>
  %j = linalg.fill ins(%k : i64) outs(%i : tensor<4x4xi64>) -> tensor<4x4xi64>
  %l = linalg.add ins(%j, %j : tensor<4x4xi64>, tensor<4x4xi64>) outs(%i : tensor<4x4xi64>) -> tensor<4x4xi64>
  %p = linalg.mul ins(%n, %m : tensor<4x4xf32>, tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %q = linalg.matmul ins(%p, %n : tensor<4x4xf32>, tensor<4x4xf32>) outs(%m : tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %n, %l, %q : tensor<4x4xf32>, tensor<4x4xi64>, tensor<4x4xf32>
}
