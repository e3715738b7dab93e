// RUN: mirage-opt %s --superoptimize --verify-diagnostics | filecheck %s

// Dimensions that nothing tells apart are searched as one, between reshapes.
// CHECK-LABEL: func.func @leading_dimensions
// CHECK-NEXT:    %[[X:.*]] = kernel.reshape %x : (tensor<2x8x64xf16>) -> tensor<16x64xf16>
// CHECK-NEXT:    %[[O:.*]] = kernel.graph_defined ins(%[[X]], %w, %b)
// CHECK:         } : (tensor<16x64xf16>, tensor<64x96xf16>, tensor<96xf16>) -> tensor<16x96xf16>
// CHECK-NEXT:    %o = kernel.reshape %[[O]] : (tensor<16x96xf16>) -> tensor<2x8x96xf16>
func.func @leading_dimensions(%x: tensor<2x8x64xf16>, %w: tensor<64x96xf16>, %b: tensor<96xf16>) -> tensor<2x8x96xf16> {
  %y = kernel.matmul %x, %w : (tensor<2x8x64xf16>, tensor<64x96xf16>) -> tensor<2x8x96xf16>
  %o = kernel.add %y, %b : (tensor<2x8x96xf16>, tensor<96xf16>) -> tensor<2x8x96xf16>
  func.return %o : tensor<2x8x96xf16>
}

// Views of arguments and of results stay around the graph, others become names of axes.
// CHECK-LABEL: func.func @views
// CHECK-NEXT:    %[[T:.*]] = kernel.transpose %k
// CHECK-NEXT:    %[[O:.*]] = kernel.graph_defined ins(%q, %[[T]])
// CHECK-NOT:     kernel.graph_defined
// CHECK:         %o = kernel.transpose %[[O]]
// CHECK-NEXT:    func.return %o
func.func @views(%q: tensor<4x32x64xf16>, %k: tensor<4x48x64xf16>) -> tensor<48x32x4xf16> {
  %kt = kernel.transpose %k {permutation = array<i64: 0, 2, 1>} : (tensor<4x48x64xf16>) -> tensor<4x64x48xf16>
  %s = kernel.matmul %q, %kt : (tensor<4x32x64xf16>, tensor<4x64x48xf16>) -> tensor<4x32x48xf16>
  %t = kernel.tanh %s : (tensor<4x32x48xf16>) -> tensor<4x32x48xf16>
  %o = kernel.transpose %t {permutation = array<i64: 2, 1, 0>} : (tensor<4x32x48xf16>) -> tensor<48x32x4xf16>
  func.return %o : tensor<48x32x4xf16>
}

// One argument in two roles is read twice, each along axes of its own.
// CHECK-LABEL: func.func @two_roles
// CHECK:         kernel.graph_defined ins(%x, %x)
// CHECK-COUNT-2: threadblock.relu
// CHECK-NOT:     kernel.graph_defined
func.func @two_roles(%x: tensor<64x128xf16>) -> tensor<64x64xf16> {
  %r = kernel.relu %x : (tensor<64x128xf16>) -> tensor<64x128xf16>
  %t = kernel.transpose %r {permutation = array<i64: 1, 0>} : (tensor<64x128xf16>) -> tensor<128x64xf16>
  %o = kernel.matmul %r, %t : (tensor<64x128xf16>, tensor<128x64xf16>) -> tensor<64x64xf16>
  func.return %o : tensor<64x64xf16>
}

// Two results of one kernel.
// CHECK-LABEL: func.func @two_results
// CHECK-NEXT:    %s, %e = kernel.graph_defined ins(%x, %y)
// CHECK-COUNT-2: threadblock.store
// CHECK-NOT:     kernel.graph_defined
func.func @two_results(%x: tensor<64x128xf32>, %y: tensor<128xf32>) -> (tensor<64x128xf32>, tensor<64x128xf32>) {
  %s = kernel.add %x, %y : (tensor<64x128xf32>, tensor<128xf32>) -> tensor<64x128xf32>
  %e = kernel.exp %s : (tensor<64x128xf32>) -> tensor<64x128xf32>
  func.return %s, %e : tensor<64x128xf32>, tensor<64x128xf32>
}

// Operands of tensor cores keep their type; of f32 operands none is rounded.
// CHECK-LABEL: func.func @bf16
// CHECK:         threadblock.mul {{.*}} -> !threadblock.tile<[[T:.*]]xf32>
// CHECK:         threadblock.cast {{.*}} : (!threadblock.tile<[[T]]xf32>) -> !threadblock.tile<[[T]]xbf16>
func.func @bf16(%x: tensor<16x512xbf16>, %g: tensor<512xbf16>, %w: tensor<512x256xbf16>) -> tensor<16x256xbf16> {
  %y = kernel.mul %x, %g : (tensor<16x512xbf16>, tensor<512xbf16>) -> tensor<16x512xbf16>
  %o = kernel.matmul %y, %w : (tensor<16x512xbf16>, tensor<512x256xbf16>) -> tensor<16x256xbf16>
  func.return %o : tensor<16x256xbf16>
}
// CHECK-LABEL: func.func @f32
// CHECK-NOT:     threadblock.cast
// CHECK:         func.return
func.func @f32(%x: tensor<16x512xf32>, %w: tensor<512x256xf32>) -> tensor<16x256xf32> {
  %o = kernel.matmul %x, %w : (tensor<16x512xf32>, tensor<512x256xf32>) -> tensor<16x256xf32>
  func.return %o : tensor<16x256xf32>
}

// What cancels is not computed, and its inputs are not read.
// CHECK-LABEL: func.func @cancels
// CHECK-NEXT:    kernel.graph_defined ins(%y)
// CHECK-NOT:     threadblock.sub
// CHECK:         func.return
func.func @cancels(%x: tensor<64xf32>, %y: tensor<64xf32>) -> tensor<64xf32> {
  %z = kernel.sub %x, %x : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %o = kernel.add %y, %z : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  func.return %o : tensor<64xf32>
}

// A result needs memory of its own: an argument that is returned is copied.
// CHECK-LABEL: func.func @argument
// CHECK:         kernel.graph_defined ins(%x)
// CHECK:         threadblock.store
func.func @argument(%x: tensor<64xf32>) -> tensor<64xf32> {
  func.return %x : tensor<64xf32>
}
// Nothing to do: a declaration, a function of something else.
// CHECK: func.func private @declared
func.func private @declared(tensor<64xf32>) -> tensor<64xf32>
// CHECK-LABEL: func.func @integers
// CHECK-NEXT:    arith.addi
func.func @integers(%i: i32) -> i32 {
  %j = arith.addi %i, %i : i32
  func.return %j : i32
}
