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

// A value in two halves: what rounding loses of the first is in the second. For the search, to which
// casts are nothing, the second is 0: so the difference is a kernel of its own.
// CHECK-LABEL: func.func @halves
// CHECK:         kernel.graph_defined
// CHECK:         threadblock.cast {{.*}}xbf16>
// CHECK:         kernel.graph_defined
// CHECK:         threadblock.sub
// CHECK:         func.return
func.func @halves(%x: tensor<64x512xf32>) -> (tensor<64x512xbf16>, tensor<64x512xf32>) {
  %hi = kernel.cast %x : (tensor<64x512xf32>) -> tensor<64x512xbf16>
  %back = kernel.cast %hi : (tensor<64x512xbf16>) -> tensor<64x512xf32>
  %lo = kernel.sub %x, %back : (tensor<64x512xf32>, tensor<64x512xf32>) -> tensor<64x512xf32>
  func.return %hi, %lo : tensor<64x512xbf16>, tensor<64x512xf32>
}

// One reader rounds to bf16, another to f16: neither type has what both read.
// CHECK-LABEL: func.func @two_types
// CHECK:         kernel.graph_defined
// CHECK:         threadblock.store {{.*}}xf32>
// CHECK:         func.return
func.func @two_types(%x: tensor<1024x256xf16>, %w: tensor<256x1536xf16>) -> tensor<1024x1536xf32> {
  %y = kernel.matmul %x, %w : (tensor<1024x256xf16>, tensor<256x1536xf16>) -> tensor<1024x1536xf32>
  %b = kernel.cast %y : (tensor<1024x1536xf32>) -> tensor<1024x1536xbf16>
  %bf = kernel.cast %b : (tensor<1024x1536xbf16>) -> tensor<1024x1536xf32>
  %s = kernel.softmax %bf {dim = 1 : i64} : (tensor<1024x1536xf32>) -> tensor<1024x1536xf32>
  %h = kernel.cast %y : (tensor<1024x1536xf32>) -> tensor<1024x1536xf16>
  %hf = kernel.cast %h : (tensor<1024x1536xf16>) -> tensor<1024x1536xf32>
  %t = kernel.softmax %hf {dim = 1 : i64} : (tensor<1024x1536xf32>) -> tensor<1024x1536xf32>
  %o = kernel.add %s, %t : (tensor<1024x1536xf32>, tensor<1024x1536xf32>) -> tensor<1024x1536xf32>
  func.return %o : tensor<1024x1536xf32>
}
