// Below a diagnostic is the line that it is about, with a caret; also on stdin and in parts of a file.
// RUN: not mirage-opt %s --split-input-file --superoptimize 2>&1 >/dev/null | filecheck %s --strict-whitespace
// RUN: not mirage-opt --split-input-file --superoptimize < %s 2>&1 >/dev/null | filecheck %s --strict-whitespace

// CHECK:{{.*[>r]}}:[[# @LINE + 5]]:8: error: 'kernel.matmul' op contracts lhs dim 1 (size 64) with rhs dim 0 (size 32)
// CHECK-NEXT:{{^}}  %y = kernel.matmul %x, %w : (tensor<16x64xf16>, tensor<32x8xf16>) -> tensor<16x8xf16>{{$}}
// CHECK-NEXT:{{^}}       ^{{$}}
%x = "test.op"() : () -> tensor<16x64xf16>
%w = "test.op"() : () -> tensor<32x8xf16>
  %y = kernel.matmul %x, %w : (tensor<16x64xf16>, tensor<32x8xf16>) -> tensor<16x8xf16>

// -----

// Tabs are spaces, and the caret stands where the terminal has the character.
// CHECK-NEXT:{{.*[>r]}}:[[# @LINE + 4]]:8: error: Operation kernel.relo is not registered; did you mean 'kernel.relu'?
// CHECK-NEXT:{{^}}        %y      =  kernel.relo  %x : (tensor<4xf16>) -> tensor<4xf16>{{$}}
// CHECK-NEXT:{{^}}                   ^{{$}}
%x = "test.op"() : () -> tensor<4xf16>
	%y	=  kernel.relo	%x : (tensor<4xf16>) -> tensor<4xf16>

// -----

// A long line is cut on both sides.
// CHECK-NEXT:{{.*[>r]}}:[[# @LINE + 4]]:174: error: 'kernel.relu' op {{.*}}
// CHECK-NEXT:{{^}}...aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa} : () -> () %y = kernel.relu %x{{.*}}"test.op"(...{{$}}
// CHECK-NEXT:{{^}}                                                               ^{{$}}
%x = "test.op"() : () -> tensor<4xf16>
"test.op"() {aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa} : () -> () %y = kernel.relu %x : (tensor<4xf16>) -> tensor<8xf16> "test.op"() {aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa} : () -> ()

// -----

// The note of an error is about the same place, which is not shown again.
// CHECK-NEXT:{{.*[>r]}}:[[# @LINE + 6]]:8: error: 'math.exp' op
// CHECK-NEXT:{{^}}  %y = math.exp
// CHECK-NEXT:{{^}}       ^{{$}}
// CHECK-NEXT:{{.*[>r]}}:[[# @LINE + 3]]:8: note: a function to compile
// CHECK-NOT:math.exp
func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = math.exp %x : tensor<4x8xf32>
  %z = kernel.exp %y : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %z : tensor<4x8xf32>
}
