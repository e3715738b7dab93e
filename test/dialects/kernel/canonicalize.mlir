// RUN: mirage-opt %s --canonicalize | filecheck %s

// CHECK-LABEL: func.func @scale(
// CHECK-NEXT:    %[[S:.*]] = kernel.scale %x {factor = 6.000000e+00 : f32}
// CHECK-NEXT:    func.return %[[S]]
func.func @scale(%x: tensor<4x8xf16>) -> tensor<4x8xf16> {
  %a0 = kernel.scale %x {factor = 2.0 : f32} : (tensor<4x8xf16>) -> tensor<4x8xf16>
  %a1 = kernel.scale %a0 {factor = 3.0 : f32} : (tensor<4x8xf16>) -> tensor<4x8xf16>
  %a2 = kernel.scale %a1 {factor = 1.0 : f32} : (tensor<4x8xf16>) -> tensor<4x8xf16>
  func.return %a2 : tensor<4x8xf16>
}

// The product of both factors is no f32.
// CHECK-LABEL: func.func @huge_scale(
// CHECK-COUNT-2: kernel.scale
func.func @huge_scale(%x: tensor<4x8xf16>) -> tensor<4x8xf16> {
  %a0 = kernel.scale %x {factor = 1.0e+30 : f32} : (tensor<4x8xf16>) -> tensor<4x8xf16>
  %a1 = kernel.scale %a0 {factor = 1.0e+30 : f32} : (tensor<4x8xf16>) -> tensor<4x8xf16>
  func.return %a1 : tensor<4x8xf16>
}

// CHECK-LABEL: func.func @constants(
// CHECK-NEXT:    %[[S:.*]] = kernel.scale %x {factor = 2.500000e+00 : f32}
// CHECK-NEXT:    func.return %[[S]]
func.func @constants(%x: tensor<4x8xf16>) -> tensor<4x8xf16> {
  %zero = kernel.constant {value = 0.0 : f32} : tensor<1x1xf16>
  %one = kernel.constant {value = 1.0 : f32} : tensor<8xf16>
  %c = kernel.constant {value = 2.5 : f32} : tensor<4x1xf16>
  %a0 = kernel.add %zero, %x : (tensor<1x1xf16>, tensor<4x8xf16>) -> tensor<4x8xf16>
  %a1 = kernel.add %a0, %zero : (tensor<4x8xf16>, tensor<1x1xf16>) -> tensor<4x8xf16>
  %a2 = kernel.sub %a1, %zero : (tensor<4x8xf16>, tensor<1x1xf16>) -> tensor<4x8xf16>
  %a3 = kernel.div %a2, %one : (tensor<4x8xf16>, tensor<8xf16>) -> tensor<4x8xf16>
  %a4 = kernel.mul %c, %a3 : (tensor<4x1xf16>, tensor<4x8xf16>) -> tensor<4x8xf16>
  func.return %a4 : tensor<4x8xf16>
}

// Neither the difference nor the result's shape allows it.
// CHECK-LABEL: func.func @constants_that_stay(
// CHECK:         kernel.sub %zero, %x
// CHECK:         kernel.add %{{.*}}, %wide
// CHECK:         kernel.mul %{{.*}}, %two
func.func @constants_that_stay(%x: tensor<4x8xf16>) -> tensor<3x4x8xf16> {
  %zero = kernel.constant {value = 0.0 : f32} : tensor<1x1xf16>
  %wide = kernel.constant {value = 0.0 : f32} : tensor<2x1x1xf16>
  %two = kernel.constant {value = 2.0 : f32} : tensor<3x2x1x1xf16>
  %a0 = kernel.sub %zero, %x : (tensor<1x1xf16>, tensor<4x8xf16>) -> tensor<4x8xf16>
  %a1 = kernel.add %a0, %wide : (tensor<4x8xf16>, tensor<2x1x1xf16>) -> tensor<2x4x8xf16>
  %a2 = kernel.mul %a1, %two : (tensor<2x4x8xf16>, tensor<3x2x1x1xf16>) -> tensor<3x2x4x8xf16>
  %a3 = kernel.slice %a2 {offsets = array<i64: 0, 0, 0, 0>, sizes = array<i64: 3, 1, 4, 8>, strides = array<i64: 1, 1, 1, 1>} : (tensor<3x2x4x8xf16>) -> tensor<3x1x4x8xf16>
  %a4 = kernel.reshape %a3 : (tensor<3x1x4x8xf16>) -> tensor<3x4x8xf16>
  func.return %a4 : tensor<3x4x8xf16>
}

