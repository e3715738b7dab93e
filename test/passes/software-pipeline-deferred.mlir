// A matmul whose left operand threads compute from another matmul starts one iteration later: it runs
// while they compute the next one.
// RUN: mirage-opt %s --software-pipeline="target=H200" | filecheck %s
// RUN: mirage-opt %s --software-pipeline="target=H200 stages=2" | filecheck %s --check-prefix=FEW
// RUN: mirage-opt %s --software-pipeline="target=H200" --plan-memory --overlap-launches --lower-to-nvvm | filecheck %s --check-prefix=LOWERED

#x = #threadblock.shared<{shape = [64, 64], order = [1, 0], swizzle = 128, element_bits = 16}>
#q = #threadblock.shared<{shape = [128, 64], order = [1, 0], swizzle = 128, element_bits = 16}>
#acc = #threadblock.registers<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [64, 0]]}>

// Two warpgroups, each with rows of its own, take turns: one has its matmuls started while the other
// computes.
// CHECK-LABEL: func.func @scores(
// CHECK:         threadblock.section "main_loop"
// CHECK-NEXT:    threadblock.await_tiles %k, %v :
// CHECK-NEXT:    threadblock.await_order
// CHECK-NEXT:    %p = threadblock.matmul %q, %k
// CHECK-NEXT:    threadblock.start_deferred
// CHECK-NEXT:    threadblock.arrive_order
// CHECK-NEXT:    threadblock.await_mma pending 1 %p :
// CHECK-NEXT:    %e = thread.graph ins(%p)
// CHECK:         %r = threadblock.matmul %e, %v {{.*}}deferred
// CHECK-NEXT:    %s = threadblock.accumulate %r
// CHECK-NEXT:    threadblock.await_mma pending 0 %s :
// CHECK-NEXT:    threadblock.release_tiles behind 1 %k, %v :
// CHECK-NEXT:    threadblock.section "epilogue"
// CHECK-NEXT:    threadblock.start_deferred
// CHECK-NEXT:    threadblock.await_mma pending 0 %s :
// CHECK-NEXT:    threadblock.store %s
//
// With two buffers the tiles of the next iteration would come too late.
// FEW-LABEL:   func.func @scores(
// FEW-NOT:     deferred
// FEW:         threadblock.await_mma pending 0 %p :
// FEW:         interleaved_graphs = 1 : i64
//
// The last warpgroup lets the first one start. The first iteration starts no deferred matmul;
// each other one waits for its first matmul, and threads compute, before it waits for the deferred one.
// LOWERED-LABEL: llvm.func @scores_kernel_0
// LOWERED:         "nvvm.barrier.arrive"
// LOWERED:         "nvvm.barrier"
// LOWERED:         nvvm.wgmma.commit.group.sync.aligned
// LOWERED:         "nvvm.barrier.arrive"
// LOWERED:         "nvvm.wgmma.wait.group.sync.aligned"() <{group = 0 : i64}>
// LOWERED:         scf.for
// LOWERED:           "nvvm.barrier"
// LOWERED:           nvvm.wgmma.commit.group.sync.aligned
// LOWERED:           nvvm.wgmma.commit.group.sync.aligned
// LOWERED:           "nvvm.barrier.arrive"
// LOWERED:           "nvvm.wgmma.wait.group.sync.aligned"() <{group = 1 : i64}>
// LOWERED:           nvvm.ex2
// LOWERED:           "nvvm.wgmma.wait.group.sync.aligned"() <{group = 0 : i64}>
// LOWERED:           scf.yield
// LOWERED:         nvvm.wgmma.commit.group.sync.aligned
// LOWERED:         "nvvm.wgmma.wait.group.sync.aligned"() <{group = 0 : i64}>
func.func @scores(%qt: tensor<128x64xf16>, %kt: tensor<64x1024xf16>, %vt: tensor<1024x64xf16>) -> tensor<128x64xf32> {
  %o = kernel.graph_defined ins(%qt, %kt, %vt) grid [1] loop [16] schedule <threads = 256> {
  ^bb0(%qa: tensor<128x64xf16>, %ka: tensor<64x1024xf16>, %va: tensor<1024x64xf16>):
    %q = threadblock.load %qa grid_map [_] loop_map [_] {layout = #q, copy = "tensor"} : (tensor<128x64xf16>) -> !threadblock.tile<128x64xf16>
    %k = threadblock.load %ka grid_map [_] loop_map [1] {layout = #x, copy = "tensor"} : (tensor<64x1024xf16>) -> !threadblock.tile<64x64xf16>
    %v = threadblock.load %va grid_map [_] loop_map [0] {layout = #x, copy = "tensor"} : (tensor<1024x64xf16>) -> !threadblock.tile<64x64xf16>
    %p = threadblock.matmul %q, %k {layout = #acc, mma = "wgmma", warps = array<i64: 2, 1, 1>} : (!threadblock.tile<128x64xf16>, !threadblock.tile<64x64xf16>) -> !threadblock.tile<128x64xf32>
    %e = thread.graph ins(%p) attributes {layout = #acc} {
    ^bb0(%f: f32):
      %g = math.exp %f : f32
      %h = arith.truncf %g : f32 to f16
      thread.store %h : f16
    } : (!threadblock.tile<128x64xf32>) -> !threadblock.tile<128x64xf16>
    %r = threadblock.matmul %e, %v {layout = #acc, mma = "wgmma", warps = array<i64: 2, 1, 1>, chained} : (!threadblock.tile<128x64xf16>, !threadblock.tile<64x64xf16>) -> !threadblock.tile<128x64xf32>
    %s = threadblock.accumulate %r {layout = #acc} : (!threadblock.tile<128x64xf32>) -> !threadblock.tile<128x64xf32>
    threadblock.store %s grid_map [_] : !threadblock.tile<128x64xf32>
  } : (tensor<128x64xf16>, tensor<64x1024xf16>, tensor<1024x64xf16>) -> tensor<128x64xf32>
  func.return %o : tensor<128x64xf32>
}
