// RUN: %roundtrip
// RUN: %generic-roundtrip

// What blocks that add up their parts in device memory take, and products in tf32.

%p, %i, %f = "test.op"() : () -> (!llvm.ptr<1>, i32, f32)

// CHECK:      %t = "nvvm.convert.float.to.tf32"(%f) <{rnd = #nvvm.fp_rnd_mode<rna>, sat = #nvvm.sat_mode<none>, relu = false}> : (f32) -> i32
%t = "nvvm.convert.float.to.tf32"(%f) <{rnd = #nvvm.fp_rnd_mode<rna>, sat = #nvvm.sat_mode<none>, relu = false}> : (f32) -> i32

// CHECK-NEXT: "nvvm.memory.barrier"() <{scope = #nvvm.mem_scope<gpu>}> : () -> ()
"nvvm.memory.barrier"() <{scope = #nvvm.mem_scope<gpu>}> : () -> ()

// CHECK-NEXT: %c = "llvm.atomicrmw"(%p, %i) <{bin_op = 15 : i64, ordering = 6 : i64, syncscope = "device"}> : (!llvm.ptr<1>, i32) -> i32
%c = "llvm.atomicrmw"(%p, %i) <{bin_op = 15 : i64, ordering = 6 : i64, syncscope = "device"}> : (!llvm.ptr<1>, i32) -> i32
