// Output formats, in files and on stdout; a target takes options as a pass does.
// RUN: mirage-opt %s -t mlir | filecheck %s --check-prefix=MLIR
// RUN: mirage-opt %s -t 'mlir{print-generic-format=true}' | filecheck %s --check-prefix=GENERIC
// RUN: mirage-opt %s -t irdl | filecheck %s --check-prefix=IRDL
// RUN: mirage-opt %s -t irdl-generic | filecheck %s --check-prefix=GENERIC
// RUN: mirage-opt %s --superoptimize -t nvvm | filecheck %s --check-prefix=NVVM
// RUN: mirage-opt %s --superoptimize -t ptx | filecheck %s --check-prefix=PTX
// RUN: mirage-opt %s --superoptimize -t cubin -o %t.cubin
// RUN: head -c 4 %t.cubin | filecheck %s --check-prefix=CUBIN
// RUN: not mirage-opt %s --split-input-file -t cubin -o %t.cubin 2>&1 | filecheck %s --check-prefix=SPLIT
// RUN: not mirage-opt %s -t 'irdl{nope=1}' 2>&1 | filecheck %s --check-prefix=OPTION
// RUN: not xdsl-opt %s -t cubin 2>&1 | filecheck %s --check-prefix=TEXT

// MLIR:    kernel.scale %x {factor = 5.000000e-01 : f32}
// GENERIC: "kernel.scale"(%x)
// IRDL:    irdl.dialect @kernel {
// NVVM:    sym_name = "f_kernel_0"
// PTX:     .entry f_kernel_0
// CUBIN:   ELF
// SPLIT:   mirage-opt: error: --split-input-file has no meaning for -t cubin
// OPTION:  mirage-opt: error: 'irdl' has no option 'nope' (it has none)
// TEXT:    'cubin' is a binary format: use mirage-opt -t cubin
func.func @f(%x: tensor<16x64xf16>) -> tensor<16x64xf16> {
  %y = kernel.scale %x {factor = 0.5 : f32} : (tensor<16x64xf16>) -> tensor<16x64xf16>
  func.return %y : tensor<16x64xf16>
}
