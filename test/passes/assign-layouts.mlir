// Where each tile lives: in registers, as the tensor cores return it, or in shared memory.
// RUN: mirage-opt %s --assign-layouts | filecheck %s
// RUN: mirage-opt %s --assign-layouts | mirage-opt | filecheck %s

// Four warps have a quarter of the depth each, so each has a part of all sums. A reader adds up the
// four copies.
// CHECK-LABEL: func.func @linear
// CHECK:         %xt = threadblock.load {{.*}} {layout = #threadblock.shared<{shape = [16, 64], order = [1, 0], swizzle = 128, element_bits = 16}>, copy = "async"}
// CHECK-NEXT:    %wt = threadblock.load {{.*}} {layout = #threadblock.shared<{shape = [64, 64], order = [1, 0], swizzle = 64, element_bits = 16}>, copy = "async"}
// CHECK-NEXT:    %p = threadblock.matmul %xt, %wt {{.*}}layout = #threadblock.registers<{register = {{\[\[0, 1], \[8, 0], 6:\[0, 8]]}}, lane = {{\[\[0, 2], \[0, 4], \[1, 0], \[2, 0], \[4, 0]]}}, warp = [partial, partial]}>
// CHECK-NEXT:    %a = threadblock.accumulate %p {layout = #threadblock.registers<{register = {{\[\[0, 1], \[8, 0], 6:\[0, 8]]}}, lane = {{\[\[0, 2], \[0, 4], \[1, 0], \[2, 0], \[4, 0]]}}, warp = [partial, partial]}>
// CHECK-NEXT:    %[[S:.*]] = threadblock.convert_layout %a {layout = #threadblock.shared<{shape = [16, 56], order = [1, 0], copies = 4}>}
// CHECK-NEXT:    %c = thread.graph ins(%[[S]]) attributes {layout = #threadblock.registers<{register = {{\[\[0, 1], \[0, 2], \[0, 4]]}}, lane = {{\[\[0, 8], \[0, 16], \[0, 32], \[1, 0], \[2, 0]]}}, warp = {{\[\[4, 0], \[8, 0]]}}}>}
func.func @linear(%x: tensor<16x512xf16>, %w: tensor<512x96xf16>) -> tensor<16x96xf16> {
  %o = kernel.graph_defined ins(%x, %w) grid [2] loop [8] schedule <threads = 128> {
  ^bb0(%xa: tensor<16x512xf16>, %wa: tensor<512x96xf16>):
    %xt = threadblock.load %xa grid_map [_] loop_map [1] {copy = "async"} : (tensor<16x512xf16>) -> !threadblock.tile<16x64xf16>
    %wt = threadblock.load %wa grid_map [1] loop_map [0] {copy = "async"} : (tensor<512x96xf16>) -> !threadblock.tile<64x48xf16>
    %p = threadblock.matmul %xt, %wt {warps = array<i64: 1, 1, 4>} : (!threadblock.tile<16x64xf16>, !threadblock.tile<64x48xf16>) -> !threadblock.tile<16x48xf32>
    %a = threadblock.accumulate %p : (!threadblock.tile<16x48xf32>) -> !threadblock.tile<16x48xf32>
    %c = thread.graph ins(%a) {
    ^bb0(%sum: f32):
      %rounded = arith.truncf %sum : f32 to f16
      thread.store %rounded : f16
    } : (!threadblock.tile<16x48xf32>) -> !threadblock.tile<16x48xf16>
    threadblock.store %c grid_map [1] : !threadblock.tile<16x48xf16>
  } : (tensor<16x512xf16>, tensor<512x96xf16>) -> tensor<16x96xf16>
  func.return %o : tensor<16x96xf16>
}

// A row of 7 elements belongs to 8 lanes of one warp, so its maximum stays in their registers: ten
// rows a thread. The tile itself is read where it lies.
// CHECK-LABEL: func.func @rows
// CHECK:         threadblock.load {{.*}} {layout = #threadblock.global}
// CHECK-NEXT:    threadblock.reduce_max %t {layout = #threadblock.registers<{register = [10:[4, 0]], lane = {{\[\[0, 0], \[0, 0], \[0, 0], \[1, 0], \[2, 0]]}}}>
func.func @rows(%x: tensor<40x7xf32>) -> tensor<40x1xf32> {
  %o = kernel.graph_defined ins(%x) grid [1] schedule <threads = 32> {
  ^bb0(%xa: tensor<40x7xf32>):
    %t = threadblock.load %xa grid_map [_] : (tensor<40x7xf32>) -> !threadblock.tile<40x7xf32>
    %s = threadblock.reduce_max %t {dims = array<i64: 1>} : (!threadblock.tile<40x7xf32>) -> !threadblock.tile<40x1xf32>
    threadblock.store %s grid_map [_] : !threadblock.tile<40x1xf32>
  } : (tensor<40x7xf32>) -> tensor<40x1xf32>
  func.return %o : tensor<40x1xf32>
}

// Four warps share each column: its maximum is that of four copies in shared memory.
// CHECK-LABEL: func.func @columns
// CHECK:         threadblock.reduce_max %t {layout = #threadblock.shared<{shape = [1, 64], order = [1, 0], copies = 4, combine = max}>
func.func @columns(%x: tensor<96x64xf32>) -> tensor<1x64xf32> {
  %o = kernel.graph_defined ins(%x) grid [1] schedule <threads = 128> {
  ^bb0(%xa: tensor<96x64xf32>):
    %t = threadblock.load %xa grid_map [_] : (tensor<96x64xf32>) -> !threadblock.tile<96x64xf32>
    %s = threadblock.reduce_max %t {dims = array<i64: 0>} : (!threadblock.tile<96x64xf32>) -> !threadblock.tile<1x64xf32>
    threadblock.store %s grid_map [_] : !threadblock.tile<1x64xf32>
  } : (tensor<96x64xf32>) -> tensor<1x64xf32>
  func.return %o : tensor<1x64xf32>
}

