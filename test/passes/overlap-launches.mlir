// Kernels that start before the previous grid has ended: what they copy before they wait for it, and when
// they let the next launch start.
// RUN: mirage-opt %s --overlap-launches="target=H200" | filecheck %s
// RUN: mirage-opt %s --overlap-launches="target=H200" | mirage-opt | filecheck %s
// RUN: mirage-opt %s --overlap-launches="target=H200" --lower-to-nvvm --check-lowered-kernels 2>&1 | filecheck %s --check-prefix=RUNS
// RUN: mirage-opt %s --overlap-launches="target=A100" | filecheck %s --check-prefix=WITHOUT
// RUN: not mirage-opt %s --overlap-launches --overlap-launches 2>&1 | filecheck %s --check-prefix=TWICE

// RUNS: @scaled: 2 kernels run without a fault
// RUNS: @linear: 1 kernel runs without a fault
// RUNS: @biased: 1 kernel runs without a fault
// RUNS: @squared: 1 kernel runs without a fault

// An A100 has no programmatic dependent launch.
// WITHOUT-NOT: {{overlap|await_previous_grid|launch_dependents|prefetch|uncommitted}}

#tile = #threadblock.shared<{shape = [16, 32], order = [1, 0]}>
#wide = #threadblock.registers<{register = [[0, 1], [0, 2], [0, 4], [8, 0], [0, 32]], lane = [[0, 8], [0, 16], [1, 0], [2, 0], [4, 0]]}>
#halves = #threadblock.registers<{register = [[0, 1], [0, 2], [0, 4], [8, 0]], lane = [[0, 8], [0, 16], [1, 0], [2, 0], [4, 0]]}>

