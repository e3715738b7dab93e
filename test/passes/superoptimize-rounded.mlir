// What a program rounds everywhere is stored so between kernels; else they store f32.
// RUN: mirage-opt %s --superoptimize="target=H200" | filecheck %s

// A matmul in f16, and a sum of its rows that no block holds whole.
// CHECK-LABEL: func.func @rounded
// CHECK:         kernel.graph_defined
// CHECK:         threadblock.store {{.*}}xf16>
// CHECK:         kernel.graph_defined
// CHECK-NOT:     tensor<1024x1536xf32>
// CHECK:         func.return
func.func @rounded(%x: tensor<1024x256xf16>, %w: tensor<256x1536xf16>) -> tensor<1024x1536xf16> {
  %m = kernel.matmul %x, %w : (tensor<1024x256xf16>, tensor<256x1536xf16>) -> tensor<1024x1536xf16>
  %y = kernel.relu %m : (tensor<1024x1536xf16>) -> tensor<1024x1536xf16>
  %s = kernel.softmax %y {dim = 1 : i64} : (tensor<1024x1536xf16>) -> tensor<1024x1536xf16>
  func.return %s : tensor<1024x1536xf16>
}

// The same where what is rounded is read before that as well.
// CHECK-LABEL: func.func @read_wide
// CHECK:         kernel.graph_defined
// CHECK:         threadblock.store {{.*}}xf32>
// CHECK:         func.return
func.func @read_wide(%x: tensor<1024x256xf16>, %w: tensor<256x1536xf16>) -> tensor<1024x1536xf32> {
  %y = kernel.matmul %x, %w : (tensor<1024x256xf16>, tensor<256x1536xf16>) -> tensor<1024x1536xf32>
  %r = kernel.cast %y : (tensor<1024x1536xf32>) -> tensor<1024x1536xf16>
  %f = kernel.cast %r : (tensor<1024x1536xf16>) -> tensor<1024x1536xf32>
  %s = kernel.softmax %f {dim = 1 : i64} : (tensor<1024x1536xf32>) -> tensor<1024x1536xf32>
  %o = kernel.mul %s, %y : (tensor<1024x1536xf32>, tensor<1024x1536xf32>) -> tensor<1024x1536xf32>
  func.return %o : tensor<1024x1536xf32>
}
