// Tiles whose rows start at no multiples of 16 bytes: loads of an iteration are in flight through the one before.
// RUN: mirage-opt %s -p "select-mma{target=H200},select-copies,assign-layouts,software-pipeline,plan-memory" | filecheck %s
// RUN: mirage-opt %s -p "select-mma{target=H200},select-copies,assign-layouts,software-pipeline,plan-memory" | mirage-opt | filecheck %s
// RUN: mirage-opt %s -p "select-mma{target=H200},select-copies,assign-layouts,software-pipeline,plan-memory,lower-to-nvvm" | filecheck %s --check-prefix=LOWERED

// The prologue stores the first iteration's tiles, and asks for those of the second. In each iteration
// warpgroups multiply while threads store what has arrived, into the other buffer, and ask for more. No
// thread waits for a group of copies.
// CHECK-LABEL: func.func @odd_rows
// CHECK:       schedule <threads = 128, stages = 2>
// CHECK:         %x = threadblock.load {{.*}}copy = "realigned"
// CHECK-NEXT:    %w = threadblock.load {{.*}}copy = "realigned"
// CHECK-NEXT:    threadblock.section "prologue"
// CHECK-NEXT:    threadblock.issue_copies iteration 0 %x, %w :
// CHECK-NEXT:    threadblock.fetch_tiles ahead 1 %x, %w :
// CHECK-NEXT:    threadblock.section "main_loop"
// CHECK-NEXT:    threadblock.barrier pending 0 async_proxy_fence
// CHECK-NEXT:    %p = threadblock.matmul
// CHECK-NEXT:    %a = threadblock.accumulate
// CHECK-NEXT:    threadblock.store_fetched ahead 1 %x, %w :
// CHECK-NEXT:    threadblock.fetch_tiles ahead 2 %x, %w :
// CHECK-NEXT:    threadblock.await_mma pending 0 %a
// CHECK-NEXT:    threadblock.section "epilogue"

// A thread has four pieces of a tile of 64x64, and two of one of 64x32: six windows of two loads each. Two
// comparisons of an address shift a window by whole words, a funnel shift by the rest.
// LOWERED-LABEL: llvm.func @odd_rows_kernel_0
// LOWERED:       scf.for
// LOWERED:         wgmma.commit
// LOWERED:         scf.if
// LOWERED:           arith.select
// LOWERED:           arith.shrui %{{.*}} : i64
// LOWERED:           llvm.store %{{.*}} {alignment = 16 : i64}{{.*}}vector<4xi32>
// LOWERED-COUNT-12:  llvm.load %{{.*}} {alignment = 16 : i64}{{.*}}vector<4xi32>
// LOWERED-NOT:       llvm.load
// LOWERED:         wgmma.wait
func.func @odd_rows(%in: tensor<64x251xf16>, %weight: tensor<251x33xf16>) -> tensor<64x33xf32> {
  %o = kernel.graph_defined ins(%in, %weight) grid [2] loop [4] {
  ^bb0(%xa: tensor<64x251xf16>, %wa: tensor<251x33xf16>):
    %x = threadblock.load %xa grid_map [_] loop_map [1] : (tensor<64x251xf16>) -> !threadblock.tile<64x64xf16>
    %w = threadblock.load %wa grid_map [1] loop_map [0] : (tensor<251x33xf16>) -> !threadblock.tile<64x32xf16>
    %p = threadblock.matmul %x, %w : (!threadblock.tile<64x64xf16>, !threadblock.tile<64x32xf16>) -> !threadblock.tile<64x32xf32>
    %a = threadblock.accumulate %p : (!threadblock.tile<64x32xf32>) -> !threadblock.tile<64x32xf32>
    threadblock.store %a grid_map [1] : !threadblock.tile<64x32xf32>
  } : (tensor<64x251xf16>, tensor<251x33xf16>) -> tensor<64x33xf32>
  func.return %o : tensor<64x33xf32>
}

// 128 rows by 256 columns of sums leave a thread no registers for tiles: it waits for what it loads, and
// several buffers gain nothing more.
// CHECK-LABEL: func.func @many_sums
// CHECK-NOT:   threadblock.fetch_tiles
// CHECK:       threadblock.section "main_loop"
// CHECK-NEXT:  threadblock.barrier
// CHECK-NEXT:  threadblock.issue_copies ahead
func.func @many_sums(%in: tensor<128x251xf16>, %weight: tensor<251x257xf16>) -> tensor<128x257xf32> {
  %o = kernel.graph_defined ins(%in, %weight) grid [2] loop [4] {
  ^bb0(%xa: tensor<128x251xf16>, %wa: tensor<251x257xf16>):
    %x = threadblock.load %xa grid_map [_] loop_map [1] : (tensor<128x251xf16>) -> !threadblock.tile<128x64xf16>
    %w = threadblock.load %wa grid_map [1] loop_map [0] : (tensor<251x257xf16>) -> !threadblock.tile<64x256xf16>
    %p = threadblock.matmul %x, %w : (!threadblock.tile<128x64xf16>, !threadblock.tile<64x256xf16>) -> !threadblock.tile<128x256xf32>
    %a = threadblock.accumulate %p : (!threadblock.tile<128x256xf32>) -> !threadblock.tile<128x256xf32>
    threadblock.store %a grid_map [1] : !threadblock.tile<128x256xf32>
  } : (tensor<128x251xf16>, tensor<251x257xf16>) -> tensor<128x257xf32>
  func.return %o : tensor<128x257xf32>
}
