// What the search finds for programs that one kernel can hold.

// X is loaded once, there are two sums over the loop, and the norm divides what the loop has summed.
// RUN: mirage-opt %S/../workloads/rmsnorm_linear.mlir --superoptimize | filecheck %s --check-prefix=NORM
// NORM:      func.func @rmsnorm_linear(%x: tensor<16x4096xf16>, %w: tensor<4096x6144xf16> {kernel.constant})
// NORM-NEXT:   %o = kernel.graph_defined ins(%x, %w) grid [{{.*}}] loop [{{.*}}] {
// NORM-NEXT:   ^bb0(%[[XA:.*]]: tensor<16x4096xf16>, %[[WA:.*]]: tensor<4096x6144xf16>):
// NORM-NEXT:     %[[X:.*]] = threadblock.load %[[XA]] grid_map [{{.*}}] loop_map [1]
// NORM-NEXT:     %[[W:.*]] = threadblock.load %[[WA]] grid_map [1{{.*}}] loop_map [0]
// NORM-NOT:      threadblock.load
// NORM-DAG:      threadblock.square %[[X]]
// NORM-DAG:      threadblock.matmul %[[X]], %[[W]]
// NORM-COUNT-2:  threadblock.accumulate
// NORM-NOT:      threadblock.accumulate
// NORM:          threadblock.rsqrt
// NORM-NEXT:     threadblock.mul
// NORM-NEXT:     threadblock.cast
// NORM-NEXT:     threadblock.store
// NORM-NEXT:   } : (tensor<16x4096xf16>, tensor<4096x6144xf16>) -> tensor<16x6144xf16>
// NORM-NEXT:   func.return %o

// LoRA in one kernel: both products over the loop, the second factor after it.
// RUN: mirage-opt %S/../workloads/lora_deep.mlir --superoptimize | filecheck %s --check-prefix=LORA
// LORA:       kernel.graph_defined ins(%x, %w, %a, %b) grid [{{.*}}] loop [{{.*}}] {
// LORA-COUNT-4: threadblock.load
// LORA-NOT:   threadblock.load
// LORA-COUNT-2: threadblock.accumulate
// LORA:       threadblock.cast
// LORA-NEXT:  threadblock.matmul
// LORA-NEXT:  threadblock.add
// LORA-NOT:   kernel.graph_defined

// The gated MLP in one kernel, its activation after the loop.
// RUN: mirage-opt %S/../workloads/gated_mlp.mlir --superoptimize | filecheck %s --check-prefix=GATED
// GATED:       kernel.graph_defined ins(%x, %w1, %w3) grid [{{.*}}] loop [{{.*}}] {
// GATED-COUNT-3: threadblock.load
// GATED-COUNT-2: threadblock.matmul
// GATED-COUNT-2: threadblock.accumulate
// GATED:       threadblock.silu
// GATED-NOT:   kernel.graph_defined

// A row for each block.
// RUN: mirage-opt %S/../workloads/ntrans.mlir --superoptimize | filecheck %s --check-prefix=NTRANS
// NTRANS:      kernel.graph_defined ins({{.*}}) grid [8] {
// NTRANS:        threadblock.load {{.*}} grid_map [0] : (tensor<8x{{.*}}) -> !threadblock.tile<1x
// NTRANS-NOT:  kernel.graph_defined

// Exponentials of differences with the maximum, which does not cancel.
// RUN: mirage-opt %S/../workloads/softmax.mlir --superoptimize | filecheck %s --check-prefix=SOFTMAX
// SOFTMAX:       threadblock.reduce_max
// SOFTMAX-NEXT:  threadblock.sub
// SOFTMAX-NEXT:  threadblock.exp
// SOFTMAX-NEXT:  threadblock.reduce_sum
// SOFTMAX-NOT:   kernel.graph_defined

// An epilogue behind the loop.
// RUN: mirage-opt %S/../workloads/linear_bias_gelu.mlir --superoptimize | filecheck %s --check-prefix=GELU
// GELU:      threadblock.accumulate
// GELU-NEXT: threadblock.add
// GELU-NEXT: threadblock.gelu {{.*}} {approximate = "tanh"}
// GELU-NOT:  kernel.graph_defined
