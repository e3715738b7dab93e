// RUN: mirage-opt %s --split-input-file --verify-diagnostics --verify-equivalence="reference=f candidate=g"
// RUN: not mirage-opt %s --split-input-file --verify-equivalence="reference=f candidate=h" 2>&1 | filecheck %s --check-prefix=MISSING
// RUN: not mirage-opt %s --verify-equivalence="reference=f candidate=g tests=0" 2>&1 | filecheck %s --check-prefix=TESTS
// RUN: not mirage-opt %s --verify-equivalence="reference=f candidate=g seed=-1" 2>&1 | filecheck %s --check-prefix=SEED
// RUN: not mirage-opt %s --verify-equivalence="reference=f" 2>&1 | filecheck %s --check-prefix=CANDIDATE

// TESTS: tests is from 1 to 16, not 0
// SEED: seed is not negative, but -1 is
// CANDIDATE: candidate
// MISSING: error: 'builtin.module' op has no function @h with a body

// Another epsilon: the witness is an element, in the fields and in f64.
func.func @f(%x: tensor<16x4096xf16>) -> tensor<16x4096xf16> {
  %y = kernel.rms_norm %x {eps = 1.0e-05 : f32} : (tensor<16x4096xf16>) -> tensor<16x4096xf16>
  func.return %y : tensor<16x4096xf16>
}
// expected-error @+1 {{'func.func' op @g is not @f: output 0 at [0, 0] is (}}
func.func @g(%x: tensor<16x4096xf16>) -> tensor<16x4096xf16> {
  %y = kernel.rms_norm %x {eps = 1.0e-06 : f32} : (tensor<16x4096xf16>) -> tensor<16x4096xf16>
  func.return %y : tensor<16x4096xf16>
}

// -----

// The second output is the first one of the other function.
func.func @f(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %e = kernel.exp %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = kernel.square %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %e, %s : tensor<4x8xf32>, tensor<4x8xf32>
}
// expected-error @+1 {{@g is not @f: output 0 at [0, 0] is (}}
func.func @g(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %e = kernel.exp %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = kernel.square %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %s, %e : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// A law of real numbers that neither normal forms nor random tests know.
func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %n = kernel.scale %x {factor = -1.0 : f32} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %y = kernel.sigmoid %n : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}
// expected-error @+1 {{@g may be @f or not, not proved: output 0 at [}}
func.func @g(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %s = kernel.sigmoid %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %c = kernel.constant {value = 1.0 : f32} : tensor<4x8xf32>
  %y = kernel.sub %c, %s : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}

// -----

// The variance in one pass: equal as functions, but far from zero nothing is left of it.
func.func @f(%x: tensor<4x4096xf32>) -> tensor<4x1xf32> {
  %m = kernel.reduce_mean %x {dims = array<i64: 1>} : (tensor<4x4096xf32>) -> tensor<4x1xf32>
  %c = kernel.sub %x, %m : (tensor<4x4096xf32>, tensor<4x1xf32>) -> tensor<4x4096xf32>
  %q = kernel.square %c : (tensor<4x4096xf32>) -> tensor<4x4096xf32>
  %v = kernel.reduce_mean %q {dims = array<i64: 1>} : (tensor<4x4096xf32>) -> tensor<4x1xf32>
  func.return %v : tensor<4x1xf32>
}
// expected-error @+1 {{@g is @f but inaccurate: rounding error}}
func.func @g(%x: tensor<4x4096xf32>) -> tensor<4x1xf32> {
  %q = kernel.square %x : (tensor<4x4096xf32>) -> tensor<4x4096xf32>
  %a = kernel.reduce_mean %q {dims = array<i64: 1>} : (tensor<4x4096xf32>) -> tensor<4x1xf32>
  %m = kernel.reduce_mean %x {dims = array<i64: 1>} : (tensor<4x4096xf32>) -> tensor<4x1xf32>
  %b = kernel.square %m : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %v = kernel.sub %a, %b : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  func.return %v : tensor<4x1xf32>
}

// -----

func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  func.return %x : tensor<4x8xf32>
}
// expected-error @+1 {{@g has type (tensor<4x9xf32>) -> tensor<4x9xf32>, @f has type (tensor<4x8xf32>) -> tensor<4x8xf32>}}
func.func @g(%x: tensor<4x9xf32>) -> tensor<4x9xf32> {
  func.return %x : tensor<4x9xf32>
}

// -----

// A denominator that is zero whatever the inputs are.
func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %z = kernel.sub %x, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %y = kernel.div %x, %z : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}
// expected-error @+1 {{@g may be @f or not, not proved: normal forms: something is divided by zero; not tested: some element of a result has a zero denominator in all draws}}
func.func @g(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %z = kernel.sub %x, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = kernel.square %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %y = kernel.div %s, %z : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}

// -----

func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  func.return %x : tensor<8xf32>
}
// expected-error @below {{'func.func' op has several blocks; only straight-line functions can be compared}}
func.func @g(%x: tensor<8xf32>) -> tensor<8xf32> {
  cf.br ^bb1
^bb1:
  func.return %x : tensor<8xf32>
}
