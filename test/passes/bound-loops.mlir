// Blocks run those iterations of their loop that change a result.
//
// RUN: mirage-opt %s --bound-loops | filecheck %s

// Of block b along axis 0, with rows up to 16 b + 15, iteration b is the last with a column that is
// not masked; iterations before b have none that is.
// CHECK-LABEL: func.func @lower_triangle
// CHECK:         kernel.graph_defined ins(%x) grid [4] loop [8] bounds <end = [1, 1, 1]> unmasked <end = [1, 0, 1]> {
// CHECK:           threadblock.select %seen, %t, %zero {threadblock.where_unmasked = true}
func.func @lower_triangle(%x: tensor<64x128xf32>) -> tensor<64x1xf32> {
  %o = kernel.graph_defined ins(%x) grid [4] loop [8] {
  ^bb0(%0: tensor<64x128xf32>):
    %i = threadblock.iota of [64, 1] strides [1, 1] grid_map [0] loop_map [_] : !threadblock.tile<16x1xf32>
    %j = threadblock.iota of [128] strides [1] grid_map [_] loop_map [0] : !threadblock.tile<16xf32>
    %t = threadblock.load %0 grid_map [0] loop_map [1] : (tensor<64x128xf32>) -> !threadblock.tile<16x16xf32>
    %seen = threadblock.compare %i, %j {predicate = "ge"} : (!threadblock.tile<16x1xf32>, !threadblock.tile<16xf32>) -> !threadblock.tile<16x16xf32>
    %zero = threadblock.constant {value = 0.0 : f32} : !threadblock.tile<16x16xf32>
    %m = threadblock.select %seen, %t, %zero : (!threadblock.tile<16x16xf32>, !threadblock.tile<16x16xf32>, !threadblock.tile<16x16xf32>) -> !threadblock.tile<16x16xf32>
    %r = threadblock.reduce_sum %m {dims = array<i64: 1>} : (!threadblock.tile<16x16xf32>) -> !threadblock.tile<16x1xf32>
    %a = threadblock.accumulate %r : (!threadblock.tile<16x1xf32>) -> !threadblock.tile<16x1xf32>
    threadblock.store %a grid_map [0] : !threadblock.tile<16x1xf32>
  } : (tensor<64x128xf32>) -> tensor<64x1xf32>
  func.return %o : tensor<64x1xf32>
}

// Here it is the first.
// CHECK-LABEL: func.func @upper_triangle
// CHECK:         bounds <first = [1, 0, 1]> unmasked <first = [1, 1, 1]> {
func.func @upper_triangle(%x: tensor<64x128xf32>) -> tensor<64x1xf32> {
  %o = kernel.graph_defined ins(%x) grid [4] loop [8] {
  ^bb0(%0: tensor<64x128xf32>):
    %i = threadblock.iota of [64, 1] strides [1, 1] grid_map [0] loop_map [_] : !threadblock.tile<16x1xf32>
    %j = threadblock.iota of [128] strides [1] grid_map [_] loop_map [0] : !threadblock.tile<16xf32>
    %t = threadblock.load %0 grid_map [0] loop_map [1] : (tensor<64x128xf32>) -> !threadblock.tile<16x16xf32>
    %seen = threadblock.compare %i, %j {predicate = "le"} : (!threadblock.tile<16x1xf32>, !threadblock.tile<16xf32>) -> !threadblock.tile<16x16xf32>
    %zero = threadblock.constant {value = 0.0 : f32} : !threadblock.tile<16x16xf32>
    %m = threadblock.select %seen, %t, %zero : (!threadblock.tile<16x16xf32>, !threadblock.tile<16x16xf32>, !threadblock.tile<16x16xf32>) -> !threadblock.tile<16x16xf32>
    %r = threadblock.reduce_sum %m {dims = array<i64: 1>} : (!threadblock.tile<16x16xf32>) -> !threadblock.tile<16x1xf32>
    %a = threadblock.accumulate %r : (!threadblock.tile<16x1xf32>) -> !threadblock.tile<16x1xf32>
    threadblock.store %a grid_map [0] : !threadblock.tile<16x1xf32>
  } : (tensor<64x128xf32>) -> tensor<64x1xf32>
  func.return %o : tensor<64x1xf32>
}

