// Where each tile lives: in registers, as the tensor cores return it, or in shared memory.
// RUN: mirage-opt %s --select-mma="target=A100" --assign-layouts="target=A100" | filecheck %s
// RUN: mirage-opt %s --select-mma="target=H200" --assign-layouts="target=H200" | filecheck %s --check-prefix=TENSOR
// RUN: mirage-opt %s --select-mma="target=A100" --assign-layouts="target=A100" | mirage-opt | filecheck %s

// Four warps have a quarter of the depth each, so each has a part of all sums. A reader adds up the
// four copies. On an H200, tensor copies fetch the tiles: no padding, and lines of 96 bytes are not
// swizzled.
// CHECK-LABEL: func.func @linear
// CHECK:         %xt = threadblock.load {{.*}} {layout = #threadblock.shared<{shape = [16, 64], order = [1, 0], swizzle = 128, element_bits = 16}>}
// CHECK-NEXT:    %wt = threadblock.load {{.*}} {layout = #threadblock.shared<{shape = [64, 64], order = [1, 0], swizzle = 64, element_bits = 16}>}
// CHECK-NEXT:    %p = threadblock.matmul %xt, %wt {{.*}}layout = #threadblock.registers<{register = {{\[\[0, 1], \[8, 0], 6:\[0, 8]]}}, lane = {{\[\[0, 2], \[0, 4], \[1, 0], \[2, 0], \[4, 0]]}}, warp = [partial, partial]}>
// CHECK-NEXT:    %a = threadblock.accumulate %p {layout = #threadblock.registers<{register = {{\[\[0, 1], \[8, 0], 6:\[0, 8]]}}, lane = {{\[\[0, 2], \[0, 4], \[1, 0], \[2, 0], \[4, 0]]}}, warp = [partial, partial]}>
// CHECK-NEXT:    %[[S:.*]] = threadblock.convert_layout %a {layout = #threadblock.shared<{shape = [16, 56], order = [1, 0], copies = 4}>}
// CHECK-NEXT:    %c = thread.graph ins(%[[S]]) attributes {layout = #threadblock.registers<{register = {{\[\[0, 1], \[0, 2], \[0, 4]]}}, lane = {{\[\[0, 8], \[0, 16], \[0, 32], \[1, 0], \[2, 0]]}}, warp = {{\[\[4, 0], \[8, 0]]}}}>}
// TENSOR-LABEL: func.func @linear
// TENSOR:        %xt = threadblock.load {{.*}} {layout = #threadblock.shared<{shape = [16, 64], order = [1, 0], swizzle = 128, element_bits = 16}>
// TENSOR-NEXT:   %wt = threadblock.load {{.*}} {layout = #threadblock.shared<{shape = [64, 48], order = [1, 0]}>
func.func @linear(%x: tensor<16x512xf16>, %w: tensor<512x96xf16>) -> tensor<16x96xf16> {
  %o = kernel.graph_defined ins(%x, %w) grid [2] loop [8] {
  ^bb0(%xa: tensor<16x512xf16>, %wa: tensor<512x96xf16>):
    %xt = threadblock.load %xa grid_map [_] loop_map [1] : (tensor<16x512xf16>) -> !threadblock.tile<16x64xf16>
    %wt = threadblock.load %wa grid_map [1] loop_map [0] : (tensor<512x96xf16>) -> !threadblock.tile<64x48xf16>
    %p = threadblock.matmul %xt, %wt : (!threadblock.tile<16x64xf16>, !threadblock.tile<64x48xf16>) -> !threadblock.tile<16x48xf32>
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
