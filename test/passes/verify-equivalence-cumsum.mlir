// Prefix sums, against programs of slices, sums and concats.
// RUN: mirage-opt %s --split-input-file --verify-diagnostics --verify-equivalence="reference=f candidate=g" -o /dev/null

// Each sum written out.
func.func @f(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %y = kernel.cumsum %x {dim = 1 : i64} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}
// expected-remark @+1 {{@g is @f: proved: the normal forms are equal; tested: equal modulo random primes at all elements}}
func.func @g(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %a = kernel.slice %x {offsets = array<i64: 0, 0>, sizes = array<i64: 3, 1>, strides = array<i64: 1, 1>} : (tensor<3x4xf32>) -> tensor<3x1xf32>
  %b = kernel.slice %x {offsets = array<i64: 0, 1>, sizes = array<i64: 3, 1>, strides = array<i64: 1, 1>} : (tensor<3x4xf32>) -> tensor<3x1xf32>
  %c = kernel.slice %x {offsets = array<i64: 0, 2>, sizes = array<i64: 3, 1>, strides = array<i64: 1, 1>} : (tensor<3x4xf32>) -> tensor<3x1xf32>
  %d = kernel.slice %x {offsets = array<i64: 0, 3>, sizes = array<i64: 3, 1>, strides = array<i64: 1, 1>} : (tensor<3x4xf32>) -> tensor<3x1xf32>
  %s0 = kernel.add %a, %b : (tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
  %s1 = kernel.add %a, %b : (tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
  %s2 = kernel.add %s1, %c : (tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
  %s3 = kernel.add %a, %b : (tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
  %s4 = kernel.add %s3, %c : (tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
  %s5 = kernel.add %s4, %d : (tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
  %y = kernel.concat %a, %s0, %s2, %s5 {dim = 1 : i64} : (tensor<3x1xf32>, tensor<3x1xf32>, tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// -----

// In another order.
func.func @f(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %y = kernel.cumsum %x {dim = 1 : i64} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}
// expected-remark @+1 {{@g is @f: proved: the normal forms are equal; tested: equal modulo random primes at all elements}}
func.func @g(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %a = kernel.slice %x {offsets = array<i64: 0, 0>, sizes = array<i64: 3, 1>, strides = array<i64: 1, 1>} : (tensor<3x4xf32>) -> tensor<3x1xf32>
  %b = kernel.slice %x {offsets = array<i64: 0, 1>, sizes = array<i64: 3, 1>, strides = array<i64: 1, 1>} : (tensor<3x4xf32>) -> tensor<3x1xf32>
  %c = kernel.slice %x {offsets = array<i64: 0, 2>, sizes = array<i64: 3, 1>, strides = array<i64: 1, 1>} : (tensor<3x4xf32>) -> tensor<3x1xf32>
  %d = kernel.slice %x {offsets = array<i64: 0, 3>, sizes = array<i64: 3, 1>, strides = array<i64: 1, 1>} : (tensor<3x4xf32>) -> tensor<3x1xf32>
  %s0 = kernel.add %b, %a : (tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
  %s1 = kernel.add %c, %a : (tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
  %s2 = kernel.add %s1, %b : (tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
  %s3 = kernel.add %d, %b : (tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
  %s4 = kernel.add %s3, %c : (tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
  %s5 = kernel.add %s4, %a : (tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
  %y = kernel.concat %a, %s0, %s2, %s5 {dim = 1 : i64} : (tensor<3x1xf32>, tensor<3x1xf32>, tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// -----

// Steps of shifted sums along another dimension.
func.func @f(%x: tensor<7x2xf32>) -> tensor<7x2xf32> {
  %y = kernel.cumsum %x {dim = 0 : i64} : (tensor<7x2xf32>) -> tensor<7x2xf32>
  func.return %y : tensor<7x2xf32>
}
// expected-remark @+1 {{@g is @f: }}
func.func @g(%x: tensor<7x2xf32>) -> tensor<7x2xf32> {
  %first0 = kernel.slice %x {offsets = array<i64: 0, 0>, sizes = array<i64: 1, 2>, strides = array<i64: 1, 1>} : (tensor<7x2xf32>) -> tensor<1x2xf32>
  %rest0 = kernel.slice %x {offsets = array<i64: 1, 0>, sizes = array<i64: 6, 2>, strides = array<i64: 1, 1>} : (tensor<7x2xf32>) -> tensor<6x2xf32>
  %before0 = kernel.slice %x {offsets = array<i64: 0, 0>, sizes = array<i64: 6, 2>, strides = array<i64: 1, 1>} : (tensor<7x2xf32>) -> tensor<6x2xf32>
  %sum0 = kernel.add %rest0, %before0 : (tensor<6x2xf32>, tensor<6x2xf32>) -> tensor<6x2xf32>
  %y0 = kernel.concat %first0, %sum0 {dim = 0 : i64} : (tensor<1x2xf32>, tensor<6x2xf32>) -> tensor<7x2xf32>
  %first1 = kernel.slice %y0 {offsets = array<i64: 0, 0>, sizes = array<i64: 2, 2>, strides = array<i64: 1, 1>} : (tensor<7x2xf32>) -> tensor<2x2xf32>
  %rest1 = kernel.slice %y0 {offsets = array<i64: 2, 0>, sizes = array<i64: 5, 2>, strides = array<i64: 1, 1>} : (tensor<7x2xf32>) -> tensor<5x2xf32>
  %before1 = kernel.slice %y0 {offsets = array<i64: 0, 0>, sizes = array<i64: 5, 2>, strides = array<i64: 1, 1>} : (tensor<7x2xf32>) -> tensor<5x2xf32>
  %sum1 = kernel.add %rest1, %before1 : (tensor<5x2xf32>, tensor<5x2xf32>) -> tensor<5x2xf32>
  %y1 = kernel.concat %first1, %sum1 {dim = 0 : i64} : (tensor<2x2xf32>, tensor<5x2xf32>) -> tensor<7x2xf32>
  %first2 = kernel.slice %y1 {offsets = array<i64: 0, 0>, sizes = array<i64: 4, 2>, strides = array<i64: 1, 1>} : (tensor<7x2xf32>) -> tensor<4x2xf32>
  %rest2 = kernel.slice %y1 {offsets = array<i64: 4, 0>, sizes = array<i64: 3, 2>, strides = array<i64: 1, 1>} : (tensor<7x2xf32>) -> tensor<3x2xf32>
  %before2 = kernel.slice %y1 {offsets = array<i64: 0, 0>, sizes = array<i64: 3, 2>, strides = array<i64: 1, 1>} : (tensor<7x2xf32>) -> tensor<3x2xf32>
  %sum2 = kernel.add %rest2, %before2 : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  %y2 = kernel.concat %first2, %sum2 {dim = 0 : i64} : (tensor<4x2xf32>, tensor<3x2xf32>) -> tensor<7x2xf32>
  func.return %y2 : tensor<7x2xf32>
}

// -----

// Of one element there is nothing to sum.
func.func @f(%x: tensor<4x1xf32>) -> tensor<4x1xf32> {
  %y = kernel.cumsum %x {dim = 1 : i64} : (tensor<4x1xf32>) -> tensor<4x1xf32>
  func.return %y : tensor<4x1xf32>
}
// expected-remark @+1 {{@g is @f: proved: the normal forms are equal; tested: equal modulo random primes at all elements}}
func.func @g(%x: tensor<4x1xf32>) -> tensor<4x1xf32> {
  func.return %x : tensor<4x1xf32>
}

// -----

// Prefix sums are linear.
func.func @f(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %z = kernel.scale %x {factor = 3.0 : f32} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %y = kernel.cumsum %z {dim = 1 : i64} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}
// expected-remark @+1 {{@g is @f: proved: the normal forms are equal; tested: equal modulo random primes at all elements}}
func.func @g(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %z = kernel.cumsum %x {dim = 1 : i64} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %y = kernel.scale %z {factor = 3.0 : f32} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// -----

// A quotient by prefix sums of what is positive is defined.
func.func @f(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %e = kernel.exp %x : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %s = kernel.cumsum %e {dim = 1 : i64} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %y = kernel.div %e, %s : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}
// expected-remark @+1 {{@g is @f: proved: the normal forms are equal; tested: equal modulo random primes at all elements}}
func.func @g(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %e = kernel.exp %x : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %s = kernel.cumsum %e {dim = 1 : i64} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %i = kernel.pow %s {exponent = -1.0 : f32} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %y = kernel.mul %i, %e : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// -----

// An exclusive scan.
func.func @f(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %y = kernel.cumsum %x {dim = 1 : i64} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}
// expected-error @+1 {{@g is not @f}}
func.func @g(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %a = kernel.slice %x {offsets = array<i64: 0, 0>, sizes = array<i64: 3, 1>, strides = array<i64: 1, 1>} : (tensor<3x4xf32>) -> tensor<3x1xf32>
  %b = kernel.slice %x {offsets = array<i64: 0, 1>, sizes = array<i64: 3, 1>, strides = array<i64: 1, 1>} : (tensor<3x4xf32>) -> tensor<3x1xf32>
  %c = kernel.slice %x {offsets = array<i64: 0, 2>, sizes = array<i64: 3, 1>, strides = array<i64: 1, 1>} : (tensor<3x4xf32>) -> tensor<3x1xf32>
  %d = kernel.slice %x {offsets = array<i64: 0, 3>, sizes = array<i64: 3, 1>, strides = array<i64: 1, 1>} : (tensor<3x4xf32>) -> tensor<3x1xf32>
  %zero = kernel.constant {value = 0.0 : f32} : tensor<3x1xf32>
  %s0 = kernel.add %a, %b : (tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
  %s1 = kernel.add %a, %b : (tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
  %s2 = kernel.add %s1, %c : (tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
  %y = kernel.concat %zero, %a, %s0, %s2 {dim = 1 : i64} : (tensor<3x1xf32>, tensor<3x1xf32>, tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// -----

// Reversed: sums of what follows.
func.func @f(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %y = kernel.cumsum %x {dim = 1 : i64} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}
// expected-error @+1 {{@g is not @f}}
func.func @g(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %a = kernel.slice %x {offsets = array<i64: 0, 0>, sizes = array<i64: 3, 1>, strides = array<i64: 1, 1>} : (tensor<3x4xf32>) -> tensor<3x1xf32>
  %b = kernel.slice %x {offsets = array<i64: 0, 1>, sizes = array<i64: 3, 1>, strides = array<i64: 1, 1>} : (tensor<3x4xf32>) -> tensor<3x1xf32>
  %c = kernel.slice %x {offsets = array<i64: 0, 2>, sizes = array<i64: 3, 1>, strides = array<i64: 1, 1>} : (tensor<3x4xf32>) -> tensor<3x1xf32>
  %d = kernel.slice %x {offsets = array<i64: 0, 3>, sizes = array<i64: 3, 1>, strides = array<i64: 1, 1>} : (tensor<3x4xf32>) -> tensor<3x1xf32>
  %s0 = kernel.add %a, %b : (tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
  %s1 = kernel.add %s0, %c : (tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
  %s2 = kernel.add %s1, %d : (tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
  %s3 = kernel.add %b, %c : (tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
  %s4 = kernel.add %s3, %d : (tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
  %s5 = kernel.add %c, %d : (tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
  %y = kernel.concat %s2, %s4, %s5, %d {dim = 1 : i64} : (tensor<3x1xf32>, tensor<3x1xf32>, tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// -----

// One element too many in one sum.
func.func @f(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %y = kernel.cumsum %x {dim = 1 : i64} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}
// expected-error @+1 {{@g is not @f}}
func.func @g(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %a = kernel.slice %x {offsets = array<i64: 0, 0>, sizes = array<i64: 3, 1>, strides = array<i64: 1, 1>} : (tensor<3x4xf32>) -> tensor<3x1xf32>
  %b = kernel.slice %x {offsets = array<i64: 0, 1>, sizes = array<i64: 3, 1>, strides = array<i64: 1, 1>} : (tensor<3x4xf32>) -> tensor<3x1xf32>
  %c = kernel.slice %x {offsets = array<i64: 0, 2>, sizes = array<i64: 3, 1>, strides = array<i64: 1, 1>} : (tensor<3x4xf32>) -> tensor<3x1xf32>
  %d = kernel.slice %x {offsets = array<i64: 0, 3>, sizes = array<i64: 3, 1>, strides = array<i64: 1, 1>} : (tensor<3x4xf32>) -> tensor<3x1xf32>
  %s0 = kernel.add %a, %b : (tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
  %s1 = kernel.add %a, %b : (tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
  %s2 = kernel.add %s1, %c : (tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
  %s3 = kernel.add %s2, %d : (tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
  %s4 = kernel.add %a, %b : (tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
  %s5 = kernel.add %s4, %c : (tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
  %s6 = kernel.add %s5, %d : (tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
  %y = kernel.concat %a, %s0, %s3, %s6 {dim = 1 : i64} : (tensor<3x1xf32>, tensor<3x1xf32>, tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// -----

// The last sum leaves one out.
func.func @f(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %y = kernel.cumsum %x {dim = 1 : i64} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}
// expected-error @+1 {{@g is not @f}}
func.func @g(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %a = kernel.slice %x {offsets = array<i64: 0, 0>, sizes = array<i64: 3, 1>, strides = array<i64: 1, 1>} : (tensor<3x4xf32>) -> tensor<3x1xf32>
  %b = kernel.slice %x {offsets = array<i64: 0, 1>, sizes = array<i64: 3, 1>, strides = array<i64: 1, 1>} : (tensor<3x4xf32>) -> tensor<3x1xf32>
  %c = kernel.slice %x {offsets = array<i64: 0, 2>, sizes = array<i64: 3, 1>, strides = array<i64: 1, 1>} : (tensor<3x4xf32>) -> tensor<3x1xf32>
  %d = kernel.slice %x {offsets = array<i64: 0, 3>, sizes = array<i64: 3, 1>, strides = array<i64: 1, 1>} : (tensor<3x4xf32>) -> tensor<3x1xf32>
  %s0 = kernel.add %a, %b : (tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
  %s1 = kernel.add %a, %b : (tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
  %s2 = kernel.add %s1, %c : (tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
  %s3 = kernel.add %a, %b : (tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
  %s4 = kernel.add %s3, %c : (tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
  %y = kernel.concat %a, %s0, %s2, %s4 {dim = 1 : i64} : (tensor<3x1xf32>, tensor<3x1xf32>, tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// -----

// Along another dimension.
func.func @f(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %y = kernel.cumsum %x {dim = 1 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %y : tensor<4x4xf32>
}
// expected-error @+1 {{@g is not @f}}
func.func @g(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %first0 = kernel.slice %x {offsets = array<i64: 0, 0>, sizes = array<i64: 1, 4>, strides = array<i64: 1, 1>} : (tensor<4x4xf32>) -> tensor<1x4xf32>
  %rest0 = kernel.slice %x {offsets = array<i64: 1, 0>, sizes = array<i64: 3, 4>, strides = array<i64: 1, 1>} : (tensor<4x4xf32>) -> tensor<3x4xf32>
  %before0 = kernel.slice %x {offsets = array<i64: 0, 0>, sizes = array<i64: 3, 4>, strides = array<i64: 1, 1>} : (tensor<4x4xf32>) -> tensor<3x4xf32>
  %sum0 = kernel.add %rest0, %before0 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %y0 = kernel.concat %first0, %sum0 {dim = 0 : i64} : (tensor<1x4xf32>, tensor<3x4xf32>) -> tensor<4x4xf32>
  %first1 = kernel.slice %y0 {offsets = array<i64: 0, 0>, sizes = array<i64: 2, 4>, strides = array<i64: 1, 1>} : (tensor<4x4xf32>) -> tensor<2x4xf32>
  %rest1 = kernel.slice %y0 {offsets = array<i64: 2, 0>, sizes = array<i64: 2, 4>, strides = array<i64: 1, 1>} : (tensor<4x4xf32>) -> tensor<2x4xf32>
  %before1 = kernel.slice %y0 {offsets = array<i64: 0, 0>, sizes = array<i64: 2, 4>, strides = array<i64: 1, 1>} : (tensor<4x4xf32>) -> tensor<2x4xf32>
  %sum1 = kernel.add %rest1, %before1 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %y1 = kernel.concat %first1, %sum1 {dim = 0 : i64} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  func.return %y1 : tensor<4x4xf32>
}

// -----

// A step too few.
func.func @f(%x: tensor<5x2xf32>) -> tensor<5x2xf32> {
  %y = kernel.cumsum %x {dim = 0 : i64} : (tensor<5x2xf32>) -> tensor<5x2xf32>
  func.return %y : tensor<5x2xf32>
}
// expected-error @+1 {{@g is not @f}}
func.func @g(%x: tensor<5x2xf32>) -> tensor<5x2xf32> {
  %first0 = kernel.slice %x {offsets = array<i64: 0, 0>, sizes = array<i64: 1, 2>, strides = array<i64: 1, 1>} : (tensor<5x2xf32>) -> tensor<1x2xf32>
  %rest0 = kernel.slice %x {offsets = array<i64: 1, 0>, sizes = array<i64: 4, 2>, strides = array<i64: 1, 1>} : (tensor<5x2xf32>) -> tensor<4x2xf32>
  %before0 = kernel.slice %x {offsets = array<i64: 0, 0>, sizes = array<i64: 4, 2>, strides = array<i64: 1, 1>} : (tensor<5x2xf32>) -> tensor<4x2xf32>
  %sum0 = kernel.add %rest0, %before0 : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  %y0 = kernel.concat %first0, %sum0 {dim = 0 : i64} : (tensor<1x2xf32>, tensor<4x2xf32>) -> tensor<5x2xf32>
  %first1 = kernel.slice %y0 {offsets = array<i64: 0, 0>, sizes = array<i64: 2, 2>, strides = array<i64: 1, 1>} : (tensor<5x2xf32>) -> tensor<2x2xf32>
  %rest1 = kernel.slice %y0 {offsets = array<i64: 2, 0>, sizes = array<i64: 3, 2>, strides = array<i64: 1, 1>} : (tensor<5x2xf32>) -> tensor<3x2xf32>
  %before1 = kernel.slice %y0 {offsets = array<i64: 0, 0>, sizes = array<i64: 3, 2>, strides = array<i64: 1, 1>} : (tensor<5x2xf32>) -> tensor<3x2xf32>
  %sum1 = kernel.add %rest1, %before1 : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  %y1 = kernel.concat %first1, %sum1 {dim = 0 : i64} : (tensor<2x2xf32>, tensor<3x2xf32>) -> tensor<5x2xf32>
  func.return %y1 : tensor<5x2xf32>
}
