// Each elementwise chain of a threadblock graph becomes one thread graph.
//
// RUN: mirage-opt %s --fuse-thread-graphs | filecheck %s

// Two operators and one operand: each thread computes both of its element.
func.func @exp_and_add(%in: tensor<16x64xf32>) -> tensor<16x64xf32> {
  %o = kernel.graph_defined ins(%in) grid [1] {
  ^bb0(%xa: tensor<16x64xf32>):
    %x = threadblock.load %xa grid_map [_] : (tensor<16x64xf32>) -> !threadblock.tile<16x64xf32>
    %e = threadblock.exp %x : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x64xf32>
    %y = threadblock.add %e, %x : (!threadblock.tile<16x64xf32>, !threadblock.tile<16x64xf32>) -> !threadblock.tile<16x64xf32>
    threadblock.store %y grid_map [_] : !threadblock.tile<16x64xf32>
  } : (tensor<16x64xf32>) -> tensor<16x64xf32>
  func.return %o : tensor<16x64xf32>
}
// CHECK-LABEL: func.func @exp_and_add
// CHECK-NOT:     threadblock.exp
// CHECK:         %y = thread.graph ins(%x) {
// CHECK-NEXT:    ^bb0(%[[X:.*]]: f32):
// CHECK-NEXT:      %[[E:.*]] = math.exp %[[X]] : f32
// CHECK-NEXT:      %[[S:.*]] = arith.addf %[[E]], %[[X]] : f32
// CHECK-NEXT:      thread.store %[[S]] : f32
// CHECK-NEXT:    } : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x64xf32>
// CHECK-NEXT:    threadblock.store %y

// A chain becomes one graph of scalars; the row scalar is computed again for each element.
func.func @chain(%x: tensor<16x64xf16>, %s: tensor<16x1xf32>) -> tensor<16x64xf16> {
  %o = kernel.graph_defined ins(%x, %s) grid [1] {
  ^bb0(%a: tensor<16x64xf16>, %b: tensor<16x1xf32>):
    %t = threadblock.load %a grid_map [_] : (tensor<16x64xf16>) -> !threadblock.tile<16x64xf16>
    %r = threadblock.load %b grid_map [_] : (tensor<16x1xf32>) -> !threadblock.tile<16x1xf32>
    %q = threadblock.sqrt %r : (!threadblock.tile<16x1xf32>) -> !threadblock.tile<16x1xf32>
    %e = threadblock.exp %t : (!threadblock.tile<16x64xf16>) -> !threadblock.tile<16x64xf32>
    %d = threadblock.div %e, %q : (!threadblock.tile<16x64xf32>, !threadblock.tile<16x1xf32>) -> !threadblock.tile<16x64xf32>
    %c = threadblock.cast %d : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x64xf16>
    threadblock.store %c grid_map [_] : !threadblock.tile<16x64xf16>
  } : (tensor<16x64xf16>, tensor<16x1xf32>) -> tensor<16x64xf16>
  func.return %o : tensor<16x64xf16>
}
// CHECK-LABEL: func.func @chain
// CHECK:         %[[C:.*]] = thread.graph ins(%{{[tr]}}, %{{[tr]}})
// CHECK-DAG:       math.sqrt
// CHECK-DAG:       math.exp
// CHECK:           arith.divf
// CHECK-NEXT:      arith.truncf %{{.*}} : f32 to f16
// CHECK-NEXT:      thread.store
// CHECK-NEXT:    }
// CHECK-NEXT:    threadblock.store

