// Functions of kernels that a host calls stay declared; the host's own functions stay as they are.
// RUN: mirage-opt %s --superoptimize=target=sm_80 -o %t
// RUN: mirage-opt %t -t nvvm | filecheck %s
// RUN: mirage-opt %t -t "ptx{function=kernels}" | filecheck %s --check-prefix=PTX
// RUN: mirage-opt %t -t "nvvm{host=true}" | filecheck %s --check-prefix=HOST
// RUN: mirage-opt %t -t binary | filecheck %s --check-prefix=BINARY
// RUN: not mirage-opt %s -t "binary{format=fatbin}" 2>&1 | filecheck %s --check-prefix=FORMAT

// CHECK:      "func.func"() <{sym_name = "log"
// CHECK:      "gpu.module"() <{sym_name = "kernels_kernels"
// CHECK:        sym_name = "kernels_kernel_0"
// CHECK:      "func.func"() <{sym_name = "kernels", function_type = (tensor<64x64xf16>) -> tensor<64x64xf16>, sym_visibility = "private"}> ({
// CHECK-NEXT: }) : () -> ()
// CHECK:      "func.func"() <{sym_name = "host"
// CHECK:        "func.call"({{.*}}) <{callee = @log}> : (f32) -> ()
// CHECK:        "func.call"({{.*}}) <{callee = @kernels}>
// CHECK:      "gpu.module"() <{sym_name = "step_kernels"
// CHECK:      "func.func"() <{sym_name = "loop"
// CHECK:        "scf.for"
// CHECK:          "func.call"({{.*}}) <{callee = @step}>
// CHECK:      "gpu.module"() <{sym_name = "alone"

// PTX: .entry kernels_kernel_0

// HOST:     "llvm.func"() <{{{.*}}sym_name = "kernels_on_device"
// HOST:       "gpu.launch_func"({{.*}}@kernels_kernels::@kernels_kernel_0
// HOST:     "func.func"() <{function_type = (memref<64x64xf16>, memref<64x64xf16>) -> (), sym_name = "kernels_launch1"
// HOST:       "llvm.call"({{.*}}callee = @kernels_on_device
// HOST:     "func.func"() <{function_type = (tensor<64x64xf16>) -> tensor<64x64xf16>, sym_name = "kernels"
// HOST:       "bufferization.to_buffer"(%{{.*}}) <{read_only}>
// HOST:       "func.call"({{.*}}) <{callee = @kernels_launch1}>
// HOST:     "func.func"() <{function_type = (memref<64x64xf16>, memref<64x64xf16>) -> (), sym_name = "alone"
// HOST:     "gpu.module"() <{sym_name = "kernels_kernels", targets = [#nvvm.target<O = 3, chip = "sm_80"
// HOST:       gpu.kernel

// BINARY: "gpu.binary"() <{objects = [#gpu.object<#nvvm.target<O = 3, chip = "sm_80"
// BINARY-NOT: TimeInMs
// BINARY: ELF

// FORMAT: mirage-opt: error: {{.*}}format is bin or isa, not 'fatbin'
func.func private @log(f32)
// A name that the function on buffers would have.
func.func private @kernels_launch(f32)
func.func @kernels(%x: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %y = kernel.relu %x : (tensor<64x64xf16>) -> tensor<64x64xf16>
  func.return %y : tensor<64x64xf16>
}
func.func @host(%x: tensor<64x64xf16>, %s: f32) -> tensor<64x64xf16> {
  func.call @log(%s) : (f32) -> ()
  %y = func.call @kernels(%x) : (tensor<64x64xf16>) -> tensor<64x64xf16>
  func.return %y : tensor<64x64xf16>
}
// A private function is not put into a host's: neither the loop nor the scalar has kernels.
func.func private @step(%x: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %y = kernel.tanh %x : (tensor<64x64xf16>) -> tensor<64x64xf16>
  func.return %y : tensor<64x64xf16>
}
func.func @loop(%x: tensor<64x64xf16>, %i: i32, %n: index) -> (tensor<64x64xf16>, i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%a = %x) -> (tensor<64x64xf16>) {
    %y = func.call @step(%a) : (tensor<64x64xf16>) -> tensor<64x64xf16>
    scf.yield %y : tensor<64x64xf16>
  }
  func.return %r, %i : tensor<64x64xf16>, i32
}
func.func @alone(%x: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %y = kernel.exp %x : (tensor<64x64xf16>) -> tensor<64x64xf16>
  func.return %y : tensor<64x64xf16>
}