// Conditions may be computed from indices, and be products of others: columns from 20 below the row.
// CHECK-LABEL: func.func @band
// CHECK:         bounds <first = [1, -2, 1], end = [1, 1, 1]> {
func.func @band(%x: tensor<64x128xf32>) -> tensor<64x1xf32> {
  %o = kernel.graph_defined ins(%x) grid [4] loop [8] {
  ^bb0(%0: tensor<64x128xf32>):
    %i = threadblock.iota of [64, 1] strides [1, 1] grid_map [0] loop_map [_] : !threadblock.tile<16x1xf32>
    %j = threadblock.iota of [128] strides [1] grid_map [_] loop_map [0] : !threadblock.tile<16xf32>
    %t = threadblock.load %0 grid_map [0] loop_map [1] : (tensor<64x128xf32>) -> !threadblock.tile<16x16xf32>
    %w = threadblock.constant {value = 20.0 : f32} : !threadblock.tile<16xf32>
    %past = threadblock.add %j, %w : (!threadblock.tile<16xf32>, !threadblock.tile<16xf32>) -> !threadblock.tile<16xf32>
    %near = threadblock.compare %i, %past {predicate = "le"} : (!threadblock.tile<16x1xf32>, !threadblock.tile<16xf32>) -> !threadblock.tile<16x16xf32>
    %before = threadblock.compare %i, %j {predicate = "ge"} : (!threadblock.tile<16x1xf32>, !threadblock.tile<16xf32>) -> !threadblock.tile<16x16xf32>
    %seen = threadblock.mul %before, %near : (!threadblock.tile<16x16xf32>, !threadblock.tile<16x16xf32>) -> !threadblock.tile<16x16xf32>
    %m = threadblock.mul %seen, %t : (!threadblock.tile<16x16xf32>, !threadblock.tile<16x16xf32>) -> !threadblock.tile<16x16xf32>
    %r = threadblock.reduce_sum %m {dims = array<i64: 1>} : (!threadblock.tile<16x16xf32>) -> !threadblock.tile<16x1xf32>
    %a = threadblock.accumulate %r : (!threadblock.tile<16x1xf32>) -> !threadblock.tile<16x1xf32>
    threadblock.store %a grid_map [0] : !threadblock.tile<16x1xf32>
  } : (tensor<64x128xf32>) -> tensor<64x1xf32>
  func.return %o : tensor<64x1xf32>
}

// An iteration whose maximum is what it is at least changes none; exp of -inf is 0.
// CHECK-LABEL: func.func @maximum
// CHECK:         bounds <end = [1, 1, 1]> unmasked <end = [1, 0, 1]> {
func.func @maximum(%x: tensor<64x128xf32>) -> tensor<64x1xf32> {
  %o = kernel.graph_defined ins(%x) grid [4] loop [8] {
  ^bb0(%0: tensor<64x128xf32>):
    %i = threadblock.iota of [64, 1] strides [1, 1] grid_map [0] loop_map [_] : !threadblock.tile<16x1xf32>
    %j = threadblock.iota of [128] strides [1] grid_map [_] loop_map [0] : !threadblock.tile<16xf32>
    %t = threadblock.load %0 grid_map [0] loop_map [1] : (tensor<64x128xf32>) -> !threadblock.tile<16x16xf32>
    %seen = threadblock.compare %i, %j {predicate = "ge"} : (!threadblock.tile<16x1xf32>, !threadblock.tile<16xf32>) -> !threadblock.tile<16x16xf32>
    %low = threadblock.constant {value = 0xff800000 : f32} : !threadblock.tile<16x16xf32>
    %m = threadblock.select %seen, %t, %low : (!threadblock.tile<16x16xf32>, !threadblock.tile<16x16xf32>, !threadblock.tile<16x16xf32>) -> !threadblock.tile<16x16xf32>
    %floor = threadblock.constant {value = -1.0e+38 : f32} : !threadblock.tile<16x16xf32>
    %f = threadblock.max %m, %floor : (!threadblock.tile<16x16xf32>, !threadblock.tile<16x16xf32>) -> !threadblock.tile<16x16xf32>
    %top = threadblock.reduce_max %f {dims = array<i64: 1>} : (!threadblock.tile<16x16xf32>) -> !threadblock.tile<16x1xf32>
    %d = threadblock.sub %m, %top : (!threadblock.tile<16x16xf32>, !threadblock.tile<16x1xf32>) -> !threadblock.tile<16x16xf32>
    %e = threadblock.exp %d : (!threadblock.tile<16x16xf32>) -> !threadblock.tile<16x16xf32>
    %r = threadblock.reduce_sum %e {dims = array<i64: 1>} : (!threadblock.tile<16x16xf32>) -> !threadblock.tile<16x1xf32>
    %a = threadblock.accumulate %r rescale %top : (!threadblock.tile<16x1xf32>, !threadblock.tile<16x1xf32>) -> !threadblock.tile<16x1xf32>
    threadblock.store %a grid_map [0] : !threadblock.tile<16x1xf32>
  } : (tensor<64x128xf32>) -> tensor<64x1xf32>
  func.return %o : tensor<64x1xf32>
}

