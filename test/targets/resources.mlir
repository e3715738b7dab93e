// Constants of a host whose bytes stand behind the program, as torch-mlir prints parameters, keep them.
// RUN: mirage-opt --convert-linalg-to-kernel %s 2> /dev/null | filecheck %s
// RUN: mirage-opt --convert-linalg-to-kernel -t irdl-generic %s 2> /dev/null | filecheck %s
// RUN: mirage-opt --convert-linalg-to-kernel --superoptimize=target=sm_80 %s -o %t.mlir 2> /dev/null
// RUN: mirage-opt -t nvvm %t.mlir | filecheck %s
// RUN: mirage-opt -t nvvm{host=true} %t.mlir | filecheck %s
// RUN: mirage-opt -t binary{format=isa} %t.mlir | filecheck %s

// CHECK:     dense_resource<gain> : tensor<4xf32>
// CHECK:     dialect_resources: {
// CHECK:       builtin: {
// CHECK:         gain: "0x040000000000803F000000400000404000008040"
func.func @scaled(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %gain = arith.constant dense_resource<gain> : tensor<4xf32>
  %e = tensor.empty() : tensor<2x4xf32>
  %b = linalg.broadcast ins(%gain : tensor<4xf32>) outs(%e : tensor<2x4xf32>) dimensions = [0]
  %y = arith.mulf %x, %b : tensor<2x4xf32>
  func.return %y : tensor<2x4xf32>
}

{-#
  dialect_resources: {
    builtin: {
      gain: "0x040000000000803F000000400000404000008040"
    }
  }
#-}
