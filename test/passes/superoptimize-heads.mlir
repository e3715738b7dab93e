// The two halves of each head, as rotary embeddings read them, are read along the inputs, in which
// neighbours lie: not element by element.
//
// RUN: mirage-opt %s --superoptimize --explain 2>&1 >%t | filecheck %s
// RUN: filecheck %s --check-prefix=GRAPH < %t

// CHECK: copies: TMA
// CHECK-NOT: 2 bytes
// CHECK: for sm_80

// GRAPH: threadblock.load {{.*}} -> !threadblock.tile<1x{{[0-9]+}}x32xf16>
// GRAPH-NOT: threadblock.load {{.*}}tile<{{[0-9]+}}x1x32xf16>

func.func @halves(%x: tensor<8x1024xf16>, %w: tensor<512x1024xf16>, %c: tensor<8x1x64xf16>) -> tensor<8x8x64xf16> {
  %t = kernel.transpose %w {permutation = array<i64: 1, 0>} : (tensor<512x1024xf16>) -> tensor<1024x512xf16>
  %y = kernel.matmul %x, %t : (tensor<8x1024xf16>, tensor<1024x512xf16>) -> tensor<8x512xf16>
  %h = kernel.reshape %y : (tensor<8x512xf16>) -> tensor<8x8x64xf16>
  %a = kernel.slice %h {offsets = array<i64: 0, 0, 0>, sizes = array<i64: 8, 8, 32>, strides = array<i64: 1, 1, 1>} : (tensor<8x8x64xf16>) -> tensor<8x8x32xf16>
  %b = kernel.slice %h {offsets = array<i64: 0, 0, 32>, sizes = array<i64: 8, 8, 32>, strides = array<i64: 1, 1, 1>} : (tensor<8x8x64xf16>) -> tensor<8x8x32xf16>
  %n = kernel.neg %b : (tensor<8x8x32xf16>) -> tensor<8x8x32xf16>
  %r = kernel.concat %n, %a {dim = 2 : i64} : (tensor<8x8x32xf16>, tensor<8x8x32xf16>) -> tensor<8x8x64xf16>
  %m = kernel.mul %r, %c : (tensor<8x8x64xf16>, tensor<8x1x64xf16>) -> tensor<8x8x64xf16>
  %z = kernel.add %m, %h : (tensor<8x8x64xf16>, tensor<8x8x64xf16>) -> tensor<8x8x64xf16>
  func.return %z : tensor<8x8x64xf16>
}
