// RUN: mirage-opt %s --verify-diagnostics --split-input-file

%d, %c = "test.op"() : () -> (i64, !llvm.struct<(f32, f32, f32, f32)>)
// expected-error @+1 {{has no form of shape (64, 12, 16)}}
%r = "nvvm.wgmma.mma_async"(%c, %d, %d) <{shape = #nvvm.shape<m = 64, n = 12, k = 16>, typeA = #nvvm.wgmma_type<f16>, typeB = #nvvm.wgmma_type<f16>, typeD = #nvvm.wgmma_type<f32>, scaleD = #nvvm.wgmma_scale_out<one>, scaleA = #nvvm.wgmma_scale_in<one>, scaleB = #nvvm.wgmma_scale_in<one>, layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>}> : (!llvm.struct<(f32, f32, f32, f32)>, i64, i64) -> !llvm.struct<(f32, f32, f32, f32)>

// -----

%d, %c = "test.op"() : () -> (i64, !llvm.struct<(f32, f32, f32, f32)>)
// expected-error @+1 {{has no form of shape (64, 8, 8)}}
%r = "nvvm.wgmma.mma_async"(%c, %d, %d) <{shape = #nvvm.shape<m = 64, n = 8, k = 8>, typeA = #nvvm.wgmma_type<f16>, typeB = #nvvm.wgmma_type<f16>, typeD = #nvvm.wgmma_type<f32>, scaleD = #nvvm.wgmma_scale_out<one>, scaleA = #nvvm.wgmma_scale_in<one>, scaleB = #nvvm.wgmma_scale_in<one>, layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>}> : (!llvm.struct<(f32, f32, f32, f32)>, i64, i64) -> !llvm.struct<(f32, f32, f32, f32)>

// -----

%d, %c = "test.op"() : () -> (i64, !llvm.struct<(f32, f32, f32, f32)>)
// expected-error @+1 {{multiplies f16 by bf16}}
%r = "nvvm.wgmma.mma_async"(%c, %d, %d) <{shape = #nvvm.shape<m = 64, n = 8, k = 16>, typeA = #nvvm.wgmma_type<f16>, typeB = #nvvm.wgmma_type<bf16>, typeD = #nvvm.wgmma_type<f32>, scaleD = #nvvm.wgmma_scale_out<one>, scaleA = #nvvm.wgmma_scale_in<one>, scaleB = #nvvm.wgmma_scale_in<one>, layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>}> : (!llvm.struct<(f32, f32, f32, f32)>, i64, i64) -> !llvm.struct<(f32, f32, f32, f32)>

// -----

%d, %c = "test.op"() : () -> (i64, !llvm.struct<(f32, f32, f32, f32)>)
// expected-error @+1 {{adds up in f32, not in f16}}
%r = "nvvm.wgmma.mma_async"(%c, %d, %d) <{shape = #nvvm.shape<m = 64, n = 8, k = 16>, typeA = #nvvm.wgmma_type<f16>, typeB = #nvvm.wgmma_type<f16>, typeD = #nvvm.wgmma_type<f16>, scaleD = #nvvm.wgmma_scale_out<one>, scaleA = #nvvm.wgmma_scale_in<one>, scaleB = #nvvm.wgmma_scale_in<one>, layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>}> : (!llvm.struct<(f32, f32, f32, f32)>, i64, i64) -> !llvm.struct<(f32, f32, f32, f32)>

// -----

%d, %c = "test.op"() : () -> (i64, !llvm.struct<(f32, f32, f32, f32)>)
// expected-error @+1 {{keeps 8 sums of type f32, not !llvm.struct<(f32, f32, f32, f32)>}}
%r = "nvvm.wgmma.mma_async"(%c, %d, %d) <{shape = #nvvm.shape<m = 64, n = 16, k = 16>, typeA = #nvvm.wgmma_type<f16>, typeB = #nvvm.wgmma_type<f16>, typeD = #nvvm.wgmma_type<f32>, scaleD = #nvvm.wgmma_scale_out<one>, scaleA = #nvvm.wgmma_scale_in<one>, scaleB = #nvvm.wgmma_scale_in<one>, layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>}> : (!llvm.struct<(f32, f32, f32, f32)>, i64, i64) -> !llvm.struct<(f32, f32, f32, f32)>

// -----

// expected-error @+1 {{leaves 0 to 7 groups unfinished, not 8}}
"nvvm.wgmma.wait.group.sync.aligned"() <{group = 8 : i64}> : () -> ()
