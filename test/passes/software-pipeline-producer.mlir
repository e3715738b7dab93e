// Producer warps copy the loop's tiles by TMA, consumer warps wait for these and for matmuls alone.
// RUN: mirage-opt %s --software-pipeline="target=H200 stages=4" | filecheck %s
// RUN: mirage-opt %s --software-pipeline="target=H200 stages=4" | mirage-opt | filecheck %s
// RUN: mirage-opt %s --software-pipeline="target=H200 stages=4" --plan-memory --overlap-launches --lower-to-nvvm | filecheck %s --check-prefix=NVVM

#x = #threadblock.shared<{shape = [64, 64], order = [1, 0], swizzle = 128, element_bits = 16}>
#acc = #threadblock.registers<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]}>

// The matmul of each iteration is waited for in the next one, which has started its own by then; so
// are its tiles released, for the producer to fill anew. The loop-invariant tile comes behind the
// first iterations' and is waited for where it is read.
// CHECK-LABEL: func.func @linear
// CHECK:       schedule <threads = 128, producer_warps = 1, stages = 4
// CHECK:         %b = threadblock.load
// CHECK-NEXT:    %x = threadblock.load
// CHECK-NEXT:    %w = threadblock.load
// CHECK-NEXT:    threadblock.section "producer"
// CHECK-NEXT:    threadblock.fill_buffers iterations 4 %x, %w :
// CHECK-NEXT:    threadblock.issue_copies %b :
// CHECK-NEXT:    threadblock.refill_buffers ahead [[#]] %x, %w :
// CHECK-NEXT:    threadblock.section "prologue"
// CHECK-NEXT:    threadblock.section "main_loop"
// CHECK-NEXT:    threadblock.await_tiles %x, %w :
// CHECK-NEXT:    %p = threadblock.matmul %x, %w
// CHECK-NEXT:    %s = threadblock.accumulate %p
// CHECK-NEXT:    threadblock.await_mma pending 1 %s :
// CHECK-NEXT:    threadblock.release_tiles behind 1 %x, %w :
// CHECK-NEXT:    threadblock.section "epilogue"
// CHECK-NEXT:    threadblock.await_mma pending 0 %s :
// CHECK:         threadblock.await_tile %b :
// CHECK-NEXT:    %z = thread.graph ins(%s, %b)
// CHECK:         threadblock.store

