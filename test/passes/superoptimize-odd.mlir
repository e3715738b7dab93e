// Programs that hardly anybody writes on purpose have kernels nevertheless.
// RUN: mirage-opt %s --superoptimize --split-input-file --verify-diagnostics | filecheck %s

// A constant depends on no input: its error is the same on inputs of all kinds.

// CHECK-LABEL: @constant
// CHECK: threadblock.constant {value = 2.000000e+00 : f32}
func.func @constant(%x: tensor<8x16xf16>) -> (tensor<8x16xf16>, tensor<8x16xf16>) {
  %0 = kernel.constant {value = 2.0 : f32} : tensor<8x16xf16>
  %1 = kernel.relu %x : (tensor<8x16xf16>) -> tensor<8x16xf16>
  func.return %0, %1 : tensor<8x16xf16>, tensor<8x16xf16>
}

// -----

// The maximum of a row's maximum and its elements is no part of a maximum.

// CHECK-LABEL: @maxima
// CHECK: threadblock.gelu
// CHECK-NOT: kernel.graph_defined
func.func @maxima(%x: tensor<40x24xf32>, %y: tensor<40x24xf32>) -> tensor<40x24xf32> {
  %0 = kernel.reduce_max %x {dims = array<i64: 1>} : (tensor<40x24xf32>) -> tensor<40x1xf32>
  %1 = kernel.max %0, %y : (tensor<40x1xf32>, tensor<40x24xf32>) -> tensor<40x24xf32>
  %2 = kernel.gelu %1 : (tensor<40x24xf32>) -> tensor<40x24xf32>
  func.return %2 : tensor<40x24xf32>
}

// -----

// e^(10^6 x) is e^x very many times.

// CHECK-LABEL: @power
// CHECK: threadblock.exp
// CHECK-NOT: kernel.graph_defined
func.func @power(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %0 = kernel.scale %x {factor = 1.0e+06 : f32} : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %1 = kernel.exp %0 : (tensor<8x16xf32>) -> tensor<8x16xf32>
  func.return %1 : tensor<8x16xf32>
}

// -----

// A part of an argument that is put beside computed elements has their type first.

// CHECK-LABEL: @widened_part
// CHECK: threadblock.cast
// CHECK: threadblock.concat
// CHECK-NOT: kernel.graph_defined
func.func @widened_part(%x: tensor<13x7xf16>) -> tensor<13x7xf32> {
  %0 = kernel.cast %x : (tensor<13x7xf16>) -> tensor<13x7xf32>
  %1 = kernel.slice %0 {offsets = array<i64: 0, 0>, sizes = array<i64: 1, 7>, strides = array<i64: 1, 1>} : (tensor<13x7xf32>) -> tensor<1x7xf32>
  %2 = kernel.slice %0 {offsets = array<i64: 1, 0>, sizes = array<i64: 12, 7>, strides = array<i64: 1, 1>} : (tensor<13x7xf32>) -> tensor<12x7xf32>
  %3 = kernel.exp %2 : (tensor<12x7xf32>) -> tensor<12x7xf32>
  %4 = kernel.concat %1, %3 {dim = 0 : i64} : (tensor<1x7xf32>, tensor<12x7xf32>) -> tensor<13x7xf32>
  func.return %4 : tensor<13x7xf32>
}