// The first kernel waits before it reads an input that the call before may have written; it asks for so
// much shared memory that each multiprocessor gets one block. The second one lets the next call's first
// kernel start at once. It copies the constant tile before it waits, and the other behind that.
// CHECK-LABEL: func.func @scaled
// CHECK:         ins(%x) {{.*}} overlap <starts_early, occupancy_limit_bytes = 115840> {
// CHECK:           threadblock.section "prologue"
// CHECK-NEXT:      threadblock.prefetch_tiles lines 16 %t :
// CHECK-NEXT:      threadblock.await_previous_grid
// CHECK-NEXT:      threadblock.launch_dependents
// CHECK-NEXT:      %e = thread.graph ins(%t)
// CHECK:         ins(%y, %w) {{.*}} overlap <starts_early, available = [1], occupancy_limit_bytes = 115840> {
// CHECK:           threadblock.section "prologue"
// CHECK-NEXT:      threadblock.launch_dependents
// CHECK-NEXT:      threadblock.issue_copies iteration 0 uncommitted %u :
// CHECK-NEXT:      threadblock.await_previous_grid
// CHECK-NEXT:      threadblock.issue_copies iteration 0 %t :
// CHECK-NEXT:      threadblock.section "main_loop"
// CHECK-NOT:       await_previous_grid
// CHECK:           func.return
// TWICE: overlap-launches.mlir:[[# @LINE + 2]]:8: error: 'kernel.graph_defined' op overlaps with the previous grid already
func.func @scaled(%x: tensor<64x64xf16>, %w: tensor<64x64xf16> {kernel.constant}) -> tensor<64x32xf32> attributes {kernel.workspace = #kernel.workspace<scratch_bytes = 8192>} {
  %y = kernel.graph_defined ins(%x) grid [4] schedule <threads = 32, stages = 1> memory <results = [0]> {
  ^bb0(%xa: tensor<64x64xf16>):
    %t = threadblock.load %xa grid_map [0] {layout = #threadblock.global} : (tensor<64x64xf16>) -> !threadblock.tile<16x64xf16>
    threadblock.section "prologue"
    %e = thread.graph ins(%t) attributes {layout = #wide} {
    ^bb0(%a: f16):
      %b = arith.mulf %a, %a : f16
      thread.store %b : f16
    } : (!threadblock.tile<16x64xf16>) -> !threadblock.tile<16x64xf16>
    threadblock.store %e grid_map [0] : !threadblock.tile<16x64xf16>
  } : (tensor<64x64xf16>) -> tensor<64x64xf16>
  %o = kernel.graph_defined ins(%y, %w) grid [4] loop [2] schedule <threads = 32, stages = 2> memory <shared_bytes = 4096, results = [-1]> {
  ^bb0(%ya: tensor<64x64xf16>, %wa: tensor<64x64xf16>):
    %t = threadblock.load %ya grid_map [0] loop_map [1] {layout = #tile, buffer = #threadblock.buffer<offset = 0>, copy = "async"} : (tensor<64x64xf16>) -> !threadblock.tile<16x32xf16>
    %u = threadblock.load %wa grid_map [0] loop_map [1] {layout = #tile, buffer = #threadblock.buffer<offset = 2048>, copy = "async"} : (tensor<64x64xf16>) -> !threadblock.tile<16x32xf16>
    threadblock.section "prologue"
    threadblock.issue_copies iteration 0 %t, %u : !threadblock.tile<16x32xf16>, !threadblock.tile<16x32xf16>
    threadblock.section "main_loop"
    threadblock.barrier pending 0
    threadblock.issue_copies ahead 1 %t, %u : !threadblock.tile<16x32xf16>, !threadblock.tile<16x32xf16>
    %e = thread.graph ins(%t, %u) attributes {layout = #halves} {
    ^bb0(%a: f16, %b: f16):
      %c = arith.mulf %a, %b : f16
      %d = arith.extf %c : f16 to f32
      thread.store %d : f32
    } : (!threadblock.tile<16x32xf16>, !threadblock.tile<16x32xf16>) -> !threadblock.tile<16x32xf32>
    %s = threadblock.accumulate %e {layout = #halves} : (!threadblock.tile<16x32xf32>) -> !threadblock.tile<16x32xf32>
    threadblock.section "epilogue"
    threadblock.store %s grid_map [0] : !threadblock.tile<16x32xf32>
  } : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x32xf32>
  func.return %o : tensor<64x32xf32>
}

#rows = #threadblock.shared<{shape = [16, 64], order = [1, 0], swizzle = 128, element_bits = 16}>
#columns = #threadblock.shared<{shape = [64, 64], order = [1, 0], swizzle = 128, element_bits = 16}>
#acc = #threadblock.registers<{register = [[1, 0], [0, 8], [8, 0]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = [[0, 16], [0, 32]]}>

// A producer copies the constant tile of three iterations at once. One consumer thread waits for the
// previous grid and copies the other tile; the producer waits behind the first iterations. All consumers
// wait behind the loop: they touch device memory no earlier.
// CHECK-LABEL: func.func @linear
// CHECK:         overlap <starts_early, available = [1]> {
// CHECK:           threadblock.section "producer"
// CHECK-NEXT:      threadblock.fill_buffers iterations 3 at_start 3 %wt :
// CHECK-NEXT:      threadblock.await_previous_grid
// CHECK-NEXT:      threadblock.refill_buffers ahead 14 %xt, %wt :
// CHECK-NEXT:      threadblock.section "prologue"
// CHECK-NEXT:      threadblock.prefetch_tiles lines 16 %xt :
// CHECK-NEXT:      threadblock.one_thread {
// CHECK-NEXT:        threadblock.await_previous_grid
// CHECK-NEXT:        threadblock.launch_dependents
// CHECK-NEXT:        threadblock.fill_buffers iterations 3 %xt :
// CHECK-NEXT:      }
// CHECK-NEXT:      threadblock.section "main_loop"
// CHECK:           threadblock.section "epilogue"
// CHECK-NEXT:      threadblock.await_mma pending 0 %a :
// CHECK-NEXT:      threadblock.await_previous_grid
// CHECK-NEXT:      %c = thread.graph
func.func @linear(%x: tensor<16x512xf16>, %w: tensor<512x128xf16> {kernel.constant}) -> tensor<16x128xf16> attributes {kernel.workspace = #kernel.workspace<>} {
  %o = kernel.graph_defined ins(%x, %w) grid [2] loop [8] schedule <threads = 128, producer_warps = 1, stages = 3> memory <shared_bytes = 30792, mbarrier_offset = 30720, results = [-1]> {
  ^bb0(%xa: tensor<16x512xf16>, %wa: tensor<512x128xf16>):
    %xt = threadblock.load %xa grid_map [_] loop_map [1] {layout = #rows, buffer = #threadblock.buffer<offset = 24576>, copy = "tensor"} : (tensor<16x512xf16>) -> !threadblock.tile<16x64xf16>
    %wt = threadblock.load %wa grid_map [1] loop_map [0] {layout = #columns, buffer = #threadblock.buffer<offset = 0>, copy = "tensor"} : (tensor<512x128xf16>) -> !threadblock.tile<64x64xf16>
    threadblock.section "producer"
    threadblock.fill_buffers iterations 3 %xt, %wt : !threadblock.tile<16x64xf16>, !threadblock.tile<64x64xf16>
    threadblock.refill_buffers ahead 14 %xt, %wt : !threadblock.tile<16x64xf16>, !threadblock.tile<64x64xf16>
    threadblock.section "prologue"
    threadblock.section "main_loop"
    threadblock.await_tiles %xt, %wt : !threadblock.tile<16x64xf16>, !threadblock.tile<64x64xf16>
    %p = threadblock.matmul %xt, %wt {layout = #acc, mma = "wgmma", warps = array<i64: 1, 1, 1>, swapped} : (!threadblock.tile<16x64xf16>, !threadblock.tile<64x64xf16>) -> !threadblock.tile<16x64xf32>
    %a = threadblock.accumulate %p {layout = #acc} : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x64xf32>
    threadblock.await_mma pending 1 %a : !threadblock.tile<16x64xf32>
    threadblock.release_tiles behind 1 %xt, %wt : !threadblock.tile<16x64xf16>, !threadblock.tile<64x64xf16>
    threadblock.section "epilogue"
    threadblock.await_mma pending 0 %a : !threadblock.tile<16x64xf32>
    %c = thread.graph ins(%a) attributes {layout = #acc} {
    ^bb0(%0: f32):
      %1 = arith.truncf %0 : f32 to f16
      thread.store %1 : f16
    } : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x64xf16>
    threadblock.store %c grid_map [1] : !threadblock.tile<16x64xf16>
  } : (tensor<16x512xf16>, tensor<512x128xf16>) -> tensor<16x128xf16>
  func.return %o : tensor<16x128xf16>
}

#square = #threadblock.shared<{shape = [64, 64], order = [1, 0], swizzle = 128, element_bits = 16}>
#sums = #threadblock.registers<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]}>

// Consumers copy a constant tile before they wait, as a group that is committed in front of the wait; the
// producer waits before it copies anything.
// CHECK-LABEL: func.func @biased
// CHECK:         overlap <starts_early, available = [2]> {
// CHECK:           threadblock.section "producer"
// CHECK-NEXT:      threadblock.await_previous_grid
// CHECK-NEXT:      threadblock.launch_dependents
// CHECK-NEXT:      threadblock.fill_buffers iterations 2 %x, %w :
// CHECK:           threadblock.section "prologue"
// CHECK-NEXT:      threadblock.prefetch_tiles lines 16 %x, %w :
// CHECK-NEXT:      threadblock.issue_copies %b :
// CHECK-NEXT:      threadblock.await_previous_grid
// CHECK-NEXT:      threadblock.barrier pending 0
// CHECK-NOT:       await_previous_grid
// CHECK:           func.return
func.func @biased(%xt: tensor<64x256xf16>, %wt: tensor<256x64xf16>, %bt: tensor<64x64xf16> {kernel.constant}) -> tensor<64x64xf32> attributes {kernel.workspace = #kernel.workspace<>} {
  %o = kernel.graph_defined ins(%xt, %wt, %bt) grid [1] loop [4] schedule <threads = 128, producer_warps = 1, stages = 2> memory <shared_bytes = 41008, mbarrier_offset = 40960, results = [-1]> {
  ^bb0(%xa: tensor<64x256xf16>, %wa: tensor<256x64xf16>, %ba: tensor<64x64xf16>):
    %b = threadblock.load %ba grid_map [_] loop_map [_] {layout = #square, buffer = #threadblock.buffer<offset = 32768>, copy = "async"} : (tensor<64x64xf16>) -> !threadblock.tile<64x64xf16>
    %x = threadblock.load %xa grid_map [_] loop_map [1] {layout = #square, buffer = #threadblock.buffer<offset = 0>, copy = "tensor"} : (tensor<64x256xf16>) -> !threadblock.tile<64x64xf16>
    %w = threadblock.load %wa grid_map [_] loop_map [0] {layout = #square, buffer = #threadblock.buffer<offset = 16384>, copy = "tensor"} : (tensor<256x64xf16>) -> !threadblock.tile<64x64xf16>
    threadblock.section "producer"
    threadblock.fill_buffers iterations 2 %x, %w : !threadblock.tile<64x64xf16>, !threadblock.tile<64x64xf16>
    threadblock.refill_buffers ahead 8 %x, %w : !threadblock.tile<64x64xf16>, !threadblock.tile<64x64xf16>
    threadblock.section "prologue"
    threadblock.issue_copies %b : !threadblock.tile<64x64xf16>
    threadblock.barrier pending 0
    threadblock.section "main_loop"
    threadblock.await_tiles %x, %w : !threadblock.tile<64x64xf16>, !threadblock.tile<64x64xf16>
    %p = threadblock.matmul %x, %w {layout = #sums, mma = "wgmma", warps = array<i64: 1, 1, 1>} : (!threadblock.tile<64x64xf16>, !threadblock.tile<64x64xf16>) -> !threadblock.tile<64x64xf32>
    %s = threadblock.accumulate %p {layout = #sums} : (!threadblock.tile<64x64xf32>) -> !threadblock.tile<64x64xf32>
    threadblock.await_mma pending 1 %s : !threadblock.tile<64x64xf32>
    threadblock.release_tiles behind 1 %x, %w : !threadblock.tile<64x64xf16>, !threadblock.tile<64x64xf16>
    threadblock.section "epilogue"
    threadblock.await_mma pending 0 %s : !threadblock.tile<64x64xf32>
    %z = thread.graph ins(%s, %b) attributes {layout = #sums} {
    ^bb0(%e: f32, %f: f16):
      %g = arith.extf %f : f16 to f32
      %h = arith.addf %e, %g : f32
      thread.store %h : f32
    } : (!threadblock.tile<64x64xf32>, !threadblock.tile<64x64xf16>) -> !threadblock.tile<64x64xf32>
    threadblock.store %z grid_map [_] : !threadblock.tile<64x64xf32>
  } : (tensor<64x256xf16>, tensor<256x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf32>
  func.return %o : tensor<64x64xf32>
}

// One launch alone is spread evenly, too: the next call is placed while it runs. The two above, whose
// producers or consumers copy constants early, ask for no more than they need.
// CHECK-LABEL: func.func @squared
// CHECK:         ins(%x) {{.*}} overlap <starts_early, occupancy_limit_bytes = 115840> {
func.func @squared(%x: tensor<64x64xf16>) -> tensor<64x64xf16> attributes {kernel.workspace = #kernel.workspace<>} {
  %y = kernel.graph_defined ins(%x) grid [4] schedule <threads = 32, stages = 1> memory <results = [-1]> {
  ^bb0(%xa: tensor<64x64xf16>):
    %t = threadblock.load %xa grid_map [0] {layout = #threadblock.global} : (tensor<64x64xf16>) -> !threadblock.tile<16x64xf16>
    threadblock.section "prologue"
    %e = thread.graph ins(%t) attributes {layout = #wide} {
    ^bb0(%a: f16):
      %b = arith.mulf %a, %a : f16
      thread.store %b : f16
    } : (!threadblock.tile<16x64xf16>) -> !threadblock.tile<16x64xf16>
    threadblock.store %e grid_map [0] : !threadblock.tile<16x64xf16>
  } : (tensor<64x64xf16>) -> tensor<64x64xf16>
  func.return %y : tensor<64x64xf16>
}
