// What the search refuses is said under -v, and in --explain, with the operation and the dimensions.
// RUN: mirage-opt %s --superoptimize -v --report --explain --explain-json=%t.json -o /dev/null 2>%t
// RUN: filecheck %s < %t
// RUN: filecheck %s --check-prefix=EXPLAIN < %t
// RUN: filecheck %s --check-prefix=JSON < %t.json

// Squares of a softmax: each has its running maximum to the second power.
// CHECK-DAG:   superoptimize-refusals.mlir:[[# @LINE + 4]]:1: remark: refused: {{.*}}grid(i) loop(j): accumulate_sum over (i) sums products of exps whose maxima change in each iteration
// EXPLAIN:     @squares for sm_90a
// EXPLAIN:       refused: grid(i) loop(j): accumulate_sum over (i) sums products of exps whose maxima change in each iteration
// JSON:        "grid(i) loop(j): accumulate_sum over (i) sums products of exps whose maxima change in each iteration"
func.func @squares(%x: tensor<64x512xf32>) -> tensor<64x1xf32> {
  %y = kernel.softmax %x {dim = 1 : i64} : (tensor<64x512xf32>) -> tensor<64x512xf32>
  %q = kernel.square %y : (tensor<64x512xf32>) -> tensor<64x512xf32>
  %s = kernel.reduce_sum %q {dims = array<i64: 1>} : (tensor<64x512xf32>) -> tensor<64x1xf32>
  func.return %s : tensor<64x1xf32>
}

// One tensor in parts of 4 times 3 and of 3 times 4.
// CHECK-DAG:   superoptimize-refusals.mlir:[[# @LINE + 4]]:8: remark: is not fused with its neighbours: splits a dimension where another cut goes across: 3 elements are no whole part of 4 x 3 x 8
func.func @parts(%x: tensor<4x3x8xf32>, %y: tensor<3x4x8xf32>) -> tensor<3x4x8xf32> {
  %m = kernel.reduce_max %x {dims = array<i64: 1>} : (tensor<4x3x8xf32>) -> tensor<4x1x8xf32>
  %s = kernel.sub %x, %m : (tensor<4x3x8xf32>, tensor<4x1x8xf32>) -> tensor<4x3x8xf32>
  %c = kernel.reshape %s : (tensor<4x3x8xf32>) -> tensor<3x4x8xf32>
  %o = kernel.add %c, %y : (tensor<3x4x8xf32>, tensor<3x4x8xf32>) -> tensor<3x4x8xf32>
  func.return %o : tensor<3x4x8xf32>
}

// Tensors of one size, put side by side, that are made of other parts.
// CHECK-DAG:   superoptimize-refusals.mlir:[[# @LINE + 8]]:8: remark: reads parts of 12 elements of dim 0 one by one: its parts are 4 x 3 and 3 x 4, which have no parts in common
func.func @beside(%x: tensor<4x3x8xf32>, %y: tensor<3x4x8xf32>) -> tensor<24x8xf32> {
  %m = kernel.reduce_max %x {dims = array<i64: 1>} : (tensor<4x3x8xf32>) -> tensor<4x1x8xf32>
  %s = kernel.sub %x, %m : (tensor<4x3x8xf32>, tensor<4x1x8xf32>) -> tensor<4x3x8xf32>
  %p = kernel.reshape %s : (tensor<4x3x8xf32>) -> tensor<12x8xf32>
  %n = kernel.reduce_max %y {dims = array<i64: 1>} : (tensor<3x4x8xf32>) -> tensor<3x1x8xf32>
  %t = kernel.sub %y, %n : (tensor<3x4x8xf32>, tensor<3x1x8xf32>) -> tensor<3x4x8xf32>
  %q = kernel.reshape %t : (tensor<3x4x8xf32>) -> tensor<12x8xf32>
  %o = kernel.concat %p, %q {dim = 0 : i64} : (tensor<12x8xf32>, tensor<12x8xf32>) -> tensor<24x8xf32>
  func.return %o : tensor<24x8xf32>
}
