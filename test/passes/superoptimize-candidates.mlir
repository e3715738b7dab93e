// The passes of `--superoptimize` one by one: the program is kept, candidates are written, verified.
// RUN: mirage-opt %s --superoptimize --print-ir-after-all -o %t.1 2>&1 | filecheck %s
// RUN: mirage-opt %s -p 'superoptimize' -o %t.2
// RUN: mirage-opt %s --pass-pipeline='builtin.module(superoptimize)' -o %t.3
// RUN: mirage-opt %s -p 'kernel-decompose{only-unsearched=true keep-program=true},partition-program{whole-up-to=40},superoptimize,verify-equivalence' -o %t.4
// RUN: mirage-opt %s --superoptimize --verify-equivalence -o %t.5
// RUN: diff %t.1 %t.2 && diff %t.1 %t.3 && diff %t.1 %t.4 && diff %t.1 %t.5
// RUN: filecheck %s --check-prefix=RESULT < %t.1
// RUN: not xdsl-opt %s -p superoptimize,sink-reductions 2>&1 | filecheck %s --check-prefix=REFUSED
// RUN: xdsl-opt %s -p superoptimize,verify-equivalence | filecheck %s --check-prefix=RESULT

// CHECK:       IR Dump After KernelDecomposePass (kernel-decompose)
// CHECK:       func.func @f({{.*}}) -> tensor<16x48xf16> attributes {kernel.implements = @f__program} {
// CHECK-NEXT:    kernel.rms_norm
// CHECK:       func.func private @f__program(
// CHECK-NEXT:    kernel.rms_norm
// CHECK:       IR Dump After PartitionProgramPass (partition-program)
// CHECK-NOT:   func.call
// CHECK:       IR Dump After SuperoptimizePass (superoptimize)
// CHECK:       func.func @f({{.*}} attributes {kernel.implements = @f__program, kernel.candidate = #kernel.candidate<"grid({{.*}}", {{.*}} : f64, false, []>} {
// CHECK-NEXT:    kernel.graph_defined
// CHECK:       func.func @f__candidate_1({{.*}} attributes {kernel.implements = @f__program, kernel.candidate = {{.*}}}
// CHECK:       : f64, true, [array<i64: 3, 3>, array<i64: 2, 2>]>
// CHECK:       func.func private @f__program(
// CHECK-NEXT:    kernel.rms_norm
// CHECK:       IR Dump After VerifyEquivalencePass (verify-equivalence)

// RESULT:      func.func @f({{.*}}) -> tensor<16x48xf16> {
// RESULT-NEXT:   kernel.graph_defined
// RESULT-NOT:  func.func
// RESULT-NOT:  kernel.implements

// REFUSED:     @f is not verified: run verify-equivalence, which compares it with @f__program
func.func @f(%x: tensor<16x64xf16>, %w: tensor<64x48xf16>) -> tensor<16x48xf16> {
  %y = kernel.rms_norm %x {eps = 1.0e-05 : f32} : (tensor<16x64xf16>) -> tensor<16x64xf16>
  %o = kernel.matmul %y, %w : (tensor<16x64xf16>, tensor<64x48xf16>) -> tensor<16x48xf16>
  func.return %o : tensor<16x48xf16>
}
