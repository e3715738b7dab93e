// RUN: mirage-opt --convert-stablehlo-to-kernel --split-input-file %s | filecheck %s

// A mean over rows: sums keep their dimension, and broadcasts are left to the operators.
// CHECK-LABEL: func.func @mean(%x: tensor<4x8xf16>, %g: tensor<8xf16>) -> tensor<4x8xf16> {
// CHECK-NEXT: [[W:%.*]] = kernel.cast %x : (tensor<4x8xf16>) -> tensor<4x8xf32>
// CHECK-NEXT: [[S:%.*]] = kernel.reduce_sum [[W]] {dims = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4x1xf32>
// CHECK-NEXT: [[N:%.*]] = kernel.constant {value = 8.000000e+00 : f32} : tensor<1x1xf32>
// CHECK-NEXT: [[M:%.*]] = kernel.div [[S]], [[N]] : (tensor<4x1xf32>, tensor<1x1xf32>) -> tensor<4x1xf32>
// CHECK-NEXT: [[C:%.*]] = kernel.cast [[M]] : (tensor<4x1xf32>) -> tensor<4x1xf16>
// CHECK-NEXT: [[D:%.*]] = kernel.sub %x, [[C]] : (tensor<4x8xf16>, tensor<4x1xf16>) -> tensor<4x8xf16>
// CHECK-NEXT: [[G:%.*]] = kernel.reshape %g : (tensor<8xf16>) -> tensor<1x8xf16>
// CHECK-NEXT: [[R:%.*]] = kernel.mul [[D]], [[G]] : (tensor<4x8xf16>, tensor<1x8xf16>) -> tensor<4x8xf16>
// CHECK-NEXT: func.return [[R]]
func.func @mean(%x: tensor<4x8xf16>, %g: tensor<8xf16>) -> tensor<4x8xf16> {
  %w = "stablehlo.convert"(%x) : (tensor<4x8xf16>) -> tensor<4x8xf32>
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %s = "stablehlo.reduce"(%w, %zero) <{dimensions = array<i64: 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%c) : (tensor<f32>) -> ()
  }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %k = "stablehlo.broadcast_in_dim"(%s) <{broadcast_dimensions = array<i64: 0>}> : (tensor<4xf32>) -> tensor<4x1xf32>
  %n = "stablehlo.constant"() <{value = dense<8.0> : tensor<4x1xf32>}> : () -> tensor<4x1xf32>
  %m = "stablehlo.divide"(%k, %n) : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  %h = "stablehlo.convert"(%m) : (tensor<4x1xf32>) -> tensor<4x1xf16>
  %rows = "stablehlo.broadcast_in_dim"(%h) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<4x1xf16>) -> tensor<4x8xf16>
  %d = "stablehlo.subtract"(%x, %rows) : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16>
  %columns = "stablehlo.broadcast_in_dim"(%g) <{broadcast_dimensions = array<i64: 1>}> : (tensor<8xf16>) -> tensor<4x8xf16>
  %r = "stablehlo.multiply"(%d, %columns) : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16>
  func.return %r : tensor<4x8xf16>
}

// -----