// What is added up besides needs all iterations.
// CHECK-LABEL: func.func @another_sum
// CHECK:         loop [8] unmasked <end = [1, 0, 1]> {
func.func @another_sum(%x: tensor<64x128xf32>) -> tensor<64x1xf32> {
  %o = kernel.graph_defined ins(%x) grid [4] loop [8] {
  ^bb0(%0: tensor<64x128xf32>):
    %i = threadblock.iota of [64, 1] strides [1, 1] grid_map [0] loop_map [_] : !threadblock.tile<16x1xf32>
    %j = threadblock.iota of [128] strides [1] grid_map [_] loop_map [0] : !threadblock.tile<16xf32>
    %t = threadblock.load %0 grid_map [0] loop_map [1] : (tensor<64x128xf32>) -> !threadblock.tile<16x16xf32>
    %seen = threadblock.compare %i, %j {predicate = "ge"} : (!threadblock.tile<16x1xf32>, !threadblock.tile<16xf32>) -> !threadblock.tile<16x16xf32>
    %zero = threadblock.constant {value = 0.0 : f32} : !threadblock.tile<16x16xf32>
    %m = threadblock.select %seen, %t, %zero : (!threadblock.tile<16x16xf32>, !threadblock.tile<16x16xf32>, !threadblock.tile<16x16xf32>) -> !threadblock.tile<16x16xf32>
    %r = threadblock.reduce_sum %m {dims = array<i64: 1>} : (!threadblock.tile<16x16xf32>) -> !threadblock.tile<16x1xf32>
    %a = threadblock.accumulate %r : (!threadblock.tile<16x1xf32>) -> !threadblock.tile<16x1xf32>
    %r2 = threadblock.reduce_sum %t {dims = array<i64: 1>} : (!threadblock.tile<16x16xf32>) -> !threadblock.tile<16x1xf32>
    %a2 = threadblock.accumulate %r2 : (!threadblock.tile<16x1xf32>) -> !threadblock.tile<16x1xf32>
    %s = threadblock.add %a, %a2 : (!threadblock.tile<16x1xf32>, !threadblock.tile<16x1xf32>) -> !threadblock.tile<16x1xf32>
    threadblock.store %s grid_map [0] : !threadblock.tile<16x1xf32>
  } : (tensor<64x128xf32>) -> tensor<64x1xf32>
  func.return %o : tensor<64x1xf32>
}

