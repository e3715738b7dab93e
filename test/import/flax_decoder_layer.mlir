// A decoder layer of Flax 0.12.8 (test/support/flax_layer.py), printed by JAX 0.10.2.
// RUN: mirage-opt --convert-stablehlo-to-kernel %s | filecheck %s
// CHECK: func.func public @main(
// CHECK-NOT: {{stablehlo\.|chlo\.|func.call}}
// CHECK: func.return
// CHECK-NOT: func.func
"builtin.module"() <{sym_name = "jit_layer"}> ({
  "func.func"() <{arg_attrs = [{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}], function_type = (tensor<64xf32>, tensor<128x64xf32>, tensor<64x128xf32>, tensor<64x32xf32>, tensor<64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x128xf32>, tensor<64x32xf32>, tensor<16x64xf32>, tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x64xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg4: tensor<64xf32>, %arg5: tensor<128x64xf32>, %arg6: tensor<64x128xf32>, %arg7: tensor<64x32xf32>, %arg8: tensor<64xf32>, %arg9: tensor<64x64xf32>, %arg10: tensor<64x64xf32>, %arg11: tensor<64x128xf32>, %arg12: tensor<64x32xf32>, %arg13: tensor<16x64xf32>, %arg14: tensor<16x16xf32>, %arg15: tensor<16x16xf32>):
    %12 = "chlo.square"(%arg13) : (tensor<16x64xf32>) -> tensor<16x64xf32>
    %13 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %14 = "stablehlo.reduce"(%12, %13) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg22: tensor<f32>, %arg23: tensor<f32>):
      %129 = "stablehlo.add"(%arg22, %arg23) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%129) : (tensor<f32>) -> ()
    }) : (tensor<16x64xf32>, tensor<f32>) -> tensor<16xf32>
    %15 = "stablehlo.constant"() <{value = dense<6.400000e+01> : tensor<f32>}> : () -> tensor<f32>
    %16 = "stablehlo.broadcast_in_dim"(%15) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16xf32>
    %17 = "stablehlo.divide"(%14, %16) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %18 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %19 = "stablehlo.broadcast_in_dim"(%18) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16xf32>
    %20 = "stablehlo.broadcast_in_dim"(%19) <{broadcast_dimensions = array<i64: 0>}> : (tensor<16xf32>) -> tensor<16x1xf32>
    %21 = "stablehlo.broadcast_in_dim"(%17) <{broadcast_dimensions = array<i64: 0>}> : (tensor<16xf32>) -> tensor<16x1xf32>
    %22 = "stablehlo.broadcast_in_dim"(%20) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<16x1xf32>) -> tensor<16x64xf32>
    %23 = "stablehlo.subtract"(%arg13, %22) : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x64xf32>
    %24 = "stablehlo.constant"() <{value = dense<9.99999997E-7> : tensor<f32>}> : () -> tensor<f32>
    %25 = "stablehlo.broadcast_in_dim"(%24) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x1xf32>
    %26 = "stablehlo.add"(%21, %25) : (tensor<16x1xf32>, tensor<16x1xf32>) -> tensor<16x1xf32>
    %27 = "stablehlo.rsqrt"(%26) : (tensor<16x1xf32>) -> tensor<16x1xf32>
    %28 = "stablehlo.reshape"(%arg4) : (tensor<64xf32>) -> tensor<1x64xf32>
    %29 = "stablehlo.broadcast_in_dim"(%27) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<16x1xf32>) -> tensor<16x64xf32>
    %30 = "stablehlo.broadcast_in_dim"(%28) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x64xf32>) -> tensor<16x64xf32>
    %31 = "stablehlo.multiply"(%29, %30) : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x64xf32>
    %32 = "stablehlo.multiply"(%23, %31) : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x64xf32>
    %33 = "stablehlo.dot_general"(%32, %arg10) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x64xf32>, tensor<64x64xf32>) -> tensor<16x64xf32>
    %34 = "stablehlo.reshape"(%33) : (tensor<16x64xf32>) -> tensor<16x4x16xf32>
    %35 = "stablehlo.dot_general"(%32, %arg7) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x64xf32>, tensor<64x32xf32>) -> tensor<16x32xf32>
    %36 = "stablehlo.reshape"(%35) : (tensor<16x32xf32>) -> tensor<16x2x16xf32>
    %37 = "stablehlo.dot_general"(%32, %arg12) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x64xf32>, tensor<64x32xf32>) -> tensor<16x32xf32>
    %38 = "stablehlo.reshape"(%37) : (tensor<16x32xf32>) -> tensor<16x2x16xf32>
    %39 = "stablehlo.slice"(%34) <{limit_indices = array<i64: 16, 4, 8>, start_indices = array<i64: 0, 0, 0>, strides = array<i64: 1, 1, 1>}> : (tensor<16x4x16xf32>) -> tensor<16x4x8xf32>
    %40 = "stablehlo.slice"(%34) <{limit_indices = array<i64: 16, 4, 16>, start_indices = array<i64: 0, 0, 8>, strides = array<i64: 1, 1, 1>}> : (tensor<16x4x16xf32>) -> tensor<16x4x8xf32>
    %41 = "stablehlo.negate"(%40) : (tensor<16x4x8xf32>) -> tensor<16x4x8xf32>
    %42 = "stablehlo.concatenate"(%41, %39) <{dimension = 2 : i64}> : (tensor<16x4x8xf32>, tensor<16x4x8xf32>) -> tensor<16x4x16xf32>
    %43 = "stablehlo.broadcast_in_dim"(%arg14) <{broadcast_dimensions = array<i64: 0, 2>}> : (tensor<16x16xf32>) -> tensor<16x1x16xf32>
    %44 = "stablehlo.broadcast_in_dim"(%43) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<16x1x16xf32>) -> tensor<16x4x16xf32>
    %45 = "stablehlo.multiply"(%34, %44) : (tensor<16x4x16xf32>, tensor<16x4x16xf32>) -> tensor<16x4x16xf32>
    %46 = "stablehlo.broadcast_in_dim"(%arg15) <{broadcast_dimensions = array<i64: 0, 2>}> : (tensor<16x16xf32>) -> tensor<16x1x16xf32>
    %47 = "stablehlo.broadcast_in_dim"(%46) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<16x1x16xf32>) -> tensor<16x4x16xf32>
    %48 = "stablehlo.multiply"(%42, %47) : (tensor<16x4x16xf32>, tensor<16x4x16xf32>) -> tensor<16x4x16xf32>
    %49 = "stablehlo.add"(%45, %48) : (tensor<16x4x16xf32>, tensor<16x4x16xf32>) -> tensor<16x4x16xf32>
    %50 = "stablehlo.slice"(%36) <{limit_indices = array<i64: 16, 2, 8>, start_indices = array<i64: 0, 0, 0>, strides = array<i64: 1, 1, 1>}> : (tensor<16x2x16xf32>) -> tensor<16x2x8xf32>
    %51 = "stablehlo.slice"(%36) <{limit_indices = array<i64: 16, 2, 16>, start_indices = array<i64: 0, 0, 8>, strides = array<i64: 1, 1, 1>}> : (tensor<16x2x16xf32>) -> tensor<16x2x8xf32>
    %52 = "stablehlo.negate"(%51) : (tensor<16x2x8xf32>) -> tensor<16x2x8xf32>
    %53 = "stablehlo.concatenate"(%52, %50) <{dimension = 2 : i64}> : (tensor<16x2x8xf32>, tensor<16x2x8xf32>) -> tensor<16x2x16xf32>
    %54 = "stablehlo.broadcast_in_dim"(%arg14) <{broadcast_dimensions = array<i64: 0, 2>}> : (tensor<16x16xf32>) -> tensor<16x1x16xf32>
    %55 = "stablehlo.broadcast_in_dim"(%54) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<16x1x16xf32>) -> tensor<16x2x16xf32>
    %56 = "stablehlo.multiply"(%36, %55) : (tensor<16x2x16xf32>, tensor<16x2x16xf32>) -> tensor<16x2x16xf32>
    %57 = "stablehlo.broadcast_in_dim"(%arg15) <{broadcast_dimensions = array<i64: 0, 2>}> : (tensor<16x16xf32>) -> tensor<16x1x16xf32>
    %58 = "stablehlo.broadcast_in_dim"(%57) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<16x1x16xf32>) -> tensor<16x2x16xf32>
    %59 = "stablehlo.multiply"(%53, %58) : (tensor<16x2x16xf32>, tensor<16x2x16xf32>) -> tensor<16x2x16xf32>
    %60 = "stablehlo.add"(%56, %59) : (tensor<16x2x16xf32>, tensor<16x2x16xf32>) -> tensor<16x2x16xf32>
    %61 = "stablehlo.broadcast_in_dim"(%60) <{broadcast_dimensions = array<i64: 0, 1, 3>}> : (tensor<16x2x16xf32>) -> tensor<16x2x2x16xf32>
    %62 = "stablehlo.reshape"(%61) : (tensor<16x2x2x16xf32>) -> tensor<16x4x16xf32>
    %63 = "stablehlo.broadcast_in_dim"(%38) <{broadcast_dimensions = array<i64: 0, 1, 3>}> : (tensor<16x2x16xf32>) -> tensor<16x2x2x16xf32>
    %64 = "stablehlo.reshape"(%63) : (tensor<16x2x2x16xf32>) -> tensor<16x4x16xf32>
    %65 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<16xi32>
    %66 = "stablehlo.broadcast_in_dim"(%65) <{broadcast_dimensions = array<i64: 0>}> : (tensor<16xi32>) -> tensor<16x1xi32>
    %67 = "stablehlo.broadcast_in_dim"(%65) <{broadcast_dimensions = array<i64: 1>}> : (tensor<16xi32>) -> tensor<1x16xi32>
    %68 = "stablehlo.broadcast_in_dim"(%66) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<16x1xi32>) -> tensor<16x16xi32>
    %69 = "stablehlo.broadcast_in_dim"(%67) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x16xi32>) -> tensor<16x16xi32>
    %70 = "stablehlo.compare"(%68, %69) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<16x16xi32>, tensor<16x16xi32>) -> tensor<16x16xi1>
    %71 = "stablehlo.broadcast_in_dim"(%70) <{broadcast_dimensions = array<i64: 1, 2>}> : (tensor<16x16xi1>) -> tensor<1x16x16xi1>
    %72 = "stablehlo.constant"() <{value = dense<1.600000e+01> : tensor<f32>}> : () -> tensor<f32>
    %73 = "stablehlo.sqrt"(%72) : (tensor<f32>) -> tensor<f32>
    %74 = "stablehlo.convert"(%73) : (tensor<f32>) -> tensor<f32>
    %75 = "stablehlo.broadcast_in_dim"(%74) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x4x16xf32>
    %76 = "stablehlo.divide"(%49, %75) : (tensor<16x4x16xf32>, tensor<16x4x16xf32>) -> tensor<16x4x16xf32>
    %77 = "stablehlo.dot_general"(%76, %62) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [1], rhs_batching_dimensions = [1], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x4x16xf32>, tensor<16x4x16xf32>) -> tensor<4x16x16xf32>
    %78 = "stablehlo.constant"() <{value = dense<-3.40282347E+38> : tensor<f32>}> : () -> tensor<f32>
    %79 = "func.call"(%71, %77, %78) <{callee = @_where}> : (tensor<1x16x16xi1>, tensor<4x16x16xf32>, tensor<f32>) -> tensor<4x16x16xf32>
    %80 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %81 = "stablehlo.reduce"(%79, %80) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg20: tensor<f32>, %arg21: tensor<f32>):
      %128 = "stablehlo.maximum"(%arg20, %arg21) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%128) : (tensor<f32>) -> ()
    }) : (tensor<4x16x16xf32>, tensor<f32>) -> tensor<4x16xf32>
    %82 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %83 = "stablehlo.broadcast_in_dim"(%82) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x16xf32>
    %84 = "stablehlo.maximum"(%83, %81) : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
    %85 = "stablehlo.broadcast_in_dim"(%84) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<4x16xf32>) -> tensor<4x16x1xf32>
    %86 = "stablehlo.broadcast_in_dim"(%85) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<4x16x1xf32>) -> tensor<4x16x16xf32>
    %87 = "stablehlo.subtract"(%79, %86) : (tensor<4x16x16xf32>, tensor<4x16x16xf32>) -> tensor<4x16x16xf32>
    %88 = "stablehlo.exponential"(%87) : (tensor<4x16x16xf32>) -> tensor<4x16x16xf32>
    %89 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %90 = "stablehlo.reduce"(%88, %89) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg18: tensor<f32>, %arg19: tensor<f32>):
      %127 = "stablehlo.add"(%arg18, %arg19) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%127) : (tensor<f32>) -> ()
    }) : (tensor<4x16x16xf32>, tensor<f32>) -> tensor<4x16xf32>
    %91 = "stablehlo.broadcast_in_dim"(%90) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<4x16xf32>) -> tensor<4x16x1xf32>
    %92 = "stablehlo.broadcast_in_dim"(%91) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<4x16x1xf32>) -> tensor<4x16x16xf32>
    %93 = "stablehlo.divide"(%88, %92) : (tensor<4x16x16xf32>, tensor<4x16x16xf32>) -> tensor<4x16x16xf32>
    %94 = "stablehlo.dot_general"(%64, %93) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [1], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [2]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x4x16xf32>, tensor<4x16x16xf32>) -> tensor<4x16x16xf32>
    %95 = "stablehlo.transpose"(%94) <{permutation = array<i64: 2, 0, 1>}> : (tensor<4x16x16xf32>) -> tensor<16x4x16xf32>
    %96 = "stablehlo.reshape"(%95) : (tensor<16x4x16xf32>) -> tensor<16x64xf32>
    %97 = "stablehlo.dot_general"(%96, %arg9) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x64xf32>, tensor<64x64xf32>) -> tensor<16x64xf32>
    %98 = "stablehlo.add"(%arg13, %97) : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x64xf32>
    %99 = "chlo.square"(%98) : (tensor<16x64xf32>) -> tensor<16x64xf32>
    %100 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %101 = "stablehlo.reduce"(%99, %100) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg16: tensor<f32>, %arg17: tensor<f32>):
      %126 = "stablehlo.add"(%arg16, %arg17) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%126) : (tensor<f32>) -> ()
    }) : (tensor<16x64xf32>, tensor<f32>) -> tensor<16xf32>
    %102 = "stablehlo.constant"() <{value = dense<6.400000e+01> : tensor<f32>}> : () -> tensor<f32>
    %103 = "stablehlo.broadcast_in_dim"(%102) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16xf32>
    %104 = "stablehlo.divide"(%101, %103) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %105 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %106 = "stablehlo.broadcast_in_dim"(%105) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16xf32>
    %107 = "stablehlo.broadcast_in_dim"(%106) <{broadcast_dimensions = array<i64: 0>}> : (tensor<16xf32>) -> tensor<16x1xf32>
    %108 = "stablehlo.broadcast_in_dim"(%104) <{broadcast_dimensions = array<i64: 0>}> : (tensor<16xf32>) -> tensor<16x1xf32>
    %109 = "stablehlo.broadcast_in_dim"(%107) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<16x1xf32>) -> tensor<16x64xf32>
    %110 = "stablehlo.subtract"(%98, %109) : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x64xf32>
    %111 = "stablehlo.constant"() <{value = dense<9.99999997E-7> : tensor<f32>}> : () -> tensor<f32>
    %112 = "stablehlo.broadcast_in_dim"(%111) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x1xf32>
    %113 = "stablehlo.add"(%108, %112) : (tensor<16x1xf32>, tensor<16x1xf32>) -> tensor<16x1xf32>
    %114 = "stablehlo.rsqrt"(%113) : (tensor<16x1xf32>) -> tensor<16x1xf32>
    %115 = "stablehlo.reshape"(%arg8) : (tensor<64xf32>) -> tensor<1x64xf32>
    %116 = "stablehlo.broadcast_in_dim"(%114) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<16x1xf32>) -> tensor<16x64xf32>
    %117 = "stablehlo.broadcast_in_dim"(%115) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x64xf32>) -> tensor<16x64xf32>
    %118 = "stablehlo.multiply"(%116, %117) : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x64xf32>
    %119 = "stablehlo.multiply"(%110, %118) : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x64xf32>
    %120 = "stablehlo.dot_general"(%119, %arg6) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x64xf32>, tensor<64x128xf32>) -> tensor<16x128xf32>
    %121 = "func.call"(%120) <{callee = @silu}> : (tensor<16x128xf32>) -> tensor<16x128xf32>
    %122 = "stablehlo.dot_general"(%119, %arg11) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x64xf32>, tensor<64x128xf32>) -> tensor<16x128xf32>
    %123 = "stablehlo.multiply"(%121, %122) : (tensor<16x128xf32>, tensor<16x128xf32>) -> tensor<16x128xf32>
    %124 = "stablehlo.dot_general"(%123, %arg5) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x128xf32>, tensor<128x64xf32>) -> tensor<16x64xf32>
    %125 = "stablehlo.add"(%98, %124) : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x64xf32>
    "func.return"(%125) : (tensor<16x64xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<1x16x16xi1>, tensor<4x16x16xf32>, tensor<f32>) -> tensor<4x16x16xf32>, res_attrs = [{}], sym_name = "_where", sym_visibility = "private"}> ({
  ^bb0(%arg1: tensor<1x16x16xi1>, %arg2: tensor<4x16x16xf32>, %arg3: tensor<f32>):
    %9 = "stablehlo.broadcast_in_dim"(%arg1) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x16x16xi1>) -> tensor<4x16x16xi1>
    %10 = "stablehlo.broadcast_in_dim"(%arg3) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x16x16xf32>
    %11 = "stablehlo.select"(%9, %arg2, %10) : (tensor<4x16x16xi1>, tensor<4x16x16xf32>, tensor<4x16x16xf32>) -> tensor<4x16x16xf32>
    "func.return"(%11) : (tensor<4x16x16xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<16x128xf32>) -> tensor<16x128xf32>, res_attrs = [{}], sym_name = "silu", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<16x128xf32>):
    %0 = "stablehlo.negate"(%arg0) : (tensor<16x128xf32>) -> tensor<16x128xf32>
    %1 = "stablehlo.exponential"(%0) : (tensor<16x128xf32>) -> tensor<16x128xf32>
    %2 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %3 = "stablehlo.broadcast_in_dim"(%2) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x128xf32>
    %4 = "stablehlo.add"(%3, %1) : (tensor<16x128xf32>, tensor<16x128xf32>) -> tensor<16x128xf32>
    %5 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %6 = "stablehlo.broadcast_in_dim"(%5) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x128xf32>
    %7 = "stablehlo.divide"(%6, %4) : (tensor<16x128xf32>, tensor<16x128xf32>) -> tensor<16x128xf32>
    %8 = "stablehlo.multiply"(%arg0, %7) : (tensor<16x128xf32>, tensor<16x128xf32>) -> tensor<16x128xf32>
    "func.return"(%8) : (tensor<16x128xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
