// Parts of a result that a kernel makes are put together in it only where nothing else reads them:
// neither a later kernel nor another result.
//
// RUN: mirage-opt %s --superoptimize | filecheck %s
// RUN: %if every-case %{ mirage-opt %s --superoptimize --report 2>&1 >/dev/null | filecheck %s --check-prefix=REPORT %}

// The parts that others read are results of the kernel; of the product nothing is left to an operator.
// CHECK-LABEL: func.func @read_again
// CHECK-NOT: kernel.{{matmul|neg|mul|add}}
// CHECK: %{{.*}}, %{{.*}}, %{{.*}} = kernel.graph_defined
// CHECK-NOT: kernel.{{matmul|neg|mul|add}}
// CHECK: kernel.graph_defined
// CHECK: func.return
// CHECK-LABEL: func.func @halves_too
// CHECK: %{{.*}}, %{{.*}} = kernel.graph_defined
// CHECK-NOT: kernel.{{matmul|neg}}
// CHECK: func.return

// REPORT-LABEL: search of @read_again for H200
// REPORT: verified: proved
// REPORT-LABEL: search of @halves_too for H200
// REPORT: verified: proved

func.func @read_again(%x: tensor<8x256xf16>, %w: tensor<256x128xf16>, %c: tensor<8x128xf16>, %v: tensor<128x256xf16>) -> (tensor<8x128xf16>, tensor<8x256xf16>) {
  %y = kernel.matmul %x, %w : (tensor<8x256xf16>, tensor<256x128xf16>) -> tensor<8x128xf16>
  %a = kernel.slice %y {offsets = array<i64: 0, 0>, sizes = array<i64: 8, 64>, strides = array<i64: 1, 1>} : (tensor<8x128xf16>) -> tensor<8x64xf16>
  %b = kernel.slice %y {offsets = array<i64: 0, 64>, sizes = array<i64: 8, 64>, strides = array<i64: 1, 1>} : (tensor<8x128xf16>) -> tensor<8x64xf16>
  %n = kernel.neg %b : (tensor<8x64xf16>) -> tensor<8x64xf16>
  %r = kernel.concat %n, %a {dim = 1 : i64} : (tensor<8x64xf16>, tensor<8x64xf16>) -> tensor<8x128xf16>
  %m = kernel.mul %r, %c : (tensor<8x128xf16>, tensor<8x128xf16>) -> tensor<8x128xf16>
  %z = kernel.add %m, %y : (tensor<8x128xf16>, tensor<8x128xf16>) -> tensor<8x128xf16>
  %o = kernel.matmul %z, %v : (tensor<8x128xf16>, tensor<128x256xf16>) -> tensor<8x256xf16>
  func.return %z, %o : tensor<8x128xf16>, tensor<8x256xf16>
}
func.func @halves_too(%x: tensor<8x256xf16>, %w: tensor<256x128xf16>) -> (tensor<8x128xf16>, tensor<8x64xf16>) {
  %y = kernel.matmul %x, %w : (tensor<8x256xf16>, tensor<256x128xf16>) -> tensor<8x128xf16>
  %a = kernel.slice %y {offsets = array<i64: 0, 0>, sizes = array<i64: 8, 64>, strides = array<i64: 1, 1>} : (tensor<8x128xf16>) -> tensor<8x64xf16>
  %b = kernel.slice %y {offsets = array<i64: 0, 64>, sizes = array<i64: 8, 64>, strides = array<i64: 1, 1>} : (tensor<8x128xf16>) -> tensor<8x64xf16>
  %n = kernel.neg %b : (tensor<8x64xf16>) -> tensor<8x64xf16>
  %r = kernel.concat %n, %a {dim = 1 : i64} : (tensor<8x64xf16>, tensor<8x64xf16>) -> tensor<8x128xf16>
  func.return %r, %n : tensor<8x128xf16>, tensor<8x64xf16>
}
