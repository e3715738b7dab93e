// A program with regions in the form that IRDL hosts read; test_irdl_bindings.py loads it into MLIR's bindings.
// RUN: mirage-opt %s -t irdl-generic | filecheck %s
// RUN: mirage-opt %s -o %t.direct.mlir
// RUN: mirage-opt %s -t irdl-generic | mirage-opt | diff %t.direct.mlir -

// CHECK:      %o = "kernel.graph_defined"(%x, %w) ({
// CHECK-NEXT: ^bb0(%xa: tensor<16x4096xf16>, %wa: tensor<4096x6144xf16>):
// CHECK-NEXT:   %xt = "threadblock.load"(%xa) {grid_map = array<i64: -1>, loop_map = array<i64: 1>} : (tensor<16x4096xf16>) -> !threadblock.tile<[16 : i64, 64 : i64], f16>
// CHECK:        %z = "thread.graph"(%total) ({
// CHECK:          "thread.store"(%rounded) : (f16) -> ()
// CHECK-NEXT:   }) {operandSegmentSizes = array<i32: 1, 0,
// CHECK:        "threadblock.store"(%z) {grid_map = array<i64: 1>, loop_map = array<i64>}
// CHECK-NEXT: }) {operandSegmentSizes = array<i32: 1, 1, 0,{{.*}}grid = array<i64: 128>, loop = array<i64: 64>}
func.func @fused(%x: tensor<16x4096xf16>, %w: tensor<4096x6144xf16> {kernel.constant}) -> tensor<16x6144xf16> {
  %o = kernel.graph_defined ins(%x, %w) grid [128] loop [64] {
  ^bb0(%xa: tensor<16x4096xf16>, %wa: tensor<4096x6144xf16>):
    %xt = threadblock.load %xa grid_map [_] loop_map [1] : (tensor<16x4096xf16>) -> !threadblock.tile<16x64xf16>
    %wt = threadblock.load %wa grid_map [1] loop_map [0] : (tensor<4096x6144xf16>) -> !threadblock.tile<64x48xf16>
    %product = threadblock.matmul %xt, %wt : (!threadblock.tile<16x64xf16>, !threadblock.tile<64x48xf16>) -> !threadblock.tile<16x48xf32>
    %total = threadblock.accumulate %product : (!threadblock.tile<16x48xf32>) -> !threadblock.tile<16x48xf32>
    %z = thread.graph ins(%total) {
    ^bb0(%element: f32):
      %rounded = arith.truncf %element : f32 to f16
      thread.store %rounded : f16
    } : (!threadblock.tile<16x48xf32>) -> !threadblock.tile<16x48xf16>
    threadblock.store %z grid_map [1] : !threadblock.tile<16x48xf16>
  } : (tensor<16x4096xf16>, tensor<4096x6144xf16>) -> tensor<16x6144xf16>
  func.return %o : tensor<16x6144xf16>
}
