// The output is written for what the module says, an instruction set or a GPU.
// RUN: mirage-opt %s -t ptx | filecheck %s --check-prefix=PTX
// PTX: .target sm_90a

// Who asks for another one is told so; H100 and H200 differ too, where the module says which it is.
// RUN: not mirage-opt %s -t "ptx{target=A100}" 2>&1 | filecheck %s --check-prefix=KERNELS
// RUN: sed 's/^module/module attributes {kernel.target = #kernel.target<"H200">}/' %s > %t.mlir
// RUN: not mirage-opt %t.mlir -t "ptx{target=H100}" 2>&1 | filecheck %s --check-prefix=MODULE
// KERNELS: error: 'gpu.module' op was lowered for sm_90a, but the output is asked for A100
// MODULE: error: 'builtin.module' op is compiled for H200 (kernel.target), but the output is asked for H100
// MODULE: note: leave out that option, or start without the attribute
module {
  "gpu.module"() <{sym_name = "f"}> ({
    llvm.func @k(%in: !llvm.ptr<1>) attributes {nvvm.kernel} {
      llvm.return
    }
  }) {targets = [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx86">]} : () -> ()
}
