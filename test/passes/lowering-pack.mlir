// RUN: mirage-opt %s --sink-reductions --fuse-thread-graphs --split-cross-block-sums="target=sm_90a" --select-mma --select-copies --assign-layouts="target=sm_90a" --software-pipeline="target=sm_90a stages=3" --plan-memory="target=sm_90a" --pack-constants="target=sm_90a" --overlap-launches="target=sm_90a" --lower-to-nvvm="target=sm_90a" | filecheck %s
// RUN: mirage-opt %s --sink-reductions --fuse-thread-graphs --split-cross-block-sums="target=sm_90a" --select-mma --select-copies --assign-layouts="target=sm_90a" --software-pipeline="target=sm_90a stages=3" --plan-memory="target=sm_90a" --overlap-launches="target=sm_90a" --lower-to-nvvm="target=sm_90a" | filecheck %s --check-prefix=PLAIN
// RUN: mirage-opt %s --sink-reductions --fuse-thread-graphs --split-cross-block-sums="target=A100" --select-mma --select-copies --assign-layouts="target=A100" --software-pipeline --plan-memory --pack-constants --overlap-launches --lower-to-nvvm | filecheck %s --check-prefix=OLDER

// The weights are cut into 6 x 4 tiles of 32 x 192: three panels of 64 columns, 96 lines, which one
// copy fetches from the packed weights, and three from the plain ones. A block's tiles follow each
// other. %x is no constant: its first tiles are copied by a thread that computes.
// CHECK-LABEL: llvm.func @linear_kernel_0
// CHECK-COUNT-1: nvvm.cp.async.bulk.tensor
// CHECK:         scf.for
// CHECK-COUNT-2: nvvm.cp.async.bulk.tensor
// CHECK-COUNT-1: nvvm.cp.async.bulk.tensor
// CHECK-NOT:     nvvm.cp.async.bulk.tensor
// CHECK:       #kernel.tensor_map<tensor = "input:0"
// CHECK-SAME:  #kernel.tensor_map<tensor = "packed:0", dims = [64, 2304], strides = [128], box = [64, 96], swizzle = 128, element = "f16">]
// CHECK-SAME:  [#kernel.packing<tensor = "input:1", shape = [192, 768], strides = [768, 1], tile = [32, 192], counts = [6, 4], order = [1, 0], run_dim = 1, panel = 64, element = "f16">]

// PLAIN-LABEL: llvm.func @linear_kernel_0
// PLAIN-COUNT-8: nvvm.cp.async.bulk.tensor
// PLAIN-NOT:     nvvm.cp.async.bulk.tensor
// PLAIN:       #kernel.tensor_map<tensor = "input:0"
// PLAIN-SAME:  #kernel.tensor_map<tensor = "input:1"
// PLAIN-NOT:   #kernel.packing

// Without tensor copies nothing is packed.
// OLDER-LABEL: llvm.func @linear_kernel_0
// OLDER-NOT:   #kernel.packing
func.func @linear(%x: tensor<16x192xf16>, %w: tensor<192x768xf16> {kernel.constant}) -> tensor<16x768xf16> {
  %o = kernel.graph_defined ins(%x, %w) grid [4] loop [6] {
  ^bb0(%x_in: tensor<16x192xf16>, %w_in: tensor<192x768xf16>):
    %xt = threadblock.load %x_in grid_map [_] loop_map [1] : (tensor<16x192xf16>) -> !threadblock.tile<16x32xf16>
    %wt = threadblock.load %w_in grid_map [1] loop_map [0] : (tensor<192x768xf16>) -> !threadblock.tile<32x192xf16>
    %p = threadblock.matmul %xt, %wt : (!threadblock.tile<16x32xf16>, !threadblock.tile<32x192xf16>) -> !threadblock.tile<16x192xf32>
    %sum = threadblock.accumulate %p : (!threadblock.tile<16x192xf32>) -> !threadblock.tile<16x192xf32>
    %half = threadblock.cast %sum : (!threadblock.tile<16x192xf32>) -> !threadblock.tile<16x192xf16>
    threadblock.store %half grid_map [1] : !threadblock.tile<16x192xf16>
  } : (tensor<16x192xf16>, tensor<192x768xf16>) -> tensor<16x768xf16>
  func.return %o : tensor<16x768xf16>
}
