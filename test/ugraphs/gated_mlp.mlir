// RUN: mirage-opt %s --verify-equivalence="reference=reference candidate=ugraph" --verify-diagnostics
// RUN: mirage-opt %s > %t && mirage-opt %t --print-op-generic | mirage-opt | diff %t -

// The gated half of an MLP, silu(X W1) * (X W3), in one kernel.
//
// The idea. The two products have the same left operand and the same shape, and the gate works on
// equal elements: a block that makes the same columns of both can finish alone, in registers. X is
// read once for both.
func.func @reference(%x: tensor<8x4096xf16>, %w1: tensor<4096x4096xf16> {kernel.constant}, %w3: tensor<4096x4096xf16> {kernel.constant}) -> tensor<8x4096xf16> {
  %g = kernel.matmul %x, %w1 : (tensor<8x4096xf16>, tensor<4096x4096xf16>) -> tensor<8x4096xf16>
  %u = kernel.matmul %x, %w3 : (tensor<8x4096xf16>, tensor<4096x4096xf16>) -> tensor<8x4096xf16>
  %s = kernel.silu %g : (tensor<8x4096xf16>) -> tensor<8x4096xf16>
  %o = kernel.mul %s, %u : (tensor<8x4096xf16>, tensor<8x4096xf16>) -> tensor<8x4096xf16>
  func.return %o : tensor<8x4096xf16>
}

// expected-remark @+1 {{@ugraph is @reference: proved: the normal forms are equal; tested: equal modulo random primes}}
func.func @ugraph(%x: tensor<8x4096xf16>, %w1: tensor<4096x4096xf16> {kernel.constant}, %w3: tensor<4096x4096xf16> {kernel.constant}) -> tensor<8x4096xf16> {
  %o = kernel.graph_defined ins(%x, %w1, %w3) grid [128] loop [32] {
  ^bb0(%xa: tensor<8x4096xf16>, %w1a: tensor<4096x4096xf16>, %w3a: tensor<4096x4096xf16>):
    %xt = threadblock.load %xa grid_map [_] loop_map [1] : (tensor<8x4096xf16>) -> !threadblock.tile<8x128xf16>
    %w1t = threadblock.load %w1a grid_map [1] loop_map [0] : (tensor<4096x4096xf16>) -> !threadblock.tile<128x32xf16>
    %w3t = threadblock.load %w3a grid_map [1] loop_map [0] : (tensor<4096x4096xf16>) -> !threadblock.tile<128x32xf16>
    %p = threadblock.matmul %xt, %w1t : (!threadblock.tile<8x128xf16>, !threadblock.tile<128x32xf16>) -> !threadblock.tile<8x32xf32>
    %q = threadblock.matmul %xt, %w3t : (!threadblock.tile<8x128xf16>, !threadblock.tile<128x32xf16>) -> !threadblock.tile<8x32xf32>
    %g = threadblock.accumulate %p : (!threadblock.tile<8x32xf32>) -> !threadblock.tile<8x32xf32>
    %u = threadblock.accumulate %q : (!threadblock.tile<8x32xf32>) -> !threadblock.tile<8x32xf32>
    %s = threadblock.silu %g : (!threadblock.tile<8x32xf32>) -> !threadblock.tile<8x32xf32>
    %z = threadblock.mul %s, %u : (!threadblock.tile<8x32xf32>, !threadblock.tile<8x32xf32>) -> !threadblock.tile<8x32xf32>
    %zo = threadblock.cast %z : (!threadblock.tile<8x32xf32>) -> !threadblock.tile<8x32xf16>
    threadblock.store %zo grid_map [1] : !threadblock.tile<8x32xf16>
  } : (tensor<8x4096xf16>, tensor<4096x4096xf16>, tensor<4096x4096xf16>) -> tensor<8x4096xf16>
  func.return %o : tensor<8x4096xf16>
}
