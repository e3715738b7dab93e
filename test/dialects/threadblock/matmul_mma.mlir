// Who computes a product: what the passes decide about a matmul.
// RUN: %roundtrip
// RUN: %generic-roundtrip

%x, %w = "test.op"() : () -> (!threadblock.tile<32x64xf16>, !threadblock.tile<64x64xf16>)
// CHECK: threadblock.matmul %x, %w {mma = "wgmma", warps = array<i64: 1, 2, 1>, swapped} :
%a = threadblock.matmul %x, %w {mma = "wgmma", warps = array<i64: 1, 2, 1>, swapped} : (!threadblock.tile<32x64xf16>, !threadblock.tile<64x64xf16>) -> !threadblock.tile<32x64xf32>
// CHECK: threadblock.matmul %x, %w {warps = array<i64: 2, 2, 1>, lhs_in_registers} :
%b = threadblock.matmul %x, %w {warps = array<i64: 2, 2, 1>, lhs_in_registers} : (!threadblock.tile<32x64xf16>, !threadblock.tile<64x64xf16>) -> !threadblock.tile<32x64xf32>
// CHECK: threadblock.matmul %x, %w {mma = "wgmma", warps = array<i64: 1, 1, 1>, chained} :
%c = threadblock.matmul %x, %w {mma = "wgmma", warps = array<i64: 1, 1, 1>, chained} : (!threadblock.tile<32x64xf16>, !threadblock.tile<64x64xf16>) -> !threadblock.tile<32x64xf32>
// CHECK: %y = threadblock.convert_layout %x {batched = array<i64: 0, 16>} :
%y = threadblock.convert_layout %x {batched = array<i64: 0, 16>} : !threadblock.tile<32x64xf16>
// CHECK: threadblock.matmul %y, %w {mma = "wgmma", warps = array<i64: 1, 1, 1>, swapped, batched = array<i64: 0, 16>} :
%d = threadblock.matmul %y, %w {mma = "wgmma", warps = array<i64: 1, 1, 1>, swapped, batched = array<i64: 0, 16>} : (!threadblock.tile<32x64xf16>, !threadblock.tile<64x64xf16>) -> !threadblock.tile<32x64xf32>