// NVVM-LABEL: llvm.func @linear_kernel_0
// NVVM:         nvvm.wgmma.wait.group.sync.aligned"() <{group = 1
// NVVM:         nvvm.wgmma.wait.group.sync.aligned"() <{group = 0
func.func @linear(%xt: tensor<64x1024xf16>, %wt: tensor<1024x64xf16>, %bt: tensor<64x64xf16>) -> tensor<64x64xf32> {
  %o = kernel.graph_defined ins(%xt, %wt, %bt) grid [1] loop [16] schedule <threads = 128> {
  ^bb0(%xa: tensor<64x1024xf16>, %wa: tensor<1024x64xf16>, %ba: tensor<64x64xf16>):
    %x = threadblock.load %xa grid_map [_] loop_map [1] {layout = #x, copy = "tensor"} : (tensor<64x1024xf16>) -> !threadblock.tile<64x64xf16>
    %w = threadblock.load %wa grid_map [_] loop_map [0] {layout = #x, copy = "tensor"} : (tensor<1024x64xf16>) -> !threadblock.tile<64x64xf16>
    %b = threadblock.load %ba grid_map [_] loop_map [_] {layout = #x, copy = "tensor"} : (tensor<64x64xf16>) -> !threadblock.tile<64x64xf16>
    %p = threadblock.matmul %x, %w {layout = #acc, mma = "wgmma", warps = array<i64: 1, 1, 1>} : (!threadblock.tile<64x64xf16>, !threadblock.tile<64x64xf16>) -> !threadblock.tile<64x64xf32>
    %s = threadblock.accumulate %p {layout = #acc} : (!threadblock.tile<64x64xf32>) -> !threadblock.tile<64x64xf32>
    %z = thread.graph ins(%s, %b) attributes {layout = #acc} {
    ^bb0(%e: f32, %f: f16):
      %g = arith.extf %f : f16 to f32
      %h = arith.addf %e, %g : f32
      thread.store %h : f32
    } : (!threadblock.tile<64x64xf32>, !threadblock.tile<64x64xf16>) -> !threadblock.tile<64x64xf32>
    threadblock.store %z grid_map [_] : !threadblock.tile<64x64xf32>
  } : (tensor<64x1024xf16>, tensor<1024x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf32>
  func.return %o : tensor<64x64xf32>
}

// The second matmul takes what threads compute of the first: they wait for that, start the second piece
// by piece as its left operand is made (`interleaved_graphs`), and wait for it before the release.
// CHECK-LABEL: func.func @scores
// CHECK:         threadblock.section "main_loop"
// CHECK-NEXT:    threadblock.await_tiles %k, %v :
// CHECK-NEXT:    %p = threadblock.matmul %q, %k
// CHECK-NEXT:    threadblock.await_mma pending 0 %p :
// CHECK-NEXT:    %e = thread.graph ins(%p)
// CHECK:         %r = threadblock.matmul %e, %v {{.*}}interleaved_graphs = 1 : i64
// CHECK-NEXT:    %s = threadblock.accumulate %r
// CHECK-NEXT:    threadblock.await_mma pending 0 %s :
// CHECK-NEXT:    threadblock.release_tiles %k, %v :
// CHECK-NEXT:    threadblock.section "epilogue"
func.func @scores(%qt: tensor<64x64xf16>, %kt: tensor<64x1024xf16>, %vt: tensor<1024x64xf16>) -> tensor<64x64xf32> {
  %o = kernel.graph_defined ins(%qt, %kt, %vt) grid [1] loop [16] schedule <threads = 128> {
  ^bb0(%qa: tensor<64x64xf16>, %ka: tensor<64x1024xf16>, %va: tensor<1024x64xf16>):
    %q = threadblock.load %qa grid_map [_] loop_map [_] {layout = #x, copy = "tensor"} : (tensor<64x64xf16>) -> !threadblock.tile<64x64xf16>
    %k = threadblock.load %ka grid_map [_] loop_map [1] {layout = #x, copy = "tensor"} : (tensor<64x1024xf16>) -> !threadblock.tile<64x64xf16>
    %v = threadblock.load %va grid_map [_] loop_map [0] {layout = #x, copy = "tensor"} : (tensor<1024x64xf16>) -> !threadblock.tile<64x64xf16>
    %p = threadblock.matmul %q, %k {layout = #acc, mma = "wgmma", warps = array<i64: 1, 1, 1>} : (!threadblock.tile<64x64xf16>, !threadblock.tile<64x64xf16>) -> !threadblock.tile<64x64xf32>
    %e = thread.graph ins(%p) attributes {layout = #acc} {
    ^bb0(%f: f32):
      %g = math.exp %f : f32
      %h = arith.truncf %g : f32 to f16
      thread.store %h : f16
    } : (!threadblock.tile<64x64xf32>) -> !threadblock.tile<64x64xf16>
    %r = threadblock.matmul %e, %v {layout = #acc, mma = "wgmma", warps = array<i64: 1, 1, 1>} : (!threadblock.tile<64x64xf16>, !threadblock.tile<64x64xf16>) -> !threadblock.tile<64x64xf32>
    %s = threadblock.accumulate %r {layout = #acc} : (!threadblock.tile<64x64xf32>) -> !threadblock.tile<64x64xf32>
    threadblock.store %s grid_map [_] : !threadblock.tile<64x64xf32>
  } : (tensor<64x64xf16>, tensor<64x1024xf16>, tensor<1024x64xf16>) -> tensor<64x64xf32>
  func.return %o : tensor<64x64xf32>
}
