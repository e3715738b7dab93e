// The pass rejects nothing of its own; what is no program is rejected before it.
// RUN: mirage-opt %s --kernel-decompose --verify-diagnostics --split-input-file

func.func @weight(%x: tensor<4x8xf16>, %w: tensor<4xf16>) -> tensor<4x8xf16> {
  // expected-error @below {{'kernel.rms_norm' op weight and bias must have shape 8 like dim 1 of the input, not 4}}
  %y = kernel.rms_norm %x, %w {eps = 1.0e-05 : f32} : (tensor<4x8xf16>, tensor<4xf16>) -> tensor<4x8xf16>
  func.return %y : tensor<4x8xf16>
}

// -----

func.func @dim(%x: tensor<4x8xf16>) -> tensor<4x8xf16> {
  // expected-error @below {{'kernel.softmax' op has no dim 2: the rank is 2}}
  %y = kernel.softmax %x {dim = 2 : i64} : (tensor<4x8xf16>) -> tensor<4x8xf16>
  func.return %y : tensor<4x8xf16>
}
