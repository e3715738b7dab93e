// RUN: mirage-opt %s --kernel-decompose | filecheck %s

// Squares of f16 overflow and their sums lose digits: all is f32 up to the cast at the end.
// CHECK-LABEL: func.func @rms_norm(
// CHECK-NEXT:    %[[X:.*]] = kernel.cast %x : (tensor<4x8xf16>) -> tensor<4x8xf32>
// CHECK-NEXT:    %[[Q:.*]] = kernel.square %[[X]] : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    %[[S:.*]] = kernel.reduce_sum %[[Q]] {dims = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4x1xf32>
// CHECK-NEXT:    %[[M:.*]] = kernel.scale %[[S]] {factor = 1.250000e-01 : f32} : (tensor<4x1xf32>) -> tensor<4x1xf32>
// CHECK-NEXT:    %[[E:.*]] = kernel.constant {value = 1.000000e-05 : f32} : tensor<4x1xf32>
// CHECK-NEXT:    %[[A:.*]] = kernel.add %[[M]], %[[E]] : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
// CHECK-NEXT:    %[[R:.*]] = kernel.sqrt %[[A]] : (tensor<4x1xf32>) -> tensor<4x1xf32>
// CHECK-NEXT:    %[[D:.*]] = kernel.div %[[X]], %[[R]] : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    %[[Y:.*]] = kernel.cast %[[D]] : (tensor<4x8xf32>) -> tensor<4x8xf16>
// CHECK-NEXT:    func.return %[[Y]]
func.func @rms_norm(%x: tensor<4x8xf16>) -> tensor<4x8xf16> {
  %y = kernel.rms_norm %x {eps = 1.0e-05 : f32} : (tensor<4x8xf16>) -> tensor<4x8xf16>
  func.return %y : tensor<4x8xf16>
}

