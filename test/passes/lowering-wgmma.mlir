// RUN: mirage-opt %s --sink-reductions --fuse-thread-graphs --split-cross-block-sums="target=sm_90a" --select-mma --select-copies --assign-layouts="target=sm_90a" | filecheck %s
// RUN: mirage-opt %s --sink-reductions --fuse-thread-graphs --split-cross-block-sums="target=A100" --select-mma --select-copies --assign-layouts="target=A100" | filecheck %s --check-prefix=SINGLE
// RUN: mirage-opt %s --sink-reductions --fuse-thread-graphs --split-cross-block-sums="target=sm_90a" --select-mma --select-copies --assign-layouts="target=sm_90a" --software-pipeline="target=sm_90a" --plan-memory="target=sm_90a" --overlap-launches="target=sm_90a" --lower-to-nvvm="target=sm_90a" | filecheck %s --check-prefix=NVVM

// SINGLE-NOT: mma = "wgmma"

// Few rows: the columns of the tile are the unit's rows. The squares are computed while the matmul
// runs, which is waited for in the next iteration; then the tiles of both are released.
// CHECK-LABEL: func.func @few_rows
// CHECK:         threadblock.matmul {{.*}} {layout = #threadblock.registers<{register = {{\[\[1, 0], \[0, 8], \[8, 0]]}}, lane = {{\[\[2, 0], \[4, 0], \[0, 1], \[0, 2], \[0, 4]]}}, warp = {{\[\[0, 16], \[0, 32]]}}}>, mma = "wgmma", warps = array<i64: 1, 1, 1>, swapped}
// NVVM:         llvm.func @few_rows_kernel_0
// NVVM:           nvvm.wgmma.fence.aligned
// NVVM:           "nvvm.wgmma.mma_async"{{.*}}m = 64, n = 16, k = 16{{.*}}scaleD = #nvvm.wgmma_scale_out<one>{{.*}}layoutA = #nvvm.mma_layout<col>, layoutB = #nvvm.mma_layout<col>
// NVVM:           nvvm.wgmma.commit.group.sync.aligned
// NVVM:           "nvvm.wgmma.wait.group.sync.aligned"() <{group = 1 : i64}>
// NVVM:           "nvvm.mbarrier.arrive"
// NVVM:           arith.mulf
// NVVM:           "nvvm.wgmma.wait.group.sync.aligned"() <{group = 0 : i64}>
func.func @few_rows(%x: tensor<16x512xf16>, %w: tensor<512x128xf16>) -> tensor<16x128xf16> {
  %o = kernel.graph_defined ins(%x, %w) grid [2] loop [4] {
  ^bb0(%xa: tensor<16x512xf16>, %wa: tensor<512x128xf16>):
    %xt = threadblock.load %xa grid_map [_] loop_map [1] : (tensor<16x512xf16>) -> !threadblock.tile<16x128xf16>
    %wt = threadblock.load %wa grid_map [1] loop_map [0] : (tensor<512x128xf16>) -> !threadblock.tile<128x64xf16>
    %p = threadblock.matmul %xt, %wt : (!threadblock.tile<16x128xf16>, !threadblock.tile<128x64xf16>) -> !threadblock.tile<16x64xf32>
    %q = threadblock.square %xt : (!threadblock.tile<16x128xf16>) -> !threadblock.tile<16x128xf32>
    %s = threadblock.reduce_sum %q {dims = array<i64: 1>} : (!threadblock.tile<16x128xf32>) -> !threadblock.tile<16x1xf32>
    %a = threadblock.accumulate %p : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x64xf32>
    %b = threadblock.accumulate %s : (!threadblock.tile<16x1xf32>) -> !threadblock.tile<16x1xf32>
    %r = threadblock.sqrt %b : (!threadblock.tile<16x1xf32>) -> !threadblock.tile<16x1xf32>
    %z = threadblock.div %a, %r : (!threadblock.tile<16x64xf32>, !threadblock.tile<16x1xf32>) -> !threadblock.tile<16x64xf32>
    %c = threadblock.cast %z : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x64xf16>
    threadblock.store %c grid_map [1] : !threadblock.tile<16x64xf16>
  } : (tensor<16x512xf16>, tensor<512x128xf16>) -> tensor<16x128xf16>
  func.return %o : tensor<16x128xf16>
}

