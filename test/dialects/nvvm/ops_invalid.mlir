// RUN: mirage-opt %s --verify-diagnostics --split-input-file

%p, %s = "test.op"() : () -> (!llvm.ptr<1>, !llvm.ptr<3>)
// expected-error @+1 {{copies 4, 8 or 16 bytes, not 2}}
"nvvm.cp.async.shared.global"(%s, %p) <{size = 2 : i32, modifier = #nvvm<load_cache_modifier ca>}> : (!llvm.ptr<3>, !llvm.ptr<1>) -> ()

// -----

%p, %s = "test.op"() : () -> (!llvm.ptr<1>, !llvm.ptr<3>)
// expected-error @+1 {{copies 16 bytes past L1 (cg), not 8}}
"nvvm.cp.async.shared.global"(%s, %p) <{size = 8 : i32, modifier = #nvvm<load_cache_modifier cg>}> : (!llvm.ptr<3>, !llvm.ptr<1>) -> ()

// -----

%p, %s = "test.op"() : () -> (!llvm.ptr, !llvm.ptr<3>)
// expected-error @+1 {{Expected attribute !llvm.ptr<1> but got !llvm.ptr}}
"nvvm.cp.async.shared.global"(%s, %p) <{size = 8 : i32, modifier = #nvvm<load_cache_modifier ca>}> : (!llvm.ptr<3>, !llvm.ptr) -> ()

// -----

%s = "test.op"() : () -> !llvm.ptr<3>
// expected-error @+1 {{loads 1, 2 or 4 matrices, not 3}}
%m = "nvvm.ldmatrix"(%s) <{num = 3 : i32, layout = #nvvm.mma_layout<row>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>}> : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32, i32)>

// -----

%s = "test.op"() : () -> !llvm.ptr<3>
// expected-error @+1 {{returns !llvm.struct<(i32, i32)> for 2 matrices, not i32}}
%m = "nvvm.ldmatrix"(%s) <{num = 2 : i32, layout = #nvvm.mma_layout<row>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>}> : (!llvm.ptr<3>) -> i32

// -----

%i, %f = "test.op"() : () -> (i32, f32)
// expected-error @+1 {{multiplies bf16 by tf32}}
%d = "nvvm.mma.sync"(%i, %i, %i, %i, %i, %i, %f, %f, %f, %f) <{shape = #nvvm.shape<m = 16, n = 8, k = 16>, layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, multiplicandAPtxType = #nvvm.mma_type<bf16>, multiplicandBPtxType = #nvvm.mma_type<tf32>, operandSegmentSizes = array<i32: 4, 2, 4>}> : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>

// -----

%i, %f = "test.op"() : () -> (i32, f32)
// expected-error @+1 {{takes A by rows and B by columns only}}
%d = "nvvm.mma.sync"(%i, %i, %i, %i, %i, %i, %f, %f, %f, %f) <{shape = #nvvm.shape<m = 16, n = 8, k = 16>, layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<row>, multiplicandAPtxType = #nvvm.mma_type<bf16>, multiplicandBPtxType = #nvvm.mma_type<bf16>, operandSegmentSizes = array<i32: 4, 2, 4>}> : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>

// -----

%i, %f = "test.op"() : () -> (i32, f32)
// expected-error @+1 {{has no tf32 form of shape (16, 8, 16)}}
%d = "nvvm.mma.sync"(%i, %i, %i, %i, %i, %i, %f, %f, %f, %f) <{shape = #nvvm.shape<m = 16, n = 8, k = 16>, layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, multiplicandAPtxType = #nvvm.mma_type<tf32>, multiplicandBPtxType = #nvvm.mma_type<tf32>, operandSegmentSizes = array<i32: 4, 2, 4>}> : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>

// -----

%i, %f = "test.op"() : () -> (i32, f32)
// expected-error @+1 {{takes (4, 2, 4) registers of A, B and C, not (3, 3, 4)}}
%d = "nvvm.mma.sync"(%i, %i, %i, %i, %i, %i, %f, %f, %f, %f) <{shape = #nvvm.shape<m = 16, n = 8, k = 16>, layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, multiplicandAPtxType = #nvvm.mma_type<bf16>, multiplicandBPtxType = #nvvm.mma_type<bf16>, operandSegmentSizes = array<i32: 3, 3, 4>}> : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>

// -----

%i, %f = "test.op"() : () -> (i32, f32)
// expected-error @+1 {{takes f16 registers as vector<2xf16>, not i32}}
%d = "nvvm.mma.sync"(%i, %i, %i, %i, %i, %i, %f, %f, %f, %f) <{shape = #nvvm.shape<m = 16, n = 8, k = 16>, layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, multiplicandAPtxType = #nvvm.mma_type<f16>, multiplicandBPtxType = #nvvm.mma_type<f16>, operandSegmentSizes = array<i32: 4, 2, 4>}> : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>

// -----

%d, %s = "test.op"() : () -> (!llvm.ptr, !llvm.ptr<3>)
// expected-error @+1 {{copies tensors of rank 1 to 5, not 0}}
"nvvm.cp.async.bulk.tensor.shared.cluster.global"(%s, %d, %s) <{mode = #nvvm.tma_load_mode<tile>, isCTAOnly = true, operandSegmentSizes = array<i32: 1, 1, 0, 1, 0, 0, 0, 0>}> : (!llvm.ptr<3>, !llvm.ptr, !llvm.ptr<3>) -> ()

// -----

// expected-error @+1 {{takes a multiple of 8 from 24 to 256, not 100}}
"nvvm.setmaxregister"() <{regCount = 100 : i32, action = #nvvm<action increase>}> : () -> ()

// -----

// expected-error @+1 {{Expected `ca`, or `cg`}}
"test.op"() {modifier = #nvvm<load_cache_modifier cv>} : () -> ()

// -----

// expected-error @+1 {{Expected '='}}
"test.op"() {shape = #nvvm.shape<m = 16, n 8, k = 16>} : () -> ()

// -----

%p, %i = "test.op"() : () -> (!llvm.ptr<1>, i32)
// expected-error @+1 {{counts on the device in order, and does not do (15, 2, 'device')}}
%c = "llvm.atomicrmw"(%p, %i) <{bin_op = 15 : i64, ordering = 2 : i64, syncscope = "device"}> : (!llvm.ptr<1>, i32) -> i32

// -----

%d, %s, %i = "test.op"() : () -> (!llvm.ptr, !llvm.ptr<3>, i32)
// expected-error @+1 {{is for one block alone unless it has a multicast mask}}
"nvvm.cp.async.bulk.tensor.shared.cluster.global"(%s, %d, %i, %s) <{mode = #nvvm.tma_load_mode<tile>, isCTAOnly = false, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0>}> : (!llvm.ptr<3>, !llvm.ptr, i32, !llvm.ptr<3>) -> ()

// -----

%d, %s, %i, %m = "test.op"() : () -> (!llvm.ptr, !llvm.ptr<3>, i32, i16)
// expected-error @+1 {{copies to one block or to several, not to !llvm.ptr<3>}}
"nvvm.cp.async.bulk.tensor.shared.cluster.global"(%s, %d, %i, %s, %m) <{mode = #nvvm.tma_load_mode<tile>, isCTAOnly = false, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 1, 0, 0>}> : (!llvm.ptr<3>, !llvm.ptr, i32, !llvm.ptr<3>, i16) -> ()

// -----

%r = "test.op"() : () -> !llvm.ptr<7>
// expected-error @+1 {{has a result, its phase, unless another block has the barrier}}
%t = "nvvm.mbarrier.arrive"(%r) <{scope = #nvvm.mem_scope<cta>, relaxed = false}> : (!llvm.ptr<7>) -> i64