// So does a masked element that is no zero.
// CHECK-LABEL: func.func @not_zero
// CHECK:         loop [8] unmasked <end = [1, 0, 1]> {
func.func @not_zero(%x: tensor<64x128xf32>) -> tensor<64x1xf32> {
  %o = kernel.graph_defined ins(%x) grid [4] loop [8] {
  ^bb0(%0: tensor<64x128xf32>):
    %i = threadblock.iota of [64, 1] strides [1, 1] grid_map [0] loop_map [_] : !threadblock.tile<16x1xf32>
    %j = threadblock.iota of [128] strides [1] grid_map [_] loop_map [0] : !threadblock.tile<16xf32>
    %t = threadblock.load %0 grid_map [0] loop_map [1] : (tensor<64x128xf32>) -> !threadblock.tile<16x16xf32>
    %seen = threadblock.compare %i, %j {predicate = "ge"} : (!threadblock.tile<16x1xf32>, !threadblock.tile<16xf32>) -> !threadblock.tile<16x16xf32>
    %zero = threadblock.constant {value = 1.0 : f32} : !threadblock.tile<16x16xf32>
    %m = threadblock.select %seen, %t, %zero : (!threadblock.tile<16x16xf32>, !threadblock.tile<16x16xf32>, !threadblock.tile<16x16xf32>) -> !threadblock.tile<16x16xf32>
    %r = threadblock.reduce_sum %m {dims = array<i64: 1>} : (!threadblock.tile<16x16xf32>) -> !threadblock.tile<16x1xf32>
    %a = threadblock.accumulate %r : (!threadblock.tile<16x1xf32>) -> !threadblock.tile<16x1xf32>
    threadblock.store %a grid_map [0] : !threadblock.tile<16x1xf32>
  } : (tensor<64x128xf32>) -> tensor<64x1xf32>
  func.return %o : tensor<64x1xf32>
}

// Where each iteration has a column that is not masked, all are run.
// CHECK-LABEL: func.func @every_row
// CHECK-NOT:     bounds
func.func @every_row(%x: tensor<64x128xf32>) -> tensor<64x1xf32> {
  %o = kernel.graph_defined ins(%x) grid [4] loop [8] {
  ^bb0(%0: tensor<64x128xf32>):
    %i = threadblock.iota of [64, 1] strides [1, 1] grid_map [0] loop_map [_] : !threadblock.tile<16x1xf32>
    %j = threadblock.iota of [128] strides [1] grid_map [_] loop_map [0] : !threadblock.tile<16xf32>
    %t = threadblock.load %0 grid_map [0] loop_map [1] : (tensor<64x128xf32>) -> !threadblock.tile<16x16xf32>
    %seen = threadblock.compare %i, %j {predicate = "ne"} : (!threadblock.tile<16x1xf32>, !threadblock.tile<16xf32>) -> !threadblock.tile<16x16xf32>
    %zero = threadblock.constant {value = 0.0 : f32} : !threadblock.tile<16x16xf32>
    %m = threadblock.select %seen, %t, %zero : (!threadblock.tile<16x16xf32>, !threadblock.tile<16x16xf32>, !threadblock.tile<16x16xf32>) -> !threadblock.tile<16x16xf32>
    %r = threadblock.reduce_sum %m {dims = array<i64: 1>} : (!threadblock.tile<16x16xf32>) -> !threadblock.tile<16x1xf32>
    %a = threadblock.accumulate %r : (!threadblock.tile<16x1xf32>) -> !threadblock.tile<16x1xf32>
    threadblock.store %a grid_map [0] : !threadblock.tile<16x1xf32>
  } : (tensor<64x128xf32>) -> tensor<64x1xf32>
  func.return %o : tensor<64x1xf32>
}

