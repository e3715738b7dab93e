// Programs that one kernel cannot hold, or not faster: each operator becomes a graph of its own.
// RUN: mirage-opt %s --superoptimize --verify-diagnostics
// RUN: mirage-opt %s --superoptimize 2>/dev/null | filecheck %s

// All keys at once fit no block.
// expected-remark @+6 {{no better graph was found: each operator is a kernel of its own}}
// CHECK-LABEL: func.func @attention
// CHECK:         %s = kernel.graph_defined ins(%q, %k)
// CHECK:         %[[P:.*]] = kernel.graph_defined
// CHECK:         %o = kernel.graph_defined ins(%{{.*}}, %v)
// CHECK:         func.return %o
func.func @attention(%q: tensor<2x64x64xf16>, %k: tensor<2x64x4096xf16>, %v: tensor<2x4096x64xf16>) -> tensor<2x64x64xf16> {
  %s = kernel.matmul %q, %k : (tensor<2x64x64xf16>, tensor<2x64x4096xf16>) -> tensor<2x64x4096xf16>
  %p = kernel.softmax %s {dim = 2 : i64} : (tensor<2x64x4096xf16>) -> tensor<2x64x4096xf16>
  %o = kernel.matmul %p, %v : (tensor<2x64x4096xf16>, tensor<2x4096x64xf16>) -> tensor<2x64x64xf16>
  func.return %o : tensor<2x64x64xf16>
}

// A row that no block holds: softmax is taken apart first, and its sums are loops.
// expected-remark @+7 {{no better graph was found}}
// CHECK-LABEL: func.func @long_rows
// CHECK:         threadblock.accumulate {{.*}} {kind = "max"}
// CHECK:         threadblock.exp
// CHECK:         threadblock.accumulate
// CHECK:         threadblock.div
// CHECK:         func.return
func.func @long_rows(%x: tensor<4x200000xf32>) -> tensor<4x200000xf32> {
  %o = kernel.softmax %x {dim = 1 : i64} : (tensor<4x200000xf32>) -> tensor<4x200000xf32>
  func.return %o : tensor<4x200000xf32>
}

// Repetitions are copies of broadcasts.
// expected-remark @+12 {{no better graph was found}}
// CHECK-LABEL: func.func @repeats
// CHECK-NEXT:    kernel.reshape %x : (tensor<2x24xf16>) -> tensor<1x2x24xf16>
// CHECK-NEXT:    kernel.broadcast
// CHECK-SAME:    -> tensor<3x2x24xf16>
// CHECK:         kernel.graph_defined
// CHECK:         -> tensor<6x24xf16>
// CHECK-NEXT:    kernel.reshape %x : (tensor<2x24xf16>) -> tensor<2x24x1xf16>
// CHECK-NEXT:    kernel.broadcast
// CHECK-SAME:    -> tensor<2x24x3xf16>
// CHECK:         kernel.graph_defined
// CHECK:         -> tensor<2x72xf16>
func.func @repeats(%x: tensor<2x24xf16>) -> (tensor<6x24xf16>, tensor<2x72xf16>) {
  %a = kernel.repeat %x {dim = 0 : i64, times = 3 : i64} : (tensor<2x24xf16>) -> tensor<6x24xf16>
  %b = kernel.repeat_interleave %x {dim = 1 : i64, times = 3 : i64} : (tensor<2x24xf16>) -> tensor<2x72xf16>
  func.return %a, %b : tensor<6x24xf16>, tensor<2x72xf16>
}

// CHECK-LABEL: func.func @concat
// CHECK:         threadblock.concat
// CHECK-SAME:    {dim = 1 : i64}
// CHECK:         threadblock.exp
// expected-remark @+1 {{no better graph was found}}
func.func @concat(%x: tensor<2x16x64xf16>, %y: tensor<2x8x64xf16>) -> tensor<2x24x64xf16> {
  // expected-remark @+1 {{is not fused with its neighbours: kernel.concat inside a kernel is not searched for}}
  %a = kernel.concat %x, %y {dim = 1 : i64} : (tensor<2x16x64xf16>, tensor<2x8x64xf16>) -> tensor<2x24x64xf16>
  %o = kernel.exp %a : (tensor<2x24x64xf16>) -> tensor<2x24x64xf16>
  func.return %o : tensor<2x24x64xf16>
}

// A reshape that strides cannot express is a copy and a view; a result that is an argument, or
// part of one, needs memory of its own.
// CHECK-LABEL: func.func @copies
// CHECK-NEXT:    %[[T:.*]] = kernel.transpose %x
// CHECK:         %[[A:.*]], %[[B:.*]] = kernel.graph_defined
// CHECK-DAG:     kernel.reshape %[[A]]
// CHECK-DAG:     kernel.reshape %[[B]]
// CHECK-NOT:     func.return %x
func.func @copies(%x: tensor<2x48xf32>) -> (tensor<96xf32>, tensor<2x48xf32>) {
  %t = kernel.transpose %x {permutation = array<i64: 1, 0>} : (tensor<2x48xf32>) -> tensor<48x2xf32>
  %r = kernel.reshape %t : (tensor<48x2xf32>) -> tensor<96xf32>
  func.return %r, %x : tensor<96xf32>, tensor<2x48xf32>
}

// Residual connections around square matrices read each tensor in two roles.
// expected-remark @+3 {{is too large for one kernel: it has 77 operators}}
// expected-remark @+2 {{no better graph was found}}
// CHECK-LABEL: func.func @two_roles
func.func @two_roles(%x: tensor<8x512xf16>, %w: tensor<512x512xf16>) -> tensor<8x512xf16> {
  %n = kernel.rms_norm %x {eps = 1.0e-05 : f32} : (tensor<8x512xf16>) -> tensor<8x512xf16>
  %m = kernel.matmul %n, %w : (tensor<8x512xf16>, tensor<512x512xf16>) -> tensor<8x512xf16>
  %a = kernel.add %x, %m : (tensor<8x512xf16>, tensor<8x512xf16>) -> tensor<8x512xf16>
  %p = kernel.rms_norm %a {eps = 1.0e-05 : f32} : (tensor<8x512xf16>) -> tensor<8x512xf16>
  %q = kernel.matmul %p, %w : (tensor<8x512xf16>, tensor<512x512xf16>) -> tensor<8x512xf16>
  %b = kernel.add %a, %q : (tensor<8x512xf16>, tensor<8x512xf16>) -> tensor<8x512xf16>
  %r = kernel.rms_norm %b {eps = 1.0e-05 : f32} : (tensor<8x512xf16>) -> tensor<8x512xf16>
  %s = kernel.matmul %r, %w : (tensor<8x512xf16>, tensor<512x512xf16>) -> tensor<8x512xf16>
  %c = kernel.add %b, %s : (tensor<8x512xf16>, tensor<8x512xf16>) -> tensor<8x512xf16>
  func.return %c : tensor<8x512xf16>
}

// A graph that was there before stays.
// expected-remark @+5 {{has graphs already: other operators are lowered alone}}
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
