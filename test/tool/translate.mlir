// StableHLO, linalg or kernel operators in; each result that there is out.
// RUN: rm -rf %t && mkdir -p %t
// RUN: mirage-translate --to=kernel %s | filecheck %s --check-prefix=KERNEL
// RUN: mirage-translate --to=mlir --target=sm_80 %s -o %t/f.mlir
// RUN: filecheck %s --check-prefix=MLIR < %t/f.mlir
// RUN: mirage-translate --to=ptx --function=f --target=sm_80 < %s | filecheck %s --check-prefix=PTX
// RUN: mirage-translate --to=cubin --function=g --target=sm_80 %s -o %t/f.cubin
// RUN: head -c 4 %t/f.cubin | filecheck %s --check-prefix=CUBIN
// RUN: mirage-translate --to=c --target=sm_80 %s -o %t/made
// RUN: ls %t/made | filecheck %s --check-prefix=C
// RUN: cc -std=c99 -Wall -Wextra -Werror -c %t/made/f.c -o %t/f.o

// KERNEL:      func.func @f(
// KERNEL-NEXT:   kernel.tanh
// KERNEL:      func.func @g(
// KERNEL-NEXT:   kernel.exp
// MLIR:        kernel.graph_defined
// MLIR:        func.func @g(
// PTX:         .target sm_80
// PTX:         .entry
// CUBIN:       ELF
// C-DAG:       f.c
// C-DAG:       g.h
func.func @f(%x: tensor<4x8xf16>) -> tensor<4x8xf16> {
  %y = "stablehlo.tanh"(%x) : (tensor<4x8xf16>) -> tensor<4x8xf16>
  func.return %y : tensor<4x8xf16>
}

func.func @g(%x: tensor<4x8xf16>) -> tensor<4x8xf16> {
  %e = tensor.empty() : tensor<4x8xf16>
  %y = linalg.exp ins(%x : tensor<4x8xf16>) outs(%e : tensor<4x8xf16>) -> tensor<4x8xf16>
  func.return %y : tensor<4x8xf16>
}
