// The operations of StableHLO that are read, in the generic form, as JAX prints them.
// RUN: %roundtrip
// RUN: %generic-roundtrip

func.func @unary(%a: tensor<4x8xf32>, %m: tensor<4x8xi1>) {
  // CHECK: %abs = "stablehlo.abs"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %abs = "stablehlo.abs"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: %ceil = "stablehlo.ceil"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %ceil = "stablehlo.ceil"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: %cosine = "stablehlo.cosine"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %cosine = "stablehlo.cosine"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: %exponential = "stablehlo.exponential"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %exponential = "stablehlo.exponential"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: %exponential_minus_one = "stablehlo.exponential_minus_one"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %exponential_minus_one = "stablehlo.exponential_minus_one"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: %floor = "stablehlo.floor"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %floor = "stablehlo.floor"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: %log = "stablehlo.log"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %log = "stablehlo.log"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: %log_plus_one = "stablehlo.log_plus_one"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %log_plus_one = "stablehlo.log_plus_one"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: %logistic = "stablehlo.logistic"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %logistic = "stablehlo.logistic"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: %negate = "stablehlo.negate"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %negate = "stablehlo.negate"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: %sign = "stablehlo.sign"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %sign = "stablehlo.sign"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: %round_nearest_even = "stablehlo.round_nearest_even"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %round_nearest_even = "stablehlo.round_nearest_even"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: %rsqrt = "stablehlo.rsqrt"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %rsqrt = "stablehlo.rsqrt"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: %sine = "stablehlo.sine"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %sine = "stablehlo.sine"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: %sqrt = "stablehlo.sqrt"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %sqrt = "stablehlo.sqrt"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: %tanh = "stablehlo.tanh"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %tanh = "stablehlo.tanh"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: %not = "stablehlo.not"(%m) : (tensor<4x8xi1>) -> tensor<4x8xi1>
  %not = "stablehlo.not"(%m) : (tensor<4x8xi1>) -> tensor<4x8xi1>
  // CHECK: %i = "stablehlo.convert"(%a) : (tensor<4x8xf32>) -> tensor<4x8xbf16>
  %i = "stablehlo.convert"(%a) : (tensor<4x8xf32>) -> tensor<4x8xbf16>
  // CHECK: %f = "stablehlo.is_finite"(%a) : (tensor<4x8xf32>) -> tensor<4x8xi1>
  %f = "stablehlo.is_finite"(%a) : (tensor<4x8xf32>) -> tensor<4x8xi1>
  func.return
}

func.func @binary(%a: tensor<4x8xf32>, %m: tensor<4x8xi1>, %s: tensor<f32>) {
  // CHECK: %add = "stablehlo.add"(%a, %a) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %add = "stablehlo.add"(%a, %a) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: %divide = "stablehlo.divide"(%a, %a) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %divide = "stablehlo.divide"(%a, %a) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: %maximum = "stablehlo.maximum"(%a, %a) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %maximum = "stablehlo.maximum"(%a, %a) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: %minimum = "stablehlo.minimum"(%a, %a) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %minimum = "stablehlo.minimum"(%a, %a) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: %multiply = "stablehlo.multiply"(%a, %a) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %multiply = "stablehlo.multiply"(%a, %a) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: %power = "stablehlo.power"(%a, %a) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %power = "stablehlo.power"(%a, %a) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: %remainder = "stablehlo.remainder"(%a, %a) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %remainder = "stablehlo.remainder"(%a, %a) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: %subtract = "stablehlo.subtract"(%a, %a) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %subtract = "stablehlo.subtract"(%a, %a) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: %and = "stablehlo.and"(%m, %m) : (tensor<4x8xi1>, tensor<4x8xi1>) -> tensor<4x8xi1>
  %and = "stablehlo.and"(%m, %m) : (tensor<4x8xi1>, tensor<4x8xi1>) -> tensor<4x8xi1>
  // CHECK: %or = "stablehlo.or"(%m, %m) : (tensor<4x8xi1>, tensor<4x8xi1>) -> tensor<4x8xi1>
  %or = "stablehlo.or"(%m, %m) : (tensor<4x8xi1>, tensor<4x8xi1>) -> tensor<4x8xi1>
  // CHECK: %xor = "stablehlo.xor"(%m, %m) : (tensor<4x8xi1>, tensor<4x8xi1>) -> tensor<4x8xi1>
  %xor = "stablehlo.xor"(%m, %m) : (tensor<4x8xi1>, tensor<4x8xi1>) -> tensor<4x8xi1>
  // CHECK: %c = "stablehlo.compare"(%a, %a) <{comparison_direction = #stablehlo<comparison_direction GE>, compare_type = #stablehlo<comparison_type FLOAT>}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
  %c = "stablehlo.compare"(%a, %a) <{comparison_direction = #stablehlo<comparison_direction GE>, compare_type = #stablehlo<comparison_type FLOAT>}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
  // CHECK: %sel = "stablehlo.select"(%c, %a, %add) : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %sel = "stablehlo.select"(%c, %a, %add) : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: %cl = "stablehlo.clamp"(%s, %a, %s) : (tensor<f32>, tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %cl = "stablehlo.clamp"(%s, %a, %s) : (tensor<f32>, tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  // CHECK: %b, %b1 = "stablehlo.optimization_barrier"(%a, %m) : (tensor<4x8xf32>, tensor<4x8xi1>) -> (tensor<4x8xf32>, tensor<4x8xi1>)
  %b, %b1 = "stablehlo.optimization_barrier"(%a, %m) : (tensor<4x8xf32>, tensor<4x8xi1>) -> (tensor<4x8xf32>, tensor<4x8xi1>)
  func.return
}

func.func @made() {
  // CHECK: %zero = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<4xf32>}> : () -> tensor<4xf32>
  %zero = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<4xf32>}> : () -> tensor<4xf32>
  // CHECK: %low = "stablehlo.constant"() <{value = dense<0xfc00> : tensor<f16>}> : () -> tensor<f16>
  %low = "stablehlo.constant"() <{value = dense<0xfc00> : tensor<f16>}> : () -> tensor<f16>
  // CHECK: %i = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<4x8xi32>
  %i = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<4x8xi32>
  func.return
}

