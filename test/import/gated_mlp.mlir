// `gated_mlp` of test/support/jax_programs.py, printed by JAX 0.10.2.
// RUN: mirage-opt --convert-stablehlo-to-kernel %s | filecheck %s
// CHECK: func.func public @main(
// CHECK-NOT: {{stablehlo\.|chlo\.|func.call}}
// CHECK: func.return
// CHECK-NOT: func.func
"builtin.module"() <{sym_name = "jit_gated_mlp"}> ({
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<16x128xf16>, tensor<128x64xf16>, tensor<128x64xf16>) -> tensor<16x64xf16>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg1: tensor<16x128xf16>, %arg2: tensor<128x64xf16>, %arg3: tensor<128x64xf16>):
    %9 = "stablehlo.dot_general"(%arg1, %arg2) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x128xf16>, tensor<128x64xf16>) -> tensor<16x64xf16>
    %10 = "func.call"(%9) <{callee = @silu}> : (tensor<16x64xf16>) -> tensor<16x64xf16>
    %11 = "stablehlo.dot_general"(%arg1, %arg3) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x128xf16>, tensor<128x64xf16>) -> tensor<16x64xf16>
    %12 = "stablehlo.multiply"(%10, %11) : (tensor<16x64xf16>, tensor<16x64xf16>) -> tensor<16x64xf16>
    "func.return"(%12) : (tensor<16x64xf16>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<16x64xf16>) -> tensor<16x64xf16>, res_attrs = [{}], sym_name = "silu", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<16x64xf16>):
    %0 = "stablehlo.negate"(%arg0) : (tensor<16x64xf16>) -> tensor<16x64xf16>
    %1 = "stablehlo.exponential"(%0) : (tensor<16x64xf16>) -> tensor<16x64xf16>
    %2 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f16>}> : () -> tensor<f16>
    %3 = "stablehlo.broadcast_in_dim"(%2) <{broadcast_dimensions = array<i64>}> : (tensor<f16>) -> tensor<16x64xf16>
    %4 = "stablehlo.add"(%3, %1) : (tensor<16x64xf16>, tensor<16x64xf16>) -> tensor<16x64xf16>
    %5 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f16>}> : () -> tensor<f16>
    %6 = "stablehlo.broadcast_in_dim"(%5) <{broadcast_dimensions = array<i64>}> : (tensor<f16>) -> tensor<16x64xf16>
    %7 = "stablehlo.divide"(%6, %4) : (tensor<16x64xf16>, tensor<16x64xf16>) -> tensor<16x64xf16>
    %8 = "stablehlo.multiply"(%arg0, %7) : (tensor<16x64xf16>, tensor<16x64xf16>) -> tensor<16x64xf16>
    "func.return"(%8) : (tensor<16x64xf16>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
