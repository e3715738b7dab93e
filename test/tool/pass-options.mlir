// Options of a pass, in the three ways to name it.
// RUN: mirage-opt %s --scf-parallel-loop-tiling="parallel-loop-tile-sizes=4,8" | filecheck %s
// RUN: mirage-opt %s '--scf-parallel-loop-tiling={parallel-loop-tile-sizes=4,8}' | filecheck %s
// RUN: mirage-opt %s --pass-pipeline='builtin.module(scf-parallel-loop-tiling{parallel-loop-tile-sizes=4,8})' | filecheck %s
// RUN: mirage-opt %s -p 'scf-parallel-loop-tiling{parallel-loop-tile-sizes=4,8}' | filecheck %s

// CHECK: %[[STEP:.*]] = arith.constant 4 : index
// CHECK: arith.muli %{{.*}}, %[[STEP]] : index
func.func @loop(%n: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  "scf.parallel"(%zero, %zero, %n, %n, %one, %one) <{operandSegmentSizes = array<i32: 2, 2, 2, 0>}> ({
  ^bb0(%i: index, %j: index):
    "test.op"(%i, %j) : (index, index) -> ()
    "scf.reduce"() : () -> ()
  }) : (index, index, index, index, index, index) -> ()
  func.return
}
