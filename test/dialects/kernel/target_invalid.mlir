// RUN: mirage-opt %s --verify-diagnostics --split-input-file

// An instruction set does not tell an H100 from an H200.
// expected-error @+1 {{unknown GPU 'sm_90a' as target: it is one of H200, H100, A100}}
builtin.module attributes {kernel.target = #kernel.target<"sm_90a">} {
}

// -----

// expected-error @+1 {{'builtin.module' op has a kernel.target that is no #kernel.target<"H200">}}
builtin.module attributes {kernel.target = "H200"} {
}

// -----

// Kernels are for the GPU of their module.
builtin.module attributes {kernel.target = #kernel.target<"A100">} {
  // expected-error @+1 {{'gpu.module' op is for sm_90a, but its module is compiled for A100 (kernel.target), which is sm_80}}
  "gpu.module"() <{sym_name = "f"}> ({
    llvm.mlir.global external @smem() {addr_space = 3 : i32} : !llvm.array<0 x i8>
  }) {targets = [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx86">]} : () -> ()
}
