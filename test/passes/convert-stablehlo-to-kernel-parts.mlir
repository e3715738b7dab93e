// A host's function that sorts; what is around that becomes functions that it calls.
// RUN: mirage-opt --convert-stablehlo-to-kernel=parts %s --verify-diagnostics | filecheck %s
// RUN: not mirage-opt --convert-stablehlo-to-kernel %s 2>&1 | filecheck %s --check-prefix=WHOLE

// WHOLE: error: 'stablehlo.cbrt' op has no counterpart among the operators of the kernel dialect

// CHECK:      func.func @f_part_0(%x: tensor<4x8xf32>, %w: tensor<8x8xf32> {kernel.constant}) -> tensor<4x8xf32>
// CHECK:        kernel.matmul %x, %w
// CHECK:        kernel.scale
// CHECK:      func.func @f_part_1(
// CHECK:        kernel.exp
// CHECK:      func.func @f(%x: tensor<4x8xf32>, %w: tensor<8x8xf32> {kernel.constant}) -> tensor<4x8xf32>
// CHECK:        func.call @f_part_0(%x, %w)
// CHECK:        "stablehlo.cbrt"
// CHECK:        func.call @f_part_1
// expected-remark @+1 {{@f stays a function of the host: 2 parts became functions that it calls}}
func.func @f(%x: tensor<4x8xf32>, %w: tensor<8x8xf32> {kernel.constant}) -> tensor<4x8xf32> {
  %two = "stablehlo.constant"() <{value = dense<2.0> : tensor<4x8xf32>}> : () -> tensor<4x8xf32>
  %y = "stablehlo.dot_general"(%x, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %z = "stablehlo.multiply"(%y, %two) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  // expected-remark @+1 {{'stablehlo.cbrt' op has no counterpart among the operators of the kernel dialect}}
  %s = "stablehlo.cbrt"(%z) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %e = "stablehlo.exponential"(%s) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %r = "stablehlo.multiply"(%e, %two) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// Weights behind the program, as torch-mlir prints them, are in nobody's way.
// CHECK:      func.func @weights_part_0(%b: tensor<8xf32>, %x: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK:      func.func @weights(
// CHECK:        %b = "stablehlo.constant"() <{value = dense_resource<bias> : tensor<8xf32>}>
// CHECK:        func.call @weights_part_0(%b, %x)
// CHECK:        "stablehlo.cbrt"
// expected-remark @+1 {{@weights stays a function of the host: 1 part of it became a function that it calls}}
func.func @weights(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %b = "stablehlo.constant"() <{value = dense_resource<bias> : tensor<8xf32>}> : () -> tensor<8xf32>
  %c = "stablehlo.broadcast_in_dim"(%b) <{broadcast_dimensions = array<i64: 1>}> : (tensor<8xf32>) -> tensor<4x8xf32>
  %y = "stablehlo.add"(%x, %c) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  // expected-remark @+1 {{'stablehlo.cbrt' op has no counterpart among the operators of the kernel dialect}}
  %r = "stablehlo.cbrt"(%y) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// Parts go across calls of functions that can be converted; these are gone where nobody calls them any more.
// CHECK:      func.func @calls_part_0(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK:        kernel.tanh
// CHECK:        kernel.sigmoid
// CHECK:        kernel.mul
// CHECK:        kernel.exp
// CHECK:      func.func @calls(
// CHECK-NEXT:   func.call @calls_part_0(%x)
// CHECK-NEXT:   func.call @root(
// CHECK-NOT:  @silu
// CHECK:      func.func @root_part_0(%x: tensor<4x8xf32>)
// CHECK:        kernel.sigmoid
// CHECK:      func.func private @root(
// CHECK-NEXT:   func.call @root_part_0
// CHECK-NEXT:   "stablehlo.cbrt"
// CHECK-NOT:  @logistic
// expected-remark @+1 {{@calls stays a function of the host: 1 part of it became a function that it calls}}
func.func @calls(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %t = "stablehlo.tanh"(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = func.call @silu(%t) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %e = "stablehlo.exponential"(%s) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // expected-remark @+1 {{'func.call' op has no counterpart among the operators of the kernel dialect}}
  %r = func.call @root(%e) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}
func.func private @silu(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %l = func.call @logistic(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %r = "stablehlo.multiply"(%x, %l) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}
func.func private @logistic(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = "stablehlo.logistic"(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}
// expected-remark @+1 {{@root stays a function of the host: 1 part of it became a function that it calls}}
func.func private @root(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %s = func.call @logistic(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // expected-remark @+1 {{'stablehlo.cbrt' op has no counterpart among the operators of the kernel dialect}}
  %r = "stablehlo.cbrt"(%s) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// Sizes that are not known, and none: what works on them stays, too.
// CHECK:      func.func @sizes_part_0(%y: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK:        kernel.tanh
// CHECK:      func.func @sizes(%x: tensor<?x8xf32>, %y: tensor<4x8xf32>)
// CHECK:        "stablehlo.tanh"(%x) : (tensor<?x8xf32>) -> tensor<?x8xf32>
// CHECK:        "stablehlo.slice"(%y)
// CHECK-SAME:     -> tensor<0x8xf32>
// CHECK:        func.call @sizes_part_0(%y)
// expected-remark @+1 {{@sizes stays a function of the host: 1 part of it became a function that it calls}}
func.func @sizes(%x: tensor<?x8xf32>, %y: tensor<4x8xf32>) -> (tensor<?x8xf32>, tensor<0x8xf32>, tensor<4x8xf32>) {
  // expected-remark @+1 {{'stablehlo.tanh' op works on tensor<?x8xf32>, whose sizes are not all known}}
  %a = "stablehlo.tanh"(%x) : (tensor<?x8xf32>) -> tensor<?x8xf32>
  %b = "stablehlo.slice"(%y) <{start_indices = array<i64: 2, 0>, limit_indices = array<i64: 2, 8>, strides = array<i64: 1, 1>}> : (tensor<4x8xf32>) -> tensor<0x8xf32>
  %c = "stablehlo.tanh"(%y) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %a, %b, %c : tensor<?x8xf32>, tensor<0x8xf32>, tensor<4x8xf32>
}

// What JAX says of shardings stays where it was.
// CHECK:      "sdy.mesh"() <{mesh = #sdy.mesh<["x"=1]>, sym_name = "mesh"}>
// CHECK:      func.func @sharded_part_0(
// CHECK:      func.func @sharded(%x: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
// CHECK:        func.call @sharded_part_0(%x)
// CHECK:        "sdy.sharding_constraint"{{.*}} <{sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}>
"sdy.mesh"() <{mesh = #sdy.mesh<["x"=1]>, sym_name = "mesh"}> : () -> ()
// expected-remark @+1 {{@sharded stays a function of the host: 1 part of it became a function that it calls}}
func.func @sharded(%x: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<4x8xf32> {
  %y = "stablehlo.tanh"(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // expected-remark @+1 {{'sdy.sharding_constraint' op has no counterpart among the operators of the kernel dialect}}
  %z = "sdy.sharding_constraint"(%y) <{sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %z : tensor<4x8xf32>
}
{-# dialect_resources: { builtin: { bias: "0x040000000000003F000000400000803E000080BF0000003F000000400000803E000080BF" } } #-}
