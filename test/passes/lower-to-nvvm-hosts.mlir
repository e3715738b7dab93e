// What only a host has stays as it is: the module's name and attributes, its own GPU modules, functions
// of several blocks, and those that return what they take.
// RUN: mirage-opt %s --superoptimize=target=sm_80 -t "nvvm{host=true}" | filecheck %s
// RUN: mirage-opt %s --superoptimize=target=sm_80 -t binary | filecheck %s --check-prefix=BINARY

// BINARY:     "gpu.module"() <{sym_name = "own"}>
// BINARY:       "gpu.func"
// BINARY-NOT: "gpu.module"
// BINARY:     "gpu.binary"() <{objects = {{.*}}, sym_name = "lin_kernels"}>

// CHECK:      "builtin.module"() <{sym_name = "program"}>
// CHECK:        sym_name = "lin_on_device"
// CHECK:      "gpu.module"() <{sym_name = "own"}>
// CHECK:      "gpu.module"() <{sym_name = "lin_kernels", targets
// CHECK:      "func.func"() <{{{.*}}sym_name = "blocks"
// CHECK:        "cf.cond_br"
// CHECK:      "func.func"() <{{{.*}}sym_name = "logged"
// CHECK-NEXT: ^bb0([[X:%.*]]: tensor<16x64xf16>):
// CHECK-NEXT:   "func.call"() <{callee = @log}>
// CHECK-NEXT:   "func.return"([[X]])
// CHECK:      }) {gpu.container_module, my.attribute = 3 : i32}
"builtin.module"() <{sym_name = "program"}> ({
  "gpu.module"() <{sym_name = "own"}> ({
    "gpu.func"() <{function_type = (memref<4xf32>) -> ()}> ({
    ^bb0(%m: memref<4xf32>):
      "gpu.return"() : () -> ()
    }) {gpu.kernel, sym_name = "k", workgroup_attributions = 0 : i64} : () -> ()
  }) : () -> ()
  func.func private @log()
  func.func @lin(%x: tensor<16x64xf16>) -> tensor<16x64xf16> {
    %y = kernel.relu %x : (tensor<16x64xf16>) -> tensor<16x64xf16>
    func.return %y : tensor<16x64xf16>
  }
  func.func @blocks(%x: tensor<16x64xf16>, %c: i1) -> tensor<16x64xf16> {
    cf.cond_br %c, ^call, ^end(%x : tensor<16x64xf16>)
  ^call:
    %y = func.call @lin(%x) : (tensor<16x64xf16>) -> tensor<16x64xf16>
    cf.br ^end(%y : tensor<16x64xf16>)
  ^end(%z: tensor<16x64xf16>):
    func.return %z : tensor<16x64xf16>
  }
  func.func @logged(%x: tensor<16x64xf16>) -> tensor<16x64xf16> {
    func.call @log() : () -> ()
    func.return %x : tensor<16x64xf16>
  }
}) {gpu.container_module, my.attribute = 3 : i32} : () -> ()
