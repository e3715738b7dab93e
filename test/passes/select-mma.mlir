// Who computes each matmul: threads, instructions, and where the left operand comes from.
//
// RUN: mirage-opt %s --select-mma="target=H200" | filecheck %s
// RUN: mirage-opt %s --select-mma="target=H200" | mirage-opt | filecheck %s
// RUN: mirage-opt %s --select-mma="target=A100" | filecheck %s --check-prefix=WARPS

// 64 rows are those of one wgmma. Four warps have a quarter of the columns each.
// CHECK-LABEL: func.func @linear
// CHECK:         schedule <threads = 128>
// CHECK:         %p = threadblock.matmul %x, %w {mma = "wgmma", warps = array<i64: 1, 1, 1>} :
// WARPS-LABEL: func.func @linear
// WARPS:         schedule <threads = 128>
// WARPS:         %p = threadblock.matmul %x, %w {warps = array<i64: 1, 4, 1>} :
func.func @linear(%in: tensor<64x512xf16>, %weight: tensor<512x128xf16>) -> tensor<64x128xf32> {
  %o = kernel.graph_defined ins(%in, %weight) grid [1] loop [8] {
  ^bb0(%xa: tensor<64x512xf16>, %wa: tensor<512x128xf16>):
    %x = threadblock.load %xa grid_map [_] loop_map [1] : (tensor<64x512xf16>) -> !threadblock.tile<64x64xf16>
    %w = threadblock.load %wa grid_map [_] loop_map [0] : (tensor<512x128xf16>) -> !threadblock.tile<64x128xf16>
    %p = threadblock.matmul %x, %w : (!threadblock.tile<64x64xf16>, !threadblock.tile<64x128xf16>) -> !threadblock.tile<64x128xf32>
    %a = threadblock.accumulate %p : (!threadblock.tile<64x128xf32>) -> !threadblock.tile<64x128xf32>
    threadblock.store %a grid_map [_] : !threadblock.tile<64x128xf32>
  } : (tensor<64x512xf16>, tensor<512x128xf16>) -> tensor<64x128xf32>
  func.return %o : tensor<64x128xf32>
}

// Of 8 rows wgmma computes the transpose. Warps share the depth, for the results are summed.
// CHECK-LABEL: func.func @few_rows
// CHECK:         %p = threadblock.matmul %x, %w {mma = "wgmma", warps = array<i64: 1, 1, 1>, swapped} :
// WARPS-LABEL: func.func @few_rows
// WARPS:         %p = threadblock.matmul %x, %w {warps = array<i64: 1, 1, 4>} :
func.func @few_rows(%in: tensor<8x512xf16>, %weight: tensor<512x64xf16>) -> tensor<8x64xf32> {
  %o = kernel.graph_defined ins(%in, %weight) grid [1] loop [8] {
  ^bb0(%xa: tensor<8x512xf16>, %wa: tensor<512x64xf16>):
    %x = threadblock.load %xa grid_map [_] loop_map [1] : (tensor<8x512xf16>) -> !threadblock.tile<8x64xf16>
    %w = threadblock.load %wa grid_map [_] loop_map [0] : (tensor<512x64xf16>) -> !threadblock.tile<64x64xf16>
    %p = threadblock.matmul %x, %w : (!threadblock.tile<8x64xf16>, !threadblock.tile<64x64xf16>) -> !threadblock.tile<8x64xf32>
    %a = threadblock.accumulate %p : (!threadblock.tile<8x64xf32>) -> !threadblock.tile<8x64xf32>
    threadblock.store %a grid_map [_] : !threadblock.tile<8x64xf32>
  } : (tensor<8x512xf16>, tensor<512x64xf16>) -> tensor<8x64xf32>
  func.return %o : tensor<8x64xf32>
}

