// Large numbers of masks become minus infinity where no row is masked as a whole.
//
// RUN: mirage-opt %s --infinite-masks | filecheck %s
// RUN: mirage-opt %s --infinite-masks -o %t 2>&1 | filecheck %s --check-prefix=TOLD

// CHECK-LABEL: func.func @causal
// CHECK:         %[[N:.*]] = kernel.constant {value = 0xff800000 : f32} : tensor<1x1xf32>
// CHECK-NEXT:    %[[S:.*]] = kernel.select %{{.*}}, %x, %[[N]]
// CHECK-NEXT:    kernel.softmax %[[S]]
// TOLD: infinite-masks.mlir:{{[0-9]+}}:8: remark: takes -2.38e+38 for minus infinity
// TOLD-NEXT: %s = kernel.select
func.func @causal(%x: tensor<2x64x64xf32>) -> tensor<2x64x64xf32> {
  %i = kernel.iota {dim = 0 : i64} : tensor<64x1xf32>
  %j = kernel.iota {dim = 1 : i64} : tensor<1x64xf32>
  %seen = kernel.compare %i, %j {predicate = "ge"} : (tensor<64x1xf32>, tensor<1x64xf32>) -> tensor<64x64xf32>
  %n = kernel.constant {value = -2.38197633e+38 : f32} : tensor<1x1xf32>
  %s = kernel.select %seen, %x, %n : (tensor<64x64xf32>, tensor<2x64x64xf32>, tensor<1x1xf32>) -> tensor<2x64x64xf32>
  %y = kernel.softmax %s {dim = 2 : i64} : (tensor<2x64x64xf32>) -> tensor<2x64x64xf32>
  func.return %y : tensor<2x64x64xf32>
}

