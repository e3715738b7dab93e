// Selections by data beside what is undefined where they do not select it.
// RUN: mirage-opt %s --split-input-file --verify-diagnostics --verify-equivalence="reference=f candidate=g" -o /dev/null

// A root is not that of factors one of which may be zero where the other is negative.
func.func @f(%x: tensor<4x64xf32>, %y: tensor<4x64xf32>) -> tensor<4x64xf32> {
  %v1 = kernel.reduce_max %x {dims = array<i64: 1>} : (tensor<4x64xf32>) -> tensor<4x1xf32>
  %v2 = kernel.relu %v1 : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %v3 = kernel.mul %v2, %y : (tensor<4x1xf32>, tensor<4x64xf32>) -> tensor<4x64xf32>
  %v4 = kernel.sqrt %v3 : (tensor<4x64xf32>) -> tensor<4x64xf32>
  func.return %v4 : tensor<4x64xf32>
}
// expected-error @+1 {{@g may be @f or not, not proved}}
func.func @g(%x: tensor<4x64xf32>, %y: tensor<4x64xf32>) -> tensor<4x64xf32> {
  %v1 = kernel.reduce_max %x {dims = array<i64: 1>} : (tensor<4x64xf32>) -> tensor<4x1xf32>
  %v2 = kernel.relu %v1 : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %v3 = kernel.sqrt %v2 : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %v4 = kernel.sqrt %y : (tensor<4x64xf32>) -> tensor<4x64xf32>
  %v5 = kernel.mul %v3, %v4 : (tensor<4x1xf32>, tensor<4x64xf32>) -> tensor<4x64xf32>
  func.return %v5 : tensor<4x64xf32>
}

// -----

// The same of what data selects.
func.func @f(%y: tensor<4x64xf32>, %w: tensor<1x64xf32>) -> tensor<4x64xf32> {
  %v1 = kernel.constant {value = -100.0 : f32} : tensor<1x1xf32>
  %v2 = kernel.compare %w, %v1 {predicate = "gt"} : (tensor<1x64xf32>, tensor<1x1xf32>) -> tensor<1x64xf32>
  %v3 = kernel.constant {value = 0.0 : f32} : tensor<1x1xf32>
  %v4 = kernel.select %v2, %y, %v3 : (tensor<1x64xf32>, tensor<4x64xf32>, tensor<1x1xf32>) -> tensor<4x64xf32>
  %v5 = kernel.sqrt %v4 : (tensor<4x64xf32>) -> tensor<4x64xf32>
  func.return %v5 : tensor<4x64xf32>
}
// expected-error @+1 {{@g may be @f or not, not proved}}
func.func @g(%y: tensor<4x64xf32>, %w: tensor<1x64xf32>) -> tensor<4x64xf32> {
  %v1 = kernel.constant {value = -100.0 : f32} : tensor<1x1xf32>
  %v2 = kernel.compare %w, %v1 {predicate = "gt"} : (tensor<1x64xf32>, tensor<1x1xf32>) -> tensor<1x64xf32>
  %v3 = kernel.sqrt %v2 : (tensor<1x64xf32>) -> tensor<1x64xf32>
  %v4 = kernel.sqrt %y : (tensor<4x64xf32>) -> tensor<4x64xf32>
  %v5 = kernel.mul %v3, %v4 : (tensor<1x64xf32>, tensor<4x64xf32>) -> tensor<4x64xf32>
  func.return %v5 : tensor<4x64xf32>
}

// -----