// Two warpgroups share 192 rows of the transpose: its rows are three times 64 columns of the tile, and
// each warpgroup has 96 of its columns.
// CHECK-LABEL: func.func @thirds
// CHECK:         schedule <threads = 256>
// CHECK:         %p = threadblock.matmul %x, %w {mma = "wgmma", warps = array<i64: 2, 1, 1>, swapped} :
// WARPS-LABEL: func.func @thirds
// WARPS:         %p = threadblock.matmul %x, %w {warps = array<i64: 2, 4, 1>} :
func.func @thirds(%in: tensor<192x512xf16>, %weight: tensor<512x192xf16>) -> tensor<192x192xf32> {
  %o = kernel.graph_defined ins(%in, %weight) grid [1] loop [8] {
  ^bb0(%xa: tensor<192x512xf16>, %wa: tensor<512x192xf16>):
    %x = threadblock.load %xa grid_map [_] loop_map [1] : (tensor<192x512xf16>) -> !threadblock.tile<192x64xf16>
    %w = threadblock.load %wa grid_map [_] loop_map [0] : (tensor<512x192xf16>) -> !threadblock.tile<64x192xf16>
    %p = threadblock.matmul %x, %w : (!threadblock.tile<192x64xf16>, !threadblock.tile<64x192xf16>) -> !threadblock.tile<192x192xf32>
    %a = threadblock.accumulate %p : (!threadblock.tile<192x192xf32>) -> !threadblock.tile<192x192xf32>
    threadblock.store %a grid_map [_] : !threadblock.tile<192x192xf32>
  } : (tensor<192x512xf16>, tensor<512x192xf16>) -> tensor<192x192xf32>
  func.return %o : tensor<192x192xf32>
}

// Scores times values: what the first matmul leaves in registers is the left operand of the second.
// Groups that share the columns of the first share the depth of the second. The queries do not change
// in the loop: warps keep them in registers, warpgroups read them from shared memory.
// CHECK-LABEL: func.func @attention
// CHECK:         %s = threadblock.matmul %q, %k {mma = "wgmma", warps = array<i64: 1, 2, 1>} :
// CHECK:         %o = threadblock.matmul %e, %v {mma = "wgmma", warps = array<i64: 1, 1, 2>, chained} :
// WARPS-LABEL: func.func @attention
// WARPS:         %s = threadblock.matmul %q, %k {warps = array<i64: 4, 1, 1>, lhs_in_registers} :
// WARPS:         %o = threadblock.matmul %e, %v {warps = array<i64: 4, 1, 1>, chained} :
func.func @attention(%queries: tensor<64x64xf16>, %keys: tensor<64x512xf16>, %values: tensor<512x64xf16>) -> tensor<64x64xf32> {
  %out = kernel.graph_defined ins(%queries, %keys, %values) grid [1] loop [8] {
  ^bb0(%qa: tensor<64x64xf16>, %ka: tensor<64x512xf16>, %va: tensor<512x64xf16>):
    %q = threadblock.load %qa grid_map [_] loop_map [_] : (tensor<64x64xf16>) -> !threadblock.tile<64x64xf16>
    %k = threadblock.load %ka grid_map [_] loop_map [1] : (tensor<64x512xf16>) -> !threadblock.tile<64x64xf16>
    %v = threadblock.load %va grid_map [_] loop_map [0] : (tensor<512x64xf16>) -> !threadblock.tile<64x64xf16>
    %s = threadblock.matmul %q, %k : (!threadblock.tile<64x64xf16>, !threadblock.tile<64x64xf16>) -> !threadblock.tile<64x64xf32>
    %e = thread.graph ins(%s) {
    ^bb0(%score: f32):
      %weight = math.exp %score : f32
      %rounded = arith.truncf %weight : f32 to f16
      thread.store %rounded : f16
    } : (!threadblock.tile<64x64xf32>) -> !threadblock.tile<64x64xf16>
    %o = threadblock.matmul %e, %v : (!threadblock.tile<64x64xf16>, !threadblock.tile<64x64xf16>) -> !threadblock.tile<64x64xf32>
    %a = threadblock.accumulate %o : (!threadblock.tile<64x64xf32>) -> !threadblock.tile<64x64xf32>
    threadblock.store %a grid_map [_] : !threadblock.tile<64x64xf32>
  } : (tensor<64x64xf16>, tensor<64x512xf16>, tensor<512x64xf16>) -> tensor<64x64xf32>
  func.return %out : tensor<64x64xf32>
}