func.func @moved(%a: tensor<4x8xf32>, %s: tensor<f32>, %n: tensor<i32>) {
  // CHECK: %b = "stablehlo.broadcast_in_dim"(%a) <{broadcast_dimensions = array<i64: 0, 2>}> : (tensor<4x8xf32>) -> tensor<4x2x8xf32>
  %b = "stablehlo.broadcast_in_dim"(%a) <{broadcast_dimensions = array<i64: 0, 2>}> : (tensor<4x8xf32>) -> tensor<4x2x8xf32>
  // CHECK: %r = "stablehlo.reshape"(%a) : (tensor<4x8xf32>) -> tensor<32xf32>
  %r = "stablehlo.reshape"(%a) : (tensor<4x8xf32>) -> tensor<32xf32>
  // CHECK: %t = "stablehlo.transpose"(%a) <{permutation = array<i64: 1, 0>}> : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %t = "stablehlo.transpose"(%a) <{permutation = array<i64: 1, 0>}> : (tensor<4x8xf32>) -> tensor<8x4xf32>
  // CHECK: %part = "stablehlo.slice"(%a) <{start_indices = array<i64: 1, 0>, limit_indices = array<i64: 4, 8>, strides = array<i64: 1, 2>}> : (tensor<4x8xf32>) -> tensor<3x4xf32>
  %part = "stablehlo.slice"(%a) <{start_indices = array<i64: 1, 0>, limit_indices = array<i64: 4, 8>, strides = array<i64: 1, 2>}> : (tensor<4x8xf32>) -> tensor<3x4xf32>
  // CHECK: %d = "stablehlo.dynamic_slice"(%a, %n, %n) <{slice_sizes = array<i64: 2, 3>}> : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
  %d = "stablehlo.dynamic_slice"(%a, %n, %n) <{slice_sizes = array<i64: 2, 3>}> : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
  // CHECK: %j = "stablehlo.concatenate"(%a, %a) <{dimension = 0 : i64}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  %j = "stablehlo.concatenate"(%a, %a) <{dimension = 0 : i64}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  // CHECK: %v = "stablehlo.reverse"(%a) <{dimensions = array<i64: 0>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %v = "stablehlo.reverse"(%a) <{dimensions = array<i64: 0>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: %p = "stablehlo.pad"(%a, %s) <{edge_padding_low = array<i64: 1, 0>, edge_padding_high = array<i64: 0, -2>, interior_padding = array<i64: 0, 1>}> : (tensor<4x8xf32>, tensor<f32>) -> tensor<5x13xf32>
  %p = "stablehlo.pad"(%a, %s) <{edge_padding_low = array<i64: 1, 0>, edge_padding_high = array<i64: 0, -2>, interior_padding = array<i64: 0, 1>}> : (tensor<4x8xf32>, tensor<f32>) -> tensor<5x13xf32>
  func.return
}

