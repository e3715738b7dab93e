// What xDSL's own verifier and parser say has a place; what they do not check at all is checked.
// RUN: mirage-opt %s --split-input-file --verify-diagnostics

// expected-error @+2 {{operand #1 does not dominate this use}}
func.func @used_before_defined(%a: i32) -> i32 {
  %x = arith.addi %a, %y : i32
  %y = arith.addi %a, %a : i32
  func.return %x : i32
}

// -----

func.func @other_branch(%condition: i1) -> i32 {
  "cf.cond_br"(%condition) [^left, ^right] <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (i1) -> ()
^left:
  %x = "test.op"() : () -> i32
  "cf.br"() [^join] : () -> ()
^right:
  "cf.br"() [^join] : () -> ()
^join:
  // expected-error @+1 {{'func.return' op operand #0 does not dominate this use}}
  func.return %x : i32
}

// -----

func.func @inner(%n: index) -> index {
  "test.op"() ({
    %x = "test.op"() : () -> index
    "test.termop"() : () -> ()
  }) : () -> ()
  // expected-error @+1 {{use of undeclared value %x}}
  func.return %x : index
}

// -----

// The body of a module is a graph region: order means nothing there.
%a = "test.op"(%b) : (i32) -> i32
%b = "test.op"() : () -> i32

// -----

// expected-error @+1 {{expects a terminator in its block}}
"test.op"() ({
^bb0(%x: i32):
}) : () -> ()

// -----

// expected-error @+1 {{Operation no.such is not registered}}
%x, %y = "no.such"() : () -> (i32, i32)

// -----

// expected-error @+1 {{'no.such_type' is not registered}}
%x = "test.op"() : () -> !no.such_type

// -----

// expected-error @+2 {{SSA value %x is already defined}}
%x = "test.op"() : () -> i32
%x = "test.op"() : () -> i32

// -----

// The second definition is wrong, not the module.
func.func @twice(%x: i32) -> i32 {
  func.return %x : i32
}
// expected-error @+1 {{'func.func' op defines @twice, which is defined before}}
func.func @twice(%x: i32) -> i32 {
  func.return %x : i32
}

// -----

func.func @no_tensor(%x: i32) -> i32 {
  // expected-error @+1 {{'kernel.exp' op needs tensors, and a value is of type i32}}
  %y = kernel.exp %x : (i32) -> i32
  func.return %y : i32
}

// -----

func.func @buffers(%x: memref<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'kernel.add' op needs tensors, and operand 'lhs' is of type memref<4xf32>}}
  %y = "kernel.add"(%x, %x) : (memref<4xf32>, memref<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

func.func @beyond_64_bits(%x: tensor<64x64xf16>) -> tensor<64x64xf16> {
  // expected-error @+1 {{'kernel.graph_defined' op has an integer that its type cannot hold}}
  %o = kernel.graph_defined ins(%x) grid [9999999999999999999999] {
  ^bb0(%xa: tensor<64x64xf16>):
    %t = threadblock.load %xa grid_map [0] : (tensor<64x64xf16>) -> !threadblock.tile<64x64xf16>
    threadblock.store %t grid_map [0] : !threadblock.tile<64x64xf16>
  } : (tensor<64x64xf16>) -> tensor<64x64xf16>
  func.return %o : tensor<64x64xf16>
}
