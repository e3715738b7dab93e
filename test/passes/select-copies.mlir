// How each tile is copied from device memory to shared memory.
//
// RUN: mirage-opt %s --select-copies="target=H200" | filecheck %s
// RUN: mirage-opt %s --select-copies="target=H200" | mirage-opt | filecheck %s
// RUN: mirage-opt %s --select-copies="target=A100" | filecheck %s --check-prefix=OLDER

// Tensor copies fetch the tiles of the loop, and the loop-invariant one. An A100 has none. L2 keeps what all
// blocks read, and lets go first what only one does.
// CHECK-LABEL: func.func @linear
// CHECK:         %x = threadblock.load %xa grid_map [_] loop_map [1] {copy = "tensor", eviction_priority = "evict_last"} :
// CHECK-NEXT:    %w = threadblock.load %wa grid_map [1] loop_map [0] {copy = "tensor", eviction_priority = "evict_first"} :
// CHECK-NEXT:    %b = threadblock.load %ba grid_map [_] loop_map [_] {copy = "tensor", eviction_priority = "evict_last"} :
// OLDER-LABEL: func.func @linear
// OLDER:         %x = threadblock.load %xa grid_map [_] loop_map [1] {copy = "async"} :
// OLDER-NEXT:    %w = threadblock.load %wa grid_map [1] loop_map [0] {copy = "async"} :
// OLDER-NEXT:    %b = threadblock.load %ba grid_map [_] loop_map [_] {copy = "async"} :
func.func @linear(%in: tensor<64x512xf16>, %weight: tensor<512x128xf16>, %bias: tensor<64x64xf16>) -> tensor<64x128xf32> {
  %o = kernel.graph_defined ins(%in, %weight, %bias) grid [2] loop [8] schedule <threads = 128> {
  ^bb0(%xa: tensor<64x512xf16>, %wa: tensor<512x128xf16>, %ba: tensor<64x64xf16>):
    %x = threadblock.load %xa grid_map [_] loop_map [1] : (tensor<64x512xf16>) -> !threadblock.tile<64x64xf16>
    %w = threadblock.load %wa grid_map [1] loop_map [0] : (tensor<512x128xf16>) -> !threadblock.tile<64x64xf16>
    %b = threadblock.load %ba grid_map [_] loop_map [_] : (tensor<64x64xf16>) -> !threadblock.tile<64x64xf16>
    %s = thread.graph ins(%x, %b) {
    ^bb0(%element: f16, %other: f16):
      %sum = arith.addf %element, %other : f16
      thread.store %sum : f16
    } : (!threadblock.tile<64x64xf16>, !threadblock.tile<64x64xf16>) -> !threadblock.tile<64x64xf16>
    %p = threadblock.matmul %s, %w {mma = "wgmma", warps = array<i64: 1, 1, 1>} : (!threadblock.tile<64x64xf16>, !threadblock.tile<64x64xf16>) -> !threadblock.tile<64x64xf32>
    %a = threadblock.accumulate %p : (!threadblock.tile<64x64xf32>) -> !threadblock.tile<64x64xf32>
    threadblock.store %a grid_map [1] : !threadblock.tile<64x64xf32>
  } : (tensor<64x512xf16>, tensor<512x128xf16>, tensor<64x64xf16>) -> tensor<64x128xf32>
  func.return %o : tensor<64x128xf32>
}

// Rows of 511 elements start at addresses that no tensor copy takes: so no tile of the loop comes by
// one. Their elements of 2 bytes are too narrow for cp.async: threads load pieces of 16 bytes and shift
// them.
// CHECK-LABEL: func.func @odd
// CHECK:         %x = threadblock.load %xa grid_map [_] loop_map [1] {copy = "realigned"} :
// CHECK-NEXT:    %y = threadblock.load %ya grid_map [_] loop_map [1] {copy = "async"} :
func.func @odd(%in: tensor<16x511xf16>, %other: tensor<16x512xf16>) -> tensor<16x64xf32> {
  %o = kernel.graph_defined ins(%in, %other) grid [1] loop [8] schedule <threads = 128> {
  ^bb0(%xa: tensor<16x511xf16>, %ya: tensor<16x512xf16>):
    %x = threadblock.load %xa grid_map [_] loop_map [1] : (tensor<16x511xf16>) -> !threadblock.tile<16x64xf16>
    %y = threadblock.load %ya grid_map [_] loop_map [1] : (tensor<16x512xf16>) -> !threadblock.tile<16x64xf16>
    %s = thread.graph ins(%x, %y) {
    ^bb0(%a: f16, %b: f16):
      %sum = arith.addf %a, %b : f16
      thread.store %sum : f16
    } : (!threadblock.tile<16x64xf16>, !threadblock.tile<16x64xf16>) -> !threadblock.tile<16x64xf16>
    %t = threadblock.accumulate %s : (!threadblock.tile<16x64xf16>) -> !threadblock.tile<16x64xf32>
    threadblock.store %t grid_map [_] : !threadblock.tile<16x64xf32>
  } : (tensor<16x511xf16>, tensor<16x512xf16>) -> tensor<16x64xf32>
  func.return %o : tensor<16x64xf32>
}

