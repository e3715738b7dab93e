// Roots, logarithms and quotients that data selects: a candidate may take them in the same cases.
// RUN: mirage-opt %s --split-input-file --verify-diagnostics --verify-equivalence="reference=f candidate=g" -o /dev/null

func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %zero = kernel.constant {value = 0.0 : f32} : tensor<1x1xf32>
  %c = kernel.compare %x, %zero {predicate = "gt"} : (tensor<4x8xf32>, tensor<1x1xf32>) -> tensor<4x8xf32>
  %r = kernel.log %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = kernel.select %c, %r, %x : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %s : tensor<4x8xf32>
}
// expected-remark @+1 {{@g is @f: proved: the normal forms are equal}}
func.func @g(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %zero = kernel.constant {value = 0.0 : f32} : tensor<1x1xf32>
  %c = kernel.compare %x, %zero {predicate = "le"} : (tensor<4x8xf32>, tensor<1x1xf32>) -> tensor<4x8xf32>
  %r = kernel.log %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = kernel.select %c, %x, %r : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %s : tensor<4x8xf32>
}

// -----

// Zero times a root that is not defined is no zero.
func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %zero = kernel.constant {value = 0.0 : f32} : tensor<1x1xf32>
  %c = kernel.compare %x, %zero {predicate = "gt"} : (tensor<4x8xf32>, tensor<1x1xf32>) -> tensor<4x8xf32>
  %r = kernel.sqrt %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = kernel.select %c, %r, %zero : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<1x1xf32>) -> tensor<4x8xf32>
  func.return %s : tensor<4x8xf32>
}
// expected-error @+1 {{@g may be @f or not, not proved: normal forms: the candidate alone is not defined where something is negative}}
func.func @g(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %zero = kernel.constant {value = 0.0 : f32} : tensor<1x1xf32>
  %c = kernel.compare %x, %zero {predicate = "gt"} : (tensor<4x8xf32>, tensor<1x1xf32>) -> tensor<4x8xf32>
  %r = kernel.sqrt %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = kernel.mul %c, %r : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %s : tensor<4x8xf32>
}

// -----

// Other cases.
func.func @f(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %c = kernel.compare %x, %y {predicate = "gt"} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %r = kernel.sqrt %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = kernel.select %c, %r, %x : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %s : tensor<4x8xf32>
}
// expected-error @+1 {{@g may be @f or not, not proved: normal forms: the candidate alone is not defined where something is negative}}
func.func @g(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %c = kernel.compare %x, %y {predicate = "gt"} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %d = kernel.compare %y, %x {predicate = "gt"} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %r = kernel.sqrt %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %e = kernel.select %d, %r, %x : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %t = kernel.sub %e, %e : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = kernel.select %c, %r, %x : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %u = kernel.add %s, %t : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %u : tensor<4x8xf32>
}

// -----

// Cases of another element: that of the first row may be another one.
func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %zero = kernel.constant {value = 0.0 : f32} : tensor<1x1xf32>
  %c = kernel.compare %x, %zero {predicate = "gt"} : (tensor<4x8xf32>, tensor<1x1xf32>) -> tensor<4x8xf32>
  %r = kernel.sqrt %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = kernel.select %c, %r, %x : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %s : tensor<4x8xf32>
}
// expected-error @+1 {{@g may be @f or not, not proved: normal forms: an element of the candidate is not defined where something is negative that only other elements of the reference need}}
func.func @g(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %zero = kernel.constant {value = 0.0 : f32} : tensor<1x1xf32>
  %c = kernel.compare %x, %zero {predicate = "gt"} : (tensor<4x8xf32>, tensor<1x1xf32>) -> tensor<4x8xf32>
  %r = kernel.sqrt %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = kernel.select %c, %r, %x : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %t = kernel.slice %s {offsets = array<i64: 0, 0>, sizes = array<i64: 1, 8>, strides = array<i64: 1, 1>} : (tensor<4x8xf32>) -> tensor<1x8xf32>
  %u = kernel.add %s, %t : (tensor<4x8xf32>, tensor<1x8xf32>) -> tensor<4x8xf32>
  %v = kernel.sub %u, %t : (tensor<4x8xf32>, tensor<1x8xf32>) -> tensor<4x8xf32>
  func.return %v : tensor<4x8xf32>
}

