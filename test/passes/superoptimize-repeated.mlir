// A value that the program computes twice is computed once, and its parts are compared all the same.
// RUN: mirage-opt --superoptimize -v %s 2>&1 | filecheck %s

// CHECK-NOT: rejected
// CHECK: remark: verified: proved
// CHECK: func.func @masked(
func.func @masked(%x: tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>) {
  %half = kernel.constant {value = 5.0e-01 : f32} : tensor<1x1xf32>
  %low = kernel.constant {value = -1.0 : f32} : tensor<1x1xf32>
  %c = kernel.compare %x, %half {predicate = "lt"} : (tensor<4x6xf32>, tensor<1x1xf32>) -> tensor<4x6xf32>
  %a = kernel.abs %x : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %chosen = kernel.select %c, %a, %low : (tensor<4x6xf32>, tensor<4x6xf32>, tensor<1x1xf32>) -> tensor<4x6xf32>
  %again = kernel.abs %x : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %less = kernel.sub %again, %half : (tensor<4x6xf32>, tensor<1x1xf32>) -> tensor<4x6xf32>
  %d = kernel.compare %x, %less {predicate = "gt"} : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  func.return %chosen, %d : tensor<4x6xf32>, tensor<4x6xf32>
}