// Two left operands of 8 rows that threads write share a buffer of 16 lines, and one wgmma.
// CHECK-LABEL: func.func @batched
// CHECK:         threadblock.matmul %y, %w {mma = "wgmma", warps = array<i64: 1, 1, 1>, swapped, batched = array<i64: 0, 0>} :
// CHECK:         threadblock.matmul %z, %w {mma = "wgmma", warps = array<i64: 1, 1, 1>, swapped, batched = array<i64: 0, 8>} :
// WARPS-LABEL: func.func @batched
// WARPS-NOT:     batched
func.func @batched(%in: tensor<8x512xf16>, %weight: tensor<512x64xf16>) -> (tensor<8x64xf32>, tensor<8x64xf32>) {
  %out:2 = kernel.graph_defined ins(%in, %weight) grid [1] loop [8] {
  ^bb0(%xa: tensor<8x512xf16>, %wa: tensor<512x64xf16>):
    %x = threadblock.load %xa grid_map [_] loop_map [1] : (tensor<8x512xf16>) -> !threadblock.tile<8x64xf16>
    %w = threadblock.load %wa grid_map [_] loop_map [0] : (tensor<512x64xf16>) -> !threadblock.tile<64x64xf16>
    %y = thread.graph ins(%x) {
    ^bb0(%element: f16):
      %negated = arith.negf %element : f16
      thread.store %negated : f16
    } : (!threadblock.tile<8x64xf16>) -> !threadblock.tile<8x64xf16>
    %z = thread.graph ins(%x) {
    ^bb0(%element: f16):
      %squared = arith.mulf %element, %element : f16
      thread.store %squared : f16
    } : (!threadblock.tile<8x64xf16>) -> !threadblock.tile<8x64xf16>
    %p = threadblock.matmul %y, %w : (!threadblock.tile<8x64xf16>, !threadblock.tile<64x64xf16>) -> !threadblock.tile<8x64xf32>
    %q = threadblock.matmul %z, %w : (!threadblock.tile<8x64xf16>, !threadblock.tile<64x64xf16>) -> !threadblock.tile<8x64xf32>
    %a = threadblock.accumulate %p : (!threadblock.tile<8x64xf32>) -> !threadblock.tile<8x64xf32>
    %b = threadblock.accumulate %q : (!threadblock.tile<8x64xf32>) -> !threadblock.tile<8x64xf32>
    threadblock.store %a grid_map [_] : !threadblock.tile<8x64xf32>
    threadblock.store %b grid_map [_] : !threadblock.tile<8x64xf32>
  } : (tensor<8x512xf16>, tensor<512x64xf16>) -> (tensor<8x64xf32>, tensor<8x64xf32>)
  func.return %out#0, %out#1 : tensor<8x64xf32>, tensor<8x64xf32>
}

// Threads that the program asks for; without matmuls the elements of the tiles decide.
// CHECK-LABEL: func.func @given
// CHECK:         schedule <threads = 32>
func.func @given(%in: tensor<40x7xf32>) -> tensor<40x7xf32> {
  %o = kernel.graph_defined ins(%in) grid [1] schedule <threads = 32> {
  ^bb0(%xa: tensor<40x7xf32>):
    %x = threadblock.load %xa grid_map [_] : (tensor<40x7xf32>) -> !threadblock.tile<40x7xf32>
    threadblock.store %x grid_map [_] : !threadblock.tile<40x7xf32>
  } : (tensor<40x7xf32>) -> tensor<40x7xf32>
  func.return %o : tensor<40x7xf32>
}
// CHECK-LABEL: func.func @elements
// CHECK:         schedule <threads = 512>
func.func @elements(%in: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %o = kernel.graph_defined ins(%in) grid [1] {
  ^bb0(%xa: tensor<64x64xf32>):
    %x = threadblock.load %xa grid_map [_] : (tensor<64x64xf32>) -> !threadblock.tile<64x64xf32>
    threadblock.store %x grid_map [_] : !threadblock.tile<64x64xf32>
  } : (tensor<64x64xf32>) -> tensor<64x64xf32>
  func.return %o : tensor<64x64xf32>
}
