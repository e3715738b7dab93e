// RUN: mirage-opt %s -t ptx | filecheck %s --check-prefixes=CHECK,H200
// RUN: mirage-opt %s -t 'ptx{target=A100}' | filecheck %s --check-prefixes=CHECK,A100
// RUN: mirage-opt %s -t cubin -o %t.cubin
// RUN: mirage-opt %s -t nvvm | mirage-opt -t ptx | filecheck %s --check-prefixes=CHECK,H200

// A100:  .target sm_80
// H200:  .target sm_90a
// CHECK: .extern .shared .align 1024 .b8 smem[];
// CHECK: .visible .entry f_kernel_0(
// CHECK: .maxntid 128
// CHECK: cp.async.cg.shared.global
// CHECK: bar.sync
"gpu.module"() <{sym_name = "f"}> ({
  llvm.mlir.global external @smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  llvm.func @f_kernel_0(%in: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.maxntid = array<i32: 128>} {
    %smem = llvm.mlir.addressof @smem : !llvm.ptr<3>
    "nvvm.cp.async.shared.global"(%smem, %in) <{size = 16 : i32, modifier = #nvvm<load_cache_modifier cg>}> : (!llvm.ptr<3>, !llvm.ptr<1>) -> ()
    "nvvm.barrier"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> ()
    llvm.return
  }
}) {mirage.target = "sm_90a"} : () -> ()
