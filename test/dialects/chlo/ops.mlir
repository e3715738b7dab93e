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
