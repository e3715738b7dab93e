// Why each kernel was chosen: as text on stderr, as JSON in a file; what is printed stays the same.
// RUN: mirage-opt %s --superoptimize --explain --explain-json %t.json --explain-html %t.html -o %t.explained 2>%t.text
// RUN: filecheck %s --check-prefix=GRAPH < %t.explained
// RUN: mirage-opt %s --superoptimize -o %t.alone && diff %t.alone %t.explained
// RUN: filecheck %s < %t.text
// RUN: filecheck %s --check-prefix=JSON < %t.json
// RUN: filecheck %s --check-prefix=HTML < %t.html
// RUN: not mirage-opt %s --superoptimize --explain-html %t.none/f.html 2>&1 | filecheck %s --check-prefix=PAGE
// RUN: not mirage-opt %s --superoptimize --explain-json %t.none/f.json 2>&1 | filecheck %s --check-prefix=FILE

// GRAPH:       kernel.graph_defined
// GRAPH-NOT:   limited by

// CHECK:       @f for sm_90a: 1 kernel, modelled {{[0-9.]+}} us; each operator alone {{[0-9.]+}} us
// CHECK-NEXT:    kernel f_kernel_0
// CHECK-NEXT:      dimensions: i = dim 0 of %x, dim 0 of result 0 (size 16); j = dim 1 of %x, dim 0 of %w (size 4096); k = dim 1 of %w, dim 1 of result 0 (size 6144)
// CHECK-NEXT:      grid {{[0-9]+}} (k){{.*}}, loop {{[0-9]+}} (j){{.*}}; tile i 16, j {{[0-9]+}}, k {{[0-9]+}}
// CHECK-NEXT:      grid {{[0-9x]+}}, 128 threads + 32 of TMA producers, {{[0-9]+}} registers (estimated {{[0-9]+}}), {{[0-9.]+}} KB of shared memory
// CHECK-NEXT:      occupancy: {{[12]}} block{{s?}} per SM, 1 wave; stages: {{[0-9]+}}
// CHECK-NEXT:      MMA: wgmma m64n16k16, transposed, 1x1x1 warpgroups
// CHECK-NEXT:      copies: TMA
// CHECK:           modelled {{[0-9.]+}} us = launch {{[0-9.]+}} + copies and compute {{[0-9.]+}}
// CHECK-NEXT:      each unit alone: DRAM {{[0-9.]+}}, L2 {{[0-9.]+}}, loads of one SM
// CHECK-NEXT:      limited by DRAM
// CHECK-NEXT:      floor: 50.66 MB of inputs and outputs at device-memory bandwidth {{[0-9.]+}} us
// CHECK-NEXT:    candidates: {{[0-9]+}} graphs, {{[0-9]+}} with tile sizes
// CHECK-NEXT:    of {{[0-9]+}} kept, the next in the model:
// CHECK-NEXT:      1. {{[0-9.]+}} us (+{{[0-9.]+}} %), grid(k) loop(j)
// CHECK:       @f for sm_80: {{[12]}} kernel
// CHECK:           MMA: mma.sync m16n8k16
// CHECK-NEXT:      copies: {{.*}}cp.async (16 bytes)

// JSON:        "f": {
// JSON-NEXT:     "sm_90a": {
// JSON:              "modelled_seconds":
// JSON:              "limit": "DRAM"
// JSON:              "scheduled": {
// JSON:                "producer_warps": 1
// JSON:              "contests": [

// HTML:        <!DOCTYPE html>
// HTML:        <h2>@f for sm_90a</h2>
// HTML:        <h3>f_kernel_0</h3>
// HTML:        limited by DRAM
// HTML:        <svg
// HTML:        <h2>@f for sm_80</h2>

// PAGE:        mirage-opt: error: --explain-html={{.*}}: there is no such folder
// FILE:        mirage-opt: error: --explain-json={{.*}}: there is no such folder
func.func @f(%x: tensor<16x4096xf16>, %w: tensor<4096x6144xf16>) -> tensor<16x6144xf16> {
  %y = kernel.relu %x : (tensor<16x4096xf16>) -> tensor<16x4096xf16>
  %o = kernel.matmul %y, %w : (tensor<16x4096xf16>, tensor<4096x6144xf16>) -> tensor<16x6144xf16>
  func.return %o : tensor<16x6144xf16>
}
