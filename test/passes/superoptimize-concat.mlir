// A concat reads parts as they lie in memory, in up to three groups of dimensions.
// RUN: mirage-opt %s --superoptimize="target=H200" | filecheck %s

// Swin's patch merging: every other row and column of an image.
// CHECK-LABEL: func.func @merged
// CHECK:         kernel.graph_defined {{.*}} grid [56, 2]
// CHECK-COUNT-2: threadblock.load {{.*}} !threadblock.tile<1x21x96xf16>
// CHECK:         threadblock.concat
// CHECK-NOT:     kernel.graph_defined
// CHECK:         func.return
func.func @merged(%x: tensor<2x56x56x96xf16>) -> tensor<2x28x28x192xf16> {
  %a = kernel.slice %x {offsets = array<i64: 0, 0, 0, 0>, sizes = array<i64: 2, 28, 28, 96>, strides = array<i64: 1, 2, 2, 1>} : (tensor<2x56x56x96xf16>) -> tensor<2x28x28x96xf16>
  %b = kernel.slice %x {offsets = array<i64: 0, 1, 1, 0>, sizes = array<i64: 2, 28, 28, 96>, strides = array<i64: 1, 2, 2, 1>} : (tensor<2x56x56x96xf16>) -> tensor<2x28x28x96xf16>
  %y = kernel.concat %a, %b {dim = 3 : i64} : (tensor<2x28x28x96xf16>, tensor<2x28x28x96xf16>) -> tensor<2x28x28x192xf16>
  func.return %y : tensor<2x28x28x192xf16>
}

// A roll along the middle dimension: the columns behind it are cut.
// CHECK-LABEL: func.func @rolled
// CHECK:         kernel.graph_defined {{.*}} grid [3, 2]
// CHECK:         threadblock.load {{.*}} !threadblock.tile<1x5x584xf32>
// CHECK:         threadblock.load {{.*}} !threadblock.tile<1x2x584xf32>
// CHECK-NOT:     kernel.graph_defined
// CHECK:         func.return
func.func @rolled(%x: tensor<3x7x1000xf32>) -> tensor<3x7x1000xf32> {
  %a = kernel.slice %x {offsets = array<i64: 0, 2, 0>, sizes = array<i64: 3, 5, 1000>, strides = array<i64: 1, 1, 1>} : (tensor<3x7x1000xf32>) -> tensor<3x5x1000xf32>
  %b = kernel.slice %x {offsets = array<i64: 0, 0, 0>, sizes = array<i64: 3, 2, 1000>, strides = array<i64: 1, 1, 1>} : (tensor<3x7x1000xf32>) -> tensor<3x2x1000xf32>
  %y = kernel.concat %a, %b {dim = 1 : i64} : (tensor<3x5x1000xf32>, tensor<3x2x1000xf32>) -> tensor<3x7x1000xf32>
  func.return %y : tensor<3x7x1000xf32>
}

// Four groups of dimensions are one more than a grid has: parts are copied before.
// CHECK-LABEL: func.func @scattered
// CHECK-COUNT-2: kernel.graph_defined
// CHECK:         threadblock.concat
// CHECK-NOT:     kernel.graph_defined
// CHECK:         func.return
func.func @scattered(%x: tensor<6x6x6x6x4xf16>, %z: tensor<3x3x3x2x4xf16>) -> tensor<3x3x3x5x4xf16> {
  %a = kernel.slice %x {offsets = array<i64: 0, 0, 0, 0, 0>, sizes = array<i64: 3, 3, 3, 3, 4>, strides = array<i64: 2, 2, 2, 2, 1>} : (tensor<6x6x6x6x4xf16>) -> tensor<3x3x3x3x4xf16>
  %y = kernel.concat %a, %z {dim = 3 : i64} : (tensor<3x3x3x3x4xf16>, tensor<3x3x3x2x4xf16>) -> tensor<3x3x3x5x4xf16>
  func.return %y : tensor<3x3x3x5x4xf16>
}
