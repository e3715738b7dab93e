// `softcap` is `cap * tanh(x / cap)`; what differs from it a little is refused.
// RUN: mirage-opt %s --split-input-file --verify-diagnostics --verify-equivalence="reference=f candidate=g" -o /dev/null

func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = kernel.softcap %x {cap = 32.0 : f32} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}
// expected-remark @+1 {{@g is @f: proved: the normal forms are equal}}
func.func @g(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %s = kernel.scale %x {factor = 0.03125 : f32} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %t = kernel.tanh %s : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %y = kernel.scale %t {factor = 32.0 : f32} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}

// -----

// Without the factor behind tanh.
func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = kernel.softcap %x {cap = 32.0 : f32} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}
// expected-error @+1 {{@g is not @f}}
func.func @g(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %s = kernel.scale %x {factor = 0.03125 : f32} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %y = kernel.tanh %s : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}

// -----

// Another cap.
func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = kernel.softcap %x {cap = 32.0 : f32} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}
// expected-error @+1 {{@g is not @f}}
func.func @g(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = kernel.softcap %x {cap = 31.0 : f32} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}

// -----

// A clamp, which it is near 0 and far away.
func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = kernel.softcap %x {cap = 32.0 : f32} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}
// expected-error @+1 {{@g is not @f}}
func.func @g(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = kernel.clamp %x {min = -32.0 : f32, max = 32.0 : f32} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}