// A value with users in two graphs is computed once, in a graph of its own.
func.func @shared(%x: tensor<16x64xf32>) -> (tensor<16x64xf32>, tensor<16x1xf32>) {
  %o:2 = kernel.graph_defined ins(%x) grid [1] {
  ^bb0(%a: tensor<16x64xf32>):
    %t = threadblock.load %a grid_map [_] : (tensor<16x64xf32>) -> !threadblock.tile<16x64xf32>
    %e = threadblock.exp %t : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x64xf32>
    %s = threadblock.reduce_sum %e {dims = array<i64: 1>} : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x1xf32>
    %d = threadblock.div %e, %s : (!threadblock.tile<16x64xf32>, !threadblock.tile<16x1xf32>) -> !threadblock.tile<16x64xf32>
    threadblock.store %d grid_map [_] : !threadblock.tile<16x64xf32>
    threadblock.store %s grid_map [_] : !threadblock.tile<16x1xf32>
  } : (tensor<16x64xf32>) -> (tensor<16x64xf32>, tensor<16x1xf32>)
  func.return %o#0, %o#1 : tensor<16x64xf32>, tensor<16x1xf32>
}
// CHECK-LABEL: func.func @shared
// CHECK:         %[[E:.*]] = thread.graph
// CHECK:           math.exp
// CHECK:         %[[S:.*]] = threadblock.reduce_sum %[[E]]
// CHECK:         thread.graph ins(%[[E]], %[[S]])
// CHECK-NEXT:    ^{{.*}}(%[[X:.*]]: f32, %[[Y:.*]]: f32):
// CHECK-NEXT:      arith.divf %[[X]], %[[Y]]

// Nothing to do outside a kernel.
func.func @untouched(%x: tensor<16x64xf16>) -> tensor<16x64xf16> {
  %y = kernel.exp %x : (tensor<16x64xf16>) -> tensor<16x64xf16>
  func.return %y : tensor<16x64xf16>
}
// CHECK-LABEL: func.func @untouched
// CHECK-NEXT:    kernel.exp

// A residual and a bias are added behind the loop, with its result. An exponential, which costs more, is
// computed before it.
func.func @behind_the_loop(%x: tensor<16x64xf16>, %r: tensor<16x16xf16>, %b: tensor<16x16xf16>) -> (tensor<16x16xf32>, tensor<16x16xf32>) {
  %o, %p = kernel.graph_defined ins(%x, %r, %b) grid [1] loop [4] {
  ^bb0(%a: tensor<16x64xf16>, %c: tensor<16x16xf16>, %d: tensor<16x16xf16>):
    %t = threadblock.load %a grid_map [_] loop_map [1] : (tensor<16x64xf16>) -> !threadblock.tile<16x16xf16>
    %u = threadblock.load %c grid_map [_] loop_map [_] : (tensor<16x16xf16>) -> !threadblock.tile<16x16xf16>
    %v = threadblock.load %d grid_map [_] loop_map [_] : (tensor<16x16xf16>) -> !threadblock.tile<16x16xf16>
    %s = threadblock.accumulate %t : (!threadblock.tile<16x16xf16>) -> !threadblock.tile<16x16xf32>
    %h = threadblock.add %u, %v : (!threadblock.tile<16x16xf16>, !threadblock.tile<16x16xf16>) -> !threadblock.tile<16x16xf32>
    %e = threadblock.exp %u : (!threadblock.tile<16x16xf16>) -> !threadblock.tile<16x16xf32>
    %y = threadblock.add %s, %h : (!threadblock.tile<16x16xf32>, !threadblock.tile<16x16xf32>) -> !threadblock.tile<16x16xf32>
    %z = threadblock.add %s, %e : (!threadblock.tile<16x16xf32>, !threadblock.tile<16x16xf32>) -> !threadblock.tile<16x16xf32>
    threadblock.store %y grid_map [_] : !threadblock.tile<16x16xf32>
    threadblock.store %z grid_map [_] : !threadblock.tile<16x16xf32>
  } : (tensor<16x64xf16>, tensor<16x16xf16>, tensor<16x16xf16>) -> (tensor<16x16xf32>, tensor<16x16xf32>)
  func.return %o, %p : tensor<16x16xf32>, tensor<16x16xf32>
}
// CHECK-LABEL: func.func @behind_the_loop
// CHECK:         %e = thread.graph ins(%u)
// CHECK:           math.exp
// CHECK:         %y = thread.graph ins(%u, %v, %s)
// CHECK:           arith.addf
// CHECK:           arith.addf
// CHECK:         %z = thread.graph ins(%s, %e)

