// Elements of results are judged one by one: where an element of the program has a value, the same element of the
// candidate has it, whatever becomes of others.
// RUN: mirage-opt %s --split-input-file --verify-diagnostics --verify-equivalence="reference=f candidate=g" -o /dev/null

// The logarithm of another element.
func.func @f(%r: tensor<8xf32>) -> tensor<8xf32> {
  %l = kernel.log %r : (tensor<8xf32>) -> tensor<8xf32>
  func.return %l : tensor<8xf32>
}
// expected-error @+1 {{an element of the candidate is not defined where something is negative or zero that only other elements of the reference need}}
func.func @g(%r: tensor<8xf32>) -> tensor<8xf32> {
  %l = kernel.log %r : (tensor<8xf32>) -> tensor<8xf32>
  %o = kernel.slice %l {offsets = array<i64: 0>, sizes = array<i64: 1>, strides = array<i64: 1>} : (tensor<8xf32>) -> tensor<1xf32>
  %a = kernel.add %l, %o : (tensor<8xf32>, tensor<1xf32>) -> tensor<8xf32>
  %b = kernel.sub %a, %o : (tensor<8xf32>, tensor<1xf32>) -> tensor<8xf32>
  func.return %b : tensor<8xf32>
}

// -----

// Each element has the logarithm of the next one, the last one that of the first.
func.func @f(%r: tensor<8xf32>) -> tensor<8xf32> {
  %l = kernel.log %r : (tensor<8xf32>) -> tensor<8xf32>
  func.return %l : tensor<8xf32>
}
// expected-error @+1 {{an element of the candidate is not defined where something is negative or zero that only other elements of the reference need}}
func.func @g(%r: tensor<8xf32>) -> tensor<8xf32> {
  %l = kernel.log %r : (tensor<8xf32>) -> tensor<8xf32>
  %p = kernel.slice %l {offsets = array<i64: 1>, sizes = array<i64: 7>, strides = array<i64: 1>} : (tensor<8xf32>) -> tensor<7xf32>
  %q = kernel.slice %l {offsets = array<i64: 0>, sizes = array<i64: 1>, strides = array<i64: 1>} : (tensor<8xf32>) -> tensor<1xf32>
  %o = kernel.concat %p, %q {dim = 0 : i64} : (tensor<7xf32>, tensor<1xf32>) -> tensor<8xf32>
  %a = kernel.add %l, %o : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %b = kernel.sub %a, %o : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  func.return %b : tensor<8xf32>
}

// -----

// A divisor of another row.
func.func @f(%x: tensor<4x16xf32>, %r: tensor<4x1xf32>) -> tensor<4x16xf32> {
  %d = kernel.relu %r : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %y = kernel.div %x, %d : (tensor<4x16xf32>, tensor<4x1xf32>) -> tensor<4x16xf32>
  func.return %y : tensor<4x16xf32>
}
// expected-error @+1 {{an element of the candidate is not defined where something is zero that only other elements of the reference need}}
func.func @g(%x: tensor<4x16xf32>, %r: tensor<4x1xf32>) -> tensor<4x16xf32> {
  %d = kernel.relu %r : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %y = kernel.div %x, %d : (tensor<4x16xf32>, tensor<4x1xf32>) -> tensor<4x16xf32>
  %o = kernel.slice %d {offsets = array<i64: 2, 0>, sizes = array<i64: 1, 1>, strides = array<i64: 1, 1>} : (tensor<4x1xf32>) -> tensor<1x1xf32>
  %a = kernel.div %y, %o : (tensor<4x16xf32>, tensor<1x1xf32>) -> tensor<4x16xf32>
  %b = kernel.mul %a, %o : (tensor<4x16xf32>, tensor<1x1xf32>) -> tensor<4x16xf32>
  func.return %b : tensor<4x16xf32>
}

// -----

