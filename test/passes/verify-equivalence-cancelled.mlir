// RUN: not mirage-opt "--verify-equivalence=reference=f candidate=g" %s 2>&1 | filecheck %s

// Two logarithms cancel, of which f64 leaves 2e-16 where the result is 0: that is no difference.

// CHECK: error: 'func.func' op @g may be @f or not, not proved
func.func @f(%a0: tensor<24x24xf32>, %a1: tensor<24x2xf32>, %a2: tensor<24x1xf32>) -> tensor<24x24xf32> {
  %k0 = kernel.iota {dim = 0 : i64} : tensor<24x1xf32>
  %k1 = kernel.iota {dim = 1 : i64} : tensor<1x24xf32>
  %k2 = kernel.mul %k0, %k1  : (tensor<24x1xf32>, tensor<1x24xf32>) -> tensor<24x24xf32>
  %k3 = kernel.constant {value = 4.400000000e+01 : f32} : tensor<1x1xf32>
  %k4 = kernel.sub %k2, %k3  : (tensor<24x24xf32>, tensor<1x1xf32>) -> tensor<24x24xf32>
  %k5 = kernel.constant {value = 0.000000000e+00 : f32} : tensor<1x1xf32>
  %k6 = kernel.compare %k4, %k5 {predicate = "lt"} : (tensor<24x24xf32>, tensor<1x1xf32>) -> tensor<24x24xf32>
  %k7 = kernel.constant {value = 2.100000000e+01 : f32} : tensor<1x1xf32>
  %k8 = kernel.sub %k0, %k7  : (tensor<24x1xf32>, tensor<1x1xf32>) -> tensor<24x1xf32>
  %k9 = kernel.constant {value = -5.000000000e-01 : f32} : tensor<1x1xf32>
  %k10 = kernel.compare %k8, %k9 {predicate = "le"} : (tensor<24x1xf32>, tensor<1x1xf32>) -> tensor<24x1xf32>
  %k11 = kernel.constant {value = 2.050000000e+01 : f32} : tensor<1x1xf32>
  %k12 = kernel.compare %k1, %k11 {predicate = "lt"} : (tensor<1x24xf32>, tensor<1x1xf32>) -> tensor<1x24xf32>
  %k13 = kernel.add %k10, %k12  : (tensor<24x1xf32>, tensor<1x24xf32>) -> tensor<24x24xf32>
  %k14 = kernel.constant {value = 1.000000000e+00 : f32} : tensor<1x1xf32>
  %k15 = kernel.compare %k13, %k14 {predicate = "ge"} : (tensor<24x24xf32>, tensor<1x1xf32>) -> tensor<24x24xf32>
  %k16 = kernel.constant {value = 0.000000000e+00 : f32} : tensor<1x1xf32>
  %k17 = kernel.select %k6, %k15, %k16  : (tensor<24x24xf32>, tensor<24x24xf32>, tensor<1x1xf32>) -> tensor<24x24xf32>
  %k18 = kernel.add %a2, %a0  : (tensor<24x1xf32>, tensor<24x24xf32>) -> tensor<24x24xf32>
  func.return %k18 : tensor<24x24xf32>
}
func.func @g(%a0: tensor<24x24xf32>, %a1: tensor<24x2xf32>, %a2: tensor<24x1xf32>) -> tensor<24x24xf32> {
  %k0 = kernel.iota {dim = 0 : i64} : tensor<24xf32>
  %k1 = kernel.reshape %k0  : (tensor<24xf32>) -> tensor<24x1xf32>
  %k2 = kernel.iota {dim = 1 : i64} : tensor<1x24xf32>
  %k3 = kernel.scale %k1 {factor = -1.000000000e+00 : f32} : (tensor<24x1xf32>) -> tensor<24x1xf32>
  %k4 = kernel.mul %k2, %k3  : (tensor<1x24xf32>, tensor<24x1xf32>) -> tensor<24x24xf32>
  %k5 = kernel.scale %k4 {factor = -1.000000000e+00 : f32} : (tensor<24x24xf32>) -> tensor<24x24xf32>
  %k6 = kernel.constant {value = 4.400000000e+01 : f32} : tensor<1x1xf32>
  %k7 = kernel.sub %k5, %k6  : (tensor<24x24xf32>, tensor<1x1xf32>) -> tensor<24x24xf32>
  %k8 = kernel.constant {value = 0.000000000e+00 : f32} : tensor<1x1xf32>
  %k9 = kernel.compare %k7, %k8 {predicate = "lt"} : (tensor<24x24xf32>, tensor<1x1xf32>) -> tensor<24x24xf32>
  %k10 = kernel.constant {value = 0.000000000e+00 : f32} : tensor<1x1xf32>
  %k11 = kernel.add %k2, %k10  : (tensor<1x24xf32>, tensor<1x1xf32>) -> tensor<1x24xf32>
  %k12 = kernel.min %k11, %k1  : (tensor<1x24xf32>, tensor<24x1xf32>) -> tensor<24x24xf32>
  %k13 = kernel.constant {value = 2.100000000e+01 : f32} : tensor<1x1xf32>
  %k14 = kernel.sub %k12, %k13  : (tensor<24x24xf32>, tensor<1x1xf32>) -> tensor<24x24xf32>
  %k15 = kernel.constant {value = 0.000000000e+00 : f32} : tensor<1x1xf32>
  %k16 = kernel.compare %k14, %k15 {predicate = "lt"} : (tensor<24x24xf32>, tensor<1x1xf32>) -> tensor<24x24xf32>
  %k17 = kernel.mul %k9, %k16  : (tensor<24x24xf32>, tensor<24x24xf32>) -> tensor<24x24xf32>
  %k18 = kernel.exp %a0  : (tensor<24x24xf32>) -> tensor<24x24xf32>
  %k19 = kernel.mul %k18, %k17  : (tensor<24x24xf32>, tensor<24x24xf32>) -> tensor<24x24xf32>
  %k20 = kernel.reduce_sum %k19 {dims = array<i64: 1>} : (tensor<24x24xf32>) -> tensor<24x1xf32>
  %k21 = kernel.log %k20  : (tensor<24x1xf32>) -> tensor<24x1xf32>
  %k22 = kernel.add %a2, %k21  : (tensor<24x1xf32>, tensor<24x1xf32>) -> tensor<24x1xf32>
  %k23 = kernel.add %k22, %a0  : (tensor<24x1xf32>, tensor<24x24xf32>) -> tensor<24x24xf32>
  %k24 = kernel.log %k20  : (tensor<24x1xf32>) -> tensor<24x1xf32>
  %k25 = kernel.sub %k23, %k24  : (tensor<24x24xf32>, tensor<24x1xf32>) -> tensor<24x24xf32>
  func.return %k25 : tensor<24x24xf32>
}
