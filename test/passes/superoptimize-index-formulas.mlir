// Formulas of indices are inputs of kernels. Each has numbers of its own, though a kernel writes the same one.
// RUN: mirage-opt %s --superoptimize="max-kernels=1" --allow-unverified | filecheck %s
// CHECK-LABEL: func.func @two_masks
// CHECK:       kernel.graph_defined
// CHECK:       func.return
func.func @two_masks(%x: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %row = kernel.iota {dim = 0 : i64} : tensor<16x1xf32>
  %three = kernel.constant {value = 3.0 : f32} : tensor<1x1xf32>
  %above = kernel.compare %row, %three {predicate = "lt"} : (tensor<16x1xf32>, tensor<1x1xf32>) -> tensor<16x1xf32>
  %rows = kernel.mul %x, %above : (tensor<16x8xf32>, tensor<16x1xf32>) -> tensor<16x8xf32>
  %column = kernel.iota {dim = 1 : i64} : tensor<1x8xf32>
  %repeated = kernel.repeat %column {dim = 0 : i64, times = 16 : i64} : (tensor<1x8xf32>) -> tensor<16x8xf32>
  %again = kernel.constant {value = 3.0 : f32} : tensor<1x1xf32>
  %left = kernel.compare %repeated, %again {predicate = "lt"} : (tensor<16x8xf32>, tensor<1x1xf32>) -> tensor<16x8xf32>
  %y = kernel.mul %rows, %left : (tensor<16x8xf32>, tensor<16x8xf32>) -> tensor<16x8xf32>
  func.return %y : tensor<16x8xf32>
}

// A formula that is put together of others: its rows are no axis of what it masks.
// CHECK-LABEL: func.func @masks_side_by_side
// CHECK:       kernel.graph_defined
func.func @masks_side_by_side(%x: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %v1 = kernel.iota {dim = 1 : i64} : tensor<16x16xf32>
  %v2 = kernel.constant {value = 3.0 : f32} : tensor<1x1xf32>
  %v3 = kernel.compare %v1, %v2 {predicate = "gt"} : (tensor<16x16xf32>, tensor<1x1xf32>) -> tensor<16x16xf32>
  %v4 = kernel.constant {value = 0.0 : f32} : tensor<1x1xf32>
  %v5 = kernel.select %v3, %x, %v4 : (tensor<16x16xf32>, tensor<16x16xf32>, tensor<1x1xf32>) -> tensor<16x16xf32>
  %v6 = kernel.cumsum %v5 {dim = 1 : i64} : (tensor<16x16xf32>) -> tensor<16x16xf32>
  %v7 = kernel.iota {dim = 1 : i64} : tensor<14x16xf32>
  %v8 = kernel.constant {value = 3.0 : f32} : tensor<1x1xf32>
  %v9 = kernel.compare %v7, %v8 {predicate = "ge"} : (tensor<14x16xf32>, tensor<1x1xf32>) -> tensor<14x16xf32>
  %v10 = kernel.iota {dim = 1 : i64} : tensor<2x16xf32>
  %v11 = kernel.constant {value = 4.0 : f32} : tensor<1x1xf32>
  %v12 = kernel.compare %v10, %v11 {predicate = "ne"} : (tensor<2x16xf32>, tensor<1x1xf32>) -> tensor<2x16xf32>
  %v13 = kernel.concat %v9, %v12 {dim = 0 : i64} : (tensor<14x16xf32>, tensor<2x16xf32>) -> tensor<16x16xf32>
  %v14 = kernel.constant {value = 0xff800000 : f32} : tensor<1x1xf32>
  %v15 = kernel.select %v13, %v6, %v14 : (tensor<16x16xf32>, tensor<16x16xf32>, tensor<1x1xf32>) -> tensor<16x16xf32>
  %v16 = kernel.softmax %v15 {dim = 1 : i64} : (tensor<16x16xf32>) -> tensor<16x16xf32>
  func.return %v16 : tensor<16x16xf32>
}

// Numbers of a formula may be views, and multiples, of others.
// CHECK-LABEL: func.func @numbers
// CHECK:       kernel.graph_defined
// CHECK:       func.return
func.func @numbers(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %two = kernel.constant {value = 2.0 : f32} : tensor<8xf32>
  %four = kernel.scale %two {factor = 2.0 : f32} : (tensor<8xf32>) -> tensor<8xf32>
  %row = kernel.reshape %four : (tensor<8xf32>) -> tensor<1x8xf32>
  %index = kernel.iota {dim = 1 : i64} : tensor<4x8xf32>
  %few = kernel.compare %index, %row {predicate = "lt"} : (tensor<4x8xf32>, tensor<1x8xf32>) -> tensor<4x8xf32>
  %y = kernel.mul %few, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}

// So are the prefix sums of a number.
// CHECK-LABEL: func.func @positions
// CHECK:       kernel.graph_defined
// CHECK:       func.return
func.func @positions(%x: tensor<8xf16>) -> tensor<8xf16> {
  %one = kernel.constant {value = 1.0 : f32} : tensor<8xf16>
  %index = kernel.cumsum %one {dim = 0 : i64} : (tensor<8xf16>) -> tensor<8xf16>
  %y = kernel.mul %index, %x : (tensor<8xf16>, tensor<8xf16>) -> tensor<8xf16>
  func.return %y : tensor<8xf16>
}
