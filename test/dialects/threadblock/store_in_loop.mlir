// RUN: mirage-opt %s --split-input-file --verify-diagnostics | filecheck %s

// Each iteration stores a tile; what is there after the loop comes behind.
// CHECK-LABEL: func.func @stored
// CHECK:         threadblock.store %{{.*}} grid_map [0] loop_map [0] : !threadblock.tile<4x8xf16>
// CHECK-NEXT:    threadblock.store %{{.*}} grid_map [0] : !threadblock.tile<1x8xf32>
func.func @stored(%x: tensor<61x8xf16>) {
  %r, %p = kernel.graph_defined ins(%x) grid [4] loop [4] {
  ^bb0(%xa: tensor<61x8xf16>):
    %t = threadblock.load %xa grid_map [0] loop_map [0] : (tensor<61x8xf16>) -> !threadblock.tile<4x8xf16>
    %c = threadblock.reduce_sum %t {dims = array<i64: 0>} : (!threadblock.tile<4x8xf16>) -> !threadblock.tile<1x8xf32>
    %s = threadblock.accumulate %c : (!threadblock.tile<1x8xf32>) -> !threadblock.tile<1x8xf32>
    threadblock.store %t grid_map [0] loop_map [0] : !threadblock.tile<4x8xf16>
    threadblock.store %s grid_map [0] : !threadblock.tile<1x8xf32>
  } : (tensor<61x8xf16>) -> (tensor<61x8xf16>, tensor<4x8xf32>)
  func.return
}

// -----

func.func @f(%x: tensor<64x8xf16>) {
  %r = kernel.graph_defined ins(%x) grid [4] loop [4] {
  ^bb0(%xa: tensor<64x8xf16>):
    %t = threadblock.load %xa grid_map [0] loop_map [0] : (tensor<64x8xf16>) -> !threadblock.tile<4x8xf16>
    // expected-error @below {{'threadblock.store' op maps loop 0 to no dim: its 4 iterations would overwrite each other}}
    threadblock.store %t grid_map [0] loop_map [_] : !threadblock.tile<4x8xf16>
  } : (tensor<64x8xf16>) -> tensor<16x8xf16>
  func.return
}

// -----

func.func @f(%x: tensor<64x8xf16>) {
  %r = kernel.graph_defined ins(%x) grid [4] loop [4] {
  ^bb0(%xa: tensor<64x8xf16>):
    %t = threadblock.load %xa grid_map [0] loop_map [0] : (tensor<64x8xf16>) -> !threadblock.tile<4x8xf16>
    %s = threadblock.accumulate %t : (!threadblock.tile<4x8xf16>) -> !threadblock.tile<4x8xf32>
    // expected-error @below {{'threadblock.store' op has a loop_map, and stores what no iteration computes anew}}
    threadblock.store %s grid_map [0] loop_map [0] : !threadblock.tile<4x8xf32>
  } : (tensor<64x8xf16>) -> tensor<64x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<64x8xf16>) {
  %r = kernel.graph_defined ins(%x) grid [4] loop [4, 2] {
  ^bb0(%xa: tensor<64x8xf16>):
    %t = threadblock.load %xa grid_map [0] loop_map [0, 1] : (tensor<64x8xf16>) -> !threadblock.tile<4x4xf16>
    // expected-error @below {{'threadblock.store' op maps its loops to several dims; all place tiles along one}}
    threadblock.store %t grid_map [0] loop_map [0, 1] : !threadblock.tile<4x4xf16>
  } : (tensor<64x8xf16>) -> tensor<64x8xf16>
  func.return
}

// -----

func.func @f(%x: tensor<64x8xf16>) {
  %p, %r = kernel.graph_defined ins(%x) grid [4] loop [4] {
  ^bb0(%xa: tensor<64x8xf16>):
    %t = threadblock.load %xa grid_map [0] loop_map [0] : (tensor<64x8xf16>) -> !threadblock.tile<4x8xf16>
    %s = threadblock.accumulate %t : (!threadblock.tile<4x8xf16>) -> !threadblock.tile<4x8xf32>
    threadblock.store %s grid_map [0] : !threadblock.tile<4x8xf32>
    // expected-error @below {{'threadblock.store' op stores a value of the loop behind a store of what is there after it}}
    threadblock.store %t grid_map [0] loop_map [0] : !threadblock.tile<4x8xf16>
  } : (tensor<64x8xf16>) -> (tensor<16x8xf32>, tensor<64x8xf16>)
  func.return
}

// -----

func.func @f(%x: tensor<64x8xf16>) {
  %r = kernel.graph_defined ins(%x) grid [4] loop [4] {
  ^bb0(%xa: tensor<64x8xf16>):
    %t = threadblock.load %xa grid_map [0] loop_map [0] : (tensor<64x8xf16>) -> !threadblock.tile<4x8xf16>
    // expected-error @below {{'threadblock.store' op result 0: dim 0 (size 80) is not covered: 4 blocks x 4 iterations x tiles of 4 hold 64 elements}}
    threadblock.store %t grid_map [0] loop_map [0] : !threadblock.tile<4x8xf16>
  } : (tensor<64x8xf16>) -> tensor<80x8xf16>
  func.return
}
