// Plans of several kernels: what one stores, a later one reads.
// RUN: mirage-opt %s --superoptimize="max-kernels=2" --verify-diagnostics | filecheck %s

// Attention with few rows: the context is split over blocks. The first kernel stores sums of parts
// and their largest scores, in f32 with a leading dimension for the parts; the second puts them
// together.
// CHECK-LABEL: func.func @split_context
// CHECK:         %[[S:.*]], %[[L:.*]], %[[M:.*]] = kernel.graph_defined
// CHECK-DAG:     threadblock.reduce_max
// CHECK-DAG:     threadblock.exp
// CHECK-COUNT-3: threadblock.store {{.*}}xf32>
// CHECK:         -> (tensor<[[N:[0-9]+]]x2x8x128xf32>, tensor<[[N]]x2x8x1xf32>, tensor<[[N]]x2x8x1xf32>)
// CHECK:         %[[M]]
// CHECK:         kernel.graph_defined
// CHECK:         threadblock.{{div|mul}}
// CHECK:         func.return
func.func @split_context(%q: tensor<2x8x128xf16>, %k: tensor<2x128x8192xf16>, %v: tensor<2x8192x128xf16>) -> tensor<2x8x128xf16> {
  %s = kernel.matmul %q, %k : (tensor<2x8x128xf16>, tensor<2x128x8192xf16>) -> tensor<2x8x8192xf16>
  %p = kernel.softmax %s {dim = 2 : i64} : (tensor<2x8x8192xf16>) -> tensor<2x8x8192xf16>
  %o = kernel.matmul %p, %v : (tensor<2x8x8192xf16>, tensor<2x8192x128xf16>) -> tensor<2x8x128xf16>
  func.return %o : tensor<2x8x128xf16>
}

// A residual and its norm through a linear layer, both returned: the sum is computed once, and the
// norm is part of one of the two kernels.
// CHECK-LABEL: func.func @two_results
// CHECK:         kernel.graph_defined
// CHECK:         kernel.graph_defined ins({{.*}}%w)
// CHECK:         threadblock.matmul
// CHECK-NOT:     kernel.graph_defined
// CHECK:         func.return
func.func @two_results(%x: tensor<8x4096xf16>, %r: tensor<8x4096xf16>, %w: tensor<4096x6144xf16>) -> (tensor<8x4096xf16>, tensor<8x6144xf16>) {
  %h = kernel.add %x, %r : (tensor<8x4096xf16>, tensor<8x4096xf16>) -> tensor<8x4096xf16>
  %y = kernel.rms_norm %h {eps = 1.0e-05 : f32} : (tensor<8x4096xf16>) -> tensor<8x4096xf16>
  %o = kernel.matmul %y, %w : (tensor<8x4096xf16>, tensor<4096x6144xf16>) -> tensor<8x6144xf16>
  func.return %h, %o : tensor<8x4096xf16>, tensor<8x6144xf16>
}

// A row that no cluster holds: its maximum and its sum are found by many blocks.
// CHECK-LABEL: func.func @long_rows
// CHECK-COUNT-2: kernel.graph_defined
// CHECK:         func.return
func.func @long_rows(%x: tensor<4x700000xf32>) -> tensor<4x700000xf32> {
  %o = kernel.softmax %x {dim = 1 : i64} : (tensor<4x700000xf32>) -> tensor<4x700000xf32>
  func.return %o : tensor<4x700000xf32>
}

// Tensors put together along both dimensions of a result: kernels of their own do that, and what
// comes before is still fused.
// CHECK-LABEL: func.func @quarters
// CHECK:         kernel.graph_defined
// CHECK:         threadblock.matmul
// CHECK-NOT:     kernel.graph_defined
// CHECK:         threadblock.silu
// CHECK:         threadblock.concat
// CHECK:         func.return
func.func @quarters(%x: tensor<8x512xf16>, %w: tensor<512x1024xf16>, %y: tensor<8x1024xf16>, %z: tensor<16x512xf16>) -> tensor<16x1536xf16> {
  %m = kernel.matmul %x, %w : (tensor<8x512xf16>, tensor<512x1024xf16>) -> tensor<8x1024xf16>
  %s = kernel.silu %m : (tensor<8x1024xf16>) -> tensor<8x1024xf16>
  %a = kernel.concat %s, %y {dim = 0 : i64} : (tensor<8x1024xf16>, tensor<8x1024xf16>) -> tensor<16x1024xf16>
  // expected-remark @+1 {{is not fused with its neighbours}}
  %o = kernel.concat %a, %z {dim = 1 : i64} : (tensor<16x1024xf16>, tensor<16x512xf16>) -> tensor<16x1536xf16>
  func.return %o : tensor<16x1536xf16>
}
