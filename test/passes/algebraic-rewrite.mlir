// RUN: mirage-opt %s --algebraic-rewrite | filecheck %s
// RUN: mirage-opt %s --algebraic-rewrite="rules=commute-add" | filecheck %s --check-prefix=COMMUTE
// RUN: mirage-opt %s --algebraic-rewrite="rules=distribute-mul,split-sum,mul-out-of-sum" | filecheck %s --check-prefix=SPLIT
// RUN: mirage-opt %s --algebraic-rewrite="rules=associate-matmul-right" | filecheck %s --check-prefix=ASSOCIATE
// RUN: mirage-opt %s --algebraic-rewrite="rules=split-exp,split-sqrt" | filecheck %s --check-prefix=FUNCTIONS

// The norm's division follows the product, and a factor of a row follows it, too.
// CHECK-LABEL: func.func @norm(
// CHECK-NEXT:    %[[P:.*]] = kernel.matmul %x, %w : (tensor<16x64xf32>, tensor<64x8xf32>) -> tensor<16x8xf32>
// CHECK-NEXT:    %[[D:.*]] = kernel.div %[[P]], %r : (tensor<16x8xf32>, tensor<16x1xf32>) -> tensor<16x8xf32>
// CHECK-NEXT:    func.return %[[D]]
func.func @norm(%x: tensor<16x64xf32>, %r: tensor<16x1xf32>, %w: tensor<64x8xf32>) -> tensor<16x8xf32> {
  %y = kernel.div %x, %r : (tensor<16x64xf32>, tensor<16x1xf32>) -> tensor<16x64xf32>
  %o = kernel.matmul %y, %w : (tensor<16x64xf32>, tensor<64x8xf32>) -> tensor<16x8xf32>
  func.return %o : tensor<16x8xf32>
}

// A weight has the dimension that is contracted: it stays.
// CHECK-LABEL: func.func @weight(
// CHECK-NEXT:    %[[Y:.*]] = kernel.mul %x, %g
// CHECK-NEXT:    %[[O:.*]] = kernel.matmul %[[Y]], %w
// CHECK-NEXT:    func.return %[[O]]
func.func @weight(%x: tensor<16x64xf32>, %g: tensor<64xf32>, %w: tensor<64x8xf32>) -> tensor<16x8xf32> {
  %y = kernel.mul %x, %g : (tensor<16x64xf32>, tensor<64xf32>) -> tensor<16x64xf32>
  %o = kernel.matmul %y, %w : (tensor<16x64xf32>, tensor<64x8xf32>) -> tensor<16x8xf32>
  func.return %o : tensor<16x8xf32>
}

