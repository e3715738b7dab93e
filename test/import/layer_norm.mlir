// `layer_norm` of test/support/jax_programs.py, printed by JAX 0.10.2.
// RUN: mirage-opt --convert-stablehlo-to-kernel %s | filecheck %s
// CHECK: func.func public @main(
// CHECK-NOT: {{stablehlo\.|chlo\.|func.call}}
// CHECK: func.return
// CHECK-NOT: func.func
"builtin.module"() <{sym_name = "jit_layer_norm"}> ({
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<16x128xf16>, tensor<128xf16>, tensor<128xf16>) -> tensor<16x128xf16>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg9: tensor<16x128xf16>, %arg10: tensor<128xf16>, %arg11: tensor<128xf16>):
    %26 = "stablehlo.convert"(%arg9) : (tensor<16x128xf16>) -> tensor<16x128xf32>
    %27 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %28 = "stablehlo.reduce"(%26, %27) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg12: tensor<f32>, %arg13: tensor<f32>):
      %50 = "stablehlo.add"(%arg12, %arg13) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%50) : (tensor<f32>) -> ()
    }) : (tensor<16x128xf32>, tensor<f32>) -> tensor<16xf32>
    %29 = "stablehlo.broadcast_in_dim"(%28) <{broadcast_dimensions = array<i64: 0>}> : (tensor<16xf32>) -> tensor<16x1xf32>
    %30 = "stablehlo.constant"() <{value = dense<1.280000e+02> : tensor<f32>}> : () -> tensor<f32>
    %31 = "stablehlo.broadcast_in_dim"(%30) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x1xf32>
    %32 = "stablehlo.divide"(%29, %31) : (tensor<16x1xf32>, tensor<16x1xf32>) -> tensor<16x1xf32>
    %33 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %34 = "func.call"(%26, %33) <{callee = @_var}> : (tensor<16x128xf32>, tensor<i32>) -> tensor<16x1xf32>
    %35 = "stablehlo.broadcast_in_dim"(%32) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<16x1xf32>) -> tensor<16x128xf32>
    %36 = "stablehlo.subtract"(%26, %35) : (tensor<16x128xf32>, tensor<16x128xf32>) -> tensor<16x128xf32>
    %37 = "stablehlo.constant"() <{value = dense<9.99999974E-6> : tensor<f32>}> : () -> tensor<f32>
    %38 = "stablehlo.broadcast_in_dim"(%37) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x1xf32>
    %39 = "stablehlo.add"(%34, %38) : (tensor<16x1xf32>, tensor<16x1xf32>) -> tensor<16x1xf32>
    %40 = "stablehlo.rsqrt"(%39) : (tensor<16x1xf32>) -> tensor<16x1xf32>
    %41 = "stablehlo.broadcast_in_dim"(%40) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<16x1xf32>) -> tensor<16x128xf32>
    %42 = "stablehlo.multiply"(%36, %41) : (tensor<16x128xf32>, tensor<16x128xf32>) -> tensor<16x128xf32>
    %43 = "stablehlo.convert"(%42) : (tensor<16x128xf32>) -> tensor<16x128xf16>
    %44 = "stablehlo.broadcast_in_dim"(%arg10) <{broadcast_dimensions = array<i64: 1>}> : (tensor<128xf16>) -> tensor<1x128xf16>
    %45 = "stablehlo.broadcast_in_dim"(%44) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x128xf16>) -> tensor<16x128xf16>
    %46 = "stablehlo.multiply"(%43, %45) : (tensor<16x128xf16>, tensor<16x128xf16>) -> tensor<16x128xf16>
    %47 = "stablehlo.broadcast_in_dim"(%arg11) <{broadcast_dimensions = array<i64: 1>}> : (tensor<128xf16>) -> tensor<1x128xf16>
    %48 = "stablehlo.broadcast_in_dim"(%47) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x128xf16>) -> tensor<16x128xf16>
    %49 = "stablehlo.add"(%46, %48) : (tensor<16x128xf16>, tensor<16x128xf16>) -> tensor<16x128xf16>
    "func.return"(%49) : (tensor<16x128xf16>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<16x128xf32>, tensor<i32>) -> tensor<16x1xf32>, res_attrs = [{}], sym_name = "_var", sym_visibility = "private"}> ({
  ^bb0(%arg3: tensor<16x128xf32>, %arg4: tensor<i32>):
    %3 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %4 = "stablehlo.reduce"(%arg3, %3) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg7: tensor<f32>, %arg8: tensor<f32>):
      %25 = "stablehlo.add"(%arg7, %arg8) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%25) : (tensor<f32>) -> ()
    }) : (tensor<16x128xf32>, tensor<f32>) -> tensor<16xf32>
    %5 = "stablehlo.broadcast_in_dim"(%4) <{broadcast_dimensions = array<i64: 0>}> : (tensor<16xf32>) -> tensor<16x1xf32>
    %6 = "stablehlo.constant"() <{value = dense<1.280000e+02> : tensor<f32>}> : () -> tensor<f32>
    %7 = "stablehlo.broadcast_in_dim"(%6) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x1xf32>
    %8 = "stablehlo.divide"(%5, %7) : (tensor<16x1xf32>, tensor<16x1xf32>) -> tensor<16x1xf32>
    %9 = "stablehlo.broadcast_in_dim"(%8) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<16x1xf32>) -> tensor<16x128xf32>
    %10 = "stablehlo.subtract"(%arg3, %9) : (tensor<16x128xf32>, tensor<16x128xf32>) -> tensor<16x128xf32>
    %11 = "chlo.square"(%10) : (tensor<16x128xf32>) -> tensor<16x128xf32>
    %12 = "stablehlo.convert"(%arg4) : (tensor<i32>) -> tensor<f32>
    %13 = "stablehlo.constant"() <{value = dense<1.280000e+02> : tensor<f32>}> : () -> tensor<f32>
    %14 = "stablehlo.subtract"(%13, %12) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %15 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %16 = "stablehlo.reduce"(%11, %15) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg5: tensor<f32>, %arg6: tensor<f32>):
      %24 = "stablehlo.add"(%arg5, %arg6) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%24) : (tensor<f32>) -> ()
    }) : (tensor<16x128xf32>, tensor<f32>) -> tensor<16xf32>
    %17 = "stablehlo.broadcast_in_dim"(%16) <{broadcast_dimensions = array<i64: 0>}> : (tensor<16xf32>) -> tensor<16x1xf32>
    %18 = "stablehlo.broadcast_in_dim"(%14) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x1xf32>
    %19 = "stablehlo.divide"(%17, %18) : (tensor<16x1xf32>, tensor<16x1xf32>) -> tensor<16x1xf32>
    %20 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %21 = "stablehlo.compare"(%14, %20) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %22 = "stablehlo.constant"() <{value = dense<0x7FC00000> : tensor<f32>}> : () -> tensor<f32>
    %23 = "func.call"(%21, %19, %22) <{callee = @_where}> : (tensor<i1>, tensor<16x1xf32>, tensor<f32>) -> tensor<16x1xf32>
    "func.return"(%23) : (tensor<16x1xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<i1>, tensor<16x1xf32>, tensor<f32>) -> tensor<16x1xf32>, res_attrs = [{}], sym_name = "_where", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<i1>, %arg1: tensor<16x1xf32>, %arg2: tensor<f32>):
    %0 = "stablehlo.convert"(%arg2) : (tensor<f32>) -> tensor<f32>
    %1 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x1xf32>
    %2 = "stablehlo.select"(%arg0, %arg1, %1) : (tensor<i1>, tensor<16x1xf32>, tensor<16x1xf32>) -> tensor<16x1xf32>
    "func.return"(%2) : (tensor<16x1xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
