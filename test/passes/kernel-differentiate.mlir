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