// A divisor that is zero where data does not select the quotient does not cancel there.
func.func @f(%x: tensor<4x64xf32>, %y: tensor<4x64xf32>, %z: tensor<4x64xf32>, %w: tensor<4x64xf32>) -> tensor<4x64xf32> {
  %v1 = kernel.reduce_max %x {dims = array<i64: 1>} : (tensor<4x64xf32>) -> tensor<4x1xf32>
  %v2 = kernel.constant {value = 0.0 : f32} : tensor<1x1xf32>
  %v3 = kernel.compare %v1, %v2 {predicate = "gt"} : (tensor<4x1xf32>, tensor<1x1xf32>) -> tensor<4x1xf32>
  %v4 = kernel.select %v3, %w, %v2 : (tensor<4x1xf32>, tensor<4x64xf32>, tensor<1x1xf32>) -> tensor<4x64xf32>
  %v5 = kernel.div %y, %v4 : (tensor<4x64xf32>, tensor<4x64xf32>) -> tensor<4x64xf32>
  %v6 = kernel.select %v3, %v5, %z : (tensor<4x1xf32>, tensor<4x64xf32>, tensor<4x64xf32>) -> tensor<4x64xf32>
  func.return %v6 : tensor<4x64xf32>
}
// expected-error @+1 {{@g may be @f or not, not proved}}
func.func @g(%x: tensor<4x64xf32>, %y: tensor<4x64xf32>, %z: tensor<4x64xf32>, %w: tensor<4x64xf32>) -> tensor<4x64xf32> {
  %v1 = kernel.reduce_max %x {dims = array<i64: 1>} : (tensor<4x64xf32>) -> tensor<4x1xf32>
  %v2 = kernel.constant {value = 0.0 : f32} : tensor<1x1xf32>
  %v3 = kernel.compare %v1, %v2 {predicate = "gt"} : (tensor<4x1xf32>, tensor<1x1xf32>) -> tensor<4x1xf32>
  %v4 = kernel.select %v3, %v2, %z : (tensor<4x1xf32>, tensor<1x1xf32>, tensor<4x64xf32>) -> tensor<4x64xf32>
  %v5 = kernel.div %y, %w : (tensor<4x64xf32>, tensor<4x64xf32>) -> tensor<4x64xf32>
  %v6 = kernel.add %v4, %v5 : (tensor<4x64xf32>, tensor<4x64xf32>) -> tensor<4x64xf32>
  func.return %v6 : tensor<4x64xf32>
}

// -----

// The same of rows that are masked as a whole.
func.func @f(%x: tensor<4x64xf32>, %y: tensor<4x64xf32>, %w: tensor<4x64xf32>) -> tensor<4x64xf32> {
  %v1 = kernel.reduce_max %x {dims = array<i64: 1>} : (tensor<4x64xf32>) -> tensor<4x1xf32>
  %v2 = kernel.constant {value = 0.0 : f32} : tensor<1x1xf32>
  %v3 = kernel.compare %v1, %v2 {predicate = "gt"} : (tensor<4x1xf32>, tensor<1x1xf32>) -> tensor<4x1xf32>
  %v4 = kernel.constant {value = 0xFF800000 : f32} : tensor<1x1xf32>
  %v5 = kernel.select %v3, %y, %v4 : (tensor<4x1xf32>, tensor<4x64xf32>, tensor<1x1xf32>) -> tensor<4x64xf32>
  %v6 = kernel.exp %v5 : (tensor<4x64xf32>) -> tensor<4x64xf32>
  %v7 = kernel.reduce_sum %v6 {dims = array<i64: 1>} : (tensor<4x64xf32>) -> tensor<4x1xf32>
  %v8 = kernel.exp %w : (tensor<4x64xf32>) -> tensor<4x64xf32>
  %v9 = kernel.div %v8, %v7 : (tensor<4x64xf32>, tensor<4x1xf32>) -> tensor<4x64xf32>
  %v10 = kernel.select %v3, %v9, %v2 : (tensor<4x1xf32>, tensor<4x64xf32>, tensor<1x1xf32>) -> tensor<4x64xf32>
  func.return %v10 : tensor<4x64xf32>
}
// expected-error @+1 {{@g may be @f or not, not proved}}
func.func @g(%x: tensor<4x64xf32>, %y: tensor<4x64xf32>, %w: tensor<4x64xf32>) -> tensor<4x64xf32> {
  %v1 = kernel.exp %y : (tensor<4x64xf32>) -> tensor<4x64xf32>
  %v2 = kernel.reduce_sum %v1 {dims = array<i64: 1>} : (tensor<4x64xf32>) -> tensor<4x1xf32>
  %v3 = kernel.exp %w : (tensor<4x64xf32>) -> tensor<4x64xf32>
  %v4 = kernel.div %v3, %v2 : (tensor<4x64xf32>, tensor<4x1xf32>) -> tensor<4x64xf32>
  func.return %v4 : tensor<4x64xf32>
}

// -----

