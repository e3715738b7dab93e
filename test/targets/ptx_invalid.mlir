// RUN: mirage-opt %s -t 'ptx{target=sm_80}' --verify-diagnostics --split-input-file

// LLVM would end the process on these.

"gpu.module"() <{sym_name = "f"}> ({
  llvm.func @k(%in: !llvm.ptr<1>, %x: f32) attributes {nvvm.kernel} {
    // expected-error @+2 {{'math.exp' op has no PTX instruction}}
    // expected-note @+1 {{nvvm.ex2, nvvm.log2 and arithmetic express it}}
    %y = math.exp %x : f32
    llvm.return
  }
}) : () -> ()

// -----

"gpu.module"() <{sym_name = "f"}> ({
  llvm.func @k(%in: !llvm.ptr<1>, %x: f32) attributes {nvvm.kernel} {
    // expected-error @+1 {{'math.tanh' op has a PTX instruction only with fastmath<afn>}}
    %y = math.tanh %x : f32
    llvm.return
  }
}) : () -> ()

// -----

"gpu.module"() <{sym_name = "f"}> ({
  llvm.func @k(%s: !llvm.ptr<3>, %i: i32) attributes {nvvm.kernel} {
    // expected-error @+1 {{'nvvm.mbarrier.init' op needs TMA, which sm_80 does not have}}
    "nvvm.mbarrier.init"(%s, %i) : (!llvm.ptr<3>, i32) -> ()
    llvm.return
  }
}) : () -> ()

// -----

"gpu.module"() <{sym_name = "f"}> ({
  llvm.func @k(%in: !llvm.ptr<1>) attributes {nvvm.kernel} {
    // expected-error @+1 {{'test.op' op has not been lowered: no kernel may hold it}}
    "test.op"() : () -> ()
    llvm.return
  }
}) : () -> ()

// -----

"gpu.module"() <{sym_name = "f"}> ({
  llvm.func @k(%in: !llvm.ptr<1>, %x: f64) attributes {nvvm.kernel} {
    // expected-error @+1 {{'math.exp2' op has no PTX instruction for f64}}
    %y = math.exp2 %x : f64
    llvm.return
  }
}) : () -> ()

// -----

// What only MLIR notices, at the place that it names.

"gpu.module"() <{sym_name = "f"}> ({
  llvm.func @k(%in: !llvm.ptr<1>) attributes {nvvm.kernel} {
    // expected-error @+1 {{cannot be compiled: 'llvm.mlir.addressof' op must reference a global}}
    %smem = llvm.mlir.addressof @smem : !llvm.ptr<3>
    llvm.return
  }
}) : () -> ()

// -----

// expected-error @+1 {{'builtin.module' op holds no kernels}}
builtin.module {
}

// -----

// expected-error @+2 {{'builtin.module' op holds the kernels of 2 functions; one is written at a time}}
// expected-note @+1 {{choose with the option function=NAME from f, g}}
builtin.module {
  "gpu.module"() <{sym_name = "f"}> ({
    llvm.mlir.global external @smem() {addr_space = 3 : i32} : !llvm.array<0 x i8>
  }) : () -> ()
  "gpu.module"() <{sym_name = "g"}> ({
    llvm.mlir.global external @smem() {addr_space = 3 : i32} : !llvm.array<0 x i8>
  }) : () -> ()
}

// -----

builtin.module {
  "gpu.module"() <{sym_name = "named"}> ({
    // expected-error @+1 {{'llvm.mlir.global' op has the name 'a-b', which PTX cannot have}}
    llvm.mlir.global external @"a-b"() {addr_space = 3 : i32} : !llvm.array<0 x i8>
  }) : () -> ()
}