// What is f32 needs no cast, and a zero eps no addition.
// CHECK-LABEL: func.func @rms_norm_f32(
// CHECK-NEXT:    %[[Q:.*]] = kernel.square %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    %[[S:.*]] = kernel.reduce_sum %[[Q]] {dims = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4x1xf32>
// CHECK-NEXT:    %[[M:.*]] = kernel.scale %[[S]] {factor = 1.250000e-01 : f32} : (tensor<4x1xf32>) -> tensor<4x1xf32>
// CHECK-NEXT:    %[[R:.*]] = kernel.sqrt %[[M]] : (tensor<4x1xf32>) -> tensor<4x1xf32>
// CHECK-NEXT:    %[[D:.*]] = kernel.div %x, %[[R]] : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    %[[Y:.*]] = kernel.mul %[[D]], %w : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    func.return %[[Y]]
func.func @rms_norm_f32(%x: tensor<4x8xf32>, %w: tensor<8xf32>) -> tensor<4x8xf32> {
  %y = kernel.rms_norm %x, %w {eps = 0.0 : f32} : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @layer_norm(
// CHECK-NEXT:    %[[X:.*]] = kernel.cast %x : (tensor<2x4x8xbf16>) -> tensor<2x4x8xf32>
// CHECK-NEXT:    %[[S:.*]] = kernel.reduce_sum %[[X]] {dims = array<i64: 2>} : (tensor<2x4x8xf32>) -> tensor<2x4x1xf32>
// CHECK-NEXT:    %[[M:.*]] = kernel.scale %[[S]] {factor = 1.250000e-01 : f32} : (tensor<2x4x1xf32>) -> tensor<2x4x1xf32>
// CHECK-NEXT:    %[[C:.*]] = kernel.sub %[[X]], %[[M]] : (tensor<2x4x8xf32>, tensor<2x4x1xf32>) -> tensor<2x4x8xf32>
// CHECK-NEXT:    %[[Q:.*]] = kernel.square %[[C]] : (tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
// CHECK-NEXT:    %[[T:.*]] = kernel.reduce_sum %[[Q]] {dims = array<i64: 2>} : (tensor<2x4x8xf32>) -> tensor<2x4x1xf32>
// CHECK-NEXT:    %[[V:.*]] = kernel.scale %[[T]] {factor = 1.250000e-01 : f32} : (tensor<2x4x1xf32>) -> tensor<2x4x1xf32>
// CHECK-NEXT:    %[[E:.*]] = kernel.constant {value = 1.000000e-05 : f32} : tensor<2x4x1xf32>
// CHECK-NEXT:    %[[A:.*]] = kernel.add %[[V]], %[[E]] : (tensor<2x4x1xf32>, tensor<2x4x1xf32>) -> tensor<2x4x1xf32>
// CHECK-NEXT:    %[[R:.*]] = kernel.sqrt %[[A]] : (tensor<2x4x1xf32>) -> tensor<2x4x1xf32>
// CHECK-NEXT:    %[[D:.*]] = kernel.div %[[C]], %[[R]] : (tensor<2x4x8xf32>, tensor<2x4x1xf32>) -> tensor<2x4x8xf32>
// CHECK-NEXT:    %[[G:.*]] = kernel.cast %g : (tensor<8xbf16>) -> tensor<8xf32>
// CHECK-NEXT:    %[[P:.*]] = kernel.mul %[[D]], %[[G]] : (tensor<2x4x8xf32>, tensor<8xf32>) -> tensor<2x4x8xf32>
// CHECK-NEXT:    %[[B:.*]] = kernel.cast %b : (tensor<8xbf16>) -> tensor<8xf32>
// CHECK-NEXT:    %[[Z:.*]] = kernel.add %[[P]], %[[B]] : (tensor<2x4x8xf32>, tensor<8xf32>) -> tensor<2x4x8xf32>
// CHECK-NEXT:    %[[Y:.*]] = kernel.cast %[[Z]] : (tensor<2x4x8xf32>) -> tensor<2x4x8xbf16>
// CHECK-NEXT:    func.return %[[Y]]
func.func @layer_norm(%x: tensor<2x4x8xbf16>, %g: tensor<8xbf16>, %b: tensor<8xbf16>) -> tensor<2x4x8xbf16> {
  %y = kernel.layer_norm %x, %g, %b {eps = 1.0e-05 : f32} : (tensor<2x4x8xbf16>, tensor<8xbf16>, tensor<8xbf16>) -> tensor<2x4x8xbf16>
  func.return %y : tensor<2x4x8xbf16>
}

// No argument of exp is above 0.
// CHECK-LABEL: func.func @softmax(
// CHECK-NEXT:    %[[X:.*]] = kernel.cast %x : (tensor<4x8xf16>) -> tensor<4x8xf32>
// CHECK-NEXT:    %[[M:.*]] = kernel.reduce_max %[[X]] {dims = array<i64: 0>} : (tensor<4x8xf32>) -> tensor<1x8xf32>
// CHECK-NEXT:    %[[S:.*]] = kernel.sub %[[X]], %[[M]] : (tensor<4x8xf32>, tensor<1x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    %[[E:.*]] = kernel.exp %[[S]] : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    %[[T:.*]] = kernel.reduce_sum %[[E]] {dims = array<i64: 0>} : (tensor<4x8xf32>) -> tensor<1x8xf32>
// CHECK-NEXT:    %[[D:.*]] = kernel.div %[[E]], %[[T]] : (tensor<4x8xf32>, tensor<1x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    %[[Y:.*]] = kernel.cast %[[D]] : (tensor<4x8xf32>) -> tensor<4x8xf16>
// CHECK-NEXT:    func.return %[[Y]]
func.func @softmax(%x: tensor<4x8xf16>) -> tensor<4x8xf16> {
  %y = kernel.softmax %x {dim = 0 : i64} : (tensor<4x8xf16>) -> tensor<4x8xf16>
  func.return %y : tensor<4x8xf16>
}

// CHECK-LABEL: func.func @silu(
// CHECK-NEXT:    %[[X:.*]] = kernel.cast %x : (tensor<4x8xf16>) -> tensor<4x8xf32>
// CHECK-NEXT:    %[[G:.*]] = kernel.sigmoid %[[X]] : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    %[[P:.*]] = kernel.mul %[[X]], %[[G]] : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    %[[Y:.*]] = kernel.cast %[[P]] : (tensor<4x8xf32>) -> tensor<4x8xf16>
// CHECK-NEXT:    func.return %[[Y]]
func.func @silu(%x: tensor<4x8xf16>) -> tensor<4x8xf16> {
  %y = kernel.silu %x : (tensor<4x8xf16>) -> tensor<4x8xf16>
  func.return %y : tensor<4x8xf16>
}

// CHECK-LABEL: func.func @reduce_mean(
// CHECK-NEXT:    %[[S:.*]] = kernel.reduce_sum %x {dims = array<i64: 0, 2>} : (tensor<2x4x8xf32>) -> tensor<1x4x1xf32>
// CHECK-NEXT:    %[[M:.*]] = kernel.scale %[[S]] {factor = 6.250000e-02 : f32} : (tensor<1x4x1xf32>) -> tensor<1x4x1xf32>
// CHECK-NEXT:    func.return %[[M]]
func.func @reduce_mean(%x: tensor<2x4x8xf32>) -> tensor<1x4x1xf32> {
  %y = kernel.reduce_mean %x {dims = array<i64: 0, 2>} : (tensor<2x4x8xf32>) -> tensor<1x4x1xf32>
  func.return %y : tensor<1x4x1xf32>
}

// Elementary operators are left alone, and so are graphs.
// CHECK-LABEL: func.func @elementary(
// CHECK-NEXT:    %a = kernel.matmul %x, %w
// CHECK-NEXT:    %b = kernel.gelu %a
// CHECK-NEXT:    %c = kernel.reduce_sum %b
// CHECK-NEXT:    %d = kernel.graph_defined ins(%c) grid [2] {
// CHECK-NEXT:    ^bb0(%s: tensor<4x1xf16>):
// CHECK-NEXT:      %t = threadblock.load %s
// CHECK-NEXT:      %u = threadblock.silu %t
// CHECK-NEXT:      threadblock.store %u
func.func @elementary(%x: tensor<4x8xf16>, %w: tensor<8x16xf16>) -> tensor<4x1xf32> {
  %a = kernel.matmul %x, %w : (tensor<4x8xf16>, tensor<8x16xf16>) -> tensor<4x16xf16>
  %b = kernel.gelu %a : (tensor<4x16xf16>) -> tensor<4x16xf16>
  %c = kernel.reduce_sum %b {dims = array<i64: 1>} : (tensor<4x16xf16>) -> tensor<4x1xf16>
  %d = kernel.graph_defined ins(%c) grid [2] {
  ^bb0(%s: tensor<4x1xf16>):
    %t = threadblock.load %s grid_map [0] : (tensor<4x1xf16>) -> !threadblock.tile<2x1xf16>
    %u = threadblock.silu %t : (!threadblock.tile<2x1xf16>) -> !threadblock.tile<2x1xf32>
    threadblock.store %u grid_map [0] : !threadblock.tile<2x1xf32>
  } : (tensor<4x1xf16>) -> tensor<4x1xf32>
  func.return %d : tensor<4x1xf32>
}

// Prefix sums of few elements are sums under a mask. What is behind an element is not multiplied by
// zero: it may be infinite.
// CHECK-LABEL: func.func @cumsum(
// CHECK-NEXT:    %[[X:.*]] = kernel.cast %x : (tensor<3x2xf16>) -> tensor<3x2xf32>
// CHECK-NEXT:    %[[J:.*]] = kernel.iota {dim = 1 : i64} : tensor<1x3x1xf32>
// CHECK-NEXT:    %[[I:.*]] = kernel.iota {dim = 0 : i64} : tensor<3x1x1xf32>
// CHECK-NEXT:    %[[M:.*]] = kernel.compare %[[J]], %[[I]] {predicate = "le"} : {{.*}} -> tensor<3x3x1xf32>
// CHECK-NEXT:    %[[O:.*]] = kernel.constant {value = 0.000000e+00 : f32} : tensor<1x1x1xf32>
// CHECK-NEXT:    %[[W:.*]] = kernel.reshape %[[X]] : (tensor<3x2xf32>) -> tensor<1x3x2xf32>
// CHECK-NEXT:    %[[S:.*]] = kernel.select %[[M]], %[[W]], %[[O]] : {{.*}} -> tensor<3x3x2xf32>
// CHECK-NEXT:    %[[T:.*]] = kernel.reduce_sum %[[S]] {dims = array<i64: 1>} : (tensor<3x3x2xf32>) -> tensor<3x1x2xf32>
// CHECK-NEXT:    %[[Z:.*]] = kernel.reshape %[[T]] : (tensor<3x1x2xf32>) -> tensor<3x2xf32>
// CHECK-NEXT:    %[[R:.*]] = kernel.cast %[[Z]] : (tensor<3x2xf32>) -> tensor<3x2xf16>
// CHECK-NEXT:    func.return %[[R]]
func.func @cumsum(%x: tensor<3x2xf16>) -> tensor<3x2xf16> {
  %y = kernel.cumsum %x {dim = 0 : i64} : (tensor<3x2xf16>) -> tensor<3x2xf16>
  func.return %y : tensor<3x2xf16>
}

// More of them in steps: each adds what is 1, 2, 4, ... places before.
// CHECK-LABEL: func.func @long_cumsum(
// CHECK-NEXT:    %[[A:.*]] = kernel.slice %x {offsets = array<i64: 0>, sizes = array<i64: 1>, {{.*}} -> tensor<1xf32>
// CHECK-NEXT:    %[[B:.*]] = kernel.slice %x {offsets = array<i64: 1>, sizes = array<i64: 256>, {{.*}} -> tensor<256xf32>
// CHECK-NEXT:    %[[C:.*]] = kernel.slice %x {offsets = array<i64: 0>, sizes = array<i64: 256>, {{.*}} -> tensor<256xf32>
// CHECK-NEXT:    %[[D:.*]] = kernel.add %[[B]], %[[C]] : (tensor<256xf32>, tensor<256xf32>) -> tensor<256xf32>
// CHECK-NEXT:    kernel.concat %[[A]], %[[D]] {dim = 0 : i64}
// CHECK-COUNT-8: kernel.concat
// CHECK-NOT:     kernel.concat
func.func @long_cumsum(%x: tensor<257xf32>) -> tensor<257xf32> {
  %y = kernel.cumsum %x {dim = 0 : i64} : (tensor<257xf32>) -> tensor<257xf32>
  func.return %y : tensor<257xf32>
}
