// RUN: mirage-opt %s -t "ptx{function=causal}" | filecheck %s
// RUN: mirage-opt %s -t "ptx{function=after}" | filecheck %s --check-prefix=AFTER

// Masks compare integers; no index is converted to f32 for them.

// CHECK-NOT: cvt.rn.f32
// CHECK:     setp.{{[a-z]+}}.{{[us]}}32
// CHECK-NOT: cvt.rn.f32
func.func @causal(%x: tensor<16x64xf32>) -> tensor<16x64xf32> {
  %i = kernel.iota {dim = 0 : i64} : tensor<16x64xf32>
  %j = kernel.iota {dim = 1 : i64} : tensor<16x64xf32>
  %o = kernel.graph_defined ins(%x, %i, %j) grid [2] {
  ^bb0(%a: tensor<16x64xf32>, %b: tensor<16x64xf32>, %c: tensor<16x64xf32>):
    %0 = threadblock.load %a grid_map [0] : (tensor<16x64xf32>) -> !threadblock.tile<8x64xf32>
    %1 = threadblock.load %b grid_map [0] : (tensor<16x64xf32>) -> !threadblock.tile<8x64xf32>
    %2 = threadblock.load %c grid_map [0] : (tensor<16x64xf32>) -> !threadblock.tile<8x64xf32>
    %3 = threadblock.compare %1, %2 {predicate = "ge"} : (!threadblock.tile<8x64xf32>, !threadblock.tile<8x64xf32>) -> !threadblock.tile<8x64xf32>
    %4 = threadblock.mul %0, %3 : (!threadblock.tile<8x64xf32>, !threadblock.tile<8x64xf32>) -> !threadblock.tile<8x64xf32>
    threadblock.store %4 grid_map [0] : !threadblock.tile<8x64xf32>
  } : (tensor<16x64xf32>, tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x64xf32>
  func.return %o : tensor<16x64xf32>
}

// Nor where an index is compared with a constant.

// AFTER-NOT: cvt.rn.f32
// AFTER:     setp.{{[a-z]+}}.{{[us]}}32
// AFTER-NOT: cvt.rn.f32
func.func @after(%x: tensor<64xf32>) -> tensor<64xf32> {
  %i = kernel.iota {dim = 0 : i64} : tensor<64xf32>
  %o = kernel.graph_defined ins(%x, %i) grid [2] {
  ^bb0(%a: tensor<64xf32>, %b: tensor<64xf32>):
    %0 = threadblock.load %a grid_map [0] : (tensor<64xf32>) -> !threadblock.tile<32xf32>
    %1 = threadblock.load %b grid_map [0] : (tensor<64xf32>) -> !threadblock.tile<32xf32>
    %2 = threadblock.constant {value = 5.0 : f32} : !threadblock.tile<32xf32>
    %3 = threadblock.compare %1, %2 {predicate = "gt"} : (!threadblock.tile<32xf32>, !threadblock.tile<32xf32>) -> !threadblock.tile<32xf32>
    %4 = threadblock.mul %0, %3 : (!threadblock.tile<32xf32>, !threadblock.tile<32xf32>) -> !threadblock.tile<32xf32>
    threadblock.store %4 grid_map [0] : !threadblock.tile<32xf32>
  } : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  func.return %o : tensor<64xf32>
}
