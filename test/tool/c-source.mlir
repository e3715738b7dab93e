// C goes beside the artifacts, a header and a source for each function; nothing goes to stdout.
// RUN: rm -rf %t
// RUN: mirage-opt %s --superoptimize=target=sm_80 -t c --artifacts=%t/made > %t.printed
// RUN: test ! -s %t.printed
// RUN: ls -A %t/made | filecheck %s --check-prefix=FOLDER
// RUN: filecheck %s --check-prefix=HEADER < %t/made/f.h
// RUN: cc -std=c99 -Wall -Wextra -Werror -c %t/made/f.c -o %t/f.o
// RUN: not mirage-opt %s -t c 2>&1 | filecheck %s --check-prefix=NOWHERE
// RUN: not mirage-opt %s -t c --artifacts=%t/made -o %t/file 2>&1 | filecheck %s --check-prefix=FILE
// RUN: echo "func.func private @g()" | not mirage-opt - -t c --artifacts=%t/none 2>&1 | filecheck %s --check-prefix=KERNELS
// RUN: not xdsl-opt %s -t c 2>&1 | filecheck %s --check-prefix=XDSL

// FOLDER-DAG: f.mirage
// FOLDER-DAG: f.h
// FOLDER-DAG: f.c
// HEADER:     in_x: 16x64 f16
// HEADER:     int mirage_run_f(const void *in_x, void *out_0, void *scratch, struct CUstream_st *stream);
// NOWHERE:    mirage-opt: error: -t c makes files: name their folder, --artifacts=DIR
// FILE:       mirage-opt: error: -t c makes files in --artifacts=DIR; -o has no meaning
// KERNELS:    <stdin>{{.*}}: error: 'builtin.module' op holds no kernels to write as C
// KERNELS:    note: --superoptimize makes them
// XDSL:       'c' makes files: use mirage-opt -t c --artifacts=DIR
func.func @f(%x: tensor<16x64xf16>) -> tensor<16x64xf16> {
  %y = kernel.scale %x {factor = 0.5 : f32} : (tensor<16x64xf16>) -> tensor<16x64xf16>
  func.return %y : tensor<16x64xf16>
}
