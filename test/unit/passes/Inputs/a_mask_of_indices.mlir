// A mask of indices.
#m = affine_map<(i, j) -> (i, j)>
func.func @f(%a: tensor<5x6xf32>) -> tensor<5x6xf32> {
  %low = arith.constant -100.0 : f32
  %two = arith.constant 2 : i64
  %e = tensor.empty() : tensor<5x6xf32>
  %r = linalg.generic {indexing_maps = [#m, #m], iterator_types = ["parallel", "parallel"]}
    ins(%a : tensor<5x6xf32>) outs(%e : tensor<5x6xf32>) {
  ^bb0(%x: f32, %o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %ii = arith.index_cast %i : index to i64
    %jj = arith.index_cast %j : index to i64
    %k = arith.subi %ii, %jj : i64
    %near = arith.cmpi sle, %k, %two : i64
    %causal = arith.cmpi sge, %ii, %jj : i64
    %both = arith.andi %near, %causal : i1
    %n = arith.sitofp %k : i64 to f32
    %v = arith.addf %x, %n : f32
    %z = arith.select %both, %v, %low : f32
    linalg.yield %z : f32
  } -> tensor<5x6xf32>
  func.return %r : tensor<5x6xf32>
}