// A whole row of 511 elements is one line: the aligned pieces in which it lies are copied as they are.
// CHECK-LABEL: func.func @line
// CHECK:         %x = threadblock.load %xa grid_map [_] loop_map [0] {copy = "window"} :
// OLDER-LABEL: func.func @line
// OLDER:         %x = threadblock.load %xa grid_map [_] loop_map [0] {copy = "window"} :
func.func @line(%in: tensor<16x511xf16>) -> tensor<1x511xf32> {
  %o = kernel.graph_defined ins(%in) grid [1] loop [16] schedule <threads = 128> {
  ^bb0(%xa: tensor<16x511xf16>):
    %x = threadblock.load %xa grid_map [_] loop_map [0] : (tensor<16x511xf16>) -> !threadblock.tile<1x511xf16>
    %t = threadblock.accumulate %x : (!threadblock.tile<1x511xf16>) -> !threadblock.tile<1x511xf32>
    threadblock.store %t grid_map [_] : !threadblock.tile<1x511xf32>
  } : (tensor<16x511xf16>) -> tensor<1x511xf32>
  func.return %o : tensor<1x511xf32>
}

// A loop that reads and writes whole rows: tensor copies would bring 128 bytes of each at a time. One that
// writes nothing has them.
// CHECK-LABEL: func.func @rows
// CHECK:         %x = threadblock.load %xa grid_map [0] loop_map [0] {copy = "async"} :
func.func @rows(%in: tensor<64x512xf16>) -> tensor<64x512xf16> {
  %o = kernel.graph_defined ins(%in) grid [2] loop [4] schedule <threads = 128> {
  ^bb0(%xa: tensor<64x512xf16>):
    %x = threadblock.load %xa grid_map [0] loop_map [0] : (tensor<64x512xf16>) -> !threadblock.tile<8x512xf16>
    %y = thread.graph ins(%x) {
    ^bb0(%a: f16):
      %b = arith.addf %a, %a : f16
      thread.store %b : f16
    } : (!threadblock.tile<8x512xf16>) -> !threadblock.tile<8x512xf16>
    threadblock.store %y grid_map [0] loop_map [0] : !threadblock.tile<8x512xf16>
  } : (tensor<64x512xf16>) -> tensor<64x512xf16>
  func.return %o : tensor<64x512xf16>
}

// Where such a loop moves more bytes than L2 holds, what it stores is evicted last.
// CHECK-LABEL: func.func @many_rows
// CHECK:         %x = threadblock.load %xa grid_map [0] loop_map [0] {copy = "async"} :
// CHECK:         threadblock.store %y grid_map [0] loop_map [0] {eviction_priority = "evict_last"} :
// CHECK-NEXT:    threadblock.store %t grid_map [0] :
// OLDER-LABEL: func.func @many_rows
// OLDER:         threadblock.store %y grid_map [0] loop_map [0] :
func.func @many_rows(%in: tensor<65536x512xf16>) -> (tensor<65536x512xf16>, tensor<1056x512xf32>) {
  %o, %p = kernel.graph_defined ins(%in) grid [132] loop [63] cyclic schedule <threads = 128> {
  ^bb0(%xa: tensor<65536x512xf16>):
    %x = threadblock.load %xa grid_map [0] loop_map [0] : (tensor<65536x512xf16>) -> !threadblock.tile<8x512xf16>
    %y = thread.graph ins(%x) {
    ^bb0(%a: f16):
      %b = arith.addf %a, %a : f16
      thread.store %b : f16
    } : (!threadblock.tile<8x512xf16>) -> !threadblock.tile<8x512xf16>
    %t = threadblock.accumulate %x : (!threadblock.tile<8x512xf16>) -> !threadblock.tile<8x512xf32>
    threadblock.store %y grid_map [0] loop_map [0] : !threadblock.tile<8x512xf16>
    threadblock.store %t grid_map [0] : !threadblock.tile<8x512xf32>
  } : (tensor<65536x512xf16>) -> (tensor<65536x512xf16>, tensor<1056x512xf32>)
  func.return %o, %p : tensor<65536x512xf16>, tensor<1056x512xf32>
}

