// `neg`, `abs`, `min` and `erf`: what they mean, and what differs a little and is refused.
// RUN: mirage-opt %s --split-input-file --verify-diagnostics --verify-equivalence="reference=f candidate=g" -o /dev/null

// The smaller of two numbers is the negative of the larger of their negatives.
func.func @f(%x: tensor<4x8xf32>, %y: tensor<1x8xf32>) -> tensor<4x8xf32> {
  %m = kernel.min %x, %y : (tensor<4x8xf32>, tensor<1x8xf32>) -> tensor<4x8xf32>
  func.return %m : tensor<4x8xf32>
}
// expected-remark @+1 {{@g is @f: proved: the normal forms are equal; tested: equal modulo random primes at all elements}}
func.func @g(%x: tensor<4x8xf32>, %y: tensor<1x8xf32>) -> tensor<4x8xf32> {
  %a = kernel.neg %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %b = kernel.neg %y : (tensor<1x8xf32>) -> tensor<1x8xf32>
  %c = kernel.max %b, %a : (tensor<1x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %m = kernel.neg %c : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %m : tensor<4x8xf32>
}

// -----

// Not of the numbers themselves.
func.func @f(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %m = kernel.min %x, %y : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %m : tensor<4x8xf32>
}
// expected-error @+1 {{@g is not @f}}
func.func @g(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %m = kernel.max %x, %y : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %m : tensor<4x8xf32>
}

// -----

// Minima in another order, one of them twice.
func.func @f(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %z: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %a = kernel.min %x, %y : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %b = kernel.min %a, %z : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %b : tensor<4x8xf32>
}
// expected-remark @+1 {{@g is @f: proved: the normal forms are equal; tested: equal modulo random primes at all elements}}
func.func @g(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %z: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %a = kernel.min %z, %y : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %b = kernel.min %x, %a : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %b : tensor<4x8xf32>
}

// -----

// A magnitude has no sign.
func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = kernel.abs %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}
// expected-remark @+1 {{@g is @f: proved: the normal forms are equal; tested: equal modulo random primes at all elements}}
func.func @g(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %n = kernel.neg %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %y = kernel.abs %n : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}

// -----

func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = kernel.abs %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}
// expected-error @+1 {{@g is not @f}}
func.func @g(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = kernel.relu %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}

// -----

// `gelu` is made of the error function.
func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = kernel.gelu %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}
// expected-remark @+1 {{@g is @f: proved: the normal forms are equal}}
func.func @g(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %s = kernel.scale %x {factor = 0.70710678 : f32} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %e = kernel.erf %s : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %h = kernel.scale %x {factor = 0.5 : f32} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %p = kernel.mul %h, %e : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %y = kernel.add %h, %p : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}

// -----

func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = kernel.erf %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}
// expected-error @+1 {{@g is not @f}}
func.func @g(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = kernel.tanh %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}
