// RUN: mirage-opt %s --split-input-file --verify-diagnostics --verify-equivalence="reference=f candidate=g"

// Rows stored one by one, and parts of a sum that are all added up: whose rows are whose does not matter.
func.func @f(%x: tensor<103x16xf32>) -> (tensor<103x16xf32>, tensor<1x16xf32>) {
  %e = kernel.tanh %x : (tensor<103x16xf32>) -> tensor<103x16xf32>
  %s = kernel.reduce_sum %x {dims = array<i64: 0>} : (tensor<103x16xf32>) -> tensor<1x16xf32>
  func.return %e, %s : tensor<103x16xf32>, tensor<1x16xf32>
}
// expected-remark @+1 {{@g is @f: proved: the normal forms are equal; tested}}
func.func @g(%x: tensor<103x16xf32>) -> (tensor<103x16xf32>, tensor<1x16xf32>) {
  %e, %p = kernel.graph_defined ins(%x) grid [4] loop [7] cyclic {
  ^bb0(%a: tensor<103x16xf32>):
    %t = threadblock.load %a grid_map [0] loop_map [0] : (tensor<103x16xf32>) -> !threadblock.tile<4x16xf32>
    %h = threadblock.tanh %t : (!threadblock.tile<4x16xf32>) -> !threadblock.tile<4x16xf32>
    %c = threadblock.reduce_sum %t {dims = array<i64: 0>} : (!threadblock.tile<4x16xf32>) -> !threadblock.tile<1x16xf32>
    %s = threadblock.accumulate %c : (!threadblock.tile<1x16xf32>) -> !threadblock.tile<1x16xf32>
    threadblock.store %h grid_map [0] loop_map [0] : !threadblock.tile<4x16xf32>
    threadblock.store %s grid_map [0] : !threadblock.tile<1x16xf32>
  } : (tensor<103x16xf32>) -> (tensor<103x16xf32>, tensor<4x16xf32>)
  %s = kernel.reduce_sum %p {dims = array<i64: 0>} : (tensor<4x16xf32>) -> tensor<1x16xf32>
  func.return %e, %s : tensor<103x16xf32>, tensor<1x16xf32>
}

// -----

// The parts of sums themselves: block b of 4 has rows b, b + 4, and so on.
func.func @f(%x: tensor<24x8xf32>) -> tensor<4x8xf32> {
  %r = kernel.reshape %x : (tensor<24x8xf32>) -> tensor<6x4x8xf32>
  %s = kernel.reduce_sum %r {dims = array<i64: 0>} : (tensor<6x4x8xf32>) -> tensor<1x4x8xf32>
  %p = kernel.reshape %s : (tensor<1x4x8xf32>) -> tensor<4x8xf32>
  func.return %p : tensor<4x8xf32>
}
// expected-remark @+1 {{@g is @f: proved: the normal forms are equal; tested}}
func.func @g(%x: tensor<24x8xf32>) -> tensor<4x8xf32> {
  %p = kernel.graph_defined ins(%x) grid [4] loop [6] cyclic {
  ^bb0(%a: tensor<24x8xf32>):
    %t = threadblock.load %a grid_map [0] loop_map [0] : (tensor<24x8xf32>) -> !threadblock.tile<1x8xf32>
    %s = threadblock.accumulate %t : (!threadblock.tile<1x8xf32>) -> !threadblock.tile<1x8xf32>
    threadblock.store %s grid_map [0] : !threadblock.tile<1x8xf32>
  } : (tensor<24x8xf32>) -> tensor<4x8xf32>
  func.return %p : tensor<4x8xf32>
}

// -----

