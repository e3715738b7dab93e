// RUN: %roundtrip
// RUN: %generic-roundtrip

// What only sm_90 has.

%d, %s, %i = "test.op"() : () -> (!llvm.ptr, !llvm.ptr<3>, i32)

// CHECK:      %rank = nvvm.read.ptx.sreg.cluster.ctarank : i32
// CHECK-NEXT: "nvvm.cluster.arrive"() <{aligned}> : () -> ()
// CHECK-NEXT: "nvvm.cluster.arrive.relaxed"() <{aligned}> : () -> ()
// CHECK-NEXT: "nvvm.cluster.wait"() <{aligned}> : () -> ()
// CHECK-NEXT: %a = "nvvm.mapa"(%s, %i) : (!llvm.ptr<3>, i32) -> !llvm.ptr<7>
// CHECK-NEXT: %e = "nvvm.elect.sync"() : () -> i1
%rank = nvvm.read.ptx.sreg.cluster.ctarank : i32
"nvvm.cluster.arrive"() <{aligned}> : () -> ()
"nvvm.cluster.arrive.relaxed"() <{aligned}> : () -> ()
"nvvm.cluster.wait"() <{aligned}> : () -> ()
%a = "nvvm.mapa"(%s, %i) : (!llvm.ptr<3>, i32) -> !llvm.ptr<7>
%e = "nvvm.elect.sync"() : () -> i1

// CHECK-NEXT: "nvvm.mbarrier.init"(%s, %i) : (!llvm.ptr<3>, i32) -> ()
// CHECK-NEXT: nvvm.fence.mbarrier.init
// CHECK-NEXT: %t0 = "nvvm.mbarrier.arrive"(%s) <{scope = #nvvm.mem_scope<cta>, relaxed = false}> : (!llvm.ptr<3>) -> i64
// CHECK-NEXT: %t1 = "nvvm.mbarrier.arrive.expect_tx"(%s, %i) <{scope = #nvvm.mem_scope<cta>, relaxed = false}> : (!llvm.ptr<3>, i32) -> i64
// CHECK-NEXT: "nvvm.mbarrier.try_wait.parity"(%s, %i, %i) : (!llvm.ptr<3>, i32, i32) -> ()
"nvvm.mbarrier.init"(%s, %i) : (!llvm.ptr<3>, i32) -> ()
nvvm.fence.mbarrier.init
%t0 = "nvvm.mbarrier.arrive"(%s) <{scope = #nvvm.mem_scope<cta>, relaxed = false}> : (!llvm.ptr<3>) -> i64
%t1 = "nvvm.mbarrier.arrive.expect_tx"(%s, %i) <{scope = #nvvm.mem_scope<cta>, relaxed = false}> : (!llvm.ptr<3>, i32) -> i64
"nvvm.mbarrier.try_wait.parity"(%s, %i, %i) : (!llvm.ptr<3>, i32, i32) -> ()

// CHECK-NEXT: "nvvm.cp.async.bulk.tensor.shared.cluster.global"(%s, %d, %i, %i, %s) <{mode = #nvvm.tma_load_mode<tile>, isCTAOnly = true, operandSegmentSizes = array<i32: 1, 1, 2, 1, 0, 0, 0, 0>}> : (!llvm.ptr<3>, !llvm.ptr, i32, i32, !llvm.ptr<3>) -> ()
// CHECK-NEXT: "nvvm.fence.proxy"() <{kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}> : () -> ()
// CHECK-NEXT: "nvvm.griddepcontrol"() <{kind = #nvvm<grid_dep_action wait>}> : () -> ()
// CHECK-NEXT: "nvvm.setmaxregister"() <{regCount = 232 : i32, action = #nvvm<action increase>}> : () -> ()
"nvvm.cp.async.bulk.tensor.shared.cluster.global"(%s, %d, %i, %i, %s) <{mode = #nvvm.tma_load_mode<tile>, isCTAOnly = true, operandSegmentSizes = array<i32: 1, 1, 2, 1, 0, 0, 0, 0>}> : (!llvm.ptr<3>, !llvm.ptr, i32, i32, !llvm.ptr<3>) -> ()
"nvvm.fence.proxy"() <{kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}> : () -> ()
"nvvm.griddepcontrol"() <{kind = #nvvm<grid_dep_action wait>}> : () -> ()
"nvvm.setmaxregister"() <{regCount = 232 : i32, action = #nvvm<action increase>}> : () -> ()

// To several blocks of a cluster, and to a barrier of another block.
%m = "test.op"() : () -> i16
// CHECK:      "nvvm.cp.async.bulk.tensor.shared.cluster.global"(%a, %d, %i, %i, %s, %m) <{mode = #nvvm.tma_load_mode<tile>, isCTAOnly = false, operandSegmentSizes = array<i32: 1, 1, 2, 1, 0, 1, 0, 0>}> : (!llvm.ptr<7>, !llvm.ptr, i32, i32, !llvm.ptr<3>, i16) -> ()
// CHECK-NEXT: "nvvm.mbarrier.arrive"(%a) <{scope = #nvvm.mem_scope<cta>, relaxed = false}> : (!llvm.ptr<7>) -> ()
"nvvm.cp.async.bulk.tensor.shared.cluster.global"(%a, %d, %i, %i, %s, %m) <{mode = #nvvm.tma_load_mode<tile>, isCTAOnly = false, operandSegmentSizes = array<i32: 1, 1, 2, 1, 0, 1, 0, 0>}> : (!llvm.ptr<7>, !llvm.ptr, i32, i32, !llvm.ptr<3>, i16) -> ()
"nvvm.mbarrier.arrive"(%a) <{scope = #nvvm.mem_scope<cta>, relaxed = false}> : (!llvm.ptr<7>) -> ()