func.func @combined(%a: tensor<4x8xf32>, %w: tensor<3x8x4xf32>, %s: tensor<f32>) {
  // CHECK: %d = "stablehlo.dot_general"(%a, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [2, 1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision HIGHEST>]}> : (tensor<4x8xf32>, tensor<3x8x4xf32>) -> tensor<3xf32>
  %d = "stablehlo.dot_general"(%a, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [2, 1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision HIGHEST>]}> : (tensor<4x8xf32>, tensor<3x8x4xf32>) -> tensor<3xf32>
  // CHECK: %e = "stablehlo.dot_general"(%w, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2]>, algorithm = #stablehlo.dot_algorithm<lhs_precision_type = f32, accumulation_type = f32>}> : (tensor<3x8x4xf32>, tensor<3x8x4xf32>) -> tensor<3x8x8xf32>
  %e = "stablehlo.dot_general"(%w, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2]>, algorithm = #stablehlo.dot_algorithm<lhs_precision_type = f32, accumulation_type = f32>}> : (tensor<3x8x4xf32>, tensor<3x8x4xf32>) -> tensor<3x8x8xf32>
  // CHECK: %r = "stablehlo.reduce"(%a, %s) <{dimensions = array<i64: 1>}> ({
  // CHECK-NEXT: ^bb0(%x: tensor<f32>, %y: tensor<f32>):
  // CHECK-NEXT:   %z = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // CHECK-NEXT:   "stablehlo.return"(%z) : (tensor<f32>) -> ()
  // CHECK-NEXT: }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %r = "stablehlo.reduce"(%a, %s) <{dimensions = array<i64: 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %z = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%z) : (tensor<f32>) -> ()
  }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK: %q = "stablehlo.reduce_window"(%a, %s) <{padding = dense<[{{\[0, 0\], \[1, 2\]}}]> : tensor<2x2xi64>, window_dimensions = array<i64: 2, 3>, window_strides = array<i64: 2, 1>}> ({
  %q = "stablehlo.reduce_window"(%a, %s) <{padding = dense<[[0, 0], [1, 2]]> : tensor<2x2xi64>, window_dimensions = array<i64: 2, 3>, window_strides = array<i64: 2, 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %z = "stablehlo.maximum"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%z) : (tensor<f32>) -> ()
  }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<2x9xf32>
  func.return
}

func.func @control(%a: tensor<4x8xf32>, %m: tensor<i1>, %n: tensor<i32>) {
  // CHECK: %w = "stablehlo.while"(%a) ({
  // CHECK-NEXT: ^bb0(%c: tensor<4x8xf32>):
  // CHECK-NEXT:   "stablehlo.return"(%m) : (tensor<i1>) -> ()
  // CHECK-NEXT: }, {
  // CHECK-NEXT: ^bb0(%b: tensor<4x8xf32>):
  // CHECK-NEXT:   "stablehlo.return"(%b) : (tensor<4x8xf32>) -> ()
  // CHECK-NEXT: }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %w = "stablehlo.while"(%a) ({
  ^bb0(%c: tensor<4x8xf32>):
    "stablehlo.return"(%m) : (tensor<i1>) -> ()
  }, {
  ^bb0(%b: tensor<4x8xf32>):
    "stablehlo.return"(%b) : (tensor<4x8xf32>) -> ()
  }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: %i = "stablehlo.if"(%m) ({
  // CHECK-NEXT:   "stablehlo.return"(%a) : (tensor<4x8xf32>) -> ()
  // CHECK-NEXT: }, {
  // CHECK-NEXT:   "stablehlo.return"(%w) : (tensor<4x8xf32>) -> ()
  // CHECK-NEXT: }) : (tensor<i1>) -> tensor<4x8xf32>
  %i = "stablehlo.if"(%m) ({
    "stablehlo.return"(%a) : (tensor<4x8xf32>) -> ()
  }, {
    "stablehlo.return"(%w) : (tensor<4x8xf32>) -> ()
  }) : (tensor<i1>) -> tensor<4x8xf32>
  // CHECK: %s = "stablehlo.case"(%n) ({
  // CHECK-NEXT:   "stablehlo.return"(%a) : (tensor<4x8xf32>) -> ()
  // CHECK-NEXT: }, {
  // CHECK-NEXT:   "stablehlo.return"(%i) : (tensor<4x8xf32>) -> ()
  // CHECK-NEXT: }) : (tensor<i32>) -> tensor<4x8xf32>
  %s = "stablehlo.case"(%n) ({
    "stablehlo.return"(%a) : (tensor<4x8xf32>) -> ()
  }, {
    "stablehlo.return"(%i) : (tensor<4x8xf32>) -> ()
  }) : (tensor<i32>) -> tensor<4x8xf32>
  func.return
}

func.func @unknown(%a: tensor<4x8xf32>) {
  // CHECK: %r = "stablehlo.reduce_precision"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %r = "stablehlo.reduce_precision"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return
}

func.func @gather(%a: tensor<4x8xf32>, %n: tensor<3x1xi32>) {
  // CHECK: %g = "stablehlo.gather"(%a, %n) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 8>}> : (tensor<4x8xf32>, tensor<3x1xi32>) -> tensor<3x8xf32>
  %g = "stablehlo.gather"(%a, %n) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 8>}> : (tensor<4x8xf32>, tensor<3x1xi32>) -> tensor<3x8xf32>
  func.return
}