// Without the property block b has rows 6 b to 6 b + 5: another program.
func.func @f(%x: tensor<24x8xf32>) -> tensor<4x8xf32> {
  %r = kernel.reshape %x : (tensor<24x8xf32>) -> tensor<6x4x8xf32>
  %s = kernel.reduce_sum %r {dims = array<i64: 0>} : (tensor<6x4x8xf32>) -> tensor<1x4x8xf32>
  %p = kernel.reshape %s : (tensor<1x4x8xf32>) -> tensor<4x8xf32>
  func.return %p : tensor<4x8xf32>
}
// expected-error @+1 {{@g is not @f}}
func.func @g(%x: tensor<24x8xf32>) -> tensor<4x8xf32> {
  %p = kernel.graph_defined ins(%x) grid [4] loop [6] {
  ^bb0(%a: tensor<24x8xf32>):
    %t = threadblock.load %a grid_map [0] loop_map [0] : (tensor<24x8xf32>) -> !threadblock.tile<1x8xf32>
    %s = threadblock.accumulate %t : (!threadblock.tile<1x8xf32>) -> !threadblock.tile<1x8xf32>
    threadblock.store %s grid_map [0] : !threadblock.tile<1x8xf32>
  } : (tensor<24x8xf32>) -> tensor<4x8xf32>
  func.return %p : tensor<4x8xf32>
}

// -----

// One graph adds up rows b, b + 4 ..., the next scales them by their sums: both are cyclic.
func.func @f(%x: tensor<22x8xf32>) -> tensor<22x8xf32> {
  %p = kernel.graph_defined ins(%x) grid [4] loop [6] cyclic {
  ^bb0(%a: tensor<22x8xf32>):
    %t = threadblock.load %a grid_map [0] loop_map [0] : (tensor<22x8xf32>) -> !threadblock.tile<1x8xf32>
    %s = threadblock.accumulate %t : (!threadblock.tile<1x8xf32>) -> !threadblock.tile<1x8xf32>
    threadblock.store %s grid_map [0] : !threadblock.tile<1x8xf32>
  } : (tensor<22x8xf32>) -> tensor<4x8xf32>
  %q = kernel.repeat %p {dim = 0 : i64, times = 6 : i64} : (tensor<4x8xf32>) -> tensor<24x8xf32>
  %c = kernel.slice %q {offsets = array<i64: 0, 0>, sizes = array<i64: 22, 8>, strides = array<i64: 1, 1>} : (tensor<24x8xf32>) -> tensor<22x8xf32>
  %y = kernel.mul %x, %c : (tensor<22x8xf32>, tensor<22x8xf32>) -> tensor<22x8xf32>
  func.return %y : tensor<22x8xf32>
}
// expected-remark @+1 {{@g is @f: proved: the normal forms are equal; tested}}
func.func @g(%x: tensor<22x8xf32>) -> tensor<22x8xf32> {
  %p = kernel.graph_defined ins(%x) grid [4] loop [6] cyclic {
  ^bb0(%a: tensor<22x8xf32>):
    %t = threadblock.load %a grid_map [0] loop_map [0] : (tensor<22x8xf32>) -> !threadblock.tile<1x8xf32>
    %s = threadblock.accumulate %t : (!threadblock.tile<1x8xf32>) -> !threadblock.tile<1x8xf32>
    threadblock.store %s grid_map [0] : !threadblock.tile<1x8xf32>
  } : (tensor<22x8xf32>) -> tensor<4x8xf32>
  %y = kernel.graph_defined ins(%x, %p) grid [4] loop [6] cyclic {
  ^bb0(%a: tensor<22x8xf32>, %b: tensor<4x8xf32>):
    %t = threadblock.load %a grid_map [0] loop_map [0] : (tensor<22x8xf32>) -> !threadblock.tile<1x8xf32>
    %s = threadblock.load %b grid_map [0] loop_map [_] : (tensor<4x8xf32>) -> !threadblock.tile<1x8xf32>
    %m = threadblock.mul %t, %s : (!threadblock.tile<1x8xf32>, !threadblock.tile<1x8xf32>) -> !threadblock.tile<1x8xf32>
    threadblock.store %m grid_map [0] loop_map [0] : !threadblock.tile<1x8xf32>
  } : (tensor<22x8xf32>, tensor<4x8xf32>) -> tensor<22x8xf32>
  func.return %y : tensor<22x8xf32>
}

// -----

