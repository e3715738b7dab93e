// Comparisons and selections: indices exactly, data as conditions of which nothing is known.
// RUN: mirage-opt %s --split-input-file --verify-diagnostics --verify-equivalence="reference=f candidate=g" -o /dev/null

// The gradient of a maximum, with the comparison turned round.
func.func @f(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %g: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %zero = kernel.constant {value = 0.0 : f32} : tensor<1x1xf32>
  %c = kernel.compare %x, %y {predicate = "lt"} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %d = kernel.select %c, %zero, %g : (tensor<4x8xf32>, tensor<1x1xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %d : tensor<4x8xf32>
}
// expected-remark @+1 {{@g is @f: proved: the normal forms are equal; tested: equal modulo random primes at all elements}}
func.func @g(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %g: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %c = kernel.compare %y, %x {predicate = "le"} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %d = kernel.mul %c, %g : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %d : tensor<4x8xf32>
}

// -----

// Where both are equal, `lt` and `le` differ.
func.func @f(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %c = kernel.compare %x, %y {predicate = "lt"} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %c : tensor<4x8xf32>
}
// expected-error @+1 {{@g is not}}
func.func @g(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %c = kernel.compare %x, %y {predicate = "le"} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %c : tensor<4x8xf32>
}

// -----

// A rectified number is zero for half of all numbers, though never for a random residue.
func.func @f(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %z: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = kernel.relu %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = kernel.select %r, %y, %z : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %s : tensor<4x8xf32>
}
// expected-error @+1 {{@g is not @f}}
func.func @g(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %z: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %s = kernel.scale %y {factor = 1.0 : f32} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %s : tensor<4x8xf32>
}

// -----

// Whether a maximum is one of its operands depends on both.
func.func @f(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %m = kernel.max %x, %y : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %c = kernel.compare %m, %x {predicate = "eq"} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %c : tensor<4x8xf32>
}
// expected-error @+1 {{@g is not @f}}
func.func @g(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %c = kernel.scale %x {factor = 0.0 : f32} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %c : tensor<4x8xf32>
}

// -----

// What is equal is equal in any order, and to itself.
func.func @f(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %c = kernel.compare %x, %y {predicate = "eq"} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %c : tensor<4x8xf32>
}
// expected-remark @+1 {{@g is @f: proved: the normal forms are equal; tested: equal modulo random primes at all elements}}
func.func @g(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %a = kernel.compare %y, %x {predicate = "eq"} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %b = kernel.compare %y, %y {predicate = "ge"} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %c = kernel.mul %a, %b : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %c : tensor<4x8xf32>
}

// -----

// A root that data selects says nothing of where its argument is negative.
func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %zero = kernel.constant {value = 0.0 : f32} : tensor<1x1xf32>
  %c = kernel.compare %x, %zero {predicate = "gt"} : (tensor<4x8xf32>, tensor<1x1xf32>) -> tensor<4x8xf32>
  %r = kernel.sqrt %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = kernel.select %c, %r, %x : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %s : tensor<4x8xf32>
}
// expected-error @+1 {{@g may be @f or not, not proved}}
func.func @g(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %zero = kernel.constant {value = 0.0 : f32} : tensor<1x1xf32>
  %c = kernel.compare %x, %zero {predicate = "gt"} : (tensor<4x8xf32>, tensor<1x1xf32>) -> tensor<4x8xf32>
  %r = kernel.sqrt %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %q = kernel.square %r : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = kernel.select %c, %r, %q : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %s : tensor<4x8xf32>
}

// -----

// Index arithmetic, exactly: of 12 numbers those from 4 to below 8.
func.func @f(%x: tensor<12xf32>) -> tensor<12xf32> {
  %i = kernel.iota {dim = 0 : i64} : tensor<12xf32>
  %four = kernel.constant {value = 4.0 : f32} : tensor<1xf32>
  %eight = kernel.constant {value = 8.0 : f32} : tensor<1xf32>
  %zero = kernel.constant {value = 0.0 : f32} : tensor<1xf32>
  %a = kernel.compare %i, %four {predicate = "ge"} : (tensor<12xf32>, tensor<1xf32>) -> tensor<12xf32>
  %b = kernel.compare %i, %eight {predicate = "lt"} : (tensor<12xf32>, tensor<1xf32>) -> tensor<12xf32>
  %c = kernel.min %a, %b : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
  %y = kernel.select %c, %x, %zero : (tensor<12xf32>, tensor<12xf32>, tensor<1xf32>) -> tensor<12xf32>
  func.return %y : tensor<12xf32>
}
// expected-remark @+1 {{@g is @f: proved: the normal forms are equal; tested: equal modulo random primes at all elements}}
func.func @g(%x: tensor<12xf32>) -> tensor<12xf32> {
  %zero = kernel.constant {value = 0.0 : f32} : tensor<4xf32>
  %p = kernel.slice %x {offsets = array<i64: 4>, sizes = array<i64: 4>, strides = array<i64: 1>} : (tensor<12xf32>) -> tensor<4xf32>
  %y = kernel.concat %zero, %p, %zero {dim = 0 : i64} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<12xf32>
  func.return %y : tensor<12xf32>
}

// -----

