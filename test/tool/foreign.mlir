// Passes and output formats of xDSL that are for other machines are errors of usage: xdsl-opt has them.
// RUN: not mirage-opt %s --stencil-tensorize-z-dimension 2>&1 | filecheck %s --check-prefix=FLAG --match-full-lines
// RUN: not mirage-opt %s --canonicalize-dmp 2>&1 | filecheck %s --check-prefix=NEAR
// RUN: not mirage-opt %s -p cse,lower-riscv-func 2>&1 | filecheck %s --check-prefix=PASS
// RUN: not mirage-opt %s --pass-pipeline='builtin.module(mlir-opt)' 2>&1 | filecheck %s --check-prefix=PIPELINE
// RUN: not mirage-opt %s -t riscv-asm 2>&1 | filecheck %s --check-prefix=TARGET
// RUN: sh -c 'mirage-opt %s -t riscv-asm; test $? = 2'
// RUN: sh -c 'mirage-opt %s --lower-riscv-func; test $? = 2'

// FLAG:     mirage-opt: error: unknown argument '--stencil-tensorize-z-dimension' (one of xDSL's, which xdsl-opt has)
// NEAR:     mirage-opt: error: unknown argument '--canonicalize-dmp' (one of xDSL's, which xdsl-opt has); did you mean '--canonicalize'?
// PASS:     mirage-opt: error: unknown pass 'lower-riscv-func' (one of xDSL's, which xdsl-opt has); --help lists them
// PIPELINE: mirage-opt: error: unknown pass 'mlir-opt' (one of xDSL's, which xdsl-opt has); --help lists them
// TARGET:   mirage-opt: error: unknown target 'riscv-asm' (one of xDSL's, which xdsl-opt has); there are binary, c, cubin, irdl, irdl-generic, mlir, nvvm, ptx
builtin.module {}