// Private functions take the place of calls; others stay, and so do functions of other dialects.
// CHECK-LABEL: func.func @calls(%x: tensor<4xf32> {kernel.constant}) -> tensor<4xf32> {
// CHECK-NEXT: [[A:%.*]] = kernel.abs %x
// CHECK-NEXT: [[B:%.*]] = kernel.neg [[A]]
// CHECK-NEXT: func.return [[B]]
// CHECK-NOT: @inner
// CHECK: func.func @other(%x: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT: kernel.abs %x
// CHECK: func.func @host(%n: index) -> index {
// CHECK-NEXT: arith.addi
func.func @calls(%x: tensor<4xf32> {kernel.constant}) -> tensor<4xf32> {
  %a = func.call @inner(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b = "stablehlo.negate"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %b : tensor<4xf32>
}
func.func private @inner(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = func.call @other(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %a : tensor<4xf32>
}
func.func @other(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = "stablehlo.abs"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %a : tensor<4xf32>
}
func.func @host(%n: index) -> index {
  %m = arith.addi %n, %n : index
  func.return %m : index
}

// -----

// What is computed of constants is a constant, in the type that StableHLO has it in: 15 - 0 > 0.
// CHECK-LABEL: func.func @constants(%x: tensor<4xf16>) -> tensor<4xf16> {
// CHECK-NEXT: [[R:%.*]] = kernel.scale %x {factor = 0.333251953 : f32}
// CHECK-NEXT: func.return [[R]]
func.func @constants(%x: tensor<4xf16>) -> tensor<4xf16> {
  %one = "stablehlo.constant"() <{value = dense<1.0> : tensor<f16>}> : () -> tensor<f16>
  %three = "stablehlo.constant"() <{value = dense<3.0> : tensor<f16>}> : () -> tensor<f16>
  %nan = "stablehlo.constant"() <{value = dense<0x7E00> : tensor<f16>}> : () -> tensor<f16>
  %third = "stablehlo.divide"(%one, %three) : (tensor<f16>, tensor<f16>) -> tensor<f16>
  %holds = "stablehlo.compare"(%third, %one) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f16>, tensor<f16>) -> tensor<i1>
  %factor = "stablehlo.select"(%holds, %third, %nan) : (tensor<i1>, tensor<f16>, tensor<f16>) -> tensor<f16>
  %wide = "stablehlo.broadcast_in_dim"(%factor) <{broadcast_dimensions = array<i64>}> : (tensor<f16>) -> tensor<4xf16>
  %r = "stablehlo.multiply"(%wide, %x) : (tensor<4xf16>, tensor<4xf16>) -> tensor<4xf16>
  func.return %r : tensor<4xf16>
}

// -----

// A product of operands in f16 is in f32 where the program says so; the batch comes first, rows and
// columns are one dimension each.
// CHECK-LABEL: func.func @product(
// CHECK-NEXT: [[L:%.*]] = kernel.transpose %a {permutation = array<i64: 1, 0, 2, 3>} : (tensor<5x2x6x8xf16>) -> tensor<2x5x6x8xf16>
// CHECK-NEXT: [[M:%.*]] = kernel.reshape [[L]] : (tensor<2x5x6x8xf16>) -> tensor<2x30x8xf16>
// CHECK-NEXT: [[R:%.*]] = kernel.transpose %b {permutation = array<i64: 0, 2, 1>} : (tensor<2x7x8xf16>) -> tensor<2x8x7xf16>
// CHECK-NEXT: [[P:%.*]] = kernel.matmul [[M]], [[R]] : (tensor<2x30x8xf16>, tensor<2x8x7xf16>) -> tensor<2x30x7xf32>
// CHECK-NEXT: [[S:%.*]] = kernel.reshape [[P]] : (tensor<2x30x7xf32>) -> tensor<2x5x6x7xf32>
// CHECK-NEXT: func.return [[S]]
func.func @product(%a: tensor<5x2x6x8xf16>, %b: tensor<2x7x8xf16>) -> tensor<2x5x6x7xf32> {
  %r = "stablehlo.dot_general"(%a, %b) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [1], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [2]>}> : (tensor<5x2x6x8xf16>, tensor<2x7x8xf16>) -> tensor<2x5x6x7xf32>
  func.return %r : tensor<2x5x6x7xf32>
}

// -----