// A root of another row.
func.func @f(%x: tensor<4x16xf32>, %r: tensor<4x1xf32>) -> tensor<4x16xf32> {
  %d = kernel.sqrt %r : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %y = kernel.mul %x, %d : (tensor<4x16xf32>, tensor<4x1xf32>) -> tensor<4x16xf32>
  func.return %y : tensor<4x16xf32>
}
// expected-error @+1 {{an element of the candidate is not defined where something is negative that only other elements of the reference need}}
func.func @g(%x: tensor<4x16xf32>, %r: tensor<4x1xf32>) -> tensor<4x16xf32> {
  %d = kernel.sqrt %r : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %y = kernel.mul %x, %d : (tensor<4x16xf32>, tensor<4x1xf32>) -> tensor<4x16xf32>
  %o = kernel.slice %d {offsets = array<i64: 3, 0>, sizes = array<i64: 1, 1>, strides = array<i64: 1, 1>} : (tensor<4x1xf32>) -> tensor<1x1xf32>
  %a = kernel.add %y, %o : (tensor<4x16xf32>, tensor<1x1xf32>) -> tensor<4x16xf32>
  %b = kernel.sub %a, %o : (tensor<4x16xf32>, tensor<1x1xf32>) -> tensor<4x16xf32>
  func.return %b : tensor<4x16xf32>
}

// -----