// And of a sum.
func.func @f(%x: tensor<4x64xf32>, %y: tensor<4x64xf32>, %w: tensor<4x64xf32>) -> tensor<4x64xf32> {
  %v1 = kernel.reduce_max %x {dims = array<i64: 1>} : (tensor<4x64xf32>) -> tensor<4x1xf32>
  %v2 = kernel.constant {value = 0.0 : f32} : tensor<1x1xf32>
  %v3 = kernel.compare %v1, %v2 {predicate = "gt"} : (tensor<4x1xf32>, tensor<1x1xf32>) -> tensor<4x1xf32>
  %v4 = kernel.exp %y : (tensor<4x64xf32>) -> tensor<4x64xf32>
  %v5 = kernel.select %v3, %v4, %v2 : (tensor<4x1xf32>, tensor<4x64xf32>, tensor<1x1xf32>) -> tensor<4x64xf32>
  %v6 = kernel.reduce_sum %v5 {dims = array<i64: 1>} : (tensor<4x64xf32>) -> tensor<4x1xf32>
  %v7 = kernel.div %w, %v6 : (tensor<4x64xf32>, tensor<4x1xf32>) -> tensor<4x64xf32>
  %v8 = kernel.select %v3, %v7, %v2 : (tensor<4x1xf32>, tensor<4x64xf32>, tensor<1x1xf32>) -> tensor<4x64xf32>
  func.return %v8 : tensor<4x64xf32>
}
// expected-error @+1 {{@g may be @f or not, not proved}}
func.func @g(%x: tensor<4x64xf32>, %y: tensor<4x64xf32>, %w: tensor<4x64xf32>) -> tensor<4x64xf32> {
  %v1 = kernel.exp %y : (tensor<4x64xf32>) -> tensor<4x64xf32>
  %v2 = kernel.reduce_sum %v1 {dims = array<i64: 1>} : (tensor<4x64xf32>) -> tensor<4x1xf32>
  %v3 = kernel.div %w, %v2 : (tensor<4x64xf32>, tensor<4x1xf32>) -> tensor<4x64xf32>
  func.return %v3 : tensor<4x64xf32>
}

// -----

// And of a condition itself.
func.func @f(%x: tensor<4x64xf32>, %y: tensor<4x64xf32>, %z: tensor<4x64xf32>) -> tensor<4x64xf32> {
  %v1 = kernel.reduce_max %x {dims = array<i64: 1>} : (tensor<4x64xf32>) -> tensor<4x1xf32>
  %v2 = kernel.constant {value = 0.0 : f32} : tensor<1x1xf32>
  %v3 = kernel.constant {value = 1.0 : f32} : tensor<1x1xf32>
  %v4 = kernel.compare %v1, %v2 {predicate = "gt"} : (tensor<4x1xf32>, tensor<1x1xf32>) -> tensor<4x1xf32>
  %v5 = kernel.div %y, %v4 : (tensor<4x64xf32>, tensor<4x1xf32>) -> tensor<4x64xf32>
  %v6 = kernel.select %v4, %v5, %z : (tensor<4x1xf32>, tensor<4x64xf32>, tensor<4x64xf32>) -> tensor<4x64xf32>
  func.return %v6 : tensor<4x64xf32>
}
// expected-error @+1 {{@g may be @f or not, not proved}}
func.func @g(%x: tensor<4x64xf32>, %y: tensor<4x64xf32>, %z: tensor<4x64xf32>) -> tensor<4x64xf32> {
  %v1 = kernel.reduce_max %x {dims = array<i64: 1>} : (tensor<4x64xf32>) -> tensor<4x1xf32>
  %v2 = kernel.constant {value = 0.0 : f32} : tensor<1x1xf32>
  %v3 = kernel.compare %v1, %v2 {predicate = "gt"} : (tensor<4x1xf32>, tensor<1x1xf32>) -> tensor<4x1xf32>
  %v4 = kernel.select %v3, %v2, %z : (tensor<4x1xf32>, tensor<1x1xf32>, tensor<4x64xf32>) -> tensor<4x64xf32>
  %v5 = kernel.add %y, %v4 : (tensor<4x64xf32>, tensor<4x64xf32>) -> tensor<4x64xf32>
  func.return %v5 : tensor<4x64xf32>
}

// -----