// CHECK-LABEL: func.func @elementwise(
// CHECK-NEXT:    %[[R:.*]] = kernel.relu %x
// CHECK-NEXT:    func.return %[[R]]
func.func @elementwise(%x: tensor<4x8xf16>) -> tensor<4x8xf16> {
  %a0 = kernel.relu %x : (tensor<4x8xf16>) -> tensor<4x8xf16>
  %a1 = kernel.relu %a0 : (tensor<4x8xf16>) -> tensor<4x8xf16>
  %a2 = kernel.pow %a1 {exponent = 1.0 : f32} : (tensor<4x8xf16>) -> tensor<4x8xf16>
  func.return %a2 : tensor<4x8xf16>
}

// To f32 and back is exact; to f16 and back is not.
// CHECK-LABEL: func.func @cast(
// CHECK-NEXT:    %[[N:.*]] = kernel.cast %y : (tensor<4xf32>) -> tensor<4xf16>
// CHECK-NEXT:    %[[W:.*]] = kernel.cast %[[N]] : (tensor<4xf16>) -> tensor<4xf32>
// CHECK-NEXT:    func.return %x, %[[W]]
func.func @cast(%x: tensor<4xf16>, %y: tensor<4xf32>) -> (tensor<4xf16>, tensor<4xf32>) {
  %a0 = kernel.cast %x : (tensor<4xf16>) -> tensor<4xf32>
  %a1 = kernel.cast %a0 : (tensor<4xf32>) -> tensor<4xf16>
  %a2 = kernel.cast %a1 : (tensor<4xf16>) -> tensor<4xf16>
  %a3 = kernel.cast %y : (tensor<4xf32>) -> tensor<4xf16>
  %a4 = kernel.cast %a3 : (tensor<4xf16>) -> tensor<4xf32>
  func.return %a2, %a4 : tensor<4xf16>, tensor<4xf32>
}

// CHECK-LABEL: func.func @transpose(
// CHECK-NEXT:    %[[T:.*]] = kernel.transpose %x {permutation = array<i64: 2, 0, 1>}
// CHECK-NEXT:    func.return %[[T]], %x
func.func @transpose(%x: tensor<2x4x8xf16>) -> (tensor<8x2x4xf16>, tensor<2x4x8xf16>) {
  %a0 = kernel.transpose %x {permutation = array<i64: 1, 2, 0>} : (tensor<2x4x8xf16>) -> tensor<4x8x2xf16>
  %a1 = kernel.transpose %a0 {permutation = array<i64: 1, 2, 0>} : (tensor<4x8x2xf16>) -> tensor<8x2x4xf16>
  %a2 = kernel.transpose %a1 {permutation = array<i64: 1, 2, 0>} : (tensor<8x2x4xf16>) -> tensor<2x4x8xf16>
  func.return %a1, %a2 : tensor<8x2x4xf16>, tensor<2x4x8xf16>
}

// CHECK-LABEL: func.func @reshape(
// CHECK-NEXT:    %[[R:.*]] = kernel.reshape %x : (tensor<4x8xf16>) -> tensor<2x16xf16>
// CHECK-NEXT:    func.return %[[R]], %x
func.func @reshape(%x: tensor<4x8xf16>) -> (tensor<2x16xf16>, tensor<4x8xf16>) {
  %a0 = kernel.reshape %x : (tensor<4x8xf16>) -> tensor<32xf16>
  %a1 = kernel.reshape %a0 : (tensor<32xf16>) -> tensor<2x16xf16>
  %a2 = kernel.reshape %a1 : (tensor<2x16xf16>) -> tensor<4x8xf16>
  func.return %a1, %a2 : tensor<2x16xf16>, tensor<4x8xf16>
}

// CHECK-LABEL: func.func @broadcast(
// CHECK-NEXT:    %[[B:.*]] = kernel.broadcast %x : (tensor<4x1xf16>) -> tensor<2x4x8xf16>
// CHECK-NEXT:    func.return %[[B]]
func.func @broadcast(%x: tensor<4x1xf16>) -> tensor<2x4x8xf16> {
  %a0 = kernel.broadcast %x : (tensor<4x1xf16>) -> tensor<4x1xf16>
  %a1 = kernel.broadcast %a0 : (tensor<4x1xf16>) -> tensor<4x8xf16>
  %a2 = kernel.broadcast %a1 : (tensor<4x8xf16>) -> tensor<2x4x8xf16>
  func.return %a2 : tensor<2x4x8xf16>
}

