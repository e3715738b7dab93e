// Attention, of which a script wants the exponential of its softmax: one operation is left.
// RUN: rm -rf %t && mkdir -p %t
// RUN: echo '#!/bin/sh' > %t/test.sh && echo 'grep -q kernel.exp "$1"' >> %t/test.sh
// RUN: chmod +x %t/test.sh
// RUN: mirage-reduce --test=%t/test.sh %s -o %t/small.mlir 2>&1 | filecheck %s --check-prefix=SAID
// RUN: filecheck %s < %t/small.mlir
// RUN: mirage-reduce --test=%t/test.sh %t/small.mlir 2>&1 | filecheck %s --check-prefix=AGAIN

// SAID:      mirage-reduce: 11 operations, now 2,
// CHECK:     func.func @attention(%[[X:[0-9a-z]+]]: tensor<1x1xf16>) {
// CHECK-NEXT:  kernel.exp %[[X]]
// CHECK-NEXT:  func.return
// CHECK-NOT: func.func
// AGAIN:     mirage-reduce: 2 operations, now 2,
func.func @attention(%q: tensor<16x64xf16>, %k: tensor<64x32xf16>, %v: tensor<32x64xf16>) -> tensor<16x64xf16> {
  %a = kernel.matmul %q, %k : (tensor<16x64xf16>, tensor<64x32xf16>) -> tensor<16x32xf32>
  %s = kernel.scale %a {factor = 0.125 : f32} : (tensor<16x32xf32>) -> tensor<16x32xf32>
  %m = kernel.reduce_max %s {dims = array<i64: 1>} : (tensor<16x32xf32>) -> tensor<16x1xf32>
  %d = kernel.sub %s, %m : (tensor<16x32xf32>, tensor<16x1xf32>) -> tensor<16x32xf32>
  %e = kernel.exp %d : (tensor<16x32xf32>) -> tensor<16x32xf32>
  %t = kernel.reduce_sum %e {dims = array<i64: 1>} : (tensor<16x32xf32>) -> tensor<16x1xf32>
  %p = kernel.div %e, %t : (tensor<16x32xf32>, tensor<16x1xf32>) -> tensor<16x32xf32>
  %h = kernel.cast %p : (tensor<16x32xf32>) -> tensor<16x32xf16>
  %o = kernel.matmul %h, %v : (tensor<16x32xf16>, tensor<32x64xf16>) -> tensor<16x64xf16>
  func.return %o : tensor<16x64xf16>
}

func.func @other(%x: tensor<4x8xf16>) -> tensor<4x8xf16> {
  func.return %x : tensor<4x8xf16>
}
