// Two results, one of which is read as well.
#m = affine_map<(i, j) -> (i, j)>
#t = affine_map<(i, j) -> (j, i)>
func.func @f(%a: tensor<5x6xf32>, %b: tensor<6x5xf32>) -> (tensor<5x6xf32>, tensor<6x5xf32>, tensor<5x6xf32>) {
  %e = tensor.empty() : tensor<5x6xf32>
  %r:2 = linalg.generic {indexing_maps = [#m, #t, #m, #t], iterator_types = ["parallel", "parallel"]}
    ins(%a, %b : tensor<5x6xf32>, tensor<6x5xf32>) outs(%e, %b : tensor<5x6xf32>, tensor<6x5xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32, %p: f32):
    %s = arith.addf %x, %y : f32
    %q = arith.mulf %s, %p : f32
    linalg.yield %s, %q : f32, f32
  } -> (tensor<5x6xf32>, tensor<6x5xf32>)
  %d = linalg.mul ins(%r#0, %a : tensor<5x6xf32>, tensor<5x6xf32>) outs(%e : tensor<5x6xf32>) -> tensor<5x6xf32>
  func.return %r#0, %r#1, %d : tensor<5x6xf32>, tensor<6x5xf32>, tensor<5x6xf32>
}
