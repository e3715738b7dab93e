// Programs that fewer kernels cannot compute faster: each operator becomes a graph of its own.
// RUN: mirage-opt %s --superoptimize --verify-diagnostics | filecheck %s

// Results that have nothing in common.
// expected-remark @+4 {{no better graph was found: each operator is a kernel of its own}}
// CHECK-LABEL: func.func @unrelated
// CHECK-COUNT-2: kernel.graph_defined
// CHECK-NOT:     kernel.graph_defined
func.func @unrelated(%x: tensor<16x4096xf16>, %w: tensor<4096x4096xf16>, %y: tensor<65536x512xf16>) -> (tensor<16x4096xf16>, tensor<65536x512xf16>) {
  %a = kernel.matmul %x, %w : (tensor<16x4096xf16>, tensor<4096x4096xf16>) -> tensor<16x4096xf16>
  %b = kernel.softmax %y {dim = 1 : i64} : (tensor<65536x512xf16>) -> tensor<65536x512xf16>
  func.return %a, %b : tensor<16x4096xf16>, tensor<65536x512xf16>
}

// Arguments put together have a kernel that is not searched for.
// CHECK-LABEL: func.func @concat
// CHECK:         threadblock.concat
// CHECK-SAME:    {dim = 1 : i64}
func.func @concat(%x: tensor<2x16x64xf16>, %y: tensor<2x8x64xf16>) -> tensor<2x24x64xf16> {
  // expected-remark @+1 {{is not fused with its neighbours: joins tensors along a dimension of a result}}
  %o = kernel.concat %x, %y {dim = 1 : i64} : (tensor<2x16x64xf16>, tensor<2x8x64xf16>) -> tensor<2x24x64xf16>
  func.return %o : tensor<2x24x64xf16>
}

// A reshape that strides cannot express is a copy and a view; a result that is an argument, or
// part of one, needs memory of its own. Two kernels in one launch take as long as one kernel.
// CHECK-LABEL: func.func @copies
// CHECK-NEXT:    %[[T:.*]] = kernel.transpose %x
// CHECK-COUNT-2:  kernel.graph_defined
// CHECK-NOT:     func.return %x
// expected-remark @+1 {{no better graph was found}}
func.func @copies(%x: tensor<2x48xf32>) -> (tensor<96xf32>, tensor<2x48xf32>) {
  %t = kernel.transpose %x {permutation = array<i64: 1, 0>} : (tensor<2x48xf32>) -> tensor<48x2xf32>
  %r = kernel.reshape %t : (tensor<48x2xf32>) -> tensor<96xf32>
  func.return %r, %x : tensor<96xf32>, tensor<2x48xf32>
}

// A graph that was there before stays.
// expected-remark @+5 {{has graphs already: other operators are searched around them}}
// CHECK-LABEL: func.func @graph_before
// CHECK:         kernel.graph_defined ins(%x) grid [2]
// CHECK:         threadblock.exp
// CHECK:         kernel.graph_defined
func.func @graph_before(%x: tensor<64xf32>) -> tensor<64xf32> {
  %y = kernel.graph_defined ins(%x) grid [2] {
  ^bb0(%a: tensor<64xf32>):
    %t = threadblock.load %a grid_map [0] : (tensor<64xf32>) -> !threadblock.tile<32xf32>
    %e = threadblock.exp %t : (!threadblock.tile<32xf32>) -> !threadblock.tile<32xf32>
    threadblock.store %e grid_map [0] : !threadblock.tile<32xf32>
  } : (tensor<64xf32>) -> tensor<64xf32>
  %z = kernel.tanh %y : (tensor<64xf32>) -> tensor<64xf32>
  func.return %z : tensor<64xf32>
}
