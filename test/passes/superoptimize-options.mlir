// RUN: mirage-opt %s --superoptimize="top-k=3" | filecheck %s --check-prefix=TOP
// RUN: mirage-opt %s --superoptimize="target=A100" --verify-diagnostics | filecheck %s --check-prefix=A100
// RUN: mirage-opt %s --superoptimize="time-limit=0.000001" | filecheck %s --check-prefix=TIME
// RUN: mirage-opt %s --superoptimize="time-limit=60" -v -o %t.mlir 2>%t.said
// RUN: filecheck %s --check-prefix=ENOUGH < %t.mlir
// RUN: filecheck %s --check-prefix=VERBOSE < %t.said

// The best keeps the name; others follow with their rank and modelled time in seconds.
// TOP:      func.func @linear({{.*}}) -> tensor<16x1000xf16> {
// TOP:      func.func @linear__candidate_1({{.*}} attributes {kernel.alternative = #kernel.alternative<1 : i64, {{.*}} : f64>}
// TOP:      func.func @linear__candidate_2({{.*}} attributes {kernel.alternative = #kernel.alternative<2 : i64, {{.*}} : f64>}
// TOP-NOT:  func.func

// A GPU without clusters.
// A100:     kernel.graph_defined
// A100-NOT: cluster

// Without time there is a result all the same.
// TIME-COUNT-3: kernel.graph_defined
// TIME-NOT:     kernel.graph_defined

// With enough of it what follows the product is no kernel of its own, nor two.
// ENOUGH:     threadblock.matmul
// ENOUGH:     threadblock.add
// ENOUGH-NOT: kernel.graph_defined
// ENOUGH:     threadblock.relu
// ENOUGH-NOT: kernel.graph_defined

// VERBOSE:      superoptimize-options.mlir:[[# @LINE + 9]]:1: remark: search of @linear for H200: 3 operators over 3 axes
// VERBOSE-NEXT: func.func @linear(
// VERBOSE-NEXT: ^
// VERBOSE-NEXT: remark: searched: {{[0-9]+}} configurations, {{[0-9]+}} values
// VERBOSE-NEXT: remark: dimensions: i = dim 0 of %x, dim 0 of result 0 (size 16);
// VERBOSE-NEXT: remark: found: {{[12]}} kernel{{s?}}, grid(
// VERBOSE-NEXT: remark: modelled: {{.*}} us; each operator alone {{.*}} us
// VERBOSE-NEXT: remark: time: reading
// VERBOSE-NEXT: superoptimize-options.mlir:[[# @LINE + 1]]:1: remark: verified: proved: the normal forms are equal; tested: equal modulo random primes
func.func @linear(%x: tensor<16x1024xf16>, %w: tensor<1024x1000xf16> {kernel.constant}, %b: tensor<1000xf16>) -> tensor<16x1000xf16> {
  %y = kernel.matmul %x, %w : (tensor<16x1024xf16>, tensor<1024x1000xf16>) -> tensor<16x1000xf16>
  %z = kernel.add %y, %b : (tensor<16x1000xf16>, tensor<1000xf16>) -> tensor<16x1000xf16>
  %o = kernel.relu %z : (tensor<16x1000xf16>) -> tensor<16x1000xf16>
  func.return %o : tensor<16x1000xf16>
}