// A large tile is computed behind the loop: it would take 32 KB of shared memory meanwhile. Of a
// small one a function is computed while the first tiles come.
func.func @gates(%a: tensor<128x64xf16>, %b: tensor<64x128xf16>, %c: tensor<128x128xf16>, %d: tensor<16x64xf16>, %e: tensor<16x128xf16>) -> (tensor<128x128xf32>, tensor<16x128xf32>) {
  %large = kernel.graph_defined ins(%a, %b, %c) grid [1] loop [2] {
  ^bb0(%ga: tensor<128x64xf16>, %gb: tensor<64x128xf16>, %gc: tensor<128x128xf16>):
    %x = threadblock.load %ga grid_map [_] loop_map [1] : (tensor<128x64xf16>) -> !threadblock.tile<128x32xf16>
    %w = threadblock.load %gb grid_map [_] loop_map [0] : (tensor<64x128xf16>) -> !threadblock.tile<32x128xf16>
    %t = threadblock.load %gc grid_map [_] loop_map [_] : (tensor<128x128xf16>) -> !threadblock.tile<128x128xf16>
    %g = threadblock.gelu %t : (!threadblock.tile<128x128xf16>) -> !threadblock.tile<128x128xf32>
    %m = threadblock.matmul %x, %w : (!threadblock.tile<128x32xf16>, !threadblock.tile<32x128xf16>) -> !threadblock.tile<128x128xf32>
    %s = threadblock.accumulate %m : (!threadblock.tile<128x128xf32>) -> !threadblock.tile<128x128xf32>
    %y = threadblock.mul %s, %g : (!threadblock.tile<128x128xf32>, !threadblock.tile<128x128xf32>) -> !threadblock.tile<128x128xf32>
    threadblock.store %y grid_map [_] : !threadblock.tile<128x128xf32>
  } : (tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf16>) -> tensor<128x128xf32>
  %small = kernel.graph_defined ins(%d, %b, %e) grid [1] loop [2] {
  ^bb0(%gd: tensor<16x64xf16>, %gf: tensor<64x128xf16>, %ge: tensor<16x128xf16>):
    %x = threadblock.load %gd grid_map [_] loop_map [1] : (tensor<16x64xf16>) -> !threadblock.tile<16x32xf16>
    %w = threadblock.load %gf grid_map [_] loop_map [0] : (tensor<64x128xf16>) -> !threadblock.tile<32x128xf16>
    %t = threadblock.load %ge grid_map [_] loop_map [_] : (tensor<16x128xf16>) -> !threadblock.tile<16x128xf16>
    %g = threadblock.gelu %t : (!threadblock.tile<16x128xf16>) -> !threadblock.tile<16x128xf32>
    %m = threadblock.matmul %x, %w : (!threadblock.tile<16x32xf16>, !threadblock.tile<32x128xf16>) -> !threadblock.tile<16x128xf32>
    %s = threadblock.accumulate %m : (!threadblock.tile<16x128xf32>) -> !threadblock.tile<16x128xf32>
    %y = threadblock.mul %s, %g : (!threadblock.tile<16x128xf32>, !threadblock.tile<16x128xf32>) -> !threadblock.tile<16x128xf32>
    threadblock.store %y grid_map [_] : !threadblock.tile<16x128xf32>
  } : (tensor<16x64xf16>, tensor<64x128xf16>, tensor<16x128xf16>) -> tensor<16x128xf32>
  func.return %large, %small : tensor<128x128xf32>, tensor<16x128xf32>
}
// CHECK-LABEL: func.func @gates
// CHECK:         threadblock.accumulate
// CHECK-NEXT:    thread.graph
// CHECK:           math.erf
// CHECK:         threadblock.store
// CHECK:         kernel.graph_defined
// CHECK:         thread.graph
// CHECK:           math.erf
// CHECK:         threadblock.matmul