// The maximum over nothing is -inf, which is not subtracted.
func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = kernel.scale %x {factor = 0.0 : f32} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}
// expected-error @+1 {{the maximum of values all of which may be -inf is taken}}
func.func @g(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %i = kernel.iota {dim = 0 : i64} : tensor<4x1xf32>
  %j = kernel.iota {dim = 1 : i64} : tensor<1x8xf32>
  %low = kernel.constant {value = 0xFF800000 : f32} : tensor<1x1xf32>
  %c = kernel.compare %j, %i {predicate = "lt"} : (tensor<1x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %s = kernel.select %c, %x, %low : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<1x1xf32>) -> tensor<4x8xf32>
  %m = kernel.reduce_max %s {dims = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %d = kernel.sub %m, %m : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  %y = kernel.broadcast %d : (tensor<4x1xf32>) -> tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}

// -----

// Exponentials of what is masked are zeros.
func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %j = kernel.iota {dim = 1 : i64} : tensor<1x8xf32>
  %five = kernel.constant {value = 5.0 : f32} : tensor<1x1xf32>
  %low = kernel.constant {value = 0xFF800000 : f32} : tensor<1x1xf32>
  %c = kernel.compare %j, %five {predicate = "lt"} : (tensor<1x8xf32>, tensor<1x1xf32>) -> tensor<1x8xf32>
  %s = kernel.select %c, %x, %low : (tensor<1x8xf32>, tensor<4x8xf32>, tensor<1x1xf32>) -> tensor<4x8xf32>
  %y = kernel.softmax %s {dim = 1 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}
// expected-remark @+1 {{@g is @f: proved: the normal forms are equal; tested: equal}}
func.func @g(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %p = kernel.slice %x {offsets = array<i64: 0, 0>, sizes = array<i64: 4, 5>, strides = array<i64: 1, 1>} : (tensor<4x8xf32>) -> tensor<4x5xf32>
  %s = kernel.softmax %p {dim = 1 : i64} : (tensor<4x5xf32>) -> tensor<4x5xf32>
  %zero = kernel.constant {value = 0.0 : f32} : tensor<4x3xf32>
  %y = kernel.concat %s, %zero {dim = 1 : i64} : (tensor<4x5xf32>, tensor<4x3xf32>) -> tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}

// -----

// How often a condition holds is no condition.
func.func @f(%w: tensor<2x64xf32>, %x: tensor<1xf32>, %y: tensor<1xf32>) -> tensor<1xf32> {
  %a = kernel.slice %w {offsets = array<i64: 0, 0>, sizes = array<i64: 2, 32>, strides = array<i64: 1, 1>} : (tensor<2x64xf32>) -> tensor<2x32xf32>
  %b = kernel.slice %w {offsets = array<i64: 0, 32>, sizes = array<i64: 2, 32>, strides = array<i64: 1, 1>} : (tensor<2x64xf32>) -> tensor<2x32xf32>
  %d = kernel.sub %a, %b : (tensor<2x32xf32>, tensor<2x32xf32>) -> tensor<2x32xf32>
  %m = kernel.reduce_max %d {dims = array<i64: 1>} : (tensor<2x32xf32>) -> tensor<2x1xf32>
  %zero = kernel.constant {value = 0.0 : f32} : tensor<1x1xf32>
  %c = kernel.compare %m, %zero {predicate = "lt"} : (tensor<2x1xf32>, tensor<1x1xf32>) -> tensor<2x1xf32>
  %n = kernel.reduce_sum %c {dims = array<i64: 0>} : (tensor<2x1xf32>) -> tensor<1x1xf32>
  %r = kernel.reshape %n : (tensor<1x1xf32>) -> tensor<1xf32>
  %s = kernel.select %r, %x, %y : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  func.return %s : tensor<1xf32>
}
// expected-error @+1 {{@g may be @f or not, not proved}}
func.func @g(%w: tensor<2x64xf32>, %x: tensor<1xf32>, %y: tensor<1xf32>) -> tensor<1xf32> {
  %a = kernel.slice %w {offsets = array<i64: 0, 0>, sizes = array<i64: 2, 32>, strides = array<i64: 1, 1>} : (tensor<2x64xf32>) -> tensor<2x32xf32>
  %b = kernel.slice %w {offsets = array<i64: 0, 32>, sizes = array<i64: 2, 32>, strides = array<i64: 1, 1>} : (tensor<2x64xf32>) -> tensor<2x32xf32>
  %d = kernel.sub %a, %b : (tensor<2x32xf32>, tensor<2x32xf32>) -> tensor<2x32xf32>
  %m = kernel.reduce_max %d {dims = array<i64: 1>} : (tensor<2x32xf32>) -> tensor<2x1xf32>
  %zero = kernel.constant {value = 0.0 : f32} : tensor<1x1xf32>
  %c = kernel.compare %m, %zero {predicate = "lt"} : (tensor<2x1xf32>, tensor<1x1xf32>) -> tensor<2x1xf32>
  %n = kernel.reduce_sum %c {dims = array<i64: 0>} : (tensor<2x1xf32>) -> tensor<1x1xf32>
  %r = kernel.reshape %n : (tensor<1x1xf32>) -> tensor<1xf32>
  %e = kernel.sub %x, %y : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  %t = kernel.mul %r, %e : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  %s = kernel.add %y, %t : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  func.return %s : tensor<1xf32>
}
