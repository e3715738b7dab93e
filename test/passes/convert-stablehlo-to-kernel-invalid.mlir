// RUN: mirage-opt --convert-stablehlo-to-kernel --verify-diagnostics --split-input-file %s

func.func @unknown(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %a = "stablehlo.abs"(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // expected-error @below {{'stablehlo.reduce_precision' op has no counterpart among the operators of the kernel dialect}}
  %r = "stablehlo.reduce_precision"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = "stablehlo.reduce_precision"(%r) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %s : tensor<4x8xf32>
}

// -----

func.func @loop(%x: tensor<4x8xf32>, %m: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %true = "stablehlo.constant"() <{value = dense<true> : tensor<i1>}> : () -> tensor<i1>
  // expected-error @below {{'stablehlo.while' op has no counterpart among the operators of the kernel dialect}}
  %w = "stablehlo.while"(%x) ({
  ^bb0(%a: tensor<4x8xf32>):
    "stablehlo.return"(%true) : (tensor<i1>) -> ()
  }, {
  ^bb0(%a: tensor<4x8xf32>):
    %b = func.call @step(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    "stablehlo.return"(%b) : (tensor<4x8xf32>) -> ()
  }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %w : tensor<4x8xf32>
}
func.func private @step(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %a = "stablehlo.abs"(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %a : tensor<4x8xf32>
}

// -----

func.func @elsewhere(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{'stablehlo.custom_call' op has no counterpart among the operators of the kernel dialect (a call of "inverse")}}
  %r = "stablehlo.custom_call"(%x) <{call_target_name = "inverse", api_version = 4 : i32}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// -----

// Indices that the host computes.
func.func @gather(%x: tensor<4x8xf32>, %i: tensor<2x1xf32>) -> tensor<2x8xf32> {
  // expected-error @below {{'stablehlo.gather' op has indices that are no constants}}
  %r = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 8>}> : (tensor<4x8xf32>, tensor<2x1xf32>) -> tensor<2x8xf32>
  func.return %r : tensor<2x8xf32>
}

// -----

// expected-error @below {{'func.func' op takes tensor<4xi32> as argument 0 (%x); kernels take tensors of f16, bf16 and f32}}
func.func @integers(%x: tensor<4xi32>) -> tensor<4xi32> {
  %r = "stablehlo.add"(%x, %x) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  func.return %r : tensor<4xi32>
}

// -----

func.func @mask(%x: tensor<4xf32>) -> tensor<4xi1> {
  %r = "stablehlo.compare"(%x, %x) <{comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // expected-error @below {{'func.return' op gives elements of type i1 as result 0; kernels give f16, bf16 and f32}}
  func.return %r : tensor<4xi1>
}

// -----

func.func @double(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'stablehlo.convert' op converts to f64, which no kernel computes with}}
  %d = "stablehlo.convert"(%x) : (tensor<4xf32>) -> tensor<4xf64>
  %r = "stablehlo.convert"(%d) : (tensor<4xf64>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// -----

func.func @table(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @below {{'stablehlo.constant' op has 2 elements that differ}}
  // expected-note @below {{make a table an argument of the function, marked kernel.constant}}
  %c = "stablehlo.constant"() <{value = dense<[1.0, 2.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %r = "stablehlo.add"(%x, %c) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %r : tensor<2xf32>
}

// -----

func.func @nan(%x: tensor<2xf32>) -> tensor<2xf32> {
  %c = "stablehlo.constant"() <{value = dense<0x7FC00000> : tensor<2xf32>}> : () -> tensor<2xf32>
  // expected-error @below {{'stablehlo.add' op reads the constant nan, which no kernel has}}
  %r = "stablehlo.add"(%x, %c) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %r : tensor<2xf32>
}

// -----

// Integers are in f32, where it has them all.
func.func @large(%x: tensor<1x20000xf32>) -> tensor<1x20000xf32> {
  %i = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<1x20000xi32>
  // expected-error @below {{'stablehlo.multiply' op makes integers between 0 and 399960001: they are computed in f32, which is exact up to 16777216}}
  %s = "stablehlo.multiply"(%i, %i) : (tensor<1x20000xi32>, tensor<1x20000xi32>) -> tensor<1x20000xi32>
  %r = "stablehlo.convert"(%s) : (tensor<1x20000xi32>) -> tensor<1x20000xf32>
  func.return %r : tensor<1x20000xf32>
}

// -----

// They wrap around in StableHLO.
func.func @wraps(%x: tensor<100xf32>) -> tensor<100xf32> {
  %i = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<100xi8>
  // expected-error @below {{'stablehlo.add' op may overflow: integers between 0 and 198 in i8}}
  %s = "stablehlo.add"(%i, %i) : (tensor<100xi8>, tensor<100xi8>) -> tensor<100xi8>
  %r = "stablehlo.convert"(%s) : (tensor<100xi8>) -> tensor<100xf32>
  func.return %r : tensor<100xf32>
}

// -----

func.func @product(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  %one = "stablehlo.constant"() <{value = dense<1.0> : tensor<f32>}> : () -> tensor<f32>
  // expected-error @below {{'stablehlo.reduce' op combines by stablehlo.multiply; kernels reduce by one add, maximum or minimum}}
  %r = "stablehlo.reduce"(%x, %one) <{dimensions = array<i64: 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = "stablehlo.multiply"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%c) : (tensor<f32>) -> ()
  }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// -----

// Not the sum: the body forgets one of its arguments.
func.func @twice(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  // expected-error @below {{'stablehlo.reduce' op combines by stablehlo.add; kernels reduce by one add, maximum or minimum of the two arguments of the body, which returns it}}
  %r = "stablehlo.reduce"(%x, %zero) <{dimensions = array<i64: 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = "stablehlo.add"(%a, %a) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%c) : (tensor<f32>) -> ()
  }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// -----

func.func @dynamic(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'stablehlo.power' op has an exponent that is no constant}}
  %r = "stablehlo.power"(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// -----

func.func @recursive(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = "stablehlo.abs"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @below {{'func.call' op calls @recursive, which runs already}}
  %r = func.call @recursive(%y) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// -----

func.func private @elsewhere(tensor<4xf32>) -> tensor<4xf32>
func.func @declared(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = "stablehlo.abs"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @below {{'func.call' op calls @elsewhere, which this module does not define}}
  %r = func.call @elsewhere(%y) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// -----

func.func @f(%a: tensor<4x34xf32>) -> tensor<4x34xf32> {
  // expected-error @below {{'stablehlo.reverse' op reverses 34 elements; 17, a prime factor of that, is above the 16 slices that are read one by one}}
  %r = "stablehlo.reverse"(%a) <{dimensions = array<i64: 1>}> : (tensor<4x34xf32>) -> tensor<4x34xf32>
  func.return %r : tensor<4x34xf32>
}

// -----

func.func @f(%a: tensor<4x64xf32>) -> tensor<4x47xf32> {
  %s = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  // expected-error @below {{'stablehlo.reduce_window' op has windows of 18 elements that overlap; at most 16 are read one by one}}
  %c = "stablehlo.reduce_window"(%a, %s) <{window_dimensions = array<i64: 1, 18>, window_strides = array<i64: 1, 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %z = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%z) : (tensor<f32>) -> ()
  }) : (tensor<4x64xf32>, tensor<f32>) -> tensor<4x47xf32>
  func.return %c : tensor<4x47xf32>
}

// -----

func.func @complex(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'stablehlo.constant' op has elements of type complex<f32>, which no kernel computes with}}
  %c = "stablehlo.constant"() <{value = dense<(0.0, 1.0)> : tensor<4xcomplex<f32>>}> : () -> tensor<4xcomplex<f32>>
  %a = "stablehlo.abs"(%c) : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  %s = "stablehlo.add"(%a, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %s : tensor<4xf32>
}

// -----

// Named as bindings name it, which is no name of the program.
// expected-error @below {{'func.func' op takes tensor<?x8xf32> as argument 0; it has dim 0 of unknown size; shapes are static here}}
func.func @unknown_size(%arg3: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %r = "stablehlo.tanh"(%arg3) : (tensor<?x8xf32>) -> tensor<?x8xf32>
  func.return %r : tensor<?x8xf32>
}

// -----

func.func @unknown_size_inside(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{'stablehlo.reshape' op a value has dim 0 of unknown size; shapes are static here}}
  %y = "stablehlo.reshape"(%x) : (tensor<4x8xf32>) -> tensor<?x8xf32>
  %r = "stablehlo.reshape"(%y) : (tensor<?x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// -----

func.func @scalar(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = "stablehlo.add"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // expected-error @below {{'arith.constant' op has no counterpart among the operators of the kernel dialect}}
  %c = arith.constant 1.0 : f32
  func.return %y : tensor<4xf32>
}

// -----

func.func @infinite_power(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = stablehlo.constant dense<0x7F800000> : tensor<4xf32>
  // expected-error @below {{'stablehlo.power' op has the exponent inf, which is no number for kernel.pow}}
  %y = stablehlo.power %x, %c : tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

func.func @integer_of_infinity(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = stablehlo.constant dense<0x7F800000> : tensor<4xf32>
  // expected-error @below {{'stablehlo.convert' op makes an integer of inf}}
  %i = stablehlo.convert %c : (tensor<4xf32>) -> tensor<4xi32>
  %f = stablehlo.convert %i : (tensor<4xi32>) -> tensor<4xf32>
  %y = stablehlo.add %x, %f : tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

func.func @f(%a: tensor<4x8xf32>) -> tensor<4xf32> {
  %s = "stablehlo.constant"() <{value = dense<0.0> : tensor<4xf32>}> : () -> tensor<4xf32>
  // expected-error @below {{'chlo.scan' op gives what it carries to another operation}}
  %b, %c = "chlo.scan"(%a, %s) <{dimension = 1 : i64, is_associative = true, is_reverse = false, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%x: tensor<4xf32>, %y: tensor<4xf32>):
    %z = "stablehlo.add"(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    "stablehlo.return"(%z, %z) : (tensor<4xf32>, tensor<4xf32>) -> ()
  }) : (tensor<4x8xf32>, tensor<4xf32>) -> (tensor<4x8xf32>, tensor<4xf32>)
  func.return %c : tensor<4xf32>
}

// -----

func.func @f(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %s = "stablehlo.constant"() <{value = dense<0.0> : tensor<4xf32>}> : () -> tensor<4xf32>
  // expected-error @below {{'chlo.scan' op combines by stablehlo.add; kernels reduce by one add, maximum or minimum of the two arguments of the body, which returns it}}
  %b, %c = "chlo.scan"(%a, %s) <{dimension = 1 : i64, is_associative = true, is_reverse = false, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%x: tensor<4xf32>, %y: tensor<4xf32>):
    %z = "stablehlo.add"(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    "stablehlo.return"(%x, %z) : (tensor<4xf32>, tensor<4xf32>) -> ()
  }) : (tensor<4x8xf32>, tensor<4xf32>) -> (tensor<4x8xf32>, tensor<4xf32>)
  func.return %b : tensor<4x8xf32>
}

// -----

func.func @f(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{'chlo.scan' op carries 0 tensors}}
  %b = "chlo.scan"(%a) <{dimension = 1 : i64, is_associative = true, is_reverse = false, operandSegmentSizes = array<i32: 1, 0>, resultSegmentSizes = array<i32: 1, 0>}> ({
  ^bb0(%x: tensor<4xf32>):
    %z = "stablehlo.add"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    "stablehlo.return"(%z) : (tensor<4xf32>) -> ()
  }) : (tensor<4x8xf32>) -> (tensor<4x8xf32>)
  func.return %b : tensor<4x8xf32>
}