// Blocks of a cluster run the same iterations.
// CHECK-LABEL: func.func @cluster
// CHECK-NOT:     bounds
func.func @cluster(%x: tensor<64x128xf32>) -> tensor<64x1xf32> {
  %o = kernel.graph_defined ins(%x) grid [4] cluster [2] loop [8] {
  ^bb0(%0: tensor<64x128xf32>):
    %i = threadblock.iota of [64, 1] strides [1, 1] grid_map [0] loop_map [_] : !threadblock.tile<16x1xf32>
    %j = threadblock.iota of [128] strides [1] grid_map [_] loop_map [0] : !threadblock.tile<16xf32>
    %t = threadblock.load %0 grid_map [0] loop_map [1] : (tensor<64x128xf32>) -> !threadblock.tile<16x16xf32>
    %seen = threadblock.compare %i, %j {predicate = "ge"} : (!threadblock.tile<16x1xf32>, !threadblock.tile<16xf32>) -> !threadblock.tile<16x16xf32>
    %zero = threadblock.constant {value = 0.0 : f32} : !threadblock.tile<16x16xf32>
    %m = threadblock.select %seen, %t, %zero : (!threadblock.tile<16x16xf32>, !threadblock.tile<16x16xf32>, !threadblock.tile<16x16xf32>) -> !threadblock.tile<16x16xf32>
    %r = threadblock.reduce_sum %m {dims = array<i64: 1>} : (!threadblock.tile<16x16xf32>) -> !threadblock.tile<16x1xf32>
    %a = threadblock.accumulate %r : (!threadblock.tile<16x1xf32>) -> !threadblock.tile<16x1xf32>
    threadblock.store %a grid_map [0] : !threadblock.tile<16x1xf32>
  } : (tensor<64x128xf32>) -> tensor<64x1xf32>
  func.return %o : tensor<64x1xf32>
}

// A selection of what follows from indices alone is no mask: it is computed in all iterations.
// CHECK-LABEL: func.func @diagonal
// CHECK:         unmasked <end = [1, 0, 1]> {
// CHECK:           threadblock.select %seen, %t, %zero {threadblock.where_unmasked = true}
// CHECK:           threadblock.select %here, %bias, %zero :
func.func @diagonal(%x: tensor<64x128xf32>) -> tensor<64x1xf32> {
  %o = kernel.graph_defined ins(%x) grid [4] loop [8] {
  ^bb0(%0: tensor<64x128xf32>):
    %i = threadblock.iota of [64, 1] strides [1, 1] grid_map [0] loop_map [_] : !threadblock.tile<16x1xf32>
    %j = threadblock.iota of [128] strides [1] grid_map [_] loop_map [0] : !threadblock.tile<16xf32>
    %t = threadblock.load %0 grid_map [0] loop_map [1] : (tensor<64x128xf32>) -> !threadblock.tile<16x16xf32>
    %seen = threadblock.compare %i, %j {predicate = "ge"} : (!threadblock.tile<16x1xf32>, !threadblock.tile<16xf32>) -> !threadblock.tile<16x16xf32>
    %here = threadblock.compare %i, %j {predicate = "eq"} : (!threadblock.tile<16x1xf32>, !threadblock.tile<16xf32>) -> !threadblock.tile<16x16xf32>
    %zero = threadblock.constant {value = 0.0 : f32} : !threadblock.tile<16x16xf32>
    %m = threadblock.select %seen, %t, %zero : (!threadblock.tile<16x16xf32>, !threadblock.tile<16x16xf32>, !threadblock.tile<16x16xf32>) -> !threadblock.tile<16x16xf32>
    %bias = threadblock.scale %i {factor = 0.1 : f32} : (!threadblock.tile<16x1xf32>) -> !threadblock.tile<16x1xf32>
    %d = threadblock.select %here, %bias, %zero : (!threadblock.tile<16x16xf32>, !threadblock.tile<16x1xf32>, !threadblock.tile<16x16xf32>) -> !threadblock.tile<16x16xf32>
    %s = threadblock.add %m, %d : (!threadblock.tile<16x16xf32>, !threadblock.tile<16x16xf32>) -> !threadblock.tile<16x16xf32>
    %r = threadblock.reduce_sum %s {dims = array<i64: 1>} : (!threadblock.tile<16x16xf32>) -> !threadblock.tile<16x1xf32>
    %a = threadblock.accumulate %r : (!threadblock.tile<16x1xf32>) -> !threadblock.tile<16x1xf32>
    threadblock.store %a grid_map [0] : !threadblock.tile<16x1xf32>
  } : (tensor<64x128xf32>) -> tensor<64x1xf32>
  func.return %o : tensor<64x1xf32>
}
