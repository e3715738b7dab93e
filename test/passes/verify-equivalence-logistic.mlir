// The logistic function as programs spell it out, and as an operator.
// RUN: mirage-opt %s --split-input-file --verify-diagnostics --verify-equivalence="reference=f candidate=g" -o /dev/null

func.func @f(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %n = kernel.neg %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %e = kernel.exp %n : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %o = kernel.constant {value = 1.0 : f32} : tensor<1x1xf32>
  %p = kernel.add %e, %o : (tensor<4x8xf32>, tensor<1x1xf32>) -> tensor<4x8xf32>
  %q = kernel.div %x, %p : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %q : tensor<4x8xf32>
}
// expected-remark @+1 {{@g is @f: proved: the normal forms are equal; tested}}
func.func @g(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %q = kernel.silu %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %q : tensor<4x8xf32>
}

// -----

func.func @f(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %n = kernel.neg %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %e = kernel.exp %n : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %o = kernel.constant {value = 1.0 : f32} : tensor<1x1xf32>
  %p = kernel.add %e, %o : (tensor<4x8xf32>, tensor<1x1xf32>) -> tensor<4x8xf32>
  %q = kernel.div %o, %p : (tensor<1x1xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %q : tensor<4x8xf32>
}
// expected-remark @+1 {{@g is @f: proved: the normal forms are equal; tested}}
func.func @g(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %s = kernel.sigmoid %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %s : tensor<4x8xf32>
}

// -----

func.func @f(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %n = kernel.neg %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %e = kernel.exp %n : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %o = kernel.constant {value = 1.0 : f32} : tensor<1x1xf32>
  %p = kernel.add %e, %o : (tensor<4x8xf32>, tensor<1x1xf32>) -> tensor<4x8xf32>
  %q = kernel.div %y, %p : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %q : tensor<4x8xf32>
}
// expected-remark @+1 {{@g is @f: proved: the normal forms are equal; tested}}
func.func @g(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %s = kernel.sigmoid %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %q = kernel.mul %y, %s : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %q : tensor<4x8xf32>
}

// -----

// Of x, not of -x.
func.func @f(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %e = kernel.exp %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %o = kernel.constant {value = 1.0 : f32} : tensor<1x1xf32>
  %p = kernel.add %e, %o : (tensor<4x8xf32>, tensor<1x1xf32>) -> tensor<4x8xf32>
  %q = kernel.div %x, %p : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %q : tensor<4x8xf32>
}
// expected-error @+1 {{@g is not @f}}
func.func @g(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %q = kernel.silu %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %q : tensor<4x8xf32>
}

// -----

// Twice as steep.
func.func @f(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %n = kernel.scale %x {factor = -2.0 : f32} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %e = kernel.exp %n : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %o = kernel.constant {value = 1.0 : f32} : tensor<1x1xf32>
  %p = kernel.add %e, %o : (tensor<4x8xf32>, tensor<1x1xf32>) -> tensor<4x8xf32>
  %q = kernel.div %x, %p : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %q : tensor<4x8xf32>
}
// expected-error @+1 {{@g is not @f}}
func.func @g(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %q = kernel.silu %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %q : tensor<4x8xf32>
}

// -----

// Another number than one.
func.func @f(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %n = kernel.neg %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %e = kernel.exp %n : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %o = kernel.constant {value = 2.0 : f32} : tensor<1x1xf32>
  %p = kernel.add %e, %o : (tensor<4x8xf32>, tensor<1x1xf32>) -> tensor<4x8xf32>
  %q = kernel.div %x, %p : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %q : tensor<4x8xf32>
}
// expected-error @+1 {{@g is not @f}}
func.func @g(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %q = kernel.silu %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %q : tensor<4x8xf32>
}

// -----

// Of another tensor.
func.func @f(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %n = kernel.neg %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %e = kernel.exp %n : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %o = kernel.constant {value = 1.0 : f32} : tensor<1x1xf32>
  %p = kernel.add %e, %o : (tensor<4x8xf32>, tensor<1x1xf32>) -> tensor<4x8xf32>
  %q = kernel.div %y, %p : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %q : tensor<4x8xf32>
}
// expected-error @+1 {{@g is not @f}}
func.func @g(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %q = kernel.silu %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %q : tensor<4x8xf32>
}

// -----

// The steps lead to the same function the other way, too.
func.func @f(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %q = kernel.silu %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %q : tensor<4x8xf32>
}
// expected-remark @+1 {{@g is @f: proved: the normal forms are equal; tested}}
func.func @g(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %n = kernel.neg %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %e = kernel.exp %n : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %o = kernel.constant {value = 1.0 : f32} : tensor<1x1xf32>
  %p = kernel.add %e, %o : (tensor<4x8xf32>, tensor<1x1xf32>) -> tensor<4x8xf32>
  %q = kernel.div %x, %p : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %q : tensor<4x8xf32>
}