// The second graph alone reads its rows block after block.
func.func @f(%x: tensor<24x8xf32>) -> tensor<24x8xf32> {
  %p = kernel.graph_defined ins(%x) grid [4] loop [6] cyclic {
  ^bb0(%a: tensor<24x8xf32>):
    %t = threadblock.load %a grid_map [0] loop_map [0] : (tensor<24x8xf32>) -> !threadblock.tile<1x8xf32>
    %s = threadblock.accumulate %t : (!threadblock.tile<1x8xf32>) -> !threadblock.tile<1x8xf32>
    threadblock.store %s grid_map [0] : !threadblock.tile<1x8xf32>
  } : (tensor<24x8xf32>) -> tensor<4x8xf32>
  %q = kernel.repeat %p {dim = 0 : i64, times = 6 : i64} : (tensor<4x8xf32>) -> tensor<24x8xf32>
  %y = kernel.mul %x, %q : (tensor<24x8xf32>, tensor<24x8xf32>) -> tensor<24x8xf32>
  func.return %y : tensor<24x8xf32>
}
// expected-error @+1 {{@g is not @f}}
func.func @g(%x: tensor<24x8xf32>) -> tensor<24x8xf32> {
  %p = kernel.graph_defined ins(%x) grid [4] loop [6] cyclic {
  ^bb0(%a: tensor<24x8xf32>):
    %t = threadblock.load %a grid_map [0] loop_map [0] : (tensor<24x8xf32>) -> !threadblock.tile<1x8xf32>
    %s = threadblock.accumulate %t : (!threadblock.tile<1x8xf32>) -> !threadblock.tile<1x8xf32>
    threadblock.store %s grid_map [0] : !threadblock.tile<1x8xf32>
  } : (tensor<24x8xf32>) -> tensor<4x8xf32>
  %y = kernel.graph_defined ins(%x, %p) grid [4] loop [6] {
  ^bb0(%a: tensor<24x8xf32>, %b: tensor<4x8xf32>):
    %t = threadblock.load %a grid_map [0] loop_map [0] : (tensor<24x8xf32>) -> !threadblock.tile<1x8xf32>
    %s = threadblock.load %b grid_map [0] loop_map [_] : (tensor<4x8xf32>) -> !threadblock.tile<1x8xf32>
    %m = threadblock.mul %t, %s : (!threadblock.tile<1x8xf32>, !threadblock.tile<1x8xf32>) -> !threadblock.tile<1x8xf32>
    threadblock.store %m grid_map [0] loop_map [0] : !threadblock.tile<1x8xf32>
  } : (tensor<24x8xf32>, tensor<4x8xf32>) -> tensor<24x8xf32>
  func.return %y : tensor<24x8xf32>
}

// -----

// The second block has no columns, and so the maximum of nothing: -inf, which is no residue.
func.func @f(%x: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %m = kernel.reduce_max %x {dims = array<i64: 1>} : (tensor<4x2xf32>) -> tensor<4x1xf32>
  %c = kernel.concat %m, %m {dim = 1 : i64} : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x2xf32>
  func.return %c : tensor<4x2xf32>
}
// expected-error @+1 {{@g may be @f or not, not proved: output 0 at [0, 1] is (-inf, -inf, -inf) instead of}}
func.func @g(%x: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %m = kernel.graph_defined ins(%x) grid [2] loop [2] {
  ^bb0(%a: tensor<4x2xf32>):
    %t = threadblock.load %a grid_map [1] loop_map [1] : (tensor<4x2xf32>) -> !threadblock.tile<4x1xf32>
    %r = threadblock.reduce_max %t {dims = array<i64: 1>} : (!threadblock.tile<4x1xf32>) -> !threadblock.tile<4x1xf32>
    %s = threadblock.accumulate %r {kind = "max"} : (!threadblock.tile<4x1xf32>) -> !threadblock.tile<4x1xf32>
    threadblock.store %s grid_map [1] : !threadblock.tile<4x1xf32>
  } : (tensor<4x2xf32>) -> tensor<4x2xf32>
  func.return %m : tensor<4x2xf32>
}
