// What functions claim to compute is there, and what is said of them is known.
// RUN: mirage-opt %s --split-input-file --verify-diagnostics --verify-equivalence
// RUN: not mirage-opt %s --verify-equivalence="candidate=g" 2>&1 | filecheck %s
// CHECK: reference and candidate are given together, or neither is

// Operators that nobody searched are no reason to say nothing.
// expected-error @+2 {{'func.func' op claims to compute no other function (kernel.implements), nor does any}}
// expected-note @+1 {{superoptimize writes candidates; or say which are reference and candidate}}
func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = kernel.silu %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}

// -----

// expected-error @+1 {{'func.func' op claims to compute @p, of which there is no body}}
func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {kernel.implements = @p} {
  %y = kernel.silu %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}

// -----

func.func private @p(%x: tensor<4x9xf32>) -> tensor<4x9xf32> {
  func.return %x : tensor<4x9xf32>
}
// expected-error @+1 {{claims to compute @p, which has type (tensor<4x9xf32>) -> tensor<4x9xf32>, not (tensor<4x8xf32>) -> tensor<4x8xf32>}}
func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {kernel.implements = @p} {
  func.return %x : tensor<4x8xf32>
}

// -----

// expected-error @+1 {{has no attribute 'kernel.implement'; did you mean 'kernel.implements'?}}
func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {kernel.implement = @p} {
  func.return %x : tensor<4x8xf32>
}

// -----

// expected-error @+1 {{has a value of another kind for 'kernel.implements': "p"}}
func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {kernel.implements = "p"} {
  func.return %x : tensor<4x8xf32>
}

// -----

// expected-error @+1 {{has kernel.candidate, but no kernel.implements}}
func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {kernel.candidate = #kernel.candidate<"", 1.0e-06 : f64, false, []>} {
  func.return %x : tensor<4x8xf32>
}

// -----

// expected-error @+1 {{claims to compute @g, which is no program itself}}
func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {kernel.implements = @g} {
  func.return %x : tensor<4x8xf32>
}
func.func @g(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {kernel.implements = @f} {
  func.return %x : tensor<4x8xf32>
}

// -----

// expected-error @+1 {{has no kernels that are verified: not equal: output 0 at [0, 0] is}}
func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {kernel.implements = @p} {
  // expected-remark @-1 {{@f was rejected, not equal: output 0 at [0, 0] is}}
  %y = kernel.sigmoid %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}
func.func private @p(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = kernel.silu %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}

// -----

// expected-error @below {{the rank of an alternative is at least 1, not 0}}
"test.op"() {kernel.alternative = #kernel.alternative<0 : i64, 1.0e-06 : f64>} : () -> ()
