// Where MMAs read past a tile in shared memory, threads first store zeros there, and then wait for each other.
// RUN: mirage-opt %s --software-pipeline="target=A100" | filecheck %s
// RUN: mirage-opt %s --software-pipeline="target=A100" --plan-memory --lower-to-nvvm | filecheck %s --check-prefix=NVVM

#lhs = #threadblock.shared<{shape = [16, 16], order = [1, 0]}>
#rhs = #threadblock.shared<{shape = [16, 16], order = [1, 0]}>
#acc = #threadblock.registers<{register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]]}>

// CHECK-LABEL: func.func @depth_eight
// CHECK:         threadblock.section "prologue"
// CHECK-NEXT:    threadblock.clear_padding
// CHECK-NEXT:    threadblock.barrier{{$}}
// CHECK-NEXT:    threadblock.issue_copies %x, %y :
// CHECK-NEXT:    threadblock.barrier pending 0
// CHECK-NEXT:    %p = threadblock.matmul

// Each buffer of 512 bytes is cleared by 32 threads, a word each time.
// NVVM-LABEL:  llvm.func @depth_eight_kernel_0
// NVVM:          %[[#COUNT:]] = arith.constant 4 : i32
// NVVM:          scf.for {{.*}} to %[[#COUNT]]
// NVVM:            llvm.store {{.*}} : i32, !llvm.ptr<3>
// NVVM:          scf.for {{.*}} to %[[#COUNT]]
// NVVM:            llvm.store {{.*}} : i32, !llvm.ptr<3>
// NVVM:          "nvvm.barrier"
// NVVM:          nvvm.cp.async.shared.global
func.func @depth_eight(%a: tensor<16x8xf16>, %b: tensor<8x16xf16>) -> tensor<16x16xf32> {
  %o = kernel.graph_defined ins(%a, %b) grid [1] schedule <threads = 32> {
  ^bb0(%aa: tensor<16x8xf16>, %ba: tensor<8x16xf16>):
    %x = threadblock.load %aa grid_map [_] {layout = #lhs, buffer = #threadblock.buffer<zero_padding>, copy = "async"} : (tensor<16x8xf16>) -> !threadblock.tile<16x8xf16>
    %y = threadblock.load %ba grid_map [_] {layout = #rhs, buffer = #threadblock.buffer<zero_padding>, copy = "async"} : (tensor<8x16xf16>) -> !threadblock.tile<8x16xf16>
    %p = threadblock.matmul %x, %y {layout = #acc, warps = array<i64: 1, 1, 1>} : (!threadblock.tile<16x8xf16>, !threadblock.tile<8x16xf16>) -> !threadblock.tile<16x16xf32>
    threadblock.store %p grid_map [_] : !threadblock.tile<16x16xf32>
  } : (tensor<16x8xf16>, tensor<8x16xf16>) -> tensor<16x16xf32>
  func.return %o : tensor<16x16xf32>
}
