// `floor`, `ceil` and `round` are functions of which nothing is known but that equal arguments have
// equal results.
// RUN: mirage-opt %s --split-input-file --verify-diagnostics --verify-equivalence="reference=f candidate=g" -o /dev/null

// Arguments may be computed in another way.
func.func @f(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %s = kernel.add %x, %y : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %d = kernel.add %s, %s : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %r = kernel.round %d : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}
// expected-remark @+1 {{@g is @f: proved: the normal forms are equal; tested: equal modulo random primes at all elements}}
func.func @g(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %s = kernel.add %y, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %d = kernel.scale %s {factor = 2.0 : f32} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %r = kernel.round %d : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// -----

// One is not the other.
func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = kernel.floor %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}
// expected-error @+1 {{@g is not @f}}
func.func @g(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = kernel.ceil %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// -----

// A factor does not move out.
func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %s = kernel.scale %x {factor = 2.0 : f32} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %r = kernel.floor %s : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}
// expected-error @+1 {{@g is not @f}}
func.func @g(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = kernel.floor %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = kernel.scale %r {factor = 2.0 : f32} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %s : tensor<4x8xf32>
}

// -----

// The floor is 0 on whole intervals, and not only here and there: nothing may be divided by it.
func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %s = kernel.scale %x {factor = 1.0 : f32} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %s : tensor<4x8xf32>
}
// expected-error @+1 {{@g may be @f or not}}
func.func @g(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = kernel.floor %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %p = kernel.mul %x, %r : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %q = kernel.div %p, %r : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %q : tensor<4x8xf32>
}