// 64 rows: the sum of PRODUCTS as the tile has it. What threads copy is fenced for the unit.
// CHECK-LABEL: func.func @many_rows
// CHECK:         threadblock.load {{.*}} {layout = #threadblock.shared<{shape = [64, 64], order = [1, 0], swizzle = 128, element_bits = 16}>
// CHECK:         threadblock.matmul {{.*}} {layout = #threadblock.registers<{register = {{\[\[0, 1], \[8, 0], \[0, 8], \[0, 16]]}}, lane = {{\[\[0, 2], \[0, 4], \[1, 0], \[2, 0], \[4, 0]]}}, warp = {{\[\[16, 0], \[32, 0]]}}}>, mma = "wgmma", warps = array<i64: 1, 1, 1>}
// NVVM:         llvm.func @many_rows_kernel_0
// NVVM:           "nvvm.cp.async.wait.group"
// NVVM:           "nvvm.fence.proxy"
// NVVM:           "nvvm.wgmma.mma_async"{{.*}}m = 64, n = 32, k = 16{{.*}}scaleD = #nvvm.wgmma_scale_out<zero>{{.*}}layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<row>
func.func @many_rows(%x: tensor<64x64xbf16>, %w: tensor<64x32xbf16>) -> tensor<64x32xf32> {
  %o = kernel.graph_defined ins(%x, %w) grid [1] {
  ^bb0(%xa: tensor<64x64xbf16>, %wa: tensor<64x32xbf16>):
    %xt = threadblock.load %xa grid_map [_] : (tensor<64x64xbf16>) -> !threadblock.tile<64x64xbf16>
    %wt = threadblock.load %wa grid_map [_] : (tensor<64x32xbf16>) -> !threadblock.tile<64x32xbf16>
    %p = threadblock.matmul %xt, %wt : (!threadblock.tile<64x64xbf16>, !threadblock.tile<64x32xbf16>) -> !threadblock.tile<64x32xf32>
    threadblock.store %p grid_map [_] : !threadblock.tile<64x32xf32>
  } : (tensor<64x64xbf16>, tensor<64x32xbf16>) -> tensor<64x32xf32>
  func.return %o : tensor<64x32xf32>
}

// The second matmul takes the first's result from registers, by the groups that share its depth.
// CHECK-LABEL: func.func @chain
// CHECK:         schedule <threads = 256>
// CHECK:         threadblock.matmul {{.*}} {{{.*}}mma = "wgmma", warps = array<i64: 1, 2, 1>
// CHECK:         threadblock.matmul {{.*}} {{{.*}}mma = "wgmma", warps = array<i64: 1, 1, 2>
// NVVM:         llvm.func @chain_kernel_0
// NVVM:           "nvvm.wgmma.mma_async"
// NVVM:           "nvvm.wgmma.wait.group.sync.aligned"
// NVVM:           llvm.inline_asm {{.*}}wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16
func.func @chain(%q: tensor<64x32xf16>, %k: tensor<32x128xf16>, %v: tensor<128x32xf16>) -> tensor<64x32xf32> {
  %o = kernel.graph_defined ins(%q, %k, %v) grid [1] loop [2] {
  ^bb0(%qa: tensor<64x32xf16>, %ka: tensor<32x128xf16>, %va: tensor<128x32xf16>):
    %qt = threadblock.load %qa grid_map [_] loop_map [_] : (tensor<64x32xf16>) -> !threadblock.tile<64x32xf16>
    %kt = threadblock.load %ka grid_map [_] loop_map [1] : (tensor<32x128xf16>) -> !threadblock.tile<32x64xf16>
    %vt = threadblock.load %va grid_map [_] loop_map [0] : (tensor<128x32xf16>) -> !threadblock.tile<64x32xf16>
    %s = threadblock.matmul %qt, %kt : (!threadblock.tile<64x32xf16>, !threadblock.tile<32x64xf16>) -> !threadblock.tile<64x64xf32>
    %e = threadblock.exp %s : (!threadblock.tile<64x64xf32>) -> !threadblock.tile<64x64xf32>
    %h = threadblock.cast %e : (!threadblock.tile<64x64xf32>) -> !threadblock.tile<64x64xf16>
    %p = threadblock.matmul %h, %vt : (!threadblock.tile<64x64xf16>, !threadblock.tile<64x32xf16>) -> !threadblock.tile<64x32xf32>
    %a = threadblock.accumulate %p : (!threadblock.tile<64x32xf32>) -> !threadblock.tile<64x32xf32>
    threadblock.store %a grid_map [_] : !threadblock.tile<64x32xf32>
  } : (tensor<64x32xf16>, tensor<32x128xf16>, tensor<128x32xf16>) -> tensor<64x32xf32>
  func.return %o : tensor<64x32xf32>
}

// Neither rows nor columns fill the 64 of a unit: single warps multiply.
// CHECK-LABEL: func.func @narrow
// CHECK-NOT:     unit
// NVVM:         llvm.func @narrow_kernel_0
// NVVM-NOT:       wgmma
// NVVM:           "nvvm.mma.sync"
func.func @narrow(%x: tensor<16x64xf16>, %w: tensor<64x48xf16>) -> tensor<16x48xf32> {
  %o = kernel.graph_defined ins(%x, %w) grid [1] {
  ^bb0(%xa: tensor<16x64xf16>, %wa: tensor<64x48xf16>):
    %xt = threadblock.load %xa grid_map [_] : (tensor<16x64xf16>) -> !threadblock.tile<16x64xf16>
    %wt = threadblock.load %wa grid_map [_] : (tensor<64x48xf16>) -> !threadblock.tile<64x48xf16>
    %p = threadblock.matmul %xt, %wt : (!threadblock.tile<16x64xf16>, !threadblock.tile<64x48xf16>) -> !threadblock.tile<16x48xf32>
    threadblock.store %p grid_map [_] : !threadblock.tile<16x48xf32>
  } : (tensor<16x64xf16>, tensor<64x48xf16>) -> tensor<16x48xf32>
  func.return %o : tensor<16x48xf32>
}
