// Declarations, and functions of the host's side, stay as they are beside kernels.
// RUN: mirage-opt %s --superoptimize | filecheck %s
// RUN: mirage-opt %s --superoptimize --partition-program -t nvvm | filecheck %s --check-prefix=NVVM
// RUN: mirage-opt %s --superoptimize=target=sm_80 --report -o /dev/null 2>&1 | filecheck %s --check-prefix=REPORT

// CHECK: func.func private @declared(i32) -> i32
// CHECK: func.func private @with_tensors(tensor<64x64xf16>) -> tensor<64x64xf16>
// CHECK: func.func @scalar(%i: i32, %j: f32) -> i32
// CHECK-NEXT: %k = func.call @declared(%i) : (i32) -> i32
// CHECK: func.func @integers(%x: tensor<4xi32>) -> tensor<4xi32>
// CHECK-NEXT: func.return %x
// CHECK: kernel.graph_defined

// NVVM: "func.func"() <{sym_name = "declared"
// NVVM: "func.func"() <{sym_name = "scalar"
// NVVM: "gpu.module"() <{sym_name = "f", 

// REPORT-NOT: @scalar
// REPORT: @f
func.func private @declared(%i: i32) -> i32
func.func private @with_tensors(tensor<64x64xf16>) -> tensor<64x64xf16>
func.func @scalar(%i: i32, %j: f32) -> i32 {
  %k = func.call @declared(%i) : (i32) -> i32
  func.return %k : i32
}
func.func @integers(%x: tensor<4xi32>) -> tensor<4xi32> {
  func.return %x : tensor<4xi32>
}
func.func @f(%x: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %y = kernel.relu %x : (tensor<64x64xf16>) -> tensor<64x64xf16>
  func.return %y : tensor<64x64xf16>
}