// The maximum of another row, all of which may be masked.
func.func @f(%m: tensor<4x16xf32>, %x: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %zero = kernel.constant {value = 0.0 : f32} : tensor<f32>
  %c = kernel.compare %m, %zero {predicate = "lt"} : (tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
  %low = kernel.constant {value = 0xff800000 : f32} : tensor<f32>
  %s = kernel.select %c, %low, %x : (tensor<4x16xf32>, tensor<f32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  %p = kernel.softmax %s {dim = 1 : i64} : (tensor<4x16xf32>) -> tensor<4x16xf32>
  func.return %p : tensor<4x16xf32>
}
// expected-error @+1 {{an element of the candidate is not defined where something is zero that only other elements of the reference need}}
func.func @g(%m: tensor<4x16xf32>, %x: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %zero = kernel.constant {value = 0.0 : f32} : tensor<f32>
  %c = kernel.compare %m, %zero {predicate = "lt"} : (tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
  %low = kernel.constant {value = 0xff800000 : f32} : tensor<f32>
  %s = kernel.select %c, %low, %x : (tensor<4x16xf32>, tensor<f32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  %p = kernel.softmax %s {dim = 1 : i64} : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %t = kernel.reduce_max %s {dims = array<i64: 1>} : (tensor<4x16xf32>) -> tensor<4x1xf32>
  %o = kernel.slice %t {offsets = array<i64: 1, 0>, sizes = array<i64: 1, 1>, strides = array<i64: 1, 1>} : (tensor<4x1xf32>) -> tensor<1x1xf32>
  %d = kernel.sub %o, %o : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
  %b = kernel.add %p, %d : (tensor<4x16xf32>, tensor<1x1xf32>) -> tensor<4x16xf32>
  func.return %b : tensor<4x16xf32>
}

// -----

// The weights of another row.
func.func @f(%m: tensor<4x16xf32>, %x: tensor<4x16xf32>, %v: tensor<16x8xf32>) -> tensor<4x8xf32> {
  %zero = kernel.constant {value = 0.0 : f32} : tensor<f32>
  %c = kernel.compare %m, %zero {predicate = "lt"} : (tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
  %low = kernel.constant {value = 0xff800000 : f32} : tensor<f32>
  %s = kernel.select %c, %low, %x : (tensor<4x16xf32>, tensor<f32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  %p = kernel.softmax %s {dim = 1 : i64} : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %y = kernel.matmul %p, %v : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}
// expected-error @+1 {{an element of the candidate is not defined where something is zero that only other elements of the reference need}}
func.func @g(%m: tensor<4x16xf32>, %x: tensor<4x16xf32>, %v: tensor<16x8xf32>) -> tensor<4x8xf32> {
  %zero = kernel.constant {value = 0.0 : f32} : tensor<f32>
  %c = kernel.compare %m, %zero {predicate = "lt"} : (tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
  %low = kernel.constant {value = 0xff800000 : f32} : tensor<f32>
  %s = kernel.select %c, %low, %x : (tensor<4x16xf32>, tensor<f32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  %p = kernel.softmax %s {dim = 1 : i64} : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %y = kernel.matmul %p, %v : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
  %o = kernel.slice %y {offsets = array<i64: 0, 0>, sizes = array<i64: 1, 8>, strides = array<i64: 1, 1>} : (tensor<4x8xf32>) -> tensor<1x8xf32>
  %a = kernel.add %y, %o : (tensor<4x8xf32>, tensor<1x8xf32>) -> tensor<4x8xf32>
  %b = kernel.sub %a, %o : (tensor<4x8xf32>, tensor<1x8xf32>) -> tensor<4x8xf32>
  func.return %b : tensor<4x8xf32>
}

// -----

// A matmul needs the logarithms of its row, not those of all rows.
func.func @f(%x: tensor<4x16xf32>, %w: tensor<16x8xf32>) -> tensor<4x8xf32> {
  %l = kernel.log %x : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %y = kernel.matmul %l, %w : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}
// expected-error @+1 {{an element of the candidate is not defined where something is negative or zero that only other elements of the reference need}}
func.func @g(%x: tensor<4x16xf32>, %w: tensor<16x8xf32>) -> tensor<4x8xf32> {
  %l = kernel.log %x : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %y = kernel.matmul %l, %w : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
  %t = kernel.reduce_sum %l {dims = array<i64: 0, 1>} : (tensor<4x16xf32>) -> tensor<1x1xf32>
  %a = kernel.add %y, %t : (tensor<4x8xf32>, tensor<1x1xf32>) -> tensor<4x8xf32>
  %b = kernel.sub %a, %t : (tensor<4x8xf32>, tensor<1x1xf32>) -> tensor<4x8xf32>
  func.return %b : tensor<4x8xf32>
}

// -----

// A transposed view: element (i, j) needs that at (j, i).
func.func @f(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %l = kernel.log %x : (tensor<8x8xf32>) -> tensor<8x8xf32>
  func.return %l : tensor<8x8xf32>
}
// expected-error @+1 {{an element of the candidate is not defined where something is negative or zero that only other elements of the reference need}}
func.func @g(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %l = kernel.log %x : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %t = kernel.transpose %l {permutation = array<i64: 1, 0>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %a = kernel.add %l, %t : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %b = kernel.sub %a, %t : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  func.return %b : tensor<8x8xf32>
}

// -----

// Another order of the same elements.
func.func @f(%x: tensor<4x8xf32>) -> tensor<32xf32> {
  %l = kernel.log %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %y = kernel.reshape %l : (tensor<4x8xf32>) -> tensor<32xf32>
  func.return %y : tensor<32xf32>
}
// expected-error @+1 {{an element of the candidate is not defined where something is negative or zero that only other elements of the reference need}}
func.func @g(%x: tensor<4x8xf32>) -> tensor<32xf32> {
  %l = kernel.log %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %y = kernel.reshape %l : (tensor<4x8xf32>) -> tensor<32xf32>
  %t = kernel.transpose %l {permutation = array<i64: 1, 0>} : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %o = kernel.reshape %t : (tensor<8x4xf32>) -> tensor<32xf32>
  %a = kernel.add %y, %o : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
  %b = kernel.sub %a, %o : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
  func.return %b : tensor<32xf32>
}

// -----

// A block that has the rows of all others, too.
func.func @f(%x: tensor<4x16xf32>) -> tensor<4x1xf32> {
  %l = kernel.log %x : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %y = kernel.reduce_sum %l {dims = array<i64: 1>} : (tensor<4x16xf32>) -> tensor<4x1xf32>
  func.return %y : tensor<4x1xf32>
}
// expected-error @+1 {{an element of the candidate is not defined where something is negative or zero that only other elements of the reference need}}
func.func @g(%x: tensor<4x16xf32>) -> tensor<4x1xf32> {
  %o = kernel.graph_defined ins(%x) grid [4] loop [2] {
  ^bb0(%xa: tensor<4x16xf32>):
    %t = threadblock.load %xa grid_map [0] loop_map [1] : (tensor<4x16xf32>) -> !threadblock.tile<1x8xf32>
    %l = threadblock.log %t : (!threadblock.tile<1x8xf32>) -> !threadblock.tile<1x8xf32>
    %r = threadblock.reduce_sum %l {dims = array<i64: 1>} : (!threadblock.tile<1x8xf32>) -> !threadblock.tile<1x1xf32>
    %s = threadblock.accumulate %r : (!threadblock.tile<1x1xf32>) -> !threadblock.tile<1x1xf32>
    %z = threadblock.accumulate %r across [0] : (!threadblock.tile<1x1xf32>) -> !threadblock.tile<1x1xf32>
    %a = threadblock.add %s, %z : (!threadblock.tile<1x1xf32>, !threadblock.tile<1x1xf32>) -> !threadblock.tile<1x1xf32>
    %b = threadblock.sub %a, %z : (!threadblock.tile<1x1xf32>, !threadblock.tile<1x1xf32>) -> !threadblock.tile<1x1xf32>
    threadblock.store %b grid_map [0] : !threadblock.tile<1x1xf32>
  } : (tensor<4x16xf32>) -> tensor<4x1xf32>
  func.return %o : tensor<4x1xf32>
}

// -----

// Each result is judged by itself, too.
func.func @f(%r: tensor<8xf32>, %x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %l = kernel.log %r : (tensor<8xf32>) -> tensor<8xf32>
  %y = kernel.scale %x {factor = 2.0 : f32} : (tensor<8xf32>) -> tensor<8xf32>
  func.return %l, %y : tensor<8xf32>, tensor<8xf32>
}
// expected-error @+1 {{an element of the candidate is not defined where something is negative or zero that only other elements of the reference need}}
func.func @g(%r: tensor<8xf32>, %x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %l = kernel.log %r : (tensor<8xf32>) -> tensor<8xf32>
  %y = kernel.scale %x {factor = 2.0 : f32} : (tensor<8xf32>) -> tensor<8xf32>
  %a = kernel.add %y, %l : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %b = kernel.sub %a, %l : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %d = kernel.scale %l {factor = 2.0 : f32} : (tensor<8xf32>) -> tensor<8xf32>
  %e = kernel.sub %d, %l : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  func.return %e, %b : tensor<8xf32>, tensor<8xf32>
}

// -----

// A part that the program has the logarithm of: the other half has a value whatever is there.
func.func @f(%r: tensor<8xf32>) -> tensor<8xf32> {
  %p = kernel.slice %r {offsets = array<i64: 0>, sizes = array<i64: 4>, strides = array<i64: 1>} : (tensor<8xf32>) -> tensor<4xf32>
  %l = kernel.log %p : (tensor<4xf32>) -> tensor<4xf32>
  %q = kernel.slice %r {offsets = array<i64: 4>, sizes = array<i64: 4>, strides = array<i64: 1>} : (tensor<8xf32>) -> tensor<4xf32>
  %y = kernel.concat %l, %q {dim = 0 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  func.return %y : tensor<8xf32>
}
// expected-error @+1 {{an element of the candidate is not defined where something is negative or zero that only other elements of the reference need}}
func.func @g(%r: tensor<8xf32>) -> tensor<8xf32> {
  %p = kernel.slice %r {offsets = array<i64: 0>, sizes = array<i64: 4>, strides = array<i64: 1>} : (tensor<8xf32>) -> tensor<4xf32>
  %l = kernel.log %p : (tensor<4xf32>) -> tensor<4xf32>
  %q = kernel.slice %r {offsets = array<i64: 4>, sizes = array<i64: 4>, strides = array<i64: 1>} : (tensor<8xf32>) -> tensor<4xf32>
  %a = kernel.add %q, %l : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %b = kernel.sub %a, %l : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %y = kernel.concat %l, %b {dim = 0 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  func.return %y : tensor<8xf32>
}

// -----

// log(1 + x) of another argument, which has no value below -1.
func.func @f(%r: tensor<8xf32>, %x: tensor<8xf32>) -> tensor<8xf32> {
  %y = kernel.scale %x {factor = 2.0 : f32} : (tensor<8xf32>) -> tensor<8xf32>
  func.return %y : tensor<8xf32>
}
// expected-error @+1 {{the candidate alone is not defined where something is negative or zero}}
func.func @g(%r: tensor<8xf32>, %x: tensor<8xf32>) -> tensor<8xf32> {
  %y = kernel.scale %x {factor = 2.0 : f32} : (tensor<8xf32>) -> tensor<8xf32>
  %l = kernel.log1p %r : (tensor<8xf32>) -> tensor<8xf32>
  %a = kernel.add %y, %l : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %b = kernel.sub %a, %l : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  func.return %b : tensor<8xf32>
}

// -----

// A maximum that may be -inf and its opposite: tests have a number for it.
func.func @f(%m: tensor<4x16xf32>, %x: tensor<4x16xf32>) -> tensor<4x1xf32> {
  %zero = kernel.constant {value = 0.0 : f32} : tensor<f32>
  %c = kernel.compare %m, %zero {predicate = "lt"} : (tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
  %low = kernel.constant {value = 0xff800000 : f32} : tensor<f32>
  %s = kernel.select %c, %low, %x : (tensor<4x16xf32>, tensor<f32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  %e = kernel.exp %s : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %y = kernel.reduce_sum %e {dims = array<i64: 1>} : (tensor<4x16xf32>) -> tensor<4x1xf32>
  func.return %y : tensor<4x1xf32>
}
// expected-error @+1 {{tests do not see where kernel.scale multiplies or adds up what may be -inf}}
func.func @g(%m: tensor<4x16xf32>, %x: tensor<4x16xf32>) -> tensor<4x1xf32> {
  %zero = kernel.constant {value = 0.0 : f32} : tensor<f32>
  %c = kernel.compare %m, %zero {predicate = "lt"} : (tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
  %low = kernel.constant {value = 0xff800000 : f32} : tensor<f32>
  %s = kernel.select %c, %low, %x : (tensor<4x16xf32>, tensor<f32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  %e = kernel.exp %s : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %y = kernel.reduce_sum %e {dims = array<i64: 1>} : (tensor<4x16xf32>) -> tensor<4x1xf32>
  %t = kernel.reduce_max %s {dims = array<i64: 1>} : (tensor<4x16xf32>) -> tensor<4x1xf32>
  %n = kernel.scale %t {factor = -1.0 : f32} : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %a = kernel.add %y, %t : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  %b = kernel.add %a, %n : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  func.return %b : tensor<4x1xf32>
}

// -----

// Accepted: logarithms of both halves.
func.func @f(%r: tensor<8xf32>) -> tensor<8xf32> {
  %l = kernel.log %r : (tensor<8xf32>) -> tensor<8xf32>
  func.return %l : tensor<8xf32>
}
// expected-remark @+1 {{@g is @f: proved}}
func.func @g(%r: tensor<8xf32>) -> tensor<8xf32> {
  %p = kernel.slice %r {offsets = array<i64: 0>, sizes = array<i64: 4>, strides = array<i64: 1>} : (tensor<8xf32>) -> tensor<4xf32>
  %q = kernel.slice %r {offsets = array<i64: 4>, sizes = array<i64: 4>, strides = array<i64: 1>} : (tensor<8xf32>) -> tensor<4xf32>
  %a = kernel.log %p : (tensor<4xf32>) -> tensor<4xf32>
  %b = kernel.log %q : (tensor<4xf32>) -> tensor<4xf32>
  %y = kernel.concat %a, %b {dim = 0 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  func.return %y : tensor<8xf32>
}

// -----

// Its own element comes and goes.
func.func @f(%r: tensor<8xf32>) -> tensor<8xf32> {
  %l = kernel.log %r : (tensor<8xf32>) -> tensor<8xf32>
  func.return %l : tensor<8xf32>
}
// expected-remark @+1 {{@g is @f: proved}}
func.func @g(%r: tensor<8xf32>) -> tensor<8xf32> {
  %l = kernel.log %r : (tensor<8xf32>) -> tensor<8xf32>
  %a = kernel.add %l, %l : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %b = kernel.sub %a, %l : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  func.return %b : tensor<8xf32>
}

// -----

// The logarithm of what is read alone.
func.func @f(%r: tensor<8xf32>) -> tensor<4xf32> {
  %l = kernel.log %r : (tensor<8xf32>) -> tensor<8xf32>
  %y = kernel.slice %l {offsets = array<i64: 2>, sizes = array<i64: 4>, strides = array<i64: 1>} : (tensor<8xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
// expected-remark @+1 {{@g is @f: proved}}
func.func @g(%r: tensor<8xf32>) -> tensor<4xf32> {
  %p = kernel.slice %r {offsets = array<i64: 2>, sizes = array<i64: 4>, strides = array<i64: 1>} : (tensor<8xf32>) -> tensor<4xf32>
  %y = kernel.log %p : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

// A division of rows behind the matmul.
func.func @f(%x: tensor<4x16xf32>, %r: tensor<4x1xf32>, %w: tensor<16x8xf32>) -> tensor<4x8xf32> {
  %d = kernel.relu %r : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %y = kernel.div %x, %d : (tensor<4x16xf32>, tensor<4x1xf32>) -> tensor<4x16xf32>
  %z = kernel.matmul %y, %w : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
  func.return %z : tensor<4x8xf32>
}
// expected-remark @+1 {{@g is @f: proved}}
func.func @g(%x: tensor<4x16xf32>, %r: tensor<4x1xf32>, %w: tensor<16x8xf32>) -> tensor<4x8xf32> {
  %d = kernel.relu %r : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %y = kernel.matmul %x, %w : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
  %z = kernel.div %y, %d : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  func.return %z : tensor<4x8xf32>
}

// -----

// A root of each row, in blocks of two of eight rows.
func.func @f(%x: tensor<8x16xf32>, %r: tensor<8x1xf32>) -> tensor<8x16xf32> {
  %d = kernel.sqrt %r : (tensor<8x1xf32>) -> tensor<8x1xf32>
  %y = kernel.mul %x, %d : (tensor<8x16xf32>, tensor<8x1xf32>) -> tensor<8x16xf32>
  func.return %y : tensor<8x16xf32>
}
// expected-remark @+1 {{@g is @f: proved}}
func.func @g(%x: tensor<8x16xf32>, %r: tensor<8x1xf32>) -> tensor<8x16xf32> {
  %o = kernel.graph_defined ins(%x, %r) grid [4] loop [2] {
  ^bb0(%xa: tensor<8x16xf32>, %ra: tensor<8x1xf32>):
    %t = threadblock.load %xa grid_map [0] loop_map [1] : (tensor<8x16xf32>) -> !threadblock.tile<2x8xf32>
    %s = threadblock.load %ra grid_map [0] loop_map [_] : (tensor<8x1xf32>) -> !threadblock.tile<2x1xf32>
    %d = threadblock.sqrt %s : (!threadblock.tile<2x1xf32>) -> !threadblock.tile<2x1xf32>
    %b = threadblock.mul %t, %d : (!threadblock.tile<2x8xf32>, !threadblock.tile<2x1xf32>) -> !threadblock.tile<2x8xf32>
    threadblock.store %b grid_map [0] loop_map [1] : !threadblock.tile<2x8xf32>
  } : (tensor<8x16xf32>, tensor<8x1xf32>) -> tensor<8x16xf32>
  func.return %o : tensor<8x16xf32>
}

// -----

// The maximum of its own row.
func.func @f(%m: tensor<4x16xf32>, %x: tensor<4x16xf32>, %v: tensor<16x8xf32>) -> tensor<4x8xf32> {
  %zero = kernel.constant {value = 0.0 : f32} : tensor<f32>
  %c = kernel.compare %m, %zero {predicate = "lt"} : (tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
  %low = kernel.constant {value = 0xff800000 : f32} : tensor<f32>
  %s = kernel.select %c, %low, %x : (tensor<4x16xf32>, tensor<f32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  %p = kernel.softmax %s {dim = 1 : i64} : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %y = kernel.matmul %p, %v : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}
// expected-remark @+1 {{@g is @f: proved}}
func.func @g(%m: tensor<4x16xf32>, %x: tensor<4x16xf32>, %v: tensor<16x8xf32>) -> tensor<4x8xf32> {
  %zero = kernel.constant {value = 0.0 : f32} : tensor<f32>
  %c = kernel.compare %m, %zero {predicate = "lt"} : (tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
  %low = kernel.constant {value = 0xff800000 : f32} : tensor<f32>
  %s = kernel.select %c, %low, %x : (tensor<4x16xf32>, tensor<f32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  %t = kernel.reduce_max %s {dims = array<i64: 1>} : (tensor<4x16xf32>) -> tensor<4x1xf32>
  %d = kernel.sub %s, %t : (tensor<4x16xf32>, tensor<4x1xf32>) -> tensor<4x16xf32>
  %e = kernel.exp %d : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %n = kernel.matmul %e, %v : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
  %u = kernel.reduce_sum %e {dims = array<i64: 1>} : (tensor<4x16xf32>) -> tensor<4x1xf32>
  %y = kernel.div %n, %u : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}

// -----

// Logarithms of a row, sixteen at a time, in a matmul.
func.func @f(%x: tensor<4x64xf32>, %w: tensor<64x8xf32>) -> tensor<4x8xf32> {
  %l = kernel.log %x : (tensor<4x64xf32>) -> tensor<4x64xf32>
  %y = kernel.matmul %l, %w : (tensor<4x64xf32>, tensor<64x8xf32>) -> tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}
// expected-remark @+1 {{@g is @f: proved}}
func.func @g(%x: tensor<4x64xf32>, %w: tensor<64x8xf32>) -> tensor<4x8xf32> {
  %o = kernel.graph_defined ins(%x, %w) grid [2] loop [4] {
  ^bb0(%xa: tensor<4x64xf32>, %wa: tensor<64x8xf32>):
    %t = threadblock.load %xa grid_map [0] loop_map [1] : (tensor<4x64xf32>) -> !threadblock.tile<2x16xf32>
    %u = threadblock.load %wa grid_map [_] loop_map [0] : (tensor<64x8xf32>) -> !threadblock.tile<16x8xf32>
    %l = threadblock.log %t : (!threadblock.tile<2x16xf32>) -> !threadblock.tile<2x16xf32>
    %p = threadblock.matmul %l, %u : (!threadblock.tile<2x16xf32>, !threadblock.tile<16x8xf32>) -> !threadblock.tile<2x8xf32>
    %a = threadblock.accumulate %p : (!threadblock.tile<2x8xf32>) -> !threadblock.tile<2x8xf32>
    threadblock.store %a grid_map [0] : !threadblock.tile<2x8xf32>
  } : (tensor<4x64xf32>, tensor<64x8xf32>) -> tensor<4x8xf32>
  func.return %o : tensor<4x8xf32>
}

// -----

// A transposed view of the same logarithms, and another shape.
func.func @f(%x: tensor<4x8xf32>) -> tensor<32xf32> {
  %t = kernel.transpose %x {permutation = array<i64: 1, 0>} : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %l = kernel.log %t : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %y = kernel.reshape %l : (tensor<8x4xf32>) -> tensor<32xf32>
  func.return %y : tensor<32xf32>
}
// expected-remark @+1 {{@g is @f: proved}}
func.func @g(%x: tensor<4x8xf32>) -> tensor<32xf32> {
  %l = kernel.log %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %t = kernel.transpose %l {permutation = array<i64: 1, 0>} : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %y = kernel.reshape %t : (tensor<8x4xf32>) -> tensor<32xf32>
  func.return %y : tensor<32xf32>
}

// -----

// Divisors that groups of heads share.
func.func @f(%x: tensor<8x16xf32>, %r: tensor<2x1xf32>) -> tensor<8x16xf32> {
  %d = kernel.relu %r : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %i = kernel.repeat_interleave %d {dim = 0 : i64, times = 4 : i64} : (tensor<2x1xf32>) -> tensor<8x1xf32>
  %y = kernel.div %x, %i : (tensor<8x16xf32>, tensor<8x1xf32>) -> tensor<8x16xf32>
  func.return %y : tensor<8x16xf32>
}
// expected-remark @+1 {{@g is @f: proved}}
func.func @g(%x: tensor<8x16xf32>, %r: tensor<2x1xf32>) -> tensor<8x16xf32> {
  %d = kernel.relu %r : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %h = kernel.reshape %x : (tensor<8x16xf32>) -> tensor<2x64xf32>
  %y = kernel.div %h, %d : (tensor<2x64xf32>, tensor<2x1xf32>) -> tensor<2x64xf32>
  %z = kernel.reshape %y : (tensor<2x64xf32>) -> tensor<8x16xf32>
  func.return %z : tensor<8x16xf32>
}

// -----

// A sum of all rows needs all of them.
func.func @f(%x: tensor<4x16xf32>, %r: tensor<4x1xf32>) -> tensor<1x16xf32> {
  %d = kernel.relu %r : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %y = kernel.div %x, %d : (tensor<4x16xf32>, tensor<4x1xf32>) -> tensor<4x16xf32>
  %z = kernel.reduce_sum %y {dims = array<i64: 0>} : (tensor<4x16xf32>) -> tensor<1x16xf32>
  func.return %z : tensor<1x16xf32>
}
// expected-remark @+1 {{@g is @f: proved}}
func.func @g(%x: tensor<4x16xf32>, %r: tensor<4x1xf32>) -> tensor<1x16xf32> {
  %d = kernel.relu %r : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %y = kernel.div %x, %d : (tensor<4x16xf32>, tensor<4x1xf32>) -> tensor<4x16xf32>
  %o = kernel.slice %d {offsets = array<i64: 2, 0>, sizes = array<i64: 1, 1>, strides = array<i64: 1, 1>} : (tensor<4x1xf32>) -> tensor<1x1xf32>
  %z = kernel.reduce_sum %y {dims = array<i64: 0>} : (tensor<4x16xf32>) -> tensor<1x16xf32>
  %a = kernel.div %z, %o : (tensor<1x16xf32>, tensor<1x1xf32>) -> tensor<1x16xf32>
  %b = kernel.mul %a, %o : (tensor<1x16xf32>, tensor<1x1xf32>) -> tensor<1x16xf32>
  func.return %b : tensor<1x16xf32>
}

// -----

// A cumulative sum needs what is before an element.
func.func @f(%r: tensor<8xf32>) -> tensor<8xf32> {
  %l = kernel.log %r : (tensor<8xf32>) -> tensor<8xf32>
  %y = kernel.cumsum %l {dim = 0 : i64} : (tensor<8xf32>) -> tensor<8xf32>
  func.return %y : tensor<8xf32>
}
// expected-remark @+1 {{@g is @f: proved}}
func.func @g(%r: tensor<8xf32>) -> tensor<8xf32> {
  %l = kernel.log %r : (tensor<8xf32>) -> tensor<8xf32>
  %o = kernel.slice %l {offsets = array<i64: 0>, sizes = array<i64: 1>, strides = array<i64: 1>} : (tensor<8xf32>) -> tensor<1xf32>
  %y = kernel.cumsum %l {dim = 0 : i64} : (tensor<8xf32>) -> tensor<8xf32>
  %a = kernel.add %y, %o : (tensor<8xf32>, tensor<1xf32>) -> tensor<8xf32>
  %b = kernel.sub %a, %o : (tensor<8xf32>, tensor<1xf32>) -> tensor<8xf32>
  func.return %b : tensor<8xf32>
}

// -----

// And nothing behind it.
func.func @f(%r: tensor<8xf32>) -> tensor<8xf32> {
  %l = kernel.log %r : (tensor<8xf32>) -> tensor<8xf32>
  %y = kernel.cumsum %l {dim = 0 : i64} : (tensor<8xf32>) -> tensor<8xf32>
  func.return %y : tensor<8xf32>
}
// expected-error @+1 {{an element of the candidate is not defined where something is negative or zero that only other elements of the reference need}}
func.func @g(%r: tensor<8xf32>) -> tensor<8xf32> {
  %l = kernel.log %r : (tensor<8xf32>) -> tensor<8xf32>
  %o = kernel.slice %l {offsets = array<i64: 1>, sizes = array<i64: 1>, strides = array<i64: 1>} : (tensor<8xf32>) -> tensor<1xf32>
  %y = kernel.cumsum %l {dim = 0 : i64} : (tensor<8xf32>) -> tensor<8xf32>
  %a = kernel.add %y, %o : (tensor<8xf32>, tensor<1xf32>) -> tensor<8xf32>
  %b = kernel.sub %a, %o : (tensor<8xf32>, tensor<1xf32>) -> tensor<8xf32>
  func.return %b : tensor<8xf32>
}