// CHECK-LABEL: func.func @sums
// CHECK:         %x = threadblock.load %xa grid_map [0] loop_map [0] {copy = "tensor", eviction_priority = "evict_first"} :
func.func @sums(%in: tensor<64x512xf16>) -> tensor<16x512xf32> {
  %o = kernel.graph_defined ins(%in) grid [2] loop [4] schedule <threads = 128> {
  ^bb0(%xa: tensor<64x512xf16>):
    %x = threadblock.load %xa grid_map [0] loop_map [0] : (tensor<64x512xf16>) -> !threadblock.tile<8x512xf16>
    %t = threadblock.accumulate %x : (!threadblock.tile<8x512xf16>) -> !threadblock.tile<8x512xf32>
    threadblock.store %t grid_map [0] : !threadblock.tile<8x512xf32>
  } : (tensor<64x512xf16>) -> tensor<16x512xf32>
  func.return %o : tensor<16x512xf32>
}

// Lines of 12 bytes are no whole pieces of 16.
// CHECK-LABEL: func.func @short_lines
// CHECK:         %x = threadblock.load %xa grid_map [_] loop_map [1] {copy = "threads"} :
func.func @short_lines(%in: tensor<16x47xf16>) -> tensor<16x6xf32> {
  %o = kernel.graph_defined ins(%in) grid [1] loop [8] schedule <threads = 128> {
  ^bb0(%xa: tensor<16x47xf16>):
    %x = threadblock.load %xa grid_map [_] loop_map [1] : (tensor<16x47xf16>) -> !threadblock.tile<16x6xf16>
    %t = threadblock.accumulate %x : (!threadblock.tile<16x6xf16>) -> !threadblock.tile<16x6xf32>
    threadblock.store %t grid_map [_] : !threadblock.tile<16x6xf32>
  } : (tensor<16x47xf16>) -> tensor<16x6xf32>
  func.return %o : tensor<16x6xf32>
}

// What is read once, without a loop or a tensor core, is read in place.
// CHECK-LABEL: func.func @in_place
// CHECK:         %x = threadblock.load %xa grid_map [0] : (
func.func @in_place(%in: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %o = kernel.graph_defined ins(%in) grid [2] schedule <threads = 128> {
  ^bb0(%xa: tensor<64x64xf32>):
    %x = threadblock.load %xa grid_map [0] : (tensor<64x64xf32>) -> !threadblock.tile<32x64xf32>
    threadblock.store %x grid_map [0] : !threadblock.tile<32x64xf32>
  } : (tensor<64x64xf32>) -> tensor<64x64xf32>
  func.return %o : tensor<64x64xf32>
}

// Two blocks along axis 0 load the same part of the weights: each copies half of it to both.
// CHECK-LABEL: func.func @given_cluster
// CHECK:         cluster [2, 1]
// CHECK:         %x = threadblock.load %xa grid_map [0, _] loop_map [1] {copy = "tensor"} :
// CHECK-NEXT:    %w = threadblock.load %wa grid_map [_, 1] loop_map [0] {copy = "tensor", multicast = 2 : i64} :
// OLDER-LABEL: func.func @given_cluster
// OLDER-NOT:     multicast
func.func @given_cluster(%in: tensor<128x512xf16>, %weight: tensor<512x128xf16>) -> tensor<128x128xf32> {
  %o = kernel.graph_defined ins(%in, %weight) grid [2, 2] cluster [2, 1] loop [8] schedule <threads = 128> {
  ^bb0(%xa: tensor<128x512xf16>, %wa: tensor<512x128xf16>):
    %x = threadblock.load %xa grid_map [0, _] loop_map [1] : (tensor<128x512xf16>) -> !threadblock.tile<64x64xf16>
    %w = threadblock.load %wa grid_map [_, 1] loop_map [0] : (tensor<512x128xf16>) -> !threadblock.tile<64x64xf16>
    %p = threadblock.matmul %x, %w {mma = "wgmma", warps = array<i64: 1, 1, 1>} : (!threadblock.tile<64x64xf16>, !threadblock.tile<64x64xf16>) -> !threadblock.tile<64x64xf32>
    %a = threadblock.accumulate %p : (!threadblock.tile<64x64xf32>) -> !threadblock.tile<64x64xf32>
    threadblock.store %a grid_map [0, 1] : !threadblock.tile<64x64xf32>
  } : (tensor<128x512xf16>, tensor<512x128xf16>) -> tensor<128x128xf32>
  func.return %o : tensor<128x128xf32>
}

