// RUN: mirage-opt %s --verify-equivalence="reference=reference candidate=ugraph" --verify-diagnostics
// RUN: mirage-opt %s > %t && mirage-opt %t --print-op-generic | mirage-opt | diff %t -

// Linear with a bias, then GELU.
//
// The idea. What follows a product element by element is done on its sums while they are in registers.
// The bias is loaded before the loop and waits.
func.func @reference(%x: tensor<8x4096xf16>, %w: tensor<4096x4096xf16> {kernel.constant}, %b: tensor<4096xf16> {kernel.constant}) -> tensor<8x4096xf16> {
  %y = kernel.matmul %x, %w : (tensor<8x4096xf16>, tensor<4096x4096xf16>) -> tensor<8x4096xf16>
  %s = kernel.add %y, %b : (tensor<8x4096xf16>, tensor<4096xf16>) -> tensor<8x4096xf16>
  %o = kernel.gelu %s {approximate = "tanh"} : (tensor<8x4096xf16>) -> tensor<8x4096xf16>
  func.return %o : tensor<8x4096xf16>
}

// expected-remark @+1 {{@ugraph is @reference: proved: the normal forms are equal; tested: equal modulo random primes}}
func.func @ugraph(%x: tensor<8x4096xf16>, %w: tensor<4096x4096xf16> {kernel.constant}, %b: tensor<4096xf16> {kernel.constant}) -> tensor<8x4096xf16> {
  %o = kernel.graph_defined ins(%x, %w, %b) grid [128] loop [32] {
  ^bb0(%xa: tensor<8x4096xf16>, %wa: tensor<4096x4096xf16>, %ba: tensor<4096xf16>):
    %xt = threadblock.load %xa grid_map [_] loop_map [1] : (tensor<8x4096xf16>) -> !threadblock.tile<8x128xf16>
    %wt = threadblock.load %wa grid_map [1] loop_map [0] : (tensor<4096x4096xf16>) -> !threadblock.tile<128x32xf16>
    %bt = threadblock.load %ba grid_map [0] loop_map [_] : (tensor<4096xf16>) -> !threadblock.tile<32xf16>
    %p = threadblock.matmul %xt, %wt : (!threadblock.tile<8x128xf16>, !threadblock.tile<128x32xf16>) -> !threadblock.tile<8x32xf32>
    %y = threadblock.accumulate %p : (!threadblock.tile<8x32xf32>) -> !threadblock.tile<8x32xf32>
    %s = threadblock.add %y, %bt : (!threadblock.tile<8x32xf32>, !threadblock.tile<32xf16>) -> !threadblock.tile<8x32xf32>
    %z = threadblock.gelu %s {approximate = "tanh"} : (!threadblock.tile<8x32xf32>) -> !threadblock.tile<8x32xf32>
    %zo = threadblock.cast %z : (!threadblock.tile<8x32xf32>) -> !threadblock.tile<8x32xf16>
    threadblock.store %zo grid_map [1] : !threadblock.tile<8x32xf16>
  } : (tensor<8x4096xf16>, tensor<4096x4096xf16>, tensor<4096xf16>) -> tensor<8x4096xf16>
  func.return %o : tensor<8x4096xf16>
}
