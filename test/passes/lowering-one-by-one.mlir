// What each pass writes down, all others take: text goes from one to the next, with the default target of all.
//
// RUN: mirage-opt --superoptimize="max-kernels=1" %s | mirage-opt --sink-reductions | mirage-opt --fuse-thread-graphs | mirage-opt --split-cross-block-sums | mirage-opt --select-mma | mirage-opt --select-copies | mirage-opt --assign-layouts | mirage-opt --software-pipeline | mirage-opt --plan-memory | mirage-opt --overlap-launches | mirage-opt --lower-to-nvvm -o %t.steps
// RUN: mirage-opt --superoptimize="max-kernels=1" --sink-reductions --fuse-thread-graphs --split-cross-block-sums --select-mma --select-copies --assign-layouts --software-pipeline --plan-memory --overlap-launches --lower-to-nvvm %s -o %t.once
// RUN: diff %t.steps %t.once
// RUN: filecheck %s < %t.once
//
// CHECK: nvvm.cp.async.bulk.tensor

func.func @f(%x: tensor<128x2048xf16>, %w: tensor<2048x512xf16> {kernel.constant},
    %v: tensor<512x64xf16>) -> tensor<128x64xf16> {
  %y = kernel.matmul %x, %w
    : (tensor<128x2048xf16>, tensor<2048x512xf16>) -> tensor<128x512xf16>
  %z = kernel.gelu %y : (tensor<128x512xf16>) -> tensor<128x512xf16>
  %o = kernel.matmul %z, %v
    : (tensor<128x512xf16>, tensor<512x64xf16>) -> tensor<128x64xf16>
  func.return %o : tensor<128x64xf16>
}
