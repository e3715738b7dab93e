// What threads do: instructions, in the order that sections, copies and barriers of the input say.
// RUN: mirage-opt %s --split-input-file --lower-to-nvvm | filecheck %s

#rows = #threadblock.shared<{shape = [16, 64], order = [1, 0], swizzle = 128, element_bits = 16}>
#columns = #threadblock.shared<{shape = [64, 64], order = [1, 0], swizzle = 128, element_bits = 16}>
#partial = #threadblock.registers<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [partial, partial]}>
#summed = #threadblock.shared<{shape = [16, 72], order = [1, 0], copies = 4}>
#spread = #threadblock.registers<{register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]]}>

// The two iterations in front of the loop are two groups of copies of 16 bytes: one of %xt and four of
// %wt for each thread. The loop waits for its group, copies two iterations ahead while there is one, and
// multiplies its warp's quarter of the depth: 16 x 64 results in eight products. Behind it each warp
// writes its sums beside the others', and each thread adds up four times eight of them.
// CHECK-LABEL: llvm.func @linear_kernel_0
// CHECK-SAME:    nvvm.maxntid = array<i32: 128>
// CHECK-SAME:    kernel.launch = #kernel.launch<grid = [2, 1, 1], threads = 128, shared_bytes = 30720, arguments = ["input:0", "input:1", "output:0"]>
// CHECK-COUNT-5: nvvm.cp.async.shared.global
// CHECK:         nvvm.cp.async.commit.group
// CHECK-COUNT-5: nvvm.cp.async.shared.global
// CHECK:         nvvm.cp.async.commit.group
// CHECK-NOT:     nvvm
// CHECK:         scf.for
// CHECK:           "nvvm.cp.async.wait.group"() <{n = 1 : i32}>
// CHECK-NEXT:      "nvvm.barrier"
// CHECK:           scf.if
// CHECK-COUNT-5:     nvvm.cp.async.shared.global
// CHECK:           nvvm.cp.async.commit.group
// CHECK:           nvvm.ldmatrix {{.*}} layout = #nvvm.mma_layout<row>
// CHECK:           nvvm.ldmatrix {{.*}} layout = #nvvm.mma_layout<col>
// CHECK-COUNT-8:   "nvvm.mma.sync"
// CHECK-NOT:       "nvvm.mma.sync"
// CHECK:         "nvvm.barrier"
// CHECK-COUNT-16: llvm.store {{.*}} : vector<2xf32>, !llvm.ptr<3>
// CHECK:         "nvvm.barrier"
// CHECK-COUNT-8: llvm.load {{.*}} : !llvm.ptr<3> -> vector<4xf32>
// CHECK-NOT:     llvm.load
// CHECK:         llvm.store {{.*}} : vector<8xf16>, !llvm.ptr<1>
// CHECK-NEXT:    llvm.return
// CHECK:         targets = [#nvvm.target<O = 3, chip = "sm_80"
builtin.module attributes {kernel.target = #kernel.target<"A100">} {
  func.func @linear(%x: tensor<16x512xf16>, %w: tensor<512x128xf16> {kernel.constant}) -> tensor<16x128xf16> attributes {kernel.workspace = #kernel.workspace<>} {
    %o = kernel.graph_defined ins(%x, %w) grid [2] loop [8] schedule <threads = 128, stages = 3> memory <shared_bytes = 30720, results = [-1]> {
    ^bb0(%xa: tensor<16x512xf16>, %wa: tensor<512x128xf16>):
      %xt = threadblock.load %xa grid_map [_] loop_map [1] {layout = #rows, buffer = #threadblock.buffer<offset = 24576>, copy = "async"} : (tensor<16x512xf16>) -> !threadblock.tile<16x64xf16>
      %wt = threadblock.load %wa grid_map [1] loop_map [0] {layout = #columns, buffer = #threadblock.buffer<offset = 0>, copy = "async"} : (tensor<512x128xf16>) -> !threadblock.tile<64x64xf16>
      threadblock.section "prologue"
      threadblock.issue_copies iteration 0 %xt, %wt : !threadblock.tile<16x64xf16>, !threadblock.tile<64x64xf16>
      threadblock.issue_copies iteration 1 %xt, %wt : !threadblock.tile<16x64xf16>, !threadblock.tile<64x64xf16>
      threadblock.section "main_loop"
      threadblock.barrier pending 1
      threadblock.issue_copies ahead 2 %xt, %wt : !threadblock.tile<16x64xf16>, !threadblock.tile<64x64xf16>
      %p = threadblock.matmul %xt, %wt {layout = #partial, warps = array<i64: 1, 1, 4>} : (!threadblock.tile<16x64xf16>, !threadblock.tile<64x64xf16>) -> !threadblock.tile<16x64xf32>
      %a = threadblock.accumulate %p {layout = #partial} : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x64xf32>
      threadblock.section "epilogue"
      threadblock.barrier
      %a_1 = threadblock.convert_layout %a {layout = #summed, buffer = #threadblock.buffer<offset = 0>} : !threadblock.tile<16x64xf32>
      threadblock.barrier
      %c = thread.graph ins(%a_1) attributes {layout = #spread} {
      ^bb0(%0: f32):
        %1 = arith.truncf %0 : f32 to f16
        thread.store %1 : f16
      } : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x64xf16>
      threadblock.store %c grid_map [1] : !threadblock.tile<16x64xf16>
    } : (tensor<16x512xf16>, tensor<512x128xf16>) -> tensor<16x128xf16>
    func.return %o : tensor<16x128xf16>
  }
}

// -----

#rows = #threadblock.shared<{shape = [16, 64], order = [1, 0], swizzle = 128, element_bits = 16}>
#columns = #threadblock.shared<{shape = [64, 64], order = [1, 0], swizzle = 128, element_bits = 16}>
#acc = #threadblock.registers<{register = [[1, 0], [0, 8], [8, 0]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = [[0, 16], [0, 32]]}>

// One thread of a fifth warp copies tiles. Those of %w, a constant, for the three buffers come before
// everything, while the previous grid runs; what refills a buffer waits until four warps have released
// it. Tiles of %x for the three buffers are copied by a thread of the other warps. They await an
// iteration's tiles, start four products that sum up in registers, and release the iteration before,
// whose products are done. Results go from registers to device memory when the previous grid has ended.
// CHECK-LABEL: llvm.func @linear_kernel_0
// CHECK-SAME:    nvvm.maxntid = array<i32: 160>
// CHECK-SAME:    kernel.launch = #kernel.launch<grid = [2, 1, 1], threads = 160, shared_bytes = 30792, starts_early, arguments = ["input:0", "input:1", "output:0", "map:0", "map:1"]>
// CHECK-COUNT-3: nvvm.mbarrier.init
// CHECK-NEXT:    nvvm.fence.mbarrier.init
// CHECK-NEXT:    scf.for
// CHECK:           nvvm.mbarrier.arrive.expect_tx
// CHECK:           "nvvm.cp.async.bulk.tensor.shared.cluster.global"({{.*}}, %4,
// CHECK-COUNT-6: nvvm.mbarrier.init
// CHECK:         "nvvm.barrier"
// CHECK:         "nvvm.griddepcontrol"() <{kind = #nvvm<grid_dep_action wait>}>
// CHECK-NEXT:    scf.for
// CHECK:           nvvm.mbarrier.try_wait.parity
// CHECK:           nvvm.mbarrier.arrive.expect_tx
// CHECK:           "nvvm.cp.async.bulk.tensor.shared.cluster.global"({{.*}}, %3,
// CHECK:           "nvvm.cp.async.bulk.tensor.shared.cluster.global"({{.*}}, %4,
// CHECK:         "nvvm.griddepcontrol"() <{kind = #nvvm<grid_dep_action wait>}>
// CHECK:         scf.for
// CHECK:           "nvvm.cp.async.bulk.tensor.shared.cluster.global"({{.*}}, %3,
// CHECK:         scf.for
// CHECK:           nvvm.mbarrier.try_wait.parity
// CHECK:           nvvm.wgmma.fence.aligned
// CHECK-COUNT-4:   "nvvm.wgmma.mma_async"
// CHECK:           nvvm.wgmma.commit.group.sync.aligned
// CHECK-NEXT:      "nvvm.wgmma.wait.group.sync.aligned"() <{group = 1 : i64}>
// CHECK:           "nvvm.mbarrier.arrive"
// CHECK:           scf.yield
// CHECK:         "nvvm.wgmma.wait.group.sync.aligned"() <{group = 0 : i64}>
// CHECK:         "nvvm.griddepcontrol"() <{kind = #nvvm<grid_dep_action wait>}>
// CHECK-NOT:     nvvm.barrier
// CHECK-COUNT-2: llvm.store {{.*}} : vector<4xf16>, !llvm.ptr<1>
// CHECK:         kernel.interface = #kernel.interface<"linear", [tensor<16x512xf16>, tensor<512x128xf16>], array<i64: 1>, [tensor<16x128xf16>], [array<i64: 128, 1>]
// CHECK-SAME:    #kernel.tensor_map<tensor = "input:0", dims = [512, 16], {{.*}}#kernel.tensor_map<tensor = "input:1"
// CHECK-SAME:    targets = [#nvvm.target<O = 3, chip = "sm_90a"
builtin.module attributes {kernel.target = #kernel.target<"H200">} {
  func.func @linear(%x: tensor<16x512xf16>, %w: tensor<512x128xf16> {kernel.constant}) -> tensor<16x128xf16> attributes {kernel.workspace = #kernel.workspace<>} {
    %o = kernel.graph_defined ins(%x, %w) grid [2] loop [8] schedule <threads = 128, producer_warps = 1, stages = 3> memory <shared_bytes = 30792, mbarrier_offset = 30720, results = [-1]> overlap <starts_early, available = [1]> {
    ^bb0(%xa: tensor<16x512xf16>, %wa: tensor<512x128xf16>):
      %xt = threadblock.load %xa grid_map [_] loop_map [1] {layout = #rows, buffer = #threadblock.buffer<offset = 24576>, copy = "tensor"} : (tensor<16x512xf16>) -> !threadblock.tile<16x64xf16>
      %wt = threadblock.load %wa grid_map [1] loop_map [0] {layout = #columns, buffer = #threadblock.buffer<offset = 0>, copy = "tensor"} : (tensor<512x128xf16>) -> !threadblock.tile<64x64xf16>
      threadblock.section "producer"
      threadblock.fill_buffers iterations 3 at_start 3 %wt : !threadblock.tile<64x64xf16>
      threadblock.await_previous_grid
      threadblock.refill_buffers ahead 14 %xt, %wt : !threadblock.tile<16x64xf16>, !threadblock.tile<64x64xf16>
      threadblock.section "prologue"
      threadblock.one_thread {
        threadblock.await_previous_grid
        threadblock.launch_dependents
        threadblock.fill_buffers iterations 3 %xt : !threadblock.tile<16x64xf16>
      }
      threadblock.section "main_loop"
      threadblock.await_tiles %xt, %wt : !threadblock.tile<16x64xf16>, !threadblock.tile<64x64xf16>
      %p = threadblock.matmul %xt, %wt {layout = #acc, mma = "wgmma", warps = array<i64: 1, 1, 1>, swapped} : (!threadblock.tile<16x64xf16>, !threadblock.tile<64x64xf16>) -> !threadblock.tile<16x64xf32>
      %a = threadblock.accumulate %p {layout = #acc} : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x64xf32>
      threadblock.await_mma pending 1 %a : !threadblock.tile<16x64xf32>
      threadblock.release_tiles behind 1 %xt, %wt : !threadblock.tile<16x64xf16>, !threadblock.tile<64x64xf16>
      threadblock.section "epilogue"
      threadblock.await_mma pending 0 %a : !threadblock.tile<16x64xf32>
      threadblock.await_previous_grid
      %c = thread.graph ins(%a) attributes {layout = #acc} {
      ^bb0(%0: f32):
        %1 = arith.truncf %0 : f32 to f16
        thread.store %1 : f16
      } : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x64xf16>
      threadblock.store %c grid_map [1] : !threadblock.tile<16x64xf16>
    } : (tensor<16x512xf16>, tensor<512x128xf16>) -> tensor<16x128xf16>
    func.return %o : tensor<16x128xf16>
  }
}
