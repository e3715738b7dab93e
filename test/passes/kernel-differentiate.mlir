// RUN: mirage-opt --kernel-differentiate %s | filecheck %s
// RUN: mirage-opt --kernel-differentiate="function=norm inputs=0" %s | filecheck %s --check-prefix=ONE

// CHECK-LABEL: func.func @f(
// CHECK-LABEL: func.func @f__backward(%x: tensor<8x16xf32>, %w: tensor<16x4xf32> {kernel.constant}, %grad0: tensor<8x4xf32>) -> (tensor<8x16xf32>, tensor<16x4xf32>) {
// CHECK-NEXT: [[WT:%.*]] = kernel.transpose %w {permutation = array<i64: 1, 0>} : (tensor<16x4xf32>) -> tensor<4x16xf32>
// CHECK-NEXT: [[DX:%.*]] = kernel.matmul %grad0, [[WT]] : (tensor<8x4xf32>, tensor<4x16xf32>) -> tensor<8x16xf32>
// CHECK-NEXT: [[XT:%.*]] = kernel.transpose %x {permutation = array<i64: 1, 0>} : (tensor<8x16xf32>) -> tensor<16x8xf32>
// CHECK-NEXT: [[DW:%.*]] = kernel.matmul [[XT]], %grad0 : (tensor<16x8xf32>, tensor<8x4xf32>) -> tensor<16x4xf32>
// CHECK-NEXT: func.return [[DX]], [[DW]] : tensor<8x16xf32>, tensor<16x4xf32>
func.func @f(%x: tensor<8x16xf32>, %w: tensor<16x4xf32> {kernel.constant}) -> tensor<8x4xf32> {
  %y = kernel.matmul %x, %w : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// A gradient is in f32 between the types of the values that it is the gradient of.
// CHECK-LABEL: func.func @norm__backward(%x: tensor<8x16xf16>, %g: tensor<16xf16>, %grad0: tensor<8x16xf16>) -> (tensor<8x16xf16>, tensor<16xf16>) {
// CHECK: [[X:%.*]] = kernel.cast %x : (tensor<8x16xf16>) -> tensor<8x16xf32>
// CHECK: [[R:%.*]] = kernel.rsqrt {{.*}} -> tensor<8x1xf32>
// CHECK: kernel.reduce_sum {{.*}} {dims = array<i64: 0>} : (tensor<8x16xf32>) -> tensor<1x16xf32>
// CHECK: func.return {{.*}} : tensor<8x16xf16>, tensor<16xf16>
// ONE-NOT: @f__backward
// ONE: func.func @norm__backward(%x: tensor<8x16xf16>, %g: tensor<16xf16>, %grad0: tensor<8x16xf16>) -> tensor<8x16xf16> {
// ONE-NOT: dims = array<i64: 0>
func.func @norm(%x: tensor<8x16xf16>, %g: tensor<16xf16>) -> tensor<8x16xf16> {
  %y = kernel.rms_norm %x, %g {eps = 1.0e-05 : f32} : (tensor<8x16xf16>, tensor<16xf16>) -> tensor<8x16xf16>
  func.return %y : tensor<8x16xf16>
}

// The maximum that keeps exp in range changes no result: nothing is compared with it.
// CHECK-LABEL: func.func @logsumexp__backward(
// CHECK-NOT: kernel.compare
// CHECK: func.return {{.*}} : tensor<8x16xf32>
func.func @logsumexp(%x: tensor<8x16xf32>) -> tensor<8x1xf32> {
  %m = kernel.reduce_max %x {dims = array<i64: 1>} : (tensor<8x16xf32>) -> tensor<8x1xf32>
  %d = kernel.sub %x, %m : (tensor<8x16xf32>, tensor<8x1xf32>) -> tensor<8x16xf32>
  %e = kernel.exp %d : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %s = kernel.reduce_sum %e {dims = array<i64: 1>} : (tensor<8x16xf32>) -> tensor<8x1xf32>
  %l = kernel.log %s : (tensor<8x1xf32>) -> tensor<8x1xf32>
  %o = kernel.add %l, %m : (tensor<8x1xf32>, tensor<8x1xf32>) -> tensor<8x1xf32>
  func.return %o : tensor<8x1xf32>
}

// That of a difference from it does.
// CHECK-LABEL: func.func @relative__backward(
// CHECK: kernel.compare {{.*}} {predicate = "eq"}
func.func @relative(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %m = kernel.reduce_max %x {dims = array<i64: 1>} : (tensor<8x16xf32>) -> tensor<8x1xf32>
  %d = kernel.sub %x, %m : (tensor<8x16xf32>, tensor<8x1xf32>) -> tensor<8x16xf32>
  func.return %d : tensor<8x16xf32>
}