// CHECK-LABEL: func.func @repeat(
// CHECK-NEXT:    %[[R:.*]] = kernel.repeat %x {dim = 1 : i64, times = 6 : i64}
// CHECK-NEXT:    %[[I:.*]] = kernel.repeat_interleave %x {dim = 0 : i64, times = 4 : i64}
// CHECK-NEXT:    func.return %[[R]], %[[I]]
func.func @repeat(%x: tensor<4x8xf16>) -> (tensor<4x48xf16>, tensor<16x8xf16>) {
  %a0 = kernel.repeat %x {dim = 1 : i64, times = 2 : i64} : (tensor<4x8xf16>) -> tensor<4x16xf16>
  %a1 = kernel.repeat %a0 {dim = 1 : i64, times = 3 : i64} : (tensor<4x16xf16>) -> tensor<4x48xf16>
  %b0 = kernel.repeat_interleave %x {dim = 0 : i64, times = 2 : i64} : (tensor<4x8xf16>) -> tensor<8x8xf16>
  %b1 = kernel.repeat_interleave %b0 {dim = 0 : i64, times = 2 : i64} : (tensor<8x8xf16>) -> tensor<16x8xf16>
  %b2 = kernel.repeat_interleave %b1 {dim = 0 : i64, times = 1 : i64} : (tensor<16x8xf16>) -> tensor<16x8xf16>
  func.return %a1, %b2 : tensor<4x48xf16>, tensor<16x8xf16>
}

// Along different dimensions, or of different kinds.
// CHECK-LABEL: func.func @repeats_that_stay(
// CHECK-COUNT-3: kernel.repeat
func.func @repeats_that_stay(%x: tensor<4x8xf16>) -> tensor<8x32xf16> {
  %a0 = kernel.repeat %x {dim = 1 : i64, times = 2 : i64} : (tensor<4x8xf16>) -> tensor<4x16xf16>
  %a1 = kernel.repeat %a0 {dim = 0 : i64, times = 2 : i64} : (tensor<4x16xf16>) -> tensor<8x16xf16>
  %a2 = kernel.repeat_interleave %a1 {dim = 1 : i64, times = 2 : i64} : (tensor<8x16xf16>) -> tensor<8x32xf16>
  func.return %a2 : tensor<8x32xf16>
}

// CHECK-LABEL: func.func @slice(
// CHECK-NEXT:    %[[S:.*]] = kernel.slice %x {offsets = array<i64: 9, 1>, sizes = array<i64: 2, 3>, strides = array<i64: 6, 1>}
// CHECK-NEXT:    func.return %[[S]]
func.func @slice(%x: tensor<32x8xf16>) -> tensor<2x3xf16> {
  %w = kernel.slice %x {offsets = array<i64: 0, 0>, sizes = array<i64: 32, 8>, strides = array<i64: 1, 1>} : (tensor<32x8xf16>) -> tensor<32x8xf16>
  %a0 = kernel.slice %w {offsets = array<i64: 5, 1>, sizes = array<i64: 10, 5>, strides = array<i64: 2, 1>} : (tensor<32x8xf16>) -> tensor<10x5xf16>
  %a1 = kernel.slice %a0 {offsets = array<i64: 2, 0>, sizes = array<i64: 2, 3>, strides = array<i64: 3, 1>} : (tensor<10x5xf16>) -> tensor<2x3xf16>
  func.return %a1 : tensor<2x3xf16>
}

// CHECK-LABEL: func.func @reductions_and_concat(
// CHECK-NEXT:    func.return %x
func.func @reductions_and_concat(%x: tensor<4x1xf16>) -> tensor<4x1xf16> {
  %a0 = kernel.reduce_sum %x {dims = array<i64: 1>} : (tensor<4x1xf16>) -> tensor<4x1xf16>
  %a1 = kernel.reduce_max %a0 {dims = array<i64: 1>} : (tensor<4x1xf16>) -> tensor<4x1xf16>
  %a2 = kernel.reduce_mean %a1 {dims = array<i64: 1>} : (tensor<4x1xf16>) -> tensor<4x1xf16>
  %a3 = kernel.concat %a2 {dim = 0 : i64} : (tensor<4x1xf16>) -> tensor<4x1xf16>
  func.return %a3 : tensor<4x1xf16>
}

// What no result needs goes, inside a graph too, and so does a graph that nothing needs; a store stays.
// CHECK-LABEL: func.func @graph(
// CHECK-NEXT:    %r = kernel.graph_defined ins(%x) grid [4] {
// CHECK-NEXT:    ^bb0(%a: tensor<16x64xf16>):
// CHECK-NEXT:      %t = threadblock.load %a
// CHECK-NEXT:      threadblock.store %t
// CHECK-NEXT:    } :
// CHECK-NEXT:    func.return %r
func.func @graph(%x: tensor<16x64xf16>) -> tensor<16x64xf16> {
  %r = kernel.graph_defined ins(%x) grid [4] {
  ^bb0(%a: tensor<16x64xf16>):
    %t = threadblock.load %a grid_map [0] : (tensor<16x64xf16>) -> !threadblock.tile<4x64xf16>
    %e = threadblock.exp %t : (!threadblock.tile<4x64xf16>) -> !threadblock.tile<4x64xf32>
    threadblock.store %t grid_map [0] : !threadblock.tile<4x64xf16>
  } : (tensor<16x64xf16>) -> tensor<16x64xf16>
  %unused = kernel.graph_defined ins(%x) grid [4] {
  ^bb0(%b: tensor<16x64xf16>):
    %u = threadblock.load %b grid_map [0] : (tensor<16x64xf16>) -> !threadblock.tile<4x64xf16>
    threadblock.store %u grid_map [0] : !threadblock.tile<4x64xf16>
  } : (tensor<16x64xf16>) -> tensor<16x64xf16>
  func.return %r : tensor<16x64xf16>
}

