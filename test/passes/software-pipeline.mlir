// What is in flight when: sections of a block, copies ahead, and where threads wait for what.
// RUN: mirage-opt %s --software-pipeline="target=A100" | filecheck %s
// RUN: mirage-opt %s --software-pipeline="target=A100" | mirage-opt | filecheck %s

#tile = #threadblock.shared<{shape = [16, 64], order = [1, 0]}>
#spread = #threadblock.registers<{register = [[0, 1], [0, 2], [0, 4], [8, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0]]}>
#columns = #threadblock.shared<{shape = [1, 64], order = [1, 0], copies = 2}>

// All threads copy a part of each tile. Seven iterations are issued in front of the loop; in it a barrier
// waits until but six groups of copies are in flight, and one more group is issued. Behind the loop one
// barrier stands before what is written where the last tiles may still be read, and one between warps
// that write their parts of a column's sum and those that add them up. Nothing waits for what a thread
// has in its own registers.
// CHECK-LABEL: func.func @normalized
// CHECK:       grid [4] loop [8] schedule <threads = 64, stages = 8, stagger = 5> {
// CHECK-NEXT:  ^{{.*}}(%xa: tensor<64x512xf16>):
// CHECK-NEXT:    %t = threadblock.load {{.*}} {layout = #threadblock.shared<{shape = [16, 64], order = [1, 0]}>
// CHECK-NEXT:    threadblock.section "prologue"
// CHECK-NEXT:    threadblock.issue_copies iteration 0 %t :
// CHECK-COUNT-5: threadblock.issue_copies iteration {{[1-5]}} %t :
// CHECK-NEXT:    threadblock.issue_copies iteration 6 %t :
// CHECK-NEXT:    threadblock.section "main_loop"
// CHECK-NEXT:    threadblock.barrier pending 6
// CHECK-NEXT:    threadblock.issue_copies ahead 7 %t :
// CHECK-NEXT:    %e = thread.graph ins(%t)
// CHECK-NOT:     threadblock.barrier
// CHECK:         %s = threadblock.accumulate %e
// CHECK-NEXT:    threadblock.section "epilogue"
// CHECK-NEXT:    threadblock.barrier{{$}}
// CHECK-NEXT:    %r = threadblock.reduce_sum %s {layout = #threadblock.shared<{shape = [1, 64], order = [1, 0], copies = 2}>
// CHECK-NEXT:    threadblock.barrier{{$}}
// CHECK-NEXT:    %z = thread.graph ins(%s, %r)
// CHECK-NOT:     threadblock.barrier
// CHECK:       func.return
func.func @normalized(%x: tensor<64x512xf16>) -> tensor<64x64xf32> {
  %o = kernel.graph_defined ins(%x) grid [4] loop [8] schedule <threads = 64> {
  ^bb0(%xa: tensor<64x512xf16>):
    %t = threadblock.load %xa grid_map [0] loop_map [1] {layout = #tile} : (tensor<64x512xf16>) -> !threadblock.tile<16x64xf16>
    %e = thread.graph ins(%t) attributes {layout = #spread} {
    ^bb0(%a: f16):
      %w = arith.extf %a : f16 to f32
      %q = arith.mulf %w, %w : f32
      thread.store %q : f32
    } : (!threadblock.tile<16x64xf16>) -> !threadblock.tile<16x64xf32>
    %s = threadblock.accumulate %e {layout = #spread} : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x64xf32>
    %r = threadblock.reduce_sum %s {layout = #columns, dims = array<i64: 0>} : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<1x64xf32>
    %z = thread.graph ins(%s, %r) attributes {layout = #spread} {
    ^bb0(%a: f32, %b: f32):
      %q = arith.divf %a, %b : f32
      thread.store %q : f32
    } : (!threadblock.tile<16x64xf32>, !threadblock.tile<1x64xf32>) -> !threadblock.tile<16x64xf32>
    threadblock.store %z grid_map [0] : !threadblock.tile<16x64xf32>
  } : (tensor<64x512xf16>) -> tensor<64x64xf32>
  func.return %o : tensor<64x64xf32>
}

// Without a loop all is prologue. A matmul starts when its own tiles have come: the third is in a second
// group of copies, which may be in flight meanwhile.
#lhs = #threadblock.shared<{shape = [16, 16], order = [1, 0]}>
#acc = #threadblock.registers<{register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]]}>

// CHECK-LABEL: func.func @chained
// CHECK:         threadblock.section "prologue"
// CHECK-NEXT:    threadblock.issue_copies %x, %y :
// CHECK-NEXT:    threadblock.issue_copies %z :
// CHECK-NEXT:    threadblock.barrier pending 1
// CHECK-NEXT:    %p = threadblock.matmul
// CHECK-NEXT:    %c = thread.graph
// CHECK:         threadblock.barrier pending 0
// CHECK-NEXT:    %q = threadblock.matmul
// CHECK-NOT:     threadblock.section
// CHECK:         threadblock.store
func.func @chained(%a: tensor<16x16xf16>, %b: tensor<16x16xf16>, %d: tensor<16x16xf16>) -> tensor<16x16xf32> {
  %o = kernel.graph_defined ins(%a, %b, %d) grid [1] schedule <threads = 32> {
  ^bb0(%aa: tensor<16x16xf16>, %ba: tensor<16x16xf16>, %da: tensor<16x16xf16>):
    %x = threadblock.load %aa grid_map [_] {layout = #lhs} : (tensor<16x16xf16>) -> !threadblock.tile<16x16xf16>
    %y = threadblock.load %ba grid_map [_] {layout = #lhs} : (tensor<16x16xf16>) -> !threadblock.tile<16x16xf16>
    %z = threadblock.load %da grid_map [_] {layout = #lhs} : (tensor<16x16xf16>) -> !threadblock.tile<16x16xf16>
    %p = threadblock.matmul %x, %y {layout = #acc, warps = array<i64: 1, 1, 1>} : (!threadblock.tile<16x16xf16>, !threadblock.tile<16x16xf16>) -> !threadblock.tile<16x16xf32>
    %c = thread.graph ins(%p) attributes {layout = #acc} {
    ^bb0(%e: f32):
      %h = arith.truncf %e : f32 to f16
      thread.store %h : f16
    } : (!threadblock.tile<16x16xf32>) -> !threadblock.tile<16x16xf16>
    %q = threadblock.matmul %c, %z {layout = #acc, warps = array<i64: 1, 1, 1>} : (!threadblock.tile<16x16xf16>, !threadblock.tile<16x16xf16>) -> !threadblock.tile<16x16xf32>
    threadblock.store %q grid_map [_] : !threadblock.tile<16x16xf32>
  } : (tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf16>) -> tensor<16x16xf32>
  func.return %o : tensor<16x16xf32>
}
