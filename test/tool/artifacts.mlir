// The uGraph goes to stdout, the report to stderr, PTX, cubins and the artifact into a folder that is made.
// RUN: rm -rf %t
// RUN: mirage-opt %s --superoptimize --report --artifacts=%t/made 2>%t.report | filecheck %s
// RUN: filecheck %s --check-prefix=REPORT < %t.report
// RUN: ls -A %t/made | filecheck %s --check-prefix=FOLDER
// RUN: filecheck %s --check-prefix=PTX < %t/made/f.sm_90a.ptx
// RUN: not mirage-opt %s --superoptimize --artifacts=%t.report 2>&1 | filecheck %s --check-prefix=FILE

// CHECK:       func.func @f
// CHECK-NEXT:    kernel.graph_defined
// REPORT:      search of @f for H200
// REPORT:      wrote {{.*}}made/f.mirage
// FOLDER:      f.mirage
// FOLDER-NEXT: f.sm_80.cubin
// FOLDER-NEXT: f.sm_80.ptx
// FOLDER-NEXT: f.sm_90a.cubin
// FOLDER-NEXT: f.sm_90a.ptx
// FOLDER-NOT:  {{.}}
// PTX:         .target sm_90a
// FILE:        mirage-opt: error: --artifacts={{.*}}File exists
func.func @f(%x: tensor<16x64xf16>, %w: tensor<64x32xf16>) -> tensor<16x32xf16> {
  %o = kernel.matmul %x, %w : (tensor<16x64xf16>, tensor<64x32xf16>) -> tensor<16x32xf16>
  func.return %o : tensor<16x32xf16>
}
