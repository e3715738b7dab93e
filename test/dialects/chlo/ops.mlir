// The operations of CHLO that are read, in the generic form.
// RUN: %roundtrip
// RUN: %generic-roundtrip

func.func @unary(%a: tensor<4x8xf32>) {
  // CHECK: %erf = "chlo.erf"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %erf = "chlo.erf"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: %erfc = "chlo.erfc"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %erfc = "chlo.erfc"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: %square = "chlo.square"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %square = "chlo.square"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return
}

func.func @scan(%a: tensor<4x8xf32>, %s: tensor<4xf32>) {
  // CHECK: %b, %c = "chlo.scan"(%a, %s) <{dimension = 1 : i64, is_associative = true, is_reverse = false, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>}> ({
  // CHECK-NEXT: ^bb0(%x: tensor<4xf32>, %y: tensor<4xf32>):
  %b, %c = "chlo.scan"(%a, %s) <{dimension = 1 : i64, is_associative = true, is_reverse = false, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%x: tensor<4xf32>, %y: tensor<4xf32>):
    %z = "stablehlo.add"(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    "stablehlo.return"(%z, %z) : (tensor<4xf32>, tensor<4xf32>) -> ()
  }) : (tensor<4x8xf32>, tensor<4xf32>) -> (tensor<4x8xf32>, tensor<4xf32>)
  func.return
}
