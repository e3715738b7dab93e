// tensor.insert_slice: padding, a part of a tensor replaced, and concatenation.
// RUN: mirage-opt --convert-linalg-to-kernel --split-input-file %s 2> %t | filecheck %s
// RUN: filecheck %s --check-prefix=SAID < %t

// CHECK-LABEL: func.func @pad
// CHECK:       kernel.constant {value = 0.000000e+00 : f32}
// CHECK:       kernel.concat {{.*}}dim = 1{{.*}} -> tensor<2x6xf32>
// CHECK:       kernel.concat {{.*}}dim = 0{{.*}} -> tensor<4x6xf32>
// CHECK-NOT:   tensor.
func.func @pad(%x: tensor<2x3xf32>) -> tensor<4x6xf32> {
  %zero = arith.constant dense<0.0> : tensor<4x6xf32>
  %y = tensor.insert_slice %x into %zero[1, 2] [2, 3] [1, 1] : tensor<2x3xf32> into tensor<4x6xf32>
  func.return %y : tensor<4x6xf32>
}

// -----

// CHECK-LABEL: func.func @replaced
// CHECK:       %[[ROW:.*]] = kernel.slice %y {offsets = array<i64: 1, 0>, sizes = array<i64: 3, 6>
// CHECK:       kernel.concat %{{.*}}, %[[ROW]] {dim = 0
func.func @replaced(%x: tensor<6xf32>, %y: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %z = tensor.insert_slice %x into %y[0, 0] [1, 6] [1, 1] : tensor<6xf32> into tensor<4x6xf32>
  func.return %z : tensor<4x6xf32>
}

// -----

// CHECK-LABEL: func.func @joined
// CHECK-NEXT:  kernel.concat %x, %y {dim = 1 : i64} : (tensor<4x2xf32>, tensor<4x3xf32>) -> tensor<4x5xf32>
// CHECK-NEXT:  func.return
func.func @joined(%x: tensor<4x2xf32>, %y: tensor<4x3xf32>) -> tensor<4x5xf32> {
  %e = tensor.empty() : tensor<4x5xf32>
  %a = tensor.insert_slice %y into %e[0, 2] [4, 3] [1, 1] : tensor<4x3xf32> into tensor<4x5xf32>
  %b = tensor.insert_slice %x into %a[0, 0] [4, 2] [1, 1] : tensor<4x2xf32> into tensor<4x5xf32>
  func.return %b : tensor<4x5xf32>
}

// -----

// A part of it is never written.
// SAID:        remark: {{.*}} reads elements that tensor.empty leaves unset
// CHECK-LABEL: func.func @unset
// CHECK:       tensor.insert_slice
func.func @unset(%x: tensor<4x2xf32>) -> tensor<4x5xf32> {
  %e = tensor.empty() : tensor<4x5xf32>
  %a = tensor.insert_slice %x into %e[0, 2] [4, 2] [1, 1] : tensor<4x2xf32> into tensor<4x5xf32>
  func.return %a : tensor<4x5xf32>
}

// -----

// SAID:        remark: 'tensor.insert_slice' op writes elements with others between them
// CHECK-LABEL: func.func @strided
func.func @strided(%x: tensor<4x2xf32>, %y: tensor<4x5xf32>) -> tensor<4x5xf32> {
  %a = tensor.insert_slice %x into %y[0, 0] [4, 2] [1, 2] : tensor<4x2xf32> into tensor<4x5xf32>
  func.return %a : tensor<4x5xf32>
}

// -----

// SAID:        remark: 'linalg.exp' op reads tensor<4xf64>: elements of f64
// CHECK-LABEL: func.func @double
func.func @double(%x: tensor<4xf64>) -> tensor<4xf64> {
  %e = tensor.empty() : tensor<4xf64>
  %y = linalg.exp ins(%x : tensor<4xf64>) outs(%e : tensor<4xf64>) -> tensor<4xf64>
  func.return %y : tensor<4xf64>
}

// -----

// Each place of a window is a slice, and a product of its own.
// CHECK-LABEL: func.func @window
// CHECK-NOT:     linalg
// CHECK:         kernel.slice %{{.*}} {offsets = array<i64: 2>, sizes = array<i64: 6>
func.func @window(%x: tensor<8xf32>, %k: tensor<3xf32>, %z: tensor<6xf32>) -> tensor<6xf32> {
  %y = linalg.conv_1d ins(%x, %k : tensor<8xf32>, tensor<3xf32>) outs(%z : tensor<6xf32>) -> tensor<6xf32>
  func.return %y : tensor<6xf32>
}

// -----

// SAID:        remark: 'linalg.{{.*}}' op has windows of 25 elements; at most 16 are read one by one
// CHECK-LABEL: func.func @large_window
func.func @large_window(%x: tensor<8x8xf32>, %k: tensor<5x5xf32>, %z: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %y = linalg.conv_2d ins(%x, %k : tensor<8x8xf32>, tensor<5x5xf32>) outs(%z : tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %y : tensor<4x4xf32>
}
