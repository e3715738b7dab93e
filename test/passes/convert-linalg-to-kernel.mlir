// Whole functions, parts of a host's function, and what is in the way.
// RUN: mirage-opt --convert-linalg-to-kernel %s --verify-diagnostics --split-input-file
// RUN: mirage-opt --convert-linalg-to-kernel %s --split-input-file | filecheck %s

// CHECK-LABEL: func.func @whole
// CHECK-NEXT:    %0 = kernel.matmul %arg0, %arg1 : (tensor<4x8xf16>, tensor<8x6xf16>) -> tensor<4x6xf32>
// CHECK-NEXT:    func.return %0
func.func @whole(%x: tensor<4x8xf16>, %w: tensor<8x6xf16>) -> tensor<4x6xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x6xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
  %y = linalg.matmul ins(%x, %w : tensor<4x8xf16>, tensor<8x6xf16>) outs(%z : tensor<4x6xf32>) -> tensor<4x6xf32>
  func.return %y : tensor<4x6xf32>
}

// -----

// In a loop of the host; the scalar argument and the loop stay.
// CHECK-LABEL: func.func @loop_part_0(%arg4: tensor<4x4xf32>, %arg0: tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK-NEXT:    kernel.matmul %arg4, %arg0
// CHECK-NEXT:    kernel.tanh
// CHECK:       func.func @loop(%arg0: tensor<4x4xf32>, %arg1: index, %arg2: f32)
// CHECK:         scf.for
// CHECK-NEXT:      func.call @loop_part_0(%arg4, %arg0)
// CHECK-NEXT:      scf.yield
// expected-remark @+1 {{@loop stays a function of the host: 1 part of it became a function that it calls}}
func.func @loop(%a: tensor<4x4xf32>, %n: index, %s: f32) -> tensor<4x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x4xf32>
  %z = linalg.fill ins(%c : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  // expected-remark @+1 {{'scf.for' op has no counterpart among the operators of the kernel dialect}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a) -> (tensor<4x4xf32>) {
    %m = linalg.matmul ins(%x, %a : tensor<4x4xf32>, tensor<4x4xf32>) outs(%z : tensor<4x4xf32>) -> tensor<4x4xf32>
    %t = linalg.tanh ins(%m : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
    scf.yield %t : tensor<4x4xf32>
  }
  func.return %r : tensor<4x4xf32>
}

// -----

// CHECK-LABEL: func.func @nothing
// CHECK:         math.atan
// expected-remark @+1 {{@nothing stays a function of the host: nothing of it was converted}}
func.func @nothing(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %e = tensor.empty() : tensor<4x4xf32>
  %t = linalg.map ins(%a : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) (%x: f32, %o: f32) {
    // expected-remark @+1 {{'math.atan' op has no counterpart among the operators of the kernel dialect}}
    %y = math.atan %x : f32
    linalg.yield %y : f32
  }
  func.return %t : tensor<4x4xf32>
}

// -----

// What nobody set is not read.
// expected-remark @+1 {{nothing of it was converted}}
func.func @unset(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %e = tensor.empty() : tensor<4x4xf32>
  // expected-remark @+1 {{'linalg.matmul' op reads elements that tensor.empty leaves unset}}
  %t = linalg.matmul ins(%a, %a : tensor<4x4xf32>, tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %t : tensor<4x4xf32>
}

// -----

// The name of a part is one that no function has.
// CHECK-LABEL: func.func private @taken_part_0(
// CHECK:       func.func @taken_part_0_1(
// CHECK:       func.func @taken(
// CHECK:         func.call @taken_part_0_1
func.func private @taken_part_0(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  func.return %a : tensor<4x4xf32>
}
// expected-remark @+1 {{1 part of it}}
func.func @taken(%a: tensor<4x4xf32>, %s: f32) -> (tensor<4x4xf32>, f32) {
  %e = tensor.empty() : tensor<4x4xf32>
  %t = linalg.exp ins(%a : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  // expected-remark @+1 {{'func.return' op reads a scalar that no kernel computes, of type f32}}
  func.return %t, %s : tensor<4x4xf32>, f32
}

// -----

// Operators of ours among those of linalg stay what they are.
// CHECK-LABEL: func.func @mixed
// CHECK-NEXT:    kernel.relu %x
// CHECK-NEXT:    kernel.exp
// CHECK-NEXT:    kernel.sqrt
// CHECK-NEXT:    func.return
func.func @mixed(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %y = kernel.relu %x : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %e = tensor.empty() : tensor<4x4xf32>
  %t = linalg.exp ins(%y : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %z = kernel.sqrt %t : (tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %z : tensor<4x4xf32>
}
