// RUN: mirage-opt %s --kernel-differentiate --superoptimize=target=H100 | filecheck %s

// What a gradient multiplies by a factor of all its terms is no part of the result any more once that is multiplied
// out. It is found all the same: one kernel walks the rows, stores their gradients and parts of the sum over them, a
// second adds up the parts.
// CHECK: func.func @f__backward
// CHECK: [[DX:%.*]], [[PARTS:%.*]] = kernel.graph_defined ins(%x, {{.*}}) grid [{{[0-9]+}}] loop [{{[0-9]+}}] {
// CHECK: threadblock.sigmoid
// CHECK: threadblock.store {{.*}} loop_map [0]
// CHECK: [[SUM:%.*]] = kernel.graph_defined ins([[PARTS]])
// CHECK-NOT: kernel.graph_defined
// CHECK: func.return [[DX]],
func.func @f(%x: tensor<256x512xf16>, %w: tensor<512xf16>) -> tensor<256x512xf16> {
  %n = kernel.rms_norm %x {eps = 1.0e-05 : f32} : (tensor<256x512xf16>) -> tensor<256x512xf16>
  %y = kernel.mul %n, %w : (tensor<256x512xf16>, tensor<512xf16>) -> tensor<256x512xf16>
  %o = kernel.silu %y : (tensor<256x512xf16>) -> tensor<256x512xf16>
  func.return %o : tensor<256x512xf16>
}
