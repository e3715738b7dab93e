// `rmsnorm_linear` of test/support/jax_programs.py, printed by JAX 0.10.2.
// RUN: mirage-opt --convert-stablehlo-to-kernel %s | filecheck %s
// CHECK: func.func public @main(
// CHECK-NOT: {{stablehlo\.|chlo\.|func.call}}
// CHECK: func.return
// CHECK-NOT: func.func
"builtin.module"() <{sym_name = "jit_rmsnorm_linear"}> ({
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<16x128xf16>, tensor<128xf16>, tensor<128x64xf16>) -> tensor<16x64xf16>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<16x128xf16>, %arg1: tensor<128xf16>, %arg2: tensor<128x64xf16>):
    %0 = "stablehlo.convert"(%arg0) : (tensor<16x128xf16>) -> tensor<16x128xf32>
    %1 = "chlo.square"(%0) : (tensor<16x128xf32>) -> tensor<16x128xf32>
    %2 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %3 = "stablehlo.reduce"(%1, %2) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %19 = "stablehlo.add"(%arg3, %arg4) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%19) : (tensor<f32>) -> ()
    }) : (tensor<16x128xf32>, tensor<f32>) -> tensor<16xf32>
    %4 = "stablehlo.broadcast_in_dim"(%3) <{broadcast_dimensions = array<i64: 0>}> : (tensor<16xf32>) -> tensor<16x1xf32>
    %5 = "stablehlo.constant"() <{value = dense<1.280000e+02> : tensor<f32>}> : () -> tensor<f32>
    %6 = "stablehlo.broadcast_in_dim"(%5) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x1xf32>
    %7 = "stablehlo.divide"(%4, %6) : (tensor<16x1xf32>, tensor<16x1xf32>) -> tensor<16x1xf32>
    %8 = "stablehlo.constant"() <{value = dense<9.99999974E-6> : tensor<f32>}> : () -> tensor<f32>
    %9 = "stablehlo.broadcast_in_dim"(%8) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x1xf32>
    %10 = "stablehlo.add"(%7, %9) : (tensor<16x1xf32>, tensor<16x1xf32>) -> tensor<16x1xf32>
    %11 = "stablehlo.rsqrt"(%10) : (tensor<16x1xf32>) -> tensor<16x1xf32>
    %12 = "stablehlo.convert"(%11) : (tensor<16x1xf32>) -> tensor<16x1xf16>
    %13 = "stablehlo.broadcast_in_dim"(%12) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<16x1xf16>) -> tensor<16x128xf16>
    %14 = "stablehlo.multiply"(%arg0, %13) : (tensor<16x128xf16>, tensor<16x128xf16>) -> tensor<16x128xf16>
    %15 = "stablehlo.broadcast_in_dim"(%arg1) <{broadcast_dimensions = array<i64: 1>}> : (tensor<128xf16>) -> tensor<1x128xf16>
    %16 = "stablehlo.broadcast_in_dim"(%15) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x128xf16>) -> tensor<16x128xf16>
    %17 = "stablehlo.multiply"(%14, %16) : (tensor<16x128xf16>, tensor<16x128xf16>) -> tensor<16x128xf16>
    %18 = "stablehlo.dot_general"(%17, %arg2) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x128xf16>, tensor<128x64xf16>) -> tensor<16x64xf16>
    "func.return"(%18) : (tensor<16x64xf16>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
