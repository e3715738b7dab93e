// Of what JAX calls, an operator has a name and no place: then the place is that of the call.
// RUN: not mirage-opt --convert-stablehlo-to-kernel %s 2>&1 | filecheck %s
// RUN: mirage-opt --convert-stablehlo-to-kernel=parts --superoptimize=target=sm_80 %s -o /dev/null 2>&1 | filecheck %s --check-prefix=PARTS

// CHECK: f.py:7:4: error: 'stablehlo.cbrt' op has no counterpart

// PARTS: f.py:7:4: remark: 'stablehlo.cbrt' op has no counterpart
// PARTS: f.py:6:18: remark: 'stablehlo.convert' op is no operator of the kernel dialect
func.func @f(%x: tensor<4xf32>, %m: tensor<4xi1>) -> tensor<4xf32> {
  %a = "stablehlo.tanh"(%x) : (tensor<4xf32>) -> tensor<4xf32> loc("f.py":5:2)
  %b = func.call @_where(%m, %a) : (tensor<4xi1>, tensor<4xf32>) -> tensor<4xf32> loc("jit(f)"("f.py":6:18))
  %c = "stablehlo.cbrt"(%b) : (tensor<4xf32>) -> tensor<4xf32> loc("cbrt"("f.py":7:4))
  func.return %c : tensor<4xf32> loc("f.py":8:2)
}
func.func private @_where(%m: tensor<4xi1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %n = "stablehlo.negate"(%x) : (tensor<4xf32>) -> tensor<4xf32> loc("neg")
  %r = "stablehlo.select"(%m, %x, %n) : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("select_n")
  func.return %r : tensor<4xf32> loc("select_n")
}
