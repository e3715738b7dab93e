// RUN: %roundtrip
// RUN: %generic-roundtrip

// The products of warpgroups, in upstream's own text (test/unit/bridge/test_nvvm.py).

%d, %c = "test.op"() : () -> (i64, !llvm.struct<(f32, f32, f32, f32)>)

// CHECK:      nvvm.wgmma.fence.aligned
// CHECK-NEXT: %r = "nvvm.wgmma.mma_async"(%c, %d, %d) <{{.*}}#nvvm.shape<m = 64, n = 8, k = 16>{{.*}}#nvvm.wgmma_type<f16>{{.*}}scaleD = #nvvm.wgmma_scale_out<one>{{.*}}layoutA = #nvvm.mma_layout<col>
// CHECK-NEXT: %s = "nvvm.wgmma.mma_async"(%r, %d, %d) <{{.*}}#nvvm.wgmma_type<bf16>{{.*}}scaleD = #nvvm.wgmma_scale_out<zero>
// CHECK-NEXT: nvvm.wgmma.commit.group.sync.aligned
// CHECK-NEXT: "nvvm.wgmma.wait.group.sync.aligned"() <{group = 1 : i64}> : () -> ()
nvvm.wgmma.fence.aligned
%r = "nvvm.wgmma.mma_async"(%c, %d, %d) <{shape = #nvvm.shape<m = 64, n = 8, k = 16>, typeA = #nvvm.wgmma_type<f16>, typeB = #nvvm.wgmma_type<f16>, typeD = #nvvm.wgmma_type<f32>, scaleD = #nvvm.wgmma_scale_out<one>, scaleA = #nvvm.wgmma_scale_in<one>, scaleB = #nvvm.wgmma_scale_in<one>, layoutA = #nvvm.mma_layout<col>, layoutB = #nvvm.mma_layout<col>}> : (!llvm.struct<(f32, f32, f32, f32)>, i64, i64) -> !llvm.struct<(f32, f32, f32, f32)>
%s = "nvvm.wgmma.mma_async"(%r, %d, %d) <{shape = #nvvm.shape<m = 64, n = 8, k = 16>, typeA = #nvvm.wgmma_type<bf16>, typeB = #nvvm.wgmma_type<bf16>, typeD = #nvvm.wgmma_type<f32>, scaleD = #nvvm.wgmma_scale_out<zero>, scaleA = #nvvm.wgmma_scale_in<one>, scaleB = #nvvm.wgmma_scale_in<one>, layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<row>}> : (!llvm.struct<(f32, f32, f32, f32)>, i64, i64) -> !llvm.struct<(f32, f32, f32, f32)>
nvvm.wgmma.commit.group.sync.aligned
"nvvm.wgmma.wait.group.sync.aligned"() <{group = 1 : i64}> : () -> ()