// As JAX writes a softmax; the condition says what is hidden; the number is used elsewhere, too.
// CHECK-LABEL: func.func @hidden
// CHECK:         %[[LARGE:.*]] = kernel.constant {value = -1.000000e+38 : f32}
// CHECK-NEXT:    %[[N:.*]] = kernel.constant {value = 0xff800000 : f32}
// CHECK-NEXT:    kernel.select %{{.*}}, %[[N]], %x
// CHECK:         kernel.max %x, %[[LARGE]]
func.func @hidden(%x: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %i = kernel.iota {dim = 0 : i64} : tensor<64x1xf32>
  %j = kernel.iota {dim = 1 : i64} : tensor<1x64xf32>
  %behind = kernel.compare %i, %j {predicate = "lt"} : (tensor<64x1xf32>, tensor<1x64xf32>) -> tensor<64x64xf32>
  %n = kernel.constant {value = -1.0e+38 : f32} : tensor<1x1xf32>
  %s = kernel.select %behind, %n, %x : (tensor<64x64xf32>, tensor<1x1xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %m = kernel.reduce_max %s {dims = array<i64: 1>} : (tensor<64x64xf32>) -> tensor<64x1xf32>
  %d = kernel.sub %s, %m : (tensor<64x64xf32>, tensor<64x1xf32>) -> tensor<64x64xf32>
  %e = kernel.exp %d : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %sum = kernel.reduce_sum %e {dims = array<i64: 1>} : (tensor<64x64xf32>) -> tensor<64x1xf32>
  %y = kernel.div %e, %sum : (tensor<64x64xf32>, tensor<64x1xf32>) -> tensor<64x64xf32>
  %o = kernel.max %x, %n : (tensor<64x64xf32>, tensor<1x1xf32>) -> tensor<64x64xf32>
  func.return %y, %o : tensor<64x64xf32>, tensor<64x64xf32>
}

// The first row sees nothing: its softmax is a mean.
// CHECK-LABEL: func.func @first_row_masked
// CHECK-NOT:     0xff800000
func.func @first_row_masked(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %i = kernel.iota {dim = 0 : i64} : tensor<64x1xf32>
  %j = kernel.iota {dim = 1 : i64} : tensor<1x64xf32>
  %seen = kernel.compare %i, %j {predicate = "gt"} : (tensor<64x1xf32>, tensor<1x64xf32>) -> tensor<64x64xf32>
  %n = kernel.constant {value = -2.0e+38 : f32} : tensor<1x1xf32>
  %s = kernel.select %seen, %x, %n : (tensor<64x64xf32>, tensor<64x64xf32>, tensor<1x1xf32>) -> tensor<64x64xf32>
  %y = kernel.softmax %s {dim = 1 : i64} : (tensor<64x64xf32>) -> tensor<64x64xf32>
  func.return %y : tensor<64x64xf32>
}

// Along columns all have something.
// CHECK-LABEL: func.func @columns
// CHECK:         0xff800000
func.func @columns(%x: tensor<64x63xf32>) -> tensor<64x63xf32> {
  %i = kernel.iota {dim = 0 : i64} : tensor<64x1xf32>
  %j = kernel.iota {dim = 1 : i64} : tensor<1x63xf32>
  %seen = kernel.compare %i, %j {predicate = "gt"} : (tensor<64x1xf32>, tensor<1x63xf32>) -> tensor<64x63xf32>
  %n = kernel.constant {value = -2.0e+38 : f32} : tensor<1x1xf32>
  %s = kernel.select %seen, %x, %n : (tensor<64x63xf32>, tensor<64x63xf32>, tensor<1x1xf32>) -> tensor<64x63xf32>
  %y = kernel.softmax %s {dim = 0 : i64} : (tensor<64x63xf32>) -> tensor<64x63xf32>
  func.return %y : tensor<64x63xf32>
}

// -1e9 is a number; a score may be as low.
// CHECK-LABEL: func.func @small_number
// CHECK-NOT:     0xff800000
func.func @small_number(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %i = kernel.iota {dim = 0 : i64} : tensor<64x1xf32>
  %j = kernel.iota {dim = 1 : i64} : tensor<1x64xf32>
  %seen = kernel.compare %i, %j {predicate = "ge"} : (tensor<64x1xf32>, tensor<1x64xf32>) -> tensor<64x64xf32>
  %n = kernel.constant {value = -1.0e+09 : f32} : tensor<1x1xf32>
  %s = kernel.select %seen, %x, %n : (tensor<64x64xf32>, tensor<64x64xf32>, tensor<1x1xf32>) -> tensor<64x64xf32>
  %y = kernel.softmax %s {dim = 1 : i64} : (tensor<64x64xf32>) -> tensor<64x64xf32>
  func.return %y : tensor<64x64xf32>
}

// Of a mask that is given nobody knows what it hides.
// CHECK-LABEL: func.func @given
// CHECK-NOT:     0xff800000
func.func @given(%x: tensor<64x64xf32>, %seen: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %n = kernel.constant {value = -2.0e+38 : f32} : tensor<1x1xf32>
  %s = kernel.select %seen, %x, %n : (tensor<64x64xf32>, tensor<64x64xf32>, tensor<1x1xf32>) -> tensor<64x64xf32>
  %y = kernel.softmax %s {dim = 1 : i64} : (tensor<64x64xf32>) -> tensor<64x64xf32>
  func.return %y : tensor<64x64xf32>
}

// Logarithms of a softmax are large numbers where the mask is, and would be infinite.
// CHECK-LABEL: func.func @logarithms
// CHECK-NOT:     0xff800000
func.func @logarithms(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %i = kernel.iota {dim = 0 : i64} : tensor<64x1xf32>
  %j = kernel.iota {dim = 1 : i64} : tensor<1x64xf32>
  %seen = kernel.compare %i, %j {predicate = "ge"} : (tensor<64x1xf32>, tensor<1x64xf32>) -> tensor<64x64xf32>
  %n = kernel.constant {value = -2.0e+38 : f32} : tensor<1x1xf32>
  %s = kernel.select %seen, %x, %n : (tensor<64x64xf32>, tensor<64x64xf32>, tensor<1x1xf32>) -> tensor<64x64xf32>
  %m = kernel.reduce_max %s {dims = array<i64: 1>} : (tensor<64x64xf32>) -> tensor<64x1xf32>
  %d = kernel.sub %s, %m : (tensor<64x64xf32>, tensor<64x1xf32>) -> tensor<64x64xf32>
  %e = kernel.exp %d : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %sum = kernel.reduce_sum %e {dims = array<i64: 1>} : (tensor<64x64xf32>) -> tensor<64x1xf32>
  %l = kernel.log %sum : (tensor<64x1xf32>) -> tensor<64x1xf32>
  %y = kernel.sub %d, %l : (tensor<64x64xf32>, tensor<64x1xf32>) -> tensor<64x64xf32>
  func.return %y : tensor<64x64xf32>
}

// What is masked is a result, too.
// CHECK-LABEL: func.func @returned
// CHECK-NOT:     0xff800000
func.func @returned(%x: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %i = kernel.iota {dim = 0 : i64} : tensor<64x1xf32>
  %j = kernel.iota {dim = 1 : i64} : tensor<1x64xf32>
  %seen = kernel.compare %i, %j {predicate = "ge"} : (tensor<64x1xf32>, tensor<1x64xf32>) -> tensor<64x64xf32>
  %n = kernel.constant {value = -2.0e+38 : f32} : tensor<1x1xf32>
  %s = kernel.select %seen, %x, %n : (tensor<64x64xf32>, tensor<64x64xf32>, tensor<1x1xf32>) -> tensor<64x64xf32>
  %y = kernel.softmax %s {dim = 1 : i64} : (tensor<64x64xf32>) -> tensor<64x64xf32>
  func.return %y, %s : tensor<64x64xf32>, tensor<64x64xf32>
}

// Each mask leaves something of the first row, but both together hide it.
// CHECK-LABEL: func.func @nested
// CHECK-NOT:     0xff800000
func.func @nested(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %i = kernel.iota {dim = 0 : i64} : tensor<64x1xf32>
  %j = kernel.iota {dim = 1 : i64} : tensor<1x64xf32>
  %before = kernel.compare %i, %j {predicate = "ge"} : (tensor<64x1xf32>, tensor<1x64xf32>) -> tensor<64x64xf32>
  %others = kernel.compare %i, %j {predicate = "ne"} : (tensor<64x1xf32>, tensor<1x64xf32>) -> tensor<64x64xf32>
  %n = kernel.constant {value = -2.0e+38 : f32} : tensor<1x1xf32>
  %s = kernel.select %before, %x, %n : (tensor<64x64xf32>, tensor<64x64xf32>, tensor<1x1xf32>) -> tensor<64x64xf32>
  %h = kernel.cast %s : (tensor<64x64xf32>) -> tensor<64x64xbf16>
  %w = kernel.cast %h : (tensor<64x64xbf16>) -> tensor<64x64xf32>
  %both = kernel.select %others, %w, %n : (tensor<64x64xf32>, tensor<64x64xf32>, tensor<1x1xf32>) -> tensor<64x64xf32>
  %y = kernel.softmax %both {dim = 1 : i64} : (tensor<64x64xf32>) -> tensor<64x64xf32>
  func.return %y : tensor<64x64xf32>
}
