// Parts of a program that no kernel can be searched for are named under -v, each for a reason once.
// RUN: mirage-opt %s --superoptimize -v -o /dev/null 2>&1 | filecheck %s

// CHECK:     superoptimize-unread.mlir:13:8: remark: is not fused with some of its neighbours: joins tensors along two dimensions of a result
// CHECK:     superoptimize-unread.mlir:12:8: remark: is not fused with some of its neighbours: joins tensors along a dimension of a result
// CHECK:     superoptimize-unread.mlir:13:8: remark: is not fused with its neighbours: joins tensors along two dimensions of a result
// CHECK-NOT: is not fused

func.func @quarters(%x: tensor<8x512xf16>, %w: tensor<512x1024xf16>, %y: tensor<8x1024xf16>, %z: tensor<16x512xf16>) -> tensor<16x1536xf16> {
  %m = kernel.matmul %x, %w : (tensor<8x512xf16>, tensor<512x1024xf16>) -> tensor<8x1024xf16>
  %s = kernel.silu %m : (tensor<8x1024xf16>) -> tensor<8x1024xf16>
  %a = kernel.concat %s, %y {dim = 0 : i64} : (tensor<8x1024xf16>, tensor<8x1024xf16>) -> tensor<16x1024xf16>
  %o = kernel.concat %a, %z {dim = 1 : i64} : (tensor<16x1024xf16>, tensor<16x512xf16>) -> tensor<16x1536xf16>
  func.return %o : tensor<16x1536xf16>
}
