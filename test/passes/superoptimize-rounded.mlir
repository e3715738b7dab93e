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
// rounding is nothing otherwise, the second would be 0.
// CHECK-LABEL: func.func @halves
// CHECK:         [[X:%.*]] = threadblock.load
// CHECK:         [[HIGH:%.*]] = threadblock.cast [[X]] {{.*}}xbf16>
// CHECK:         [[BACK:%.*]] = threadblock.cast [[HIGH]] {{.*}}xf32>
// CHECK:         threadblock.sub [[X]], [[BACK]]
// CHECK-NOT:     kernel.graph_defined
// CHECK:         func.return
func.func @halves(%x: tensor<64x512xf32>) -> (tensor<64x512xbf16>, tensor<64x512xf32>) {
  %hi = kernel.cast %x : (tensor<64x512xf32>) -> tensor<64x512xbf16>
  %back = kernel.cast %hi : (tensor<64x512xbf16>) -> tensor<64x512xf32>
  %lo = kernel.sub %x, %back : (tensor<64x512xf32>, tensor<64x512xf32>) -> tensor<64x512xf32>
  func.return %hi, %lo : tensor<64x512xbf16>, tensor<64x512xf32>
}

// A product of two halves: one product of their sum, rounded, would be shorter.
// CHECK-LABEL: func.func @product_of_halves
// CHECK-COUNT-2: threadblock.matmul
// CHECK:         func.return
func.func @product_of_halves(%x: tensor<64x512xf32>, %w: tensor<512x256xbf16>) -> tensor<64x256xf32> {
  %h = kernel.cast %x : (tensor<64x512xf32>) -> tensor<64x512xbf16>
  %k = kernel.cast %h : (tensor<64x512xbf16>) -> tensor<64x512xf32>
  %n = kernel.neg %k : (tensor<64x512xf32>) -> tensor<64x512xf32>
  %r = kernel.add %x, %n : (tensor<64x512xf32>, tensor<64x512xf32>) -> tensor<64x512xf32>
  %l = kernel.cast %r : (tensor<64x512xf32>) -> tensor<64x512xbf16>
  %a = kernel.matmul %h, %w : (tensor<64x512xbf16>, tensor<512x256xbf16>) -> tensor<64x256xf32>
  %b = kernel.matmul %l, %w : (tensor<64x512xbf16>, tensor<512x256xbf16>) -> tensor<64x256xf32>
  %o = kernel.add %a, %b : (tensor<64x256xf32>, tensor<64x256xf32>) -> tensor<64x256xf32>
  func.return %o : tensor<64x256xf32>
}

// What a compensated sum carries on: 0, if numbers were real.
// CHECK-LABEL: func.func @compensated
// CHECK-COUNT-2: threadblock.add
// CHECK:         threadblock.sub
// CHECK:         threadblock.add
// CHECK-NOT:     kernel.graph_defined
// CHECK:         func.return
func.func @compensated(%p: tensor<512x1024xbf16>, %c: tensor<512x1024xbf16>, %u: tensor<512x1024xbf16>) -> (tensor<512x1024xbf16>, tensor<512x1024xbf16>) {
  %s = kernel.add %c, %u : (tensor<512x1024xbf16>, tensor<512x1024xbf16>) -> tensor<512x1024xbf16>
  %n = kernel.add %p, %s : (tensor<512x1024xbf16>, tensor<512x1024xbf16>) -> tensor<512x1024xbf16>
  %d = kernel.sub %p, %n : (tensor<512x1024xbf16>, tensor<512x1024xbf16>) -> tensor<512x1024xbf16>
  %e = kernel.add %s, %d : (tensor<512x1024xbf16>, tensor<512x1024xbf16>) -> tensor<512x1024xbf16>
  func.return %n, %e : tensor<512x1024xbf16>, tensor<512x1024xbf16>
}

// The error of a quantisation, by which the next is corrected.
// CHECK-LABEL: func.func @feedback
// CHECK:         threadblock.cast {{.*}}xf16>
// CHECK:         threadblock.sub
// CHECK:         func.return
func.func @feedback(%x: tensor<64x512xf32>) -> (tensor<64x512xf32>, tensor<64x512xf16>) {
  %a = kernel.scale %x {factor = 4.0 : f32} : (tensor<64x512xf32>) -> tensor<64x512xf32>
  %h = kernel.cast %a : (tensor<64x512xf32>) -> tensor<64x512xf16>
  %k = kernel.cast %h : (tensor<64x512xf16>) -> tensor<64x512xf32>
  %d = kernel.scale %k {factor = 0.25 : f32} : (tensor<64x512xf32>) -> tensor<64x512xf32>
  %l = kernel.sub %x, %d : (tensor<64x512xf32>, tensor<64x512xf32>) -> tensor<64x512xf32>
  func.return %l, %h : tensor<64x512xf32>, tensor<64x512xf16>
}

// An error that is carried on, which is small beside a gradient.
// CHECK-LABEL: func.func @carried
// CHECK-COUNT-2: threadblock.load
// CHECK:         threadblock.cast {{.*}}xbf16>
// CHECK:         threadblock.sub
// CHECK:         func.return
func.func @carried(%g: tensor<64x512xf32>, %e: tensor<64x512xf32>) -> (tensor<64x512xbf16>, tensor<64x512xf32>) {
  %q = kernel.cast %g : (tensor<64x512xf32>) -> tensor<64x512xbf16>
  %k = kernel.cast %q : (tensor<64x512xbf16>) -> tensor<64x512xf32>
  %s = kernel.add %g, %e : (tensor<64x512xf32>, tensor<64x512xf32>) -> tensor<64x512xf32>
  %l = kernel.sub %s, %k : (tensor<64x512xf32>, tensor<64x512xf32>) -> tensor<64x512xf32>
  func.return %q, %l : tensor<64x512xbf16>, tensor<64x512xf32>
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
