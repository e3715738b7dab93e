// RUN: mirage-opt --verify-diagnostics --split-input-file %s

func.func @f(%a: tensor<4x8xf32>, %b: tensor<4x8xf16>) {
  // expected-error @below {{'stablehlo.add' op}}
  %c = "stablehlo.add"(%a, %b) : (tensor<4x8xf32>, tensor<4x8xf16>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x?xf32>) {
  // expected-error @below {{'stablehlo.abs' op gives elements of type f16 for f32}}
  %c = "stablehlo.abs"(%a) : (tensor<4x?xf32>) -> tensor<4x?xf16>
  func.return
}

// -----

func.func @f(%a: tensor<4xcomplex<f32>>) {
  // expected-error @below {{'stablehlo.abs' op gives elements of type complex<f32> for complex<f32>}}
  %c = "stablehlo.abs"(%a) : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  func.return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // expected-error @below {{'stablehlo.broadcast_in_dim' op cannot broadcast size 4 to 5, dim 1}}
  %c = "stablehlo.broadcast_in_dim"(%a) <{broadcast_dimensions = array<i64: 1>}> : (tensor<4xf32>) -> tensor<4x5xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>) {
  // expected-error @below {{'stablehlo.slice' op result shape must be 3x4, got 3x8}}
  %c = "stablehlo.slice"(%a) <{start_indices = array<i64: 1, 0>, limit_indices = array<i64: 4, 8>, strides = array<i64: 1, 2>}> : (tensor<4x8xf32>) -> tensor<3x8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %s: tensor<f32>) {
  // expected-error @below {{'stablehlo.pad' op result shape must be 5x8, got 6x8}}
  %c = "stablehlo.pad"(%a, %s) <{edge_padding_low = array<i64: 1, 0>, edge_padding_high = array<i64: 0, 0>, interior_padding = array<i64: 0, 0>}> : (tensor<4x8xf32>, tensor<f32>) -> tensor<6x8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) {
  // expected-error @below {{'stablehlo.dot_general' op has contracting dimensions of sizes [8] and [4]}}
  %c = "stablehlo.dot_general"(%a, %b) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>) {
  // expected-error @below {{'rows' is not one of lhs_batching_dimensions, rhs_batching_dimensions, lhs_contracting_dimensions, rhs_contracting_dimensions, once each}}
  %c = "stablehlo.dot_general"(%a, %b) <{dot_dimension_numbers = #stablehlo.dot<rows = [1]>}> : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %m: tensor<8xi1>) {
  // expected-error @below {{'stablehlo.select' op has a pred of shape 8 for tensors of 4x8}}
  %c = "stablehlo.select"(%m, %a, %a) : (tensor<8xi1>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %s: tensor<f32>) {
  // expected-error @below {{'stablehlo.reduce' op result shape must be 4}}
  %c = "stablehlo.reduce"(%a, %s) <{dimensions = array<i64: 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %z = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%z) : (tensor<f32>) -> ()
  }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>) {
  // expected-error @below {{'stablehlo.reverse' op has no dim 2: the rank is 2}}
  %c = "stablehlo.reverse"(%a) <{dimensions = array<i64: 2>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %s: tensor<f32>) {
  // expected-error @below {{'stablehlo.reduce_window' op result shape must be 2x9}}
  %c = "stablehlo.reduce_window"(%a, %s) <{padding = dense<[[0, 0], [1, 2]]> : tensor<2x2xi64>, window_dimensions = array<i64: 2, 3>, window_strides = array<i64: 2, 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    "stablehlo.return"(%x) : (tensor<f32>) -> ()
  }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %s: tensor<f32>) {
  // expected-error @below {{'stablehlo.reduce_window' op has fields for another rank than 2}}
  %c = "stablehlo.reduce_window"(%a, %s) <{window_dimensions = array<i64: 2>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    "stablehlo.return"(%x) : (tensor<f32>) -> ()
  }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<3x8xf32>
  func.return
}
