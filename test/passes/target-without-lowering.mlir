// A GPU whose MMA instructions no pass knows is refused before anything is made for it, by every pass that asks.
// RUN: not mirage-opt %s --superoptimize="target=B200" 2>&1 | filecheck %s
// RUN: not mirage-opt %s --partition-program="target=sm_100a" 2>&1 | filecheck %s
// RUN: not mirage-opt %s --select-mma="target=B200" 2>&1 | filecheck %s
// RUN: not mirage-opt %s --select-copies="target=B200" 2>&1 | filecheck %s
// RUN: not mirage-opt %s --assign-layouts="target=B200" 2>&1 | filecheck %s
// RUN: not mirage-opt %s -t "ptx{target=B200}" 2>&1 | filecheck %s
// RUN: sed 's/^module/module attributes {kernel.target = #kernel.target<"B200">}/' %s > %t.mlir
// RUN: not mirage-opt %t.mlir --superoptimize 2>&1 | filecheck %s
// CHECK-NOT: note
// CHECK: mlir:15:1: error: 'builtin.module' op cannot be compiled for B200 (sm_100a): its MMA instructions, tcgen05, have no lowering
// CHECK-NOT: {{error|note}}


module {
  func.func @f(%x: tensor<16x64xf16>, %w: tensor<64x64xf16>) -> tensor<16x64xf16> {
    %o = kernel.matmul %x, %w : (tensor<16x64xf16>, tensor<64x64xf16>) -> tensor<16x64xf16>
    func.return %o : tensor<16x64xf16>
  }
}
