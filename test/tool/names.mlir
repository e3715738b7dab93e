// Functions may have any name: reports and artifacts keep it, machine code and files have one that
// tools take.
// RUN: rm -rf %t && mirage-opt %s --superoptimize=target=sm_80 --report --artifacts=%t -o /dev/null 2>&1 | filecheck %s
// RUN: mirage-opt %s --superoptimize -t 'ptx{function=a-b}' | filecheck %s --check-prefix=PTX
// RUN: mirage-opt %s --superoptimize | mirage-opt --split-input-file | filecheck %s --check-prefix=TEXT

// CHECK: @a-b
// CHECK: wrote {{.*}}/a-b.mirage
// CHECK: @../x
// CHECK: wrote {{.*}}names.mlir.tmp/m_x_{{[0-9a-f]+}}.mirage
// PTX: .entry m_a_b_{{[0-9a-f]+}}_kernel_0(
// TEXT: func.func @"a-b"(
// TEXT: func.func @"../x"(
func.func @"a-b"(%x: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %y = kernel.relu %x : (tensor<64x64xf16>) -> tensor<64x64xf16>
  func.return %y : tensor<64x64xf16>
}
func.func @"../x"(%x: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %y = kernel.exp %x : (tensor<64x64xf16>) -> tensor<64x64xf16>
  func.return %y : tensor<64x64xf16>
}