// Tensor copies leave no padding, and lines of 96 bytes are not swizzled.
// CHECK-LABEL: func.func @tensor_copies
// CHECK:         %xt = threadblock.load {{.*}} {layout = #threadblock.shared<{shape = [16, 64], order = [1, 0], swizzle = 128, element_bits = 16}>
// CHECK-NEXT:    %wt = threadblock.load {{.*}} {layout = #threadblock.shared<{shape = [64, 48], order = [1, 0]}>
func.func @tensor_copies(%x: tensor<16x512xf16>, %w: tensor<512x96xf16>) -> tensor<16x96xf32> {
  %o = kernel.graph_defined ins(%x, %w) grid [2] loop [8] schedule <threads = 128> {
  ^bb0(%xa: tensor<16x512xf16>, %wa: tensor<512x96xf16>):
    %xt = threadblock.load %xa grid_map [_] loop_map [1] {copy = "tensor"} : (tensor<16x512xf16>) -> !threadblock.tile<16x64xf16>
    %wt = threadblock.load %wa grid_map [1] loop_map [0] {copy = "tensor"} : (tensor<512x96xf16>) -> !threadblock.tile<64x48xf16>
    %p = threadblock.matmul %xt, %wt {warps = array<i64: 1, 1, 4>} : (!threadblock.tile<16x64xf16>, !threadblock.tile<64x48xf16>) -> !threadblock.tile<16x48xf32>
    %a = threadblock.accumulate %p : (!threadblock.tile<16x48xf32>) -> !threadblock.tile<16x48xf32>
    threadblock.store %a grid_map [1] : !threadblock.tile<16x48xf32>
  } : (tensor<16x512xf16>, tensor<512x96xf16>) -> tensor<16x96xf32>
  func.return %o : tensor<16x96xf32>
}

// What threads write for two matmuls that are one lies in one buffer, swizzled as wgmma reads it.
// CHECK-LABEL: func.func @batched
// CHECK:         %[[Y:.*]] = threadblock.convert_layout %y {layout = #threadblock.shared<{shape = [16, 64], order = [1, 0], swizzle = 128, element_bits = 16}>, batched = array<i64: 0, 0>}
// CHECK-NEXT:    threadblock.matmul %[[Y]], %w
// CHECK-NEXT:    %[[Z:.*]] = threadblock.convert_layout %z {layout = #threadblock.shared<{shape = [16, 64], order = [1, 0], swizzle = 128, element_bits = 16}>, batched = array<i64: 0, 8>}
// CHECK-NEXT:    threadblock.matmul %[[Z]], %w
func.func @batched(%in: tensor<8x512xf16>, %weight: tensor<512x64xf16>) -> (tensor<8x64xf32>, tensor<8x64xf32>) {
  %out:2 = kernel.graph_defined ins(%in, %weight) grid [1] loop [8] schedule <threads = 128> {
  ^bb0(%xa: tensor<8x512xf16>, %wa: tensor<512x64xf16>):
    %x = threadblock.load %xa grid_map [_] loop_map [1] {copy = "tensor"} : (tensor<8x512xf16>) -> !threadblock.tile<8x64xf16>
    %w = threadblock.load %wa grid_map [_] loop_map [0] {copy = "tensor"} : (tensor<512x64xf16>) -> !threadblock.tile<64x64xf16>
    %y = thread.graph ins(%x) {
    ^bb0(%element: f16):
      %negated = arith.negf %element : f16
      thread.store %negated : f16
    } : (!threadblock.tile<8x64xf16>) -> !threadblock.tile<8x64xf16>
    %z = thread.graph ins(%x) {
    ^bb0(%element: f16):
      %squared = arith.mulf %element, %element : f16
      thread.store %squared : f16
    } : (!threadblock.tile<8x64xf16>) -> !threadblock.tile<8x64xf16>
    %p = threadblock.matmul %y, %w {mma = "wgmma", warps = array<i64: 1, 1, 1>, swapped, batched = array<i64: 0, 0>} : (!threadblock.tile<8x64xf16>, !threadblock.tile<64x64xf16>) -> !threadblock.tile<8x64xf32>
    %q = threadblock.matmul %z, %w {mma = "wgmma", warps = array<i64: 1, 1, 1>, swapped, batched = array<i64: 0, 8>} : (!threadblock.tile<8x64xf16>, !threadblock.tile<64x64xf16>) -> !threadblock.tile<8x64xf32>
    %a = threadblock.accumulate %p : (!threadblock.tile<8x64xf32>) -> !threadblock.tile<8x64xf32>
    %b = threadblock.accumulate %q : (!threadblock.tile<8x64xf32>) -> !threadblock.tile<8x64xf32>
    threadblock.store %a grid_map [_] : !threadblock.tile<8x64xf32>
    threadblock.store %b grid_map [_] : !threadblock.tile<8x64xf32>
  } : (tensor<8x512xf16>, tensor<512x64xf16>) -> (tensor<8x64xf32>, tensor<8x64xf32>)
  func.return %out#0, %out#1 : tensor<8x64xf32>, tensor<8x64xf32>
}
