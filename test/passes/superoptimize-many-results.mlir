// Results that do not need each other: one that is an argument, and a concat of many parts, of which
// each is a result of its own while kernels are searched for.
// RUN: mirage-opt %s --superoptimize | filecheck %s

func.func @passed(%a: tensor<3x1x5xf16>, %b: tensor<4x1xf16>, %c: tensor<1x1x3xf16>) -> (tensor<3x4x5xf16>, tensor<2x3x1x5xf16>, tensor<1x1x3xf16>) {
  %x = kernel.add %a, %b : (tensor<3x1x5xf16>, tensor<4x1xf16>) -> tensor<3x4x5xf16>
  %y = kernel.broadcast %a : (tensor<3x1x5xf16>) -> tensor<2x3x1x5xf16>
  func.return %x, %y, %c : tensor<3x4x5xf16>, tensor<2x3x1x5xf16>, tensor<1x1x3xf16>
}
// CHECK-LABEL: func.func @passed
// CHECK:         kernel.graph_defined

func.func @parts(%a0: tensor<3x2xf16>, %a1: tensor<3x2xf16>, %a2: tensor<3x2xf16>, %a3: tensor<3x2xf16>, %a4: tensor<3x2xf16>, %a5: tensor<3x2xf16>, %a6: tensor<3x2xf16>, %a7: tensor<3x2xf16>, %a8: tensor<3x2xf16>, %a9: tensor<3x2xf16>, %a10: tensor<3x2xf16>, %a11: tensor<3x2xf16>, %a12: tensor<3x2xf16>, %a13: tensor<3x2xf16>, %a14: tensor<3x2xf16>, %a15: tensor<3x2xf16>, %a16: tensor<3x2xf16>, %a17: tensor<3x2xf16>, %a18: tensor<3x2xf16>, %a19: tensor<3x2xf16>) -> tensor<3x40xf16> {
  %x = kernel.concat %a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %a8, %a9, %a10, %a11, %a12, %a13, %a14, %a15, %a16, %a17, %a18, %a19 {dim = 1 : i64} : (tensor<3x2xf16>, tensor<3x2xf16>, tensor<3x2xf16>, tensor<3x2xf16>, tensor<3x2xf16>, tensor<3x2xf16>, tensor<3x2xf16>, tensor<3x2xf16>, tensor<3x2xf16>, tensor<3x2xf16>, tensor<3x2xf16>, tensor<3x2xf16>, tensor<3x2xf16>, tensor<3x2xf16>, tensor<3x2xf16>, tensor<3x2xf16>, tensor<3x2xf16>, tensor<3x2xf16>, tensor<3x2xf16>, tensor<3x2xf16>) -> tensor<3x40xf16>
  %y = kernel.exp %x : (tensor<3x40xf16>) -> tensor<3x40xf16>
  func.return %y : tensor<3x40xf16>
}
// CHECK-LABEL: func.func @parts
// CHECK:         kernel.graph_defined
