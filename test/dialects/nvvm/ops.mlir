// RUN: %roundtrip
// RUN: %generic-roundtrip

// What the lowering emits for every chip, in upstream's own text; the bindings read each of these
// lines (test/unit/bridge/test_nvvm.py).

%p, %s, %i, %f, %h = "test.op"() : () -> (!llvm.ptr<1>, !llvm.ptr<3>, i32, f32, vector<2xf16>)

// CHECK:      %x = nvvm.read.ptx.sreg.tid.x : i32
// CHECK-NEXT: %y = nvvm.read.ptx.sreg.tid.y : i32
// CHECK-NEXT: %z = nvvm.read.ptx.sreg.tid.z : i32
// CHECK-NEXT: %bx = nvvm.read.ptx.sreg.ctaid.x : i32
// CHECK-NEXT: %by = nvvm.read.ptx.sreg.ctaid.y : i32
// CHECK-NEXT: %bz = nvvm.read.ptx.sreg.ctaid.z : i32
// CHECK-NEXT: %lane = nvvm.read.ptx.sreg.laneid : i32
%x = nvvm.read.ptx.sreg.tid.x : i32
%y = nvvm.read.ptx.sreg.tid.y : i32
%z = nvvm.read.ptx.sreg.tid.z : i32
%bx = nvvm.read.ptx.sreg.ctaid.x : i32
%by = nvvm.read.ptx.sreg.ctaid.y : i32
%bz = nvvm.read.ptx.sreg.ctaid.z : i32
%lane = nvvm.read.ptx.sreg.laneid : i32

// CHECK-NEXT: "nvvm.barrier"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> ()
// CHECK-NEXT: "nvvm.barrier"(%i, %i) <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (i32, i32) -> ()
// CHECK-NEXT: "nvvm.barrier.arrive"(%i, %i) : (i32, i32) -> ()
// CHECK-NEXT: nvvm.bar.warp.sync %i : i32
"nvvm.barrier"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> ()
"nvvm.barrier"(%i, %i) <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (i32, i32) -> ()
"nvvm.barrier.arrive"(%i, %i) : (i32, i32) -> ()
nvvm.bar.warp.sync %i : i32

// CHECK-NEXT: "nvvm.prefetch"(%p) <{cacheLevel = #nvvm<prefetch_cache_level L2>}> : (!llvm.ptr<1>) -> ()
"nvvm.prefetch"(%p) <{cacheLevel = #nvvm<prefetch_cache_level L2>}> : (!llvm.ptr<1>) -> ()

// CHECK-NEXT: "nvvm.cp.async.shared.global"(%s, %p) <{size = 16 : i32, modifier = #nvvm<load_cache_modifier cg>}> : (!llvm.ptr<3>, !llvm.ptr<1>) -> ()
// CHECK-NEXT: "nvvm.cp.async.shared.global"(%s, %p, %i) <{size = 4 : i32, modifier = #nvvm<load_cache_modifier ca>}> : (!llvm.ptr<3>, !llvm.ptr<1>, i32) -> ()
// CHECK-NEXT: nvvm.cp.async.commit.group
// CHECK-NEXT: "nvvm.cp.async.wait.group"() <{n = 2 : i32}> : () -> ()
"nvvm.cp.async.shared.global"(%s, %p) <{size = 16 : i32, modifier = #nvvm<load_cache_modifier cg>}> : (!llvm.ptr<3>, !llvm.ptr<1>) -> ()
"nvvm.cp.async.shared.global"(%s, %p, %i) <{size = 4 : i32, modifier = #nvvm<load_cache_modifier ca>}> : (!llvm.ptr<3>, !llvm.ptr<1>, i32) -> ()
nvvm.cp.async.commit.group
"nvvm.cp.async.wait.group"() <{n = 2 : i32}> : () -> ()

// CHECK-NEXT: %m1 = nvvm.ldmatrix %s {num = 1 : i32, layout = #nvvm.mma_layout<row>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>} : (!llvm.ptr<3>) -> i32
// CHECK-NEXT: %m4 = nvvm.ldmatrix %s {num = 4 : i32, layout = #nvvm.mma_layout<col>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>} : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32, i32, i32)>
%m1 = nvvm.ldmatrix %s {num = 1 : i32, layout = #nvvm.mma_layout<row>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>} : (!llvm.ptr<3>) -> i32
%m4 = nvvm.ldmatrix %s {num = 4 : i32, layout = #nvvm.mma_layout<col>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>} : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32, i32, i32)>

// CHECK-NEXT: %d0 = "nvvm.mma.sync"(%h, %h, %h, %h, %h, %h, %f, %f, %f, %f) <{{.*}}#nvvm.shape<m = 16, n = 8, k = 16>{{.*}}#nvvm.mma_type<f16>{{.*}}array<i32: 4, 2, 4>}>
// CHECK-NEXT: %d1 = "nvvm.mma.sync"(%i, %i, %i, %i, %i, %i, %f, %f, %f, %f) <{{.*}}#nvvm.mma_type<bf16>
// CHECK-NEXT: %d2 = "nvvm.mma.sync"(%i, %i, %i, %f, %f, %f, %f) <{{.*}}#nvvm.shape<m = 16, n = 8, k = 4>{{.*}}#nvvm.mma_type<tf32>{{.*}}array<i32: 2, 1, 4>}>
%d0 = "nvvm.mma.sync"(%h, %h, %h, %h, %h, %h, %f, %f, %f, %f) <{shape = #nvvm.shape<m = 16, n = 8, k = 16>, layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, multiplicandAPtxType = #nvvm.mma_type<f16>, multiplicandBPtxType = #nvvm.mma_type<f16>, operandSegmentSizes = array<i32: 4, 2, 4>}> : (vector<2xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
%d1 = "nvvm.mma.sync"(%i, %i, %i, %i, %i, %i, %f, %f, %f, %f) <{shape = #nvvm.shape<m = 16, n = 8, k = 16>, layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, multiplicandAPtxType = #nvvm.mma_type<bf16>, multiplicandBPtxType = #nvvm.mma_type<bf16>, operandSegmentSizes = array<i32: 4, 2, 4>}> : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
%d2 = "nvvm.mma.sync"(%i, %i, %i, %f, %f, %f, %f) <{shape = #nvvm.shape<m = 16, n = 8, k = 4>, layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, multiplicandAPtxType = #nvvm.mma_type<tf32>, multiplicandBPtxType = #nvvm.mma_type<tf32>, operandSegmentSizes = array<i32: 2, 1, 4>}> : (i32, i32, i32, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>

// CHECK-NEXT: %v = "nvvm.shfl.sync"(%i, %f, %i, %i) <{kind = #nvvm<shfl_kind bfly>}> : (i32, f32, i32, i32) -> f32
%v = "nvvm.shfl.sync"(%i, %f, %i, %i) <{kind = #nvvm<shfl_kind bfly>}> : (i32, f32, i32, i32) -> f32

// CHECK-NEXT: %e = "nvvm.ex2"(%f) <{ftz = true}> : (f32) -> f32
// CHECK-NEXT: %l = "nvvm.log2"(%f) <{ftz = false}> : (f32) -> f32
// CHECK-NEXT: %r = nvvm.rcp.approx.ftz.f %f : f32
%e = "nvvm.ex2"(%f) <{ftz = true}> : (f32) -> f32
%l = "nvvm.log2"(%f) <{ftz = false}> : (f32) -> f32
%r = nvvm.rcp.approx.ftz.f %f : f32