// -----

// Sums of what is selected, in parts, and a quotient in two cases at once.
func.func @f(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x1xf32> {
  %zero = kernel.constant {value = 0.0 : f32} : tensor<1x1xf32>
  %c = kernel.compare %x, %zero {predicate = "gt"} : (tensor<4x8xf32>, tensor<1x1xf32>) -> tensor<4x8xf32>
  %d = kernel.compare %y, %zero {predicate = "ge"} : (tensor<4x8xf32>, tensor<1x1xf32>) -> tensor<4x8xf32>
  %l = kernel.log %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %r = kernel.sqrt %y : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %p = kernel.mul %l, %r : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %q = kernel.select %c, %p, %zero : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<1x1xf32>) -> tensor<4x8xf32>
  %s = kernel.select %d, %q, %x : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %t = kernel.reduce_sum %s {dims = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  func.return %t : tensor<4x1xf32>
}
// expected-remark @+1 {{@g is @f: proved: the normal forms are equal}}
func.func @g(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x1xf32> {
  %zero = kernel.constant {value = 0.0 : f32} : tensor<1x1xf32>
  %c = kernel.compare %x, %zero {predicate = "gt"} : (tensor<4x8xf32>, tensor<1x1xf32>) -> tensor<4x8xf32>
  %d = kernel.compare %y, %zero {predicate = "lt"} : (tensor<4x8xf32>, tensor<1x1xf32>) -> tensor<4x8xf32>
  %l = kernel.log %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %r = kernel.sqrt %y : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %p = kernel.mul %l, %r : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %q = kernel.select %c, %p, %zero : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<1x1xf32>) -> tensor<4x8xf32>
  %s = kernel.select %d, %x, %q : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %a = kernel.slice %s {offsets = array<i64: 0, 0>, sizes = array<i64: 4, 4>, strides = array<i64: 1, 1>} : (tensor<4x8xf32>) -> tensor<4x4xf32>
  %b = kernel.slice %s {offsets = array<i64: 0, 4>, sizes = array<i64: 4, 4>, strides = array<i64: 1, 1>} : (tensor<4x8xf32>) -> tensor<4x4xf32>
  %e = kernel.add %a, %b : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %t = kernel.reduce_sum %e {dims = array<i64: 1>} : (tensor<4x4xf32>) -> tensor<4x1xf32>
  func.return %t : tensor<4x1xf32>
}

// -----

// Where a condition has no value a selection by it has one: the second. The other way round it is the
// first, in the case of the outer selection too.
func.func @f(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %z: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %zero = kernel.constant {value = 0.0 : f32} : tensor<1x1xf32>
  %c = kernel.compare %z, %zero {predicate = "gt"} : (tensor<4x8xf32>, tensor<1x1xf32>) -> tensor<4x8xf32>
  %r = kernel.sqrt %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %d = kernel.compare %r, %y {predicate = "gt"} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %i = kernel.select %d, %y, %z : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = kernel.select %c, %i, %x : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %s : tensor<4x8xf32>
}
// expected-error @+1 {{@g is not @f}}
func.func @g(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %z: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %zero = kernel.constant {value = 0.0 : f32} : tensor<1x1xf32>
  %c = kernel.compare %z, %zero {predicate = "gt"} : (tensor<4x8xf32>, tensor<1x1xf32>) -> tensor<4x8xf32>
  %r = kernel.sqrt %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %d = kernel.compare %r, %y {predicate = "le"} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %i = kernel.select %d, %z, %y : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = kernel.select %c, %i, %x : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %s : tensor<4x8xf32>
}

// -----

// What is kept of a softmax, divided by its sum: the sum of the exponentials that are kept is zero
// where that of the softmax is.

func.func @f(%x: tensor<3x5xf32>, %t: tensor<3x1xf32>) -> tensor<3x5xf32> {
  %p = kernel.softmax %x {dim = 1 : i64} : (tensor<3x5xf32>) -> tensor<3x5xf32>
  %m = kernel.compare %p, %t {predicate = "ge"} : (tensor<3x5xf32>, tensor<3x1xf32>) -> tensor<3x5xf32>
  %k = kernel.mul %p, %m : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>
  %s = kernel.reduce_sum %k {dims = array<i64: 1>} : (tensor<3x5xf32>) -> tensor<3x1xf32>
  %y = kernel.div %k, %s : (tensor<3x5xf32>, tensor<3x1xf32>) -> tensor<3x5xf32>
  func.return %y : tensor<3x5xf32>
}
// expected-remark @+1 {{@g is @f: proved: the normal forms are equal}}
func.func @g(%x: tensor<3x5xf32>, %t: tensor<3x1xf32>) -> tensor<3x5xf32> {
  %h = kernel.reduce_max %x {dims = array<i64: 1>} : (tensor<3x5xf32>) -> tensor<3x1xf32>
  %d = kernel.sub %x, %h : (tensor<3x5xf32>, tensor<3x1xf32>) -> tensor<3x5xf32>
  %e = kernel.exp %d : (tensor<3x5xf32>) -> tensor<3x5xf32>
  %z = kernel.reduce_sum %e {dims = array<i64: 1>} : (tensor<3x5xf32>) -> tensor<3x1xf32>
  %p = kernel.div %e, %z : (tensor<3x5xf32>, tensor<3x1xf32>) -> tensor<3x5xf32>
  %m = kernel.compare %p, %t {predicate = "ge"} : (tensor<3x5xf32>, tensor<3x1xf32>) -> tensor<3x5xf32>
  %k = kernel.mul %e, %m : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>
  %s = kernel.reduce_sum %k {dims = array<i64: 1>} : (tensor<3x5xf32>) -> tensor<3x1xf32>
  %y = kernel.div %k, %s : (tensor<3x5xf32>, tensor<3x1xf32>) -> tensor<3x5xf32>
  func.return %y : tensor<3x5xf32>
}

// -----

// Of what is above the threshold there may be nothing where something is on it.
func.func @f(%x: tensor<3x5xf32>, %t: tensor<3x1xf32>) -> tensor<3x5xf32> {
  %p = kernel.softmax %x {dim = 1 : i64} : (tensor<3x5xf32>) -> tensor<3x5xf32>
  %m = kernel.compare %p, %t {predicate = "ge"} : (tensor<3x5xf32>, tensor<3x1xf32>) -> tensor<3x5xf32>
  %k = kernel.mul %p, %m : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>
  %s = kernel.reduce_sum %k {dims = array<i64: 1>} : (tensor<3x5xf32>) -> tensor<3x1xf32>
  %y = kernel.div %k, %s : (tensor<3x5xf32>, tensor<3x1xf32>) -> tensor<3x5xf32>
  func.return %y : tensor<3x5xf32>
}
// expected-error @+1 {{@g may be @f or not, not proved: normal forms: the candidate alone is not defined where something is zero}}
func.func @g(%x: tensor<3x5xf32>, %t: tensor<3x1xf32>) -> tensor<3x5xf32> {
  %p = kernel.softmax %x {dim = 1 : i64} : (tensor<3x5xf32>) -> tensor<3x5xf32>
  %m = kernel.compare %p, %t {predicate = "ge"} : (tensor<3x5xf32>, tensor<3x1xf32>) -> tensor<3x5xf32>
  %n = kernel.compare %p, %t {predicate = "gt"} : (tensor<3x5xf32>, tensor<3x1xf32>) -> tensor<3x5xf32>
  %k = kernel.mul %p, %m : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>
  %s = kernel.reduce_sum %k {dims = array<i64: 1>} : (tensor<3x5xf32>) -> tensor<3x1xf32>
  %a = kernel.mul %p, %n : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>
  %b = kernel.reduce_sum %a {dims = array<i64: 1>} : (tensor<3x5xf32>) -> tensor<3x1xf32>
  %o = kernel.div %b, %b : (tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
  %q = kernel.div %k, %s : (tensor<3x5xf32>, tensor<3x1xf32>) -> tensor<3x5xf32>
  %y = kernel.mul %q, %o : (tensor<3x5xf32>, tensor<3x1xf32>) -> tensor<3x5xf32>
  func.return %y : tensor<3x5xf32>
}

// -----

// A divisor that is a product of two sums, of which one is never zero.
func.func @f(%x: tensor<3x5xf32>, %t: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %zero = kernel.constant {value = 0.0 : f32} : tensor<1x1xf32>
  %p = kernel.softmax %x {dim = 1 : i64} : (tensor<3x5xf32>) -> tensor<3x5xf32>
  %m = kernel.compare %t, %zero {predicate = "ge"} : (tensor<3x5xf32>, tensor<1x1xf32>) -> tensor<3x5xf32>
  %k = kernel.mul %p, %m : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>
  %s = kernel.reduce_sum %k {dims = array<i64: 1>} : (tensor<3x5xf32>) -> tensor<3x1xf32>
  %y = kernel.div %k, %s : (tensor<3x5xf32>, tensor<3x1xf32>) -> tensor<3x5xf32>
  func.return %y : tensor<3x5xf32>
}
// expected-remark @+1 {{@g is @f: proved: the normal forms are equal}}
func.func @g(%x: tensor<3x5xf32>, %t: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %zero = kernel.constant {value = 0.0 : f32} : tensor<1x1xf32>
  %h = kernel.reduce_max %x {dims = array<i64: 1>} : (tensor<3x5xf32>) -> tensor<3x1xf32>
  %d = kernel.sub %x, %h : (tensor<3x5xf32>, tensor<3x1xf32>) -> tensor<3x5xf32>
  %e = kernel.exp %d : (tensor<3x5xf32>) -> tensor<3x5xf32>
  %z = kernel.reduce_sum %e {dims = array<i64: 1>} : (tensor<3x5xf32>) -> tensor<3x1xf32>
  %m = kernel.compare %t, %zero {predicate = "ge"} : (tensor<3x5xf32>, tensor<1x1xf32>) -> tensor<3x5xf32>
  %k = kernel.mul %e, %m : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>
  %s = kernel.reduce_sum %k {dims = array<i64: 1>} : (tensor<3x5xf32>) -> tensor<3x1xf32>
  %both = kernel.mul %z, %s : (tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
  %r = kernel.div %z, %both : (tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
  %y = kernel.mul %k, %r : (tensor<3x5xf32>, tensor<3x1xf32>) -> tensor<3x5xf32>
  func.return %y : tensor<3x5xf32>
}

// -----

// Of a product that may be zero in both.
func.func @f(%x: tensor<3x5xf32>, %t: tensor<3x5xf32>) -> tensor<3x1xf32> {
  %zero = kernel.constant {value = 0.0 : f32} : tensor<1x1xf32>
  %m = kernel.compare %t, %zero {predicate = "ge"} : (tensor<3x5xf32>, tensor<1x1xf32>) -> tensor<3x5xf32>
  %k = kernel.mul %x, %m : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>
  %s = kernel.reduce_sum %k {dims = array<i64: 1>} : (tensor<3x5xf32>) -> tensor<3x1xf32>
  func.return %s : tensor<3x1xf32>
}
// expected-error @+1 {{@g may be @f or not, not proved: normal forms: the candidate alone is not defined where something is zero}}
func.func @g(%x: tensor<3x5xf32>, %t: tensor<3x5xf32>) -> tensor<3x1xf32> {
  %zero = kernel.constant {value = 0.0 : f32} : tensor<1x1xf32>
  %e = kernel.exp %x : (tensor<3x5xf32>) -> tensor<3x5xf32>
  %z = kernel.reduce_sum %e {dims = array<i64: 1>} : (tensor<3x5xf32>) -> tensor<3x1xf32>
  %m = kernel.compare %t, %zero {predicate = "ge"} : (tensor<3x5xf32>, tensor<1x1xf32>) -> tensor<3x5xf32>
  %n = kernel.reduce_sum %m {dims = array<i64: 1>} : (tensor<3x5xf32>) -> tensor<3x1xf32>
  %k = kernel.mul %x, %m : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>
  %s = kernel.reduce_sum %k {dims = array<i64: 1>} : (tensor<3x5xf32>) -> tensor<3x1xf32>
  %both = kernel.mul %z, %n : (tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
  %r = kernel.div %both, %both : (tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
  %y = kernel.mul %s, %r : (tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
  func.return %y : tensor<3x1xf32>
}