// Two blocks of a cluster load the same weights. Without one neighbours do: nobody multicasts.
// CHECK-LABEL: func.func @written_cluster
// CHECK:         cluster [2, 1]
// CHECK:         %w = threadblock.load %wa {{.*}}multicast = 2 : i64}
// What was selected for another GPU is forgotten.
// OLDER-LABEL: func.func @written_cluster
// OLDER:         %w = threadblock.load %wa {{.*}}{copy = "async"}
func.func @written_cluster(%in: tensor<64x512xf16>, %weight: tensor<512x4096xf16>) -> tensor<64x4096xf32> {
  %o = kernel.graph_defined ins(%in, %weight) grid [4, 32] cluster [2, 1] loop [8] schedule <threads = 128> {
  ^bb0(%xa: tensor<64x512xf16>, %wa: tensor<512x4096xf16>):
    %x = threadblock.load %xa grid_map [0, _] loop_map [1] : (tensor<64x512xf16>) -> !threadblock.tile<16x64xf16>
    %w = threadblock.load %wa grid_map [_, 1] loop_map [0] {copy = "tensor", multicast = 2 : i64} : (tensor<512x4096xf16>) -> !threadblock.tile<64x128xf16>
    %p = threadblock.matmul %x, %w {mma = "wgmma", warps = array<i64: 1, 1, 1>, swapped} : (!threadblock.tile<16x64xf16>, !threadblock.tile<64x128xf16>) -> !threadblock.tile<16x128xf32>
    %a = threadblock.accumulate %p : (!threadblock.tile<16x128xf32>) -> !threadblock.tile<16x128xf32>
    threadblock.store %a grid_map [0, 1] : !threadblock.tile<16x128xf32>
  } : (tensor<64x512xf16>, tensor<512x4096xf16>) -> tensor<64x4096xf32>
  func.return %o : tensor<64x4096xf32>
}

// More bytes than the L2 of an H200 holds: it keeps what a block reads in place longer than results. The
// weight, which all blocks read, stays anyway. An A100 takes no advice.
// CHECK-LABEL: func.func @streams_through
// CHECK:         %x = threadblock.load %xa grid_map [0] {eviction_priority = "evict_last"} : (
// CHECK-NEXT:    %w = threadblock.load %wa grid_map [_] : (
// OLDER-LABEL: func.func @streams_through
// OLDER:         %x = threadblock.load %xa grid_map [0] : (
func.func @streams_through(%in: tensor<32768x1024xf16>, %weight: tensor<1024xf16>) -> tensor<32768x1024xf16> {
  %o = kernel.graph_defined ins(%in, %weight) grid [8192] schedule <threads = 128> {
  ^bb0(%xa: tensor<32768x1024xf16>, %wa: tensor<1024xf16>):
    %x = threadblock.load %xa grid_map [0] : (tensor<32768x1024xf16>) -> !threadblock.tile<4x1024xf16>
    %w = threadblock.load %wa grid_map [_] : (tensor<1024xf16>) -> !threadblock.tile<1024xf16>
    %y = thread.graph ins(%x, %w) {
    ^bb0(%element: f16, %other: f16):
      %product = arith.mulf %element, %other : f16
      thread.store %product : f16
    } : (!threadblock.tile<4x1024xf16>, !threadblock.tile<1024xf16>) -> !threadblock.tile<4x1024xf16>
    threadblock.store %y grid_map [0] : !threadblock.tile<4x1024xf16>
  } : (tensor<32768x1024xf16>, tensor<1024xf16>) -> tensor<32768x1024xf16>
  func.return %o : tensor<32768x1024xf16>
}