// An operation that no result needs held on to an input; both go, and the attributes stay.
// CHECK-LABEL: func.func @unused_input(
// CHECK-NEXT:    %r = kernel.graph_defined ins(%y) grid [4, 1] cluster [2, 1] loop [8] attributes {mirage.note = "x"} {
// CHECK-NEXT:    ^bb0(%b: tensor<16x64xf16>):
// CHECK-NEXT:      %t = threadblock.load %b
func.func @unused_input(%x: tensor<16x64xf16>, %y: tensor<16x64xf16>) -> tensor<16x8xf32> {
  %r = kernel.graph_defined ins(%x, %y, %x) grid [4, 1] cluster [2, 1] loop [8] attributes {mirage.note = "x"} {
  ^bb0(%a: tensor<16x64xf16>, %b: tensor<16x64xf16>, %c: tensor<16x64xf16>):
    %u = threadblock.load %a grid_map [0, _] loop_map [1] : (tensor<16x64xf16>) -> !threadblock.tile<4x8xf16>
    %t = threadblock.load %b grid_map [0, _] loop_map [1] : (tensor<16x64xf16>) -> !threadblock.tile<4x8xf16>
    %s = threadblock.accumulate %t : (!threadblock.tile<4x8xf16>) -> !threadblock.tile<4x8xf32>
    threadblock.store %s grid_map [0, _] : !threadblock.tile<4x8xf32>
  } : (tensor<16x64xf16>, tensor<16x64xf16>, tensor<16x64xf16>) -> tensor<16x8xf32>
  func.return %r : tensor<16x8xf32>
}

// What a loop cuts alone needs no turns: the load that made the graph cyclic goes.
// CHECK-LABEL: func.func @idle_cyclic(
// CHECK-NEXT:    %r = kernel.graph_defined ins(%y) grid [4] loop [8] {
// CHECK-NEXT:    ^bb0(%b: tensor<16x64xf16>):
// CHECK-NEXT:      %t = threadblock.load %b
func.func @idle_cyclic(%x: tensor<16x64xf16>, %y: tensor<16x64xf16>) -> tensor<16x8xf32> {
  %r = kernel.graph_defined ins(%x, %y) grid [4] loop [8] cyclic {
  ^bb0(%a: tensor<16x64xf16>, %b: tensor<16x64xf16>):
    %u = threadblock.load %a grid_map [1] loop_map [1] : (tensor<16x64xf16>) -> !threadblock.tile<16x2xf16>
    %t = threadblock.load %b grid_map [0] loop_map [1] : (tensor<16x64xf16>) -> !threadblock.tile<4x8xf16>
    %s = threadblock.accumulate %t : (!threadblock.tile<4x8xf16>) -> !threadblock.tile<4x8xf32>
    threadblock.store %s grid_map [0] : !threadblock.tile<4x8xf32>
  } : (tensor<16x64xf16>, tensor<16x64xf16>) -> tensor<16x8xf32>
  func.return %r : tensor<16x8xf32>
}

// An input goes, and the graph stays cyclic.
// CHECK-LABEL: func.func @cyclic(
// CHECK-NEXT:    %r = kernel.graph_defined ins(%x) grid [4] loop [4] cyclic {
func.func @cyclic(%x: tensor<16x64xf16>, %y: tensor<16x64xf16>) -> tensor<16x64xf16> {
  %r = kernel.graph_defined ins(%x, %y) grid [4] loop [4] cyclic {
  ^bb0(%a: tensor<16x64xf16>, %b: tensor<16x64xf16>):
    %t = threadblock.load %a grid_map [0] loop_map [0] : (tensor<16x64xf16>) -> !threadblock.tile<1x64xf16>
    threadblock.store %t grid_map [0] loop_map [0] : !threadblock.tile<1x64xf16>
  } : (tensor<16x64xf16>, tensor<16x64xf16>) -> tensor<16x64xf16>
  func.return %r : tensor<16x64xf16>
}
