// Products that no warps compute.
// RUN: mirage-opt %s --verify-diagnostics --split-input-file

%x, %w = "test.op"() : () -> (!threadblock.tile<32x64xf16>, !threadblock.tile<64x64xf16>)
// expected-error @below {{has mma "mma.sync": "wgmma" is the only one to ask for}}
%a = threadblock.matmul %x, %w {mma = "mma.sync"} : (!threadblock.tile<32x64xf16>, !threadblock.tile<64x64xf16>) -> !threadblock.tile<32x64xf32>

// -----

%x, %w = "test.op"() : () -> (!threadblock.tile<32x64xf16>, !threadblock.tile<64x64xf16>)
// expected-error @below {{is swapped, which takes mma = "wgmma"}}
%a = threadblock.matmul %x, %w {swapped} : (!threadblock.tile<32x64xf16>, !threadblock.tile<64x64xf16>) -> !threadblock.tile<32x64xf32>

// -----

%x, %w = "test.op"() : () -> (!threadblock.tile<32x64xf16>, !threadblock.tile<64x64xf16>)
// expected-error @below {{has warps [1, 2], not counts along rows, columns, depth}}
%a = threadblock.matmul %x, %w {warps = array<i64: 1, 2>} : (!threadblock.tile<32x64xf16>, !threadblock.tile<64x64xf16>) -> !threadblock.tile<32x64xf32>

// -----

%x, %w = "test.op"() : () -> (!threadblock.tile<32x64xf16>, !threadblock.tile<64x64xf16>)
// expected-error @below {{has warps [0, 1, 1], not counts along rows, columns, depth}}
%a = threadblock.matmul %x, %w {warps = array<i64: 0, 1, 1>} : (!threadblock.tile<32x64xf16>, !threadblock.tile<64x64xf16>) -> !threadblock.tile<32x64xf32>

// -----

%x, %w = "test.op"() : () -> (!threadblock.tile<32x64xf16>, !threadblock.tile<64x64xf16>)
// expected-error @below {{has no attribute 'warp' (it has mma, warps, swapped, lhs_in_registers, chained, batched, interleaved_graphs, deferred, precision); did you mean 'warps'?}}
%a = threadblock.matmul %x, %w {warp = array<i64: 1, 1, 1>} : (!threadblock.tile<32x64xf16>, !threadblock.tile<64x64xf16>) -> !threadblock.tile<32x64xf32>

// -----

%x, %w = "test.op"() : () -> (!threadblock.tile<32x64xf16>, !threadblock.tile<64x64xf16>)
// expected-error @below {{is chained, so that its left operand is not loop-invariant}}
%a = threadblock.matmul %x, %w {warps = array<i64: 1, 1, 1>, lhs_in_registers, chained} : (!threadblock.tile<32x64xf16>, !threadblock.tile<64x64xf16>) -> !threadblock.tile<32x64xf32>

// -----

%x, %w = "test.op"() : () -> (!threadblock.tile<32x64xf16>, !threadblock.tile<64x64xf16>)
// expected-error @below {{is batched, which takes a matmul that is swapped}}
%a = threadblock.matmul %x, %w {mma = "wgmma", warps = array<i64: 1, 1, 1>, batched = array<i64: 0, 0>} : (!threadblock.tile<32x64xf16>, !threadblock.tile<64x64xf16>) -> !threadblock.tile<32x64xf32>

// -----

%x, %w = "test.op"() : () -> (!threadblock.tile<32x64xf16>, !threadblock.tile<64x64xf16>)
// expected-error @below {{is batched as [0], not by a group and its first line}}
%a = threadblock.matmul %x, %w {mma = "wgmma", warps = array<i64: 1, 1, 1>, swapped, batched = array<i64: 0>} : (!threadblock.tile<32x64xf16>, !threadblock.tile<64x64xf16>) -> !threadblock.tile<32x64xf32>

// -----

%x = "test.op"() : () -> !threadblock.tile<32x64xf16>
// expected-error @below {{is batched as [0, -8], not by a group and its first line}}
%a = threadblock.convert_layout %x {batched = array<i64: 0, -8>} : !threadblock.tile<32x64xf16>

// -----

%x, %w = "test.op"() : () -> (!threadblock.tile<64x64xf16>, !threadblock.tile<64x64xf16>)
// expected-error @below {{is deferred, which takes a chained matmul with mma = "wgmma"}}
%a = threadblock.matmul %x, %w {mma = "wgmma", deferred} : (!threadblock.tile<64x64xf16>, !threadblock.tile<64x64xf16>) -> !threadblock.tile<64x64xf32>
