// Cumulative sums as JAX writes them from version 0.11 on.
// RUN: mirage-opt --convert-stablehlo-to-kernel %s | filecheck %s

// CHECK-LABEL: @sums
// CHECK-SAME: (%a: tensor<4x8xf32>)
// CHECK-NEXT: kernel.cumsum %a {dim = 1 : i64}
// CHECK-NEXT: func.return
func.func @sums(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %s = "stablehlo.constant"() <{value = dense<0.0> : tensor<4xf32>}> : () -> tensor<4xf32>
  %b, %c = "chlo.scan"(%a, %s) <{dimension = 1 : i64, is_associative = true, is_reverse = false, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%x: tensor<4xf32>, %y: tensor<4xf32>):
    %z = "stablehlo.add"(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    "stablehlo.return"(%z, %z) : (tensor<4xf32>, tensor<4xf32>) -> ()
  }) : (tensor<4x8xf32>, tensor<4xf32>) -> (tensor<4x8xf32>, tensor<4xf32>)
  func.return %b : tensor<4x8xf32>
}

// CHECK-LABEL: @maxima_from_behind
// CHECK: %[[LAST:.*]] = kernel.constant {value = 0xff800000 : f32} : tensor<3x8xf32>
// CHECK-NEXT: kernel.concat %a, %[[LAST]] {dim = 0 : i64}
// CHECK-COUNT-3: kernel.max
// CHECK-NEXT: func.return
func.func @maxima_from_behind(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %s = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<8xf32>}> : () -> tensor<8xf32>
  %b, %c = "chlo.scan"(%a, %s) <{dimension = 0 : i64, is_associative = true, is_reverse = true, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%x: tensor<8xf32>, %y: tensor<8xf32>):
    %z = "stablehlo.maximum"(%x, %y) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    "stablehlo.return"(%z, %z) : (tensor<8xf32>, tensor<8xf32>) -> ()
  }) : (tensor<4x8xf32>, tensor<8xf32>) -> (tensor<4x8xf32>, tensor<8xf32>)
  func.return %b : tensor<4x8xf32>
}