// A mask of integers is one of numbers in f32; where it selects it has the type of what it selects.
// CHECK-LABEL: func.func @causal(
// CHECK-NEXT: [[I:%.*]] = kernel.iota {dim = 0 : i64} : tensor<8x1xf32>
// CHECK-NEXT: [[J:%.*]] = kernel.iota {dim = 1 : i64} : tensor<1x8xf32>
// CHECK-NEXT: [[M:%.*]] = kernel.compare [[I]], [[J]] {predicate = "ge"} : (tensor<8x1xf32>, tensor<1x8xf32>) -> tensor<8x8xf32>
// CHECK-NEXT: [[C:%.*]] = kernel.cast [[M]] : (tensor<8x8xf32>) -> tensor<8x8xf16>
// CHECK-NEXT: [[L:%.*]] = kernel.constant {value = 0xff800000 : f32} : tensor<1x1xf16>
// CHECK-NEXT: kernel.select [[C]], %x, [[L]]
func.func @causal(%x: tensor<8x8xf16>) -> tensor<8x8xf16> {
  %i = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<8x8xi32>
  %j = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<8x8xi32>
  %zero = "stablehlo.constant"() <{value = dense<0> : tensor<8x8xi32>}> : () -> tensor<8x8xi32>
  %k = "stablehlo.add"(%i, %zero) : (tensor<8x8xi32>, tensor<8x8xi32>) -> tensor<8x8xi32>
  %m = "stablehlo.compare"(%k, %j) <{comparison_direction = #stablehlo<comparison_direction GE>, compare_type = #stablehlo<comparison_type SIGNED>}> : (tensor<8x8xi32>, tensor<8x8xi32>) -> tensor<8x8xi1>
  %low = "stablehlo.constant"() <{value = dense<0xFC00> : tensor<8x8xf16>}> : () -> tensor<8x8xf16>
  %r = "stablehlo.select"(%m, %x, %low) : (tensor<8x8xi1>, tensor<8x8xf16>, tensor<8x8xf16>) -> tensor<8x8xf16>
  func.return %r : tensor<8x8xf16>
}

// -----

// Heads of a group: repeated one by one. `1 / (1 + exp(-x))` is a sigmoid.
// CHECK-LABEL: func.func @heads(
// CHECK-NEXT: [[S:%.*]] = kernel.sigmoid
// CHECK-NEXT: kernel.repeat_interleave [[S]] {dim = 0 : i64, times = 3 : i64} : (tensor<2x8xf32>) -> tensor<6x8xf32>
func.func @heads(%x: tensor<2x8xf32>) -> tensor<6x8xf32> {
  %one = "stablehlo.constant"() <{value = dense<1.0> : tensor<2x8xf32>}> : () -> tensor<2x8xf32>
  %n = "stablehlo.negate"(%x) : (tensor<2x8xf32>) -> tensor<2x8xf32>
  %e = "stablehlo.exponential"(%n) : (tensor<2x8xf32>) -> tensor<2x8xf32>
  %d = "stablehlo.add"(%one, %e) : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %s = "stablehlo.divide"(%one, %d) : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %b = "stablehlo.broadcast_in_dim"(%s) <{broadcast_dimensions = array<i64: 0, 2>}> : (tensor<2x8xf32>) -> tensor<2x3x8xf32>
  %r = "stablehlo.reshape"(%b) : (tensor<2x3x8xf32>) -> tensor<6x8xf32>
  func.return %r : tensor<6x8xf32>
}

// -----

// As torch-mlir has it: constants of arith, and sizes of `iota` as an operand.
// CHECK-LABEL: func.func @places(
// CHECK-NEXT: [[I:%.*]] = kernel.iota {dim = 0 : i64} : tensor<8xf32>
// CHECK-NEXT: [[S:%.*]] = kernel.scale %x {factor = 1.250000e-01 : f32}
// CHECK-NEXT: kernel.add [[S]], [[I]]
func.func @places(%x: tensor<8xf32>) -> tensor<8xf32> {
  %scale = arith.constant dense<0.125> : tensor<1xf64>
  %n = arith.constant dense<8> : tensor<1xi64>
  %i = "stablehlo.dynamic_iota"(%n) <{iota_dimension = 0 : i64}> : (tensor<1xi64>) -> tensor<8xi64>
  %f = "stablehlo.convert"(%i) : (tensor<8xi64>) -> tensor<8xf32>
  %one = "stablehlo.convert"(%scale) : (tensor<1xf64>) -> tensor<1xf32>
  %all = "stablehlo.broadcast_in_dim"(%one) <{broadcast_dimensions = array<i64: 0>}> : (tensor<1xf32>) -> tensor<8xf32>
  %s = "stablehlo.multiply"(%x, %all) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %r = "stablehlo.add"(%s, %f) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  func.return %r : tensor<8xf32>
}

// -----

// What differs from true is the opposite, and what differs from false the same.
// CHECK-LABEL: func.func @opposite(
// CHECK:      [[M:%.*]] = kernel.compare
// CHECK-NEXT: kernel.select [[M]], %y, %x
func.func @opposite(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %true = "stablehlo.constant"() <{value = dense<true> : tensor<8xi1>}> : () -> tensor<8xi1>
  %false = "stablehlo.constant"() <{value = dense<false> : tensor<8xi1>}> : () -> tensor<8xi1>
  %m = "stablehlo.compare"(%x, %y) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
  %n = "stablehlo.xor"(%true, %m) : (tensor<8xi1>, tensor<8xi1>) -> tensor<8xi1>
  %k = "stablehlo.xor"(%n, %false) : (tensor<8xi1>, tensor<8xi1>) -> tensor<8xi1>
  %r = "stablehlo.select"(%k, %x, %y) : (tensor<8xi1>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  func.return %r : tensor<8xf32>
}
