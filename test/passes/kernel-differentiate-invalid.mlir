// RUN: mirage-opt --kernel-differentiate --split-input-file --verify-diagnostics %s
// RUN: not mirage-opt --kernel-differentiate="function=g" %S/kernel-differentiate.mlir 2>&1 | filecheck %s
// RUN: not mirage-opt --kernel-differentiate="function=f inputs=0,2" %S/kernel-differentiate.mlir 2>&1 | filecheck %s --check-prefix=INPUTS

// CHECK: error: 'builtin.module' op has no function @g
// INPUTS: kernel-differentiate.mlir:11:1: error: 'func.func' op has 2 arguments; inputs are 0, 2
// expected-error @below {{'func.func' op has a gradient program already: @f__backward}}
func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  func.return %x : tensor<8xf32>
}
func.func @f__backward(%x: tensor<8xf32>) -> tensor<8xf32> {
  func.return %x : tensor<8xf32>
}

// -----

func.func @f(%x: tensor<8x16xf16>) -> tensor<8x16xf16> {
  // expected-error @below {{'kernel.graph_defined' op has no gradient: differentiate the program before it is superoptimized}}
  %y = kernel.graph_defined ins(%x) grid [2] {
  ^bb0(%a: tensor<8x16xf16>):
    %t = threadblock.load %a grid_map [0] : (tensor<8x16xf16>) -> !threadblock.tile<4x16xf16>
    threadblock.store %t grid_map [0] : !threadblock.tile<4x16xf16>
  } : (tensor<8x16xf16>) -> tensor<8x16xf16>
  func.return %y : tensor<8x16xf16>
}

// -----

// A declaration has no gradient; what has branches has none either.
func.func private @declared(tensor<4xf32>) -> tensor<4xf32>
// expected-error @below {{'func.func' op has several blocks; only straight-line functions can be differentiated}}
func.func @several_blocks(%x: tensor<8xf32>) -> tensor<8xf32> {
  %o = kernel.relu %x : (tensor<8xf32>) -> tensor<8xf32>
  cf.br ^bb1
^bb1:
  func.return %o : tensor<8xf32>
}
