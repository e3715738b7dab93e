// RUN: mirage-opt %s --split-input-file --verify-diagnostics --verify-equivalence="reference=f candidate=g"

// Blocks that walk their rows, store them one tile after the other, and leave parts of a sum.
func.func @f(%x: tensor<103x16xf32>) -> (tensor<103x16xf32>, tensor<1x16xf32>) {
  %e = kernel.tanh %x : (tensor<103x16xf32>) -> tensor<103x16xf32>
  %s = kernel.reduce_sum %x {dims = array<i64: 0>} : (tensor<103x16xf32>) -> tensor<1x16xf32>
  func.return %e, %s : tensor<103x16xf32>, tensor<1x16xf32>
}
// expected-remark @+1 {{@g is @f: proved: the normal forms are equal; tested}}
func.func @g(%x: tensor<103x16xf32>) -> (tensor<103x16xf32>, tensor<1x16xf32>) {
  %e, %p = kernel.graph_defined ins(%x) grid [4] loop [7] {
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

// What each block reads again from its first iteration on: row r has row r mod 16 of the other.
func.func @f(%x: tensor<64x8xf32>, %z: tensor<16x8xf32>) -> tensor<64x8xf32> {
  %r = kernel.concat %z, %z, %z, %z {dim = 0 : i64} : (tensor<16x8xf32>, tensor<16x8xf32>, tensor<16x8xf32>, tensor<16x8xf32>) -> tensor<64x8xf32>
  %e = kernel.mul %x, %r : (tensor<64x8xf32>, tensor<64x8xf32>) -> tensor<64x8xf32>
  func.return %e : tensor<64x8xf32>
}
// expected-remark @+1 {{@g is @f: proved}}
func.func @g(%x: tensor<64x8xf32>, %z: tensor<16x8xf32>) -> tensor<64x8xf32> {
  %e = kernel.graph_defined ins(%x, %z) grid [4] loop [4] {
  ^bb0(%a: tensor<64x8xf32>, %b: tensor<16x8xf32>):
    %t = threadblock.load %a grid_map [0] loop_map [0] : (tensor<64x8xf32>) -> !threadblock.tile<4x8xf32>
    %u = threadblock.load %b grid_map [_] loop_map [0] : (tensor<16x8xf32>) -> !threadblock.tile<4x8xf32>
    %h = threadblock.mul %t, %u : (!threadblock.tile<4x8xf32>, !threadblock.tile<4x8xf32>) -> !threadblock.tile<4x8xf32>
    threadblock.store %h grid_map [0] loop_map [0] : !threadblock.tile<4x8xf32>
  } : (tensor<64x8xf32>, tensor<16x8xf32>) -> tensor<64x8xf32>
  func.return %e : tensor<64x8xf32>
}

// -----

// The same kernel where all rows of a block have the tile of the block.
func.func @f(%x: tensor<64x8xf32>, %z: tensor<16x8xf32>) -> tensor<64x8xf32> {
  %r = kernel.concat %z, %z, %z, %z {dim = 0 : i64} : (tensor<16x8xf32>, tensor<16x8xf32>, tensor<16x8xf32>, tensor<16x8xf32>) -> tensor<64x8xf32>
  %e = kernel.mul %x, %r : (tensor<64x8xf32>, tensor<64x8xf32>) -> tensor<64x8xf32>
  func.return %e : tensor<64x8xf32>
}
// expected-error @+1 {{@g is not @f: output 0 at [4, 0]}}
func.func @g(%x: tensor<64x8xf32>, %z: tensor<16x8xf32>) -> tensor<64x8xf32> {
  %e = kernel.graph_defined ins(%x, %z) grid [4] loop [4] {
  ^bb0(%a: tensor<64x8xf32>, %b: tensor<16x8xf32>):
    %t = threadblock.load %a grid_map [0] loop_map [0] : (tensor<64x8xf32>) -> !threadblock.tile<4x8xf32>
    %u = threadblock.load %b grid_map [0] loop_map [_] : (tensor<16x8xf32>) -> !threadblock.tile<4x8xf32>
    %h = threadblock.mul %t, %u : (!threadblock.tile<4x8xf32>, !threadblock.tile<4x8xf32>) -> !threadblock.tile<4x8xf32>
    threadblock.store %h grid_map [0] loop_map [0] : !threadblock.tile<4x8xf32>
  } : (tensor<64x8xf32>, tensor<16x8xf32>) -> tensor<64x8xf32>
  func.return %e : tensor<64x8xf32>
}

// -----

// Two loops over one dim, the outer one slower.
func.func @f(%x: tensor<90x8xf32>) -> tensor<90x8xf32> {
  %e = kernel.tanh %x : (tensor<90x8xf32>) -> tensor<90x8xf32>
  func.return %e : tensor<90x8xf32>
}
// expected-remark @+1 {{@g is @f: proved}}
func.func @g(%x: tensor<90x8xf32>) -> tensor<90x8xf32> {
  %e = kernel.graph_defined ins(%x) grid [2] loop [3, 4] {
  ^bb0(%a: tensor<90x8xf32>):
    %t = threadblock.load %a grid_map [0] loop_map [0, 0] : (tensor<90x8xf32>) -> !threadblock.tile<4x8xf32>
    %h = threadblock.tanh %t : (!threadblock.tile<4x8xf32>) -> !threadblock.tile<4x8xf32>
    threadblock.store %h grid_map [0] loop_map [0, 0] : !threadblock.tile<4x8xf32>
  } : (tensor<90x8xf32>) -> tensor<90x8xf32>
  func.return %e : tensor<90x8xf32>
}