// And in one quotient.
func.func @f(%x: tensor<4x64xf32>, %y: tensor<4x64xf32>, %w: tensor<1x64xf32>) -> tensor<4x64xf32> {
  %v1 = kernel.constant {value = -100.0 : f32} : tensor<1x1xf32>
  %v2 = kernel.compare %w, %v1 {predicate = "gt"} : (tensor<1x64xf32>, tensor<1x1xf32>) -> tensor<1x64xf32>
  %v3 = kernel.constant {value = 0.0 : f32} : tensor<1x1xf32>
  %v4 = kernel.select %v2, %x, %v3 : (tensor<1x64xf32>, tensor<4x64xf32>, tensor<1x1xf32>) -> tensor<4x64xf32>
  %v5 = kernel.div %y, %v4 : (tensor<4x64xf32>, tensor<4x64xf32>) -> tensor<4x64xf32>
  %v6 = kernel.select %v2, %v5, %v3 : (tensor<1x64xf32>, tensor<4x64xf32>, tensor<1x1xf32>) -> tensor<4x64xf32>
  func.return %v6 : tensor<4x64xf32>
}
// expected-error @+1 {{@g may be @f or not, not proved}}
func.func @g(%x: tensor<4x64xf32>, %y: tensor<4x64xf32>, %w: tensor<1x64xf32>) -> tensor<4x64xf32> {
  %v1 = kernel.div %y, %x : (tensor<4x64xf32>, tensor<4x64xf32>) -> tensor<4x64xf32>
  func.return %v1 : tensor<4x64xf32>
}

// -----

// An inverse root of what may be zero is not seen by tests.
func.func @f(%x: tensor<4x64xf32>, %y: tensor<4x64xf32>) -> tensor<4x64xf32> {
  %v1 = kernel.scale %y {factor = 1.0 : f32} : (tensor<4x64xf32>) -> tensor<4x64xf32>
  func.return %v1 : tensor<4x64xf32>
}
// expected-error @+1 {{@g may be @f or not, not proved}}
func.func @g(%x: tensor<4x64xf32>, %y: tensor<4x64xf32>) -> tensor<4x64xf32> {
  %v1 = kernel.reduce_max %x {dims = array<i64: 1>} : (tensor<4x64xf32>) -> tensor<4x1xf32>
  %v2 = kernel.relu %v1 : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %v3 = kernel.pow %v2 {exponent = -0.5 : f32} : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %v4 = kernel.scale %v3 {factor = 0.0 : f32} : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %v5 = kernel.add %y, %v4 : (tensor<4x64xf32>, tensor<4x1xf32>) -> tensor<4x64xf32>
  func.return %v5 : tensor<4x64xf32>
}

// -----

// Nor is an inverse power.
func.func @f(%x: tensor<4x64xf32>, %y: tensor<4x64xf32>) -> tensor<4x64xf32> {
  %v1 = kernel.scale %y {factor = 1.0 : f32} : (tensor<4x64xf32>) -> tensor<4x64xf32>
  func.return %v1 : tensor<4x64xf32>
}
// expected-error @+1 {{@g may be @f or not, not proved}}
func.func @g(%x: tensor<4x64xf32>, %y: tensor<4x64xf32>) -> tensor<4x64xf32> {
  %v1 = kernel.reduce_max %x {dims = array<i64: 1>} : (tensor<4x64xf32>) -> tensor<4x1xf32>
  %v2 = kernel.relu %v1 : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %v3 = kernel.pow %v2 {exponent = -1.0 : f32} : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %v4 = kernel.scale %v3 {factor = 0.0 : f32} : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %v5 = kernel.add %y, %v4 : (tensor<4x64xf32>, tensor<4x1xf32>) -> tensor<4x64xf32>
  func.return %v5 : tensor<4x64xf32>
}

// -----

// Nor one that multiplies what it inverts.
func.func @f(%x: tensor<4x64xf32>, %y: tensor<4x64xf32>) -> tensor<4x64xf32> {
  %v1 = kernel.scale %y {factor = 1.0 : f32} : (tensor<4x64xf32>) -> tensor<4x64xf32>
  func.return %v1 : tensor<4x64xf32>
}
// expected-error @+1 {{@g may be @f or not, not proved}}
func.func @g(%x: tensor<4x64xf32>, %y: tensor<4x64xf32>) -> tensor<4x64xf32> {
  %v1 = kernel.reduce_max %x {dims = array<i64: 1>} : (tensor<4x64xf32>) -> tensor<4x1xf32>
  %v2 = kernel.relu %v1 : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %v3 = kernel.mul %y, %v2 : (tensor<4x64xf32>, tensor<4x1xf32>) -> tensor<4x64xf32>
  %v4 = kernel.pow %v2 {exponent = -1.0 : f32} : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %v5 = kernel.mul %v3, %v4 : (tensor<4x64xf32>, tensor<4x1xf32>) -> tensor<4x64xf32>
  func.return %v5 : tensor<4x64xf32>
}
