// Elementwise code from device memory to device memory: a few elements of a thread at a time.
// RUN: mirage-opt %s --select-mma="target=H200" --select-copies --assign-layouts --software-pipeline | filecheck %s

// A thread has 64 elements of each tile. It reads 128 bytes at a time: 32 elements, two bytes each of %x and
// of %y. The second thread graph takes what the first computes, and its result is stored at the same time.
// L2 evicts as usual what is read so, though more goes through the kernel than it holds.
// CHECK-LABEL: func.func @stream
// CHECK:         %x = threadblock.load %xa grid_map [0] {layout = #threadblock.global} :
// CHECK:         threadblock.section "prologue"
// CHECK:         %p = thread.graph ins(%x, %y) attributes {layout = {{.*}}, stream = array<i64: 0, 32>} {
// CHECK:         %q = thread.graph ins(%p) attributes {layout = {{.*}}, stream = array<i64: 0, 32>} {
func.func @stream(%in: tensor<32768x1024xf16>, %other: tensor<32768x1024xf16>) -> (tensor<32768x1024xf16>, tensor<32768x1024xf16>) {
  %o:2 = kernel.graph_defined ins(%in, %other) grid [4096] schedule <threads = 128> {
  ^bb0(%xa: tensor<32768x1024xf16>, %ya: tensor<32768x1024xf16>):
    %x = threadblock.load %xa grid_map [0] : (tensor<32768x1024xf16>) -> !threadblock.tile<8x1024xf16>
    %y = threadblock.load %ya grid_map [0] : (tensor<32768x1024xf16>) -> !threadblock.tile<8x1024xf16>
    %p = thread.graph ins(%x, %y) {
    ^bb0(%a: f16, %b: f16):
      %c = arith.mulf %a, %b : f16
      thread.store %c : f16
    } : (!threadblock.tile<8x1024xf16>, !threadblock.tile<8x1024xf16>) -> !threadblock.tile<8x1024xf16>
    %q = thread.graph ins(%p) {
    ^bb0(%a: f16):
      %c = arith.addf %a, %a : f16
      thread.store %c : f16
    } : (!threadblock.tile<8x1024xf16>) -> !threadblock.tile<8x1024xf16>
    threadblock.store %p grid_map [0] : !threadblock.tile<8x1024xf16>
    threadblock.store %q grid_map [0] : !threadblock.tile<8x1024xf16>
  } : (tensor<32768x1024xf16>, tensor<32768x1024xf16>) -> (tensor<32768x1024xf16>, tensor<32768x1024xf16>)
  func.return %o#0, %o#1 : tensor<32768x1024xf16>, tensor<32768x1024xf16>
}

// Small tiles are computed at once, and what is reduced is no stream.
// CHECK-LABEL: func.func @small
// CHECK-NOT:     stream
func.func @small(%in: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %o = kernel.graph_defined ins(%in) grid [8] schedule <threads = 128> {
  ^bb0(%xa: tensor<64x64xf16>):
    %x = threadblock.load %xa grid_map [0] : (tensor<64x64xf16>) -> !threadblock.tile<8x64xf16>
    %p = thread.graph ins(%x) {
    ^bb0(%a: f16):
      %c = arith.mulf %a, %a : f16
      thread.store %c : f16
    } : (!threadblock.tile<8x64xf16>) -> !threadblock.tile<8x64xf16>
    threadblock.store %p grid_map [0] : !threadblock.tile<8x64xf16>
  } : (tensor<64x64xf16>) -> tensor<64x64xf16>
  func.return %o : tensor<64x64xf16>
}
