// RUN: mirage-opt --verify-diagnostics --split-input-file %s

func.func @f(%a: tensor<4x8xf32>, %s: tensor<4xf32>) {
  // expected-error @below {{'chlo.scan' op what is carried must have shape 4, got 8}}
  %b, %c = "chlo.scan"(%a, %s) <{dimension = 1 : i64, is_associative = true, is_reverse = false, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%x: tensor<4xf32>, %y: tensor<4xf32>):
    %z = "stablehlo.add"(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    "stablehlo.return"(%z, %z) : (tensor<4xf32>, tensor<4xf32>) -> ()
  }) : (tensor<4x8xf32>, tensor<4xf32>) -> (tensor<4x8xf32>, tensor<8xf32>)
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %s: tensor<4xf32>) {
  // expected-error @below {{'chlo.scan' op has no dim 2: the rank is 2}}
  %b, %c = "chlo.scan"(%a, %s) <{dimension = 2 : i64, is_associative = true, is_reverse = false, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%x: tensor<4xf32>, %y: tensor<4xf32>):
    %z = "stablehlo.add"(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    "stablehlo.return"(%z, %z) : (tensor<4xf32>, tensor<4xf32>) -> ()
  }) : (tensor<4x8xf32>, tensor<4xf32>) -> (tensor<4x8xf32>, tensor<4xf32>)
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %s: tensor<4xf32>) {
  // expected-error @below {{'chlo.scan' op takes and gives [8, 9] slices along dim 1}}
  %b, %c = "chlo.scan"(%a, %s) <{dimension = 1 : i64, is_associative = true, is_reverse = false, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%x: tensor<4xf32>, %y: tensor<4xf32>):
    %z = "stablehlo.add"(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    "stablehlo.return"(%z, %z) : (tensor<4xf32>, tensor<4xf32>) -> ()
  }) : (tensor<4x8xf32>, tensor<4xf32>) -> (tensor<4x9xf32>, tensor<4xf32>)
  func.return
}