// What is used elsewhere is not taken apart.
// CHECK-LABEL: func.func @used_twice(
// CHECK-NEXT:    %[[Y:.*]] = kernel.div %x, %r
// CHECK-NEXT:    %[[S:.*]] = kernel.reduce_sum %[[Y]]
// CHECK-NEXT:    func.return %[[Y]], %[[S]]
func.func @used_twice(%x: tensor<4x8xf32>, %r: tensor<4x1xf32>) -> (tensor<4x8xf32>, tensor<4x1xf32>) {
  %y = kernel.div %x, %r : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %s = kernel.reduce_sum %y {dims = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  func.return %y, %s : tensor<4x8xf32>, tensor<4x1xf32>
}

// Products in f16 with a result in f32: the division would round elsewhere.
// CHECK-LABEL: func.func @types(
// CHECK-NEXT:    %[[Y:.*]] = kernel.div %x, %r
// CHECK-NEXT:    %[[O:.*]] = kernel.matmul %[[Y]], %w
// CHECK-NEXT:    func.return %[[O]]
func.func @types(%x: tensor<4x8xf16>, %r: tensor<4x1xf16>, %w: tensor<8x2xf16>) -> tensor<4x2xf32> {
  %y = kernel.div %x, %r : (tensor<4x8xf16>, tensor<4x1xf16>) -> tensor<4x8xf16>
  %o = kernel.matmul %y, %w : (tensor<4x8xf16>, tensor<8x2xf16>) -> tensor<4x2xf32>
  func.return %o : tensor<4x2xf32>
}

// Rules build on each other: x * z + y * z under a sum that z lacks.
// CHECK-LABEL: func.func @chain(
// CHECK-NEXT:    %[[A:.*]] = kernel.add %x, %y : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    %[[S:.*]] = kernel.reduce_sum %[[A]] {dims = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4x1xf32>
// CHECK-NEXT:    %[[M:.*]] = kernel.mul %[[S]], %z : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
// CHECK-NEXT:    func.return %[[M]]
// COMMUTE-LABEL: func.func @chain(
// COMMUTE:         %[[A:.*]] = kernel.mul %x, %z
// COMMUTE-NEXT:    %[[B:.*]] = kernel.mul %y, %z
// COMMUTE-NEXT:    kernel.add %[[B]], %[[A]]
func.func @chain(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %z: tensor<4x1xf32>) -> tensor<4x1xf32> {
  %a = kernel.mul %x, %z : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %b = kernel.mul %y, %z : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %c = kernel.add %a, %b : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = kernel.reduce_sum %c {dims = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  func.return %s : tensor<4x1xf32>
}

// In the order of the option: first products are distributed, then the sum is, then factors leave.
// SPLIT-LABEL: func.func @split(
// SPLIT-NEXT:    %[[X:.*]] = kernel.reduce_sum %x
// SPLIT-NEXT:    %[[XZ:.*]] = kernel.mul %[[X]], %z
// SPLIT-NEXT:    %[[Y:.*]] = kernel.reduce_sum %y
// SPLIT-NEXT:    %[[YZ:.*]] = kernel.mul %[[Y]], %z
// SPLIT-NEXT:    %[[S:.*]] = kernel.sub %[[XZ]], %[[YZ]]
// SPLIT-NEXT:    func.return %[[S]]
func.func @split(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %z: tensor<4x1xf32>) -> tensor<4x1xf32> {
  %a = kernel.sub %x, %y : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %b = kernel.mul %a, %z : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %s = kernel.reduce_sum %b {dims = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  func.return %s : tensor<4x1xf32>
}

// A term that lacks what is summed would have to be counted.
// SPLIT-LABEL: func.func @counted(
// SPLIT-NEXT:    %[[A:.*]] = kernel.add %x, %y
// SPLIT-NEXT:    kernel.reduce_sum %[[A]]
func.func @counted(%x: tensor<4x8xf32>, %y: tensor<4x1xf32>) -> tensor<4x1xf32> {
  %a = kernel.add %x, %y : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %s = kernel.reduce_sum %a {dims = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  func.return %s : tensor<4x1xf32>
}

// ASSOCIATE-LABEL: func.func @lora(
// ASSOCIATE-NEXT:    %[[P:.*]] = kernel.matmul %a, %b : (tensor<64x4xf16>, tensor<4x32xf16>) -> tensor<64x32xf16>
// ASSOCIATE-NEXT:    kernel.matmul %x, %[[P]] : (tensor<8x64xf16>, tensor<64x32xf16>) -> tensor<8x32xf16>
func.func @lora(%x: tensor<8x64xf16>, %a: tensor<64x4xf16>, %b: tensor<4x32xf16>) -> tensor<8x32xf16> {
  %p = kernel.matmul %x, %a : (tensor<8x64xf16>, tensor<64x4xf16>) -> tensor<8x4xf16>
  %o = kernel.matmul %p, %b : (tensor<8x4xf16>, tensor<4x32xf16>) -> tensor<8x32xf16>
  func.return %o : tensor<8x32xf16>
}

// The root of a product is a product of roots only where neither factor is negative.
// FUNCTIONS-LABEL: func.func @roots(
// FUNCTIONS-NEXT:    %[[S:.*]] = kernel.square %x
// FUNCTIONS-NEXT:    %[[E:.*]] = kernel.exp %x
// FUNCTIONS-NEXT:    %[[A:.*]] = kernel.sqrt %[[S]]
// FUNCTIONS-NEXT:    %[[B:.*]] = kernel.sqrt %[[E]]
// FUNCTIONS-NEXT:    %[[P:.*]] = kernel.mul %[[A]], %[[B]]
// FUNCTIONS-NEXT:    %[[Q:.*]] = kernel.mul %x, %x
// FUNCTIONS-NEXT:    %[[R:.*]] = kernel.mul %x, %[[Q]]
// FUNCTIONS-NEXT:    %[[T:.*]] = kernel.sqrt %[[R]]
// FUNCTIONS-NEXT:    func.return %[[P]], %[[T]]
func.func @roots(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %s = kernel.square %x : (tensor<4xf32>) -> tensor<4xf32>
  %e = kernel.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %p = kernel.mul %s, %e : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %a = kernel.sqrt %p : (tensor<4xf32>) -> tensor<4xf32>
  %q = kernel.mul %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = kernel.mul %x, %q : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %b = kernel.sqrt %r : (tensor<4xf32>) -> tensor<4xf32>
  func.return %a, %b : tensor<4xf32>, tensor<4xf32>
}

// FUNCTIONS-LABEL: func.func @powers(
// FUNCTIONS-NEXT:    %[[X:.*]] = kernel.exp %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
// FUNCTIONS-NEXT:    %[[M:.*]] = kernel.exp %m : (tensor<4x1xf32>) -> tensor<4x1xf32>
// FUNCTIONS-NEXT:    kernel.div %[[X]], %[[M]]
func.func @powers(%x: tensor<4x8xf32>, %m: tensor<4x1xf32>) -> tensor<4x8xf32> {
  %d = kernel.sub %x, %m : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %e = kernel.exp %d : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %e : tensor<4x8xf32>
}
