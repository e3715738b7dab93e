// Without a GPU there is nothing to time on, which is said before anything is searched.
// RUN: env CUDA_VISIBLE_DEVICES= not mirage-opt --profile --superoptimize="top-k=2" %s 2>&1 | filecheck %s
// CHECK: mirage-opt: error: profiling needs a GPU: {{.*}}
// CHECK-NOT: internal

func.func @f(%x: tensor<4x64xf16>) -> tensor<4x64xf16> {
  %y = kernel.silu %x : (tensor<4x64xf16>) -> tensor<4x64xf16>
  func.return %y : tensor<4x64xf16>
}
