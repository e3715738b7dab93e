// Pairs that fooled verification, or crashed it, once.
// RUN: mirage-opt %s --verify-equivalence="reference=f candidate=g" --split-input-file --verify-diagnostics

// What a candidate divides by is zero by a law of relu that tests do not know.
func.func @f(%a0: tensor<8x256xf16>) -> tensor<8x256xf16> {
  %v1 = kernel.scale %a0 {factor = 2.000000000e+00 : f32} : (tensor<8x256xf16>) -> tensor<8x256xf16>
  func.return %v1 : tensor<8x256xf16>
}
// expected-error @+1 {{@g may be @f or not, not proved: normal forms: the candidate alone is not defined where something is zero}}
func.func @g(%a0: tensor<8x256xf16>) -> tensor<8x256xf16> {
  %v1 = kernel.cast %a0 : (tensor<8x256xf16>) -> tensor<8x256xf32>
  %v2 = kernel.cast %a0 : (tensor<8x256xf16>) -> tensor<8x256xf32>
  %v3 = kernel.relu %v1 : (tensor<8x256xf32>) -> tensor<8x256xf32>
  %v4 = kernel.scale %v1 {factor = -1.000000000e+00 : f32} : (tensor<8x256xf32>) -> tensor<8x256xf32>
  %v5 = kernel.relu %v4 : (tensor<8x256xf32>) -> tensor<8x256xf32>
  %v6 = kernel.sub %v3, %v5 : (tensor<8x256xf32>, tensor<8x256xf32>) -> tensor<8x256xf32>
  %v7 = kernel.scale %v1 {factor = 3.000000000e-01 : f32} : (tensor<8x256xf32>) -> tensor<8x256xf32>
  %v8 = kernel.sub %v6, %v7 : (tensor<8x256xf32>, tensor<8x256xf32>) -> tensor<8x256xf32>
  %v9 = kernel.scale %v1 {factor = 7.000000000e-01 : f32} : (tensor<8x256xf32>) -> tensor<8x256xf32>
  %v10 = kernel.sub %v8, %v9 : (tensor<8x256xf32>, tensor<8x256xf32>) -> tensor<8x256xf32>
  %v11 = kernel.reduce_sum %v10 {dims = array<i64: 1>} : (tensor<8x256xf32>) -> tensor<8x1xf32>
  %v12 = kernel.mul %v2, %v11 : (tensor<8x256xf32>, tensor<8x1xf32>) -> tensor<8x256xf32>
  %v13 = kernel.relu %v1 : (tensor<8x256xf32>) -> tensor<8x256xf32>
  %v14 = kernel.scale %v1 {factor = -1.000000000e+00 : f32} : (tensor<8x256xf32>) -> tensor<8x256xf32>
  %v15 = kernel.relu %v14 : (tensor<8x256xf32>) -> tensor<8x256xf32>
  %v16 = kernel.sub %v13, %v15 : (tensor<8x256xf32>, tensor<8x256xf32>) -> tensor<8x256xf32>
  %v17 = kernel.scale %v1 {factor = 3.000000000e-01 : f32} : (tensor<8x256xf32>) -> tensor<8x256xf32>
  %v18 = kernel.sub %v16, %v17 : (tensor<8x256xf32>, tensor<8x256xf32>) -> tensor<8x256xf32>
  %v19 = kernel.scale %v1 {factor = 7.000000000e-01 : f32} : (tensor<8x256xf32>) -> tensor<8x256xf32>
  %v20 = kernel.sub %v18, %v19 : (tensor<8x256xf32>, tensor<8x256xf32>) -> tensor<8x256xf32>
  %v21 = kernel.reduce_sum %v20 {dims = array<i64: 1>} : (tensor<8x256xf32>) -> tensor<8x1xf32>
  %v22 = kernel.div %v12, %v21 : (tensor<8x256xf32>, tensor<8x1xf32>) -> tensor<8x256xf32>
  %v23 = kernel.scale %v22 {factor = 2.000000000e+00 : f32} : (tensor<8x256xf32>) -> tensor<8x256xf32>
  %v24 = kernel.cast %v23 : (tensor<8x256xf32>) -> tensor<8x256xf16>
  func.return %v24 : tensor<8x256xf16>
}

// -----

// The same with tanh and sigmoid.
func.func @f(%a0: tensor<8x256xf32>) -> tensor<8x256xf32> {
  %v1 = kernel.scale %a0 {factor = 2.000000000e+00 : f32} : (tensor<8x256xf32>) -> tensor<8x256xf32>
  func.return %v1 : tensor<8x256xf32>
}
// expected-error @+1 {{@g may be @f or not, not proved: normal forms: the candidate alone is not defined where something is zero}}
func.func @g(%a0: tensor<8x256xf32>) -> tensor<8x256xf32> {
  %v1 = kernel.tanh %a0 : (tensor<8x256xf32>) -> tensor<8x256xf32>
  %v2 = kernel.constant {value = 7.000000000e-01 : f32} : tensor<1xf32>
  %v3 = kernel.add %v1, %v2 : (tensor<8x256xf32>, tensor<1xf32>) -> tensor<8x256xf32>
  %v4 = kernel.tanh %v3 : (tensor<8x256xf32>) -> tensor<8x256xf32>
  %v5 = kernel.tanh %a0 : (tensor<8x256xf32>) -> tensor<8x256xf32>
  %v6 = kernel.constant {value = 7.000000000e-01 : f32} : tensor<1xf32>
  %v7 = kernel.add %v5, %v6 : (tensor<8x256xf32>, tensor<1xf32>) -> tensor<8x256xf32>
  %v8 = kernel.scale %v7 {factor = 2.000000000e+00 : f32} : (tensor<8x256xf32>) -> tensor<8x256xf32>
  %v9 = kernel.sigmoid %v8 : (tensor<8x256xf32>) -> tensor<8x256xf32>
  %v10 = kernel.scale %v9 {factor = 2.000000000e+00 : f32} : (tensor<8x256xf32>) -> tensor<8x256xf32>
  %v11 = kernel.constant {value = 1.000000000e+00 : f32} : tensor<1xf32>
  %v12 = kernel.sub %v10, %v11 : (tensor<8x256xf32>, tensor<1xf32>) -> tensor<8x256xf32>
  %v13 = kernel.sub %v4, %v12 : (tensor<8x256xf32>, tensor<8x256xf32>) -> tensor<8x256xf32>
  %v14 = kernel.reduce_sum %v13 {dims = array<i64: 1>} : (tensor<8x256xf32>) -> tensor<8x1xf32>
  %v15 = kernel.mul %a0, %v14 : (tensor<8x256xf32>, tensor<8x1xf32>) -> tensor<8x256xf32>
  %v16 = kernel.tanh %a0 : (tensor<8x256xf32>) -> tensor<8x256xf32>
  %v17 = kernel.constant {value = 7.000000000e-01 : f32} : tensor<1xf32>
  %v18 = kernel.add %v16, %v17 : (tensor<8x256xf32>, tensor<1xf32>) -> tensor<8x256xf32>
  %v19 = kernel.tanh %v18 : (tensor<8x256xf32>) -> tensor<8x256xf32>
  %v20 = kernel.tanh %a0 : (tensor<8x256xf32>) -> tensor<8x256xf32>
  %v21 = kernel.constant {value = 7.000000000e-01 : f32} : tensor<1xf32>
  %v22 = kernel.add %v20, %v21 : (tensor<8x256xf32>, tensor<1xf32>) -> tensor<8x256xf32>
  %v23 = kernel.scale %v22 {factor = 2.000000000e+00 : f32} : (tensor<8x256xf32>) -> tensor<8x256xf32>
  %v24 = kernel.sigmoid %v23 : (tensor<8x256xf32>) -> tensor<8x256xf32>
  %v25 = kernel.scale %v24 {factor = 2.000000000e+00 : f32} : (tensor<8x256xf32>) -> tensor<8x256xf32>
  %v26 = kernel.constant {value = 1.000000000e+00 : f32} : tensor<1xf32>
  %v27 = kernel.sub %v25, %v26 : (tensor<8x256xf32>, tensor<1xf32>) -> tensor<8x256xf32>
  %v28 = kernel.sub %v19, %v27 : (tensor<8x256xf32>, tensor<8x256xf32>) -> tensor<8x256xf32>
  %v29 = kernel.reduce_sum %v28 {dims = array<i64: 1>} : (tensor<8x256xf32>) -> tensor<8x1xf32>
  %v30 = kernel.div %v15, %v29 : (tensor<8x256xf32>, tensor<8x1xf32>) -> tensor<8x256xf32>
  %v31 = kernel.scale %v30 {factor = 2.000000000e+00 : f32} : (tensor<8x256xf32>) -> tensor<8x256xf32>
  func.return %v31 : tensor<8x256xf32>
}

// -----

// The same with logarithms.
func.func @f(%a0: tensor<8x256xf32>) -> tensor<8x256xf32> {
  %v1 = kernel.scale %a0 {factor = 2.000000000e+00 : f32} : (tensor<8x256xf32>) -> tensor<8x256xf32>
  func.return %v1 : tensor<8x256xf32>
}
// expected-error @+1 {{@g may be @f or not, not proved: normal forms: the candidate alone is not defined where something is negative or zero}}
func.func @g(%a0: tensor<8x256xf32>) -> tensor<8x256xf32> {
  %v1 = kernel.sigmoid %a0 : (tensor<8x256xf32>) -> tensor<8x256xf32>
  %v2 = kernel.constant {value = 1.300000000e+00 : f32} : tensor<1xf32>
  %v3 = kernel.add %v1, %v2 : (tensor<8x256xf32>, tensor<1xf32>) -> tensor<8x256xf32>
  %v4 = kernel.tanh %a0 : (tensor<8x256xf32>) -> tensor<8x256xf32>
  %v5 = kernel.constant {value = 2.700000000e+00 : f32} : tensor<1xf32>
  %v6 = kernel.add %v4, %v5 : (tensor<8x256xf32>, tensor<1xf32>) -> tensor<8x256xf32>
  %v7 = kernel.mul %v3, %v6 : (tensor<8x256xf32>, tensor<8x256xf32>) -> tensor<8x256xf32>
  %v8 = kernel.log %v7 : (tensor<8x256xf32>) -> tensor<8x256xf32>
  %v9 = kernel.sigmoid %a0 : (tensor<8x256xf32>) -> tensor<8x256xf32>
  %v10 = kernel.constant {value = 1.300000000e+00 : f32} : tensor<1xf32>
  %v11 = kernel.add %v9, %v10 : (tensor<8x256xf32>, tensor<1xf32>) -> tensor<8x256xf32>
  %v12 = kernel.log %v11 : (tensor<8x256xf32>) -> tensor<8x256xf32>
  %v13 = kernel.sub %v8, %v12 : (tensor<8x256xf32>, tensor<8x256xf32>) -> tensor<8x256xf32>
  %v14 = kernel.tanh %a0 : (tensor<8x256xf32>) -> tensor<8x256xf32>
  %v15 = kernel.constant {value = 2.700000000e+00 : f32} : tensor<1xf32>
  %v16 = kernel.add %v14, %v15 : (tensor<8x256xf32>, tensor<1xf32>) -> tensor<8x256xf32>
  %v17 = kernel.log %v16 : (tensor<8x256xf32>) -> tensor<8x256xf32>
  %v18 = kernel.sub %v13, %v17 : (tensor<8x256xf32>, tensor<8x256xf32>) -> tensor<8x256xf32>
  %v19 = kernel.reduce_sum %v18 {dims = array<i64: 1>} : (tensor<8x256xf32>) -> tensor<8x1xf32>
  %v20 = kernel.mul %a0, %v19 : (tensor<8x256xf32>, tensor<8x1xf32>) -> tensor<8x256xf32>
  %v21 = kernel.sigmoid %a0 : (tensor<8x256xf32>) -> tensor<8x256xf32>
  %v22 = kernel.constant {value = 1.300000000e+00 : f32} : tensor<1xf32>
  %v23 = kernel.add %v21, %v22 : (tensor<8x256xf32>, tensor<1xf32>) -> tensor<8x256xf32>
  %v24 = kernel.tanh %a0 : (tensor<8x256xf32>) -> tensor<8x256xf32>
  %v25 = kernel.constant {value = 2.700000000e+00 : f32} : tensor<1xf32>
  %v26 = kernel.add %v24, %v25 : (tensor<8x256xf32>, tensor<1xf32>) -> tensor<8x256xf32>
  %v27 = kernel.mul %v23, %v26 : (tensor<8x256xf32>, tensor<8x256xf32>) -> tensor<8x256xf32>
  %v28 = kernel.log %v27 : (tensor<8x256xf32>) -> tensor<8x256xf32>
  %v29 = kernel.sigmoid %a0 : (tensor<8x256xf32>) -> tensor<8x256xf32>
  %v30 = kernel.constant {value = 1.300000000e+00 : f32} : tensor<1xf32>
  %v31 = kernel.add %v29, %v30 : (tensor<8x256xf32>, tensor<1xf32>) -> tensor<8x256xf32>
  %v32 = kernel.log %v31 : (tensor<8x256xf32>) -> tensor<8x256xf32>
  %v33 = kernel.sub %v28, %v32 : (tensor<8x256xf32>, tensor<8x256xf32>) -> tensor<8x256xf32>
  %v34 = kernel.tanh %a0 : (tensor<8x256xf32>) -> tensor<8x256xf32>
  %v35 = kernel.constant {value = 2.700000000e+00 : f32} : tensor<1xf32>
  %v36 = kernel.add %v34, %v35 : (tensor<8x256xf32>, tensor<1xf32>) -> tensor<8x256xf32>
  %v37 = kernel.log %v36 : (tensor<8x256xf32>) -> tensor<8x256xf32>
  %v38 = kernel.sub %v33, %v37 : (tensor<8x256xf32>, tensor<8x256xf32>) -> tensor<8x256xf32>
  %v39 = kernel.reduce_sum %v38 {dims = array<i64: 1>} : (tensor<8x256xf32>) -> tensor<8x1xf32>
  %v40 = kernel.div %v20, %v39 : (tensor<8x256xf32>, tensor<8x1xf32>) -> tensor<8x256xf32>
  %v41 = kernel.scale %v40 {factor = 2.000000000e+00 : f32} : (tensor<8x256xf32>) -> tensor<8x256xf32>
  func.return %v41 : tensor<8x256xf32>
}

// -----

// A sum in f16 that is infinite where the mean is not.
func.func @f(%a0: tensor<4x4096xf16>) -> tensor<4x1xf16> {
  %v1 = kernel.square %a0 : (tensor<4x4096xf16>) -> tensor<4x4096xf16>
  %v2 = kernel.reduce_mean %v1 {dims = array<i64: 1>} : (tensor<4x4096xf16>) -> tensor<4x1xf16>
  func.return %v2 : tensor<4x1xf16>
}
// expected-error @+1 {{@g is @f but inaccurate: rounding error inf}}
func.func @g(%a0: tensor<4x4096xf16>) -> tensor<4x1xf16> {
  %v1 = kernel.square %a0 : (tensor<4x4096xf16>) -> tensor<4x4096xf16>
  %v2 = kernel.reduce_sum %v1 {dims = array<i64: 1>} : (tensor<4x4096xf16>) -> tensor<4x1xf16>
  %v3 = kernel.scale %v2 {factor = 2.441406250e-04 : f32} : (tensor<4x1xf16>) -> tensor<4x1xf16>
  func.return %v3 : tensor<4x1xf16>
}

// -----

// A product in f16 that is infinite before it is scaled.
func.func @f(%a0: tensor<8x4096xf16>, %a1: tensor<4096x8xf16>) -> tensor<8x8xf16> {
  %v1 = kernel.scale %a0 {factor = 1.562500000e-02 : f32} : (tensor<8x4096xf16>) -> tensor<8x4096xf16>
  %v2 = kernel.matmul %v1, %a1 : (tensor<8x4096xf16>, tensor<4096x8xf16>) -> tensor<8x8xf16>
  func.return %v2 : tensor<8x8xf16>
}
// expected-error @+1 {{@g is @f but inaccurate: rounding error inf}}
func.func @g(%a0: tensor<8x4096xf16>, %a1: tensor<4096x8xf16>) -> tensor<8x8xf16> {
  %v1 = kernel.matmul %a0, %a1 : (tensor<8x4096xf16>, tensor<4096x8xf16>) -> tensor<8x8xf16>
  %v2 = kernel.scale %v1 {factor = 1.562500000e-02 : f32} : (tensor<8x8xf16>) -> tensor<8x8xf16>
  func.return %v2 : tensor<8x8xf16>
}

// -----

// Exponentials in the candidate alone.
func.func @f(%a0: tensor<8x256xf32>) -> tensor<8x256xf32> {
  %v1 = kernel.scale %a0 {factor = 2.000000000e+00 : f32} : (tensor<8x256xf32>) -> tensor<8x256xf32>
  func.return %v1 : tensor<8x256xf32>
}
// expected-error @+1 {{@g may be @f or not, not proved: normal forms: the candidate alone is not defined where something is zero}}
func.func @g(%a0: tensor<8x256xf32>) -> tensor<8x256xf32> {
  %v1 = kernel.sigmoid %a0 : (tensor<8x256xf32>) -> tensor<8x256xf32>
  %v2 = kernel.constant {value = 1.300000000e+00 : f32} : tensor<1xf32>
  %v3 = kernel.add %v1, %v2 : (tensor<8x256xf32>, tensor<1xf32>) -> tensor<8x256xf32>
  %v4 = kernel.sigmoid %a0 : (tensor<8x256xf32>) -> tensor<8x256xf32>
  %v5 = kernel.constant {value = 1.300000000e+00 : f32} : tensor<1xf32>
  %v6 = kernel.add %v4, %v5 : (tensor<8x256xf32>, tensor<1xf32>) -> tensor<8x256xf32>
  %v7 = kernel.log %v6 : (tensor<8x256xf32>) -> tensor<8x256xf32>
  %v8 = kernel.exp %v7 : (tensor<8x256xf32>) -> tensor<8x256xf32>
  %v9 = kernel.sub %v3, %v8 : (tensor<8x256xf32>, tensor<8x256xf32>) -> tensor<8x256xf32>
  %v10 = kernel.reduce_sum %v9 {dims = array<i64: 1>} : (tensor<8x256xf32>) -> tensor<8x1xf32>
  %v11 = kernel.mul %a0, %v10 : (tensor<8x256xf32>, tensor<8x1xf32>) -> tensor<8x256xf32>
  %v12 = kernel.sigmoid %a0 : (tensor<8x256xf32>) -> tensor<8x256xf32>
  %v13 = kernel.constant {value = 1.300000000e+00 : f32} : tensor<1xf32>
  %v14 = kernel.add %v12, %v13 : (tensor<8x256xf32>, tensor<1xf32>) -> tensor<8x256xf32>
  %v15 = kernel.sigmoid %a0 : (tensor<8x256xf32>) -> tensor<8x256xf32>
  %v16 = kernel.constant {value = 1.300000000e+00 : f32} : tensor<1xf32>
  %v17 = kernel.add %v15, %v16 : (tensor<8x256xf32>, tensor<1xf32>) -> tensor<8x256xf32>
  %v18 = kernel.log %v17 : (tensor<8x256xf32>) -> tensor<8x256xf32>
  %v19 = kernel.exp %v18 : (tensor<8x256xf32>) -> tensor<8x256xf32>
  %v20 = kernel.sub %v14, %v19 : (tensor<8x256xf32>, tensor<8x256xf32>) -> tensor<8x256xf32>
  %v21 = kernel.reduce_sum %v20 {dims = array<i64: 1>} : (tensor<8x256xf32>) -> tensor<8x1xf32>
  %v22 = kernel.div %v11, %v21 : (tensor<8x256xf32>, tensor<8x1xf32>) -> tensor<8x256xf32>
  %v23 = kernel.scale %v22 {factor = 2.000000000e+00 : f32} : (tensor<8x256xf32>) -> tensor<8x256xf32>
  func.return %v23 : tensor<8x256xf32>
}

// -----

// Products of what was scaled down vanish in f16 where those of the program do not.
func.func @f(%a0: tensor<64x64xf16>, %a1: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %v2 = kernel.mul %a0, %a1 : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
  func.return %v2 : tensor<64x64xf16>
}
// expected-error @+1 {{@g is @f but inaccurate}}
func.func @g(%a0: tensor<64x64xf16>, %a1: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %v2 = kernel.scale %a0 {factor = 0.0009765625 : f32} : (tensor<64x64xf16>) -> tensor<64x64xf16>
  %v3 = kernel.mul %v2, %a1 : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
  %v4 = kernel.scale %v3 {factor = 1024.0 : f32} : (tensor<64x64xf16>) -> tensor<64x64xf16>
  func.return %v4 : tensor<64x64xf16>
}

// -----

// Products of what was scaled down vanish in f16 where those of the program do not.
func.func @f(%a0: tensor<16x64xf16>, %a1: tensor<64x32xf16>) -> tensor<16x32xf16> {
  %v2 = kernel.matmul %a0, %a1 : (tensor<16x64xf16>, tensor<64x32xf16>) -> tensor<16x32xf16>
  func.return %v2 : tensor<16x32xf16>
}
// expected-error @+1 {{@g is @f but inaccurate}}
func.func @g(%a0: tensor<16x64xf16>, %a1: tensor<64x32xf16>) -> tensor<16x32xf16> {
  %v2 = kernel.scale %a0 {factor = 0.0009765625 : f32} : (tensor<16x64xf16>) -> tensor<16x64xf16>
  %v3 = kernel.matmul %v2, %a1 : (tensor<16x64xf16>, tensor<64x32xf16>) -> tensor<16x32xf16>
  %v4 = kernel.scale %v3 {factor = 1024.0 : f32} : (tensor<16x32xf16>) -> tensor<16x32xf16>
  func.return %v4 : tensor<16x32xf16>
}

// -----

// 41 times the f32 next to 1/41 is below 1: the mask has row 41, which the gate does not compute.
func.func @f(%a0: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %v1 = kernel.iota {dim = 0 : i64} : tensor<4096x1xf32>
  %v2 = kernel.constant {value = 41.0 : f32} : tensor<1x1xf32>
  %v3 = kernel.compare %v1, %v2 {predicate = "lt"} : (tensor<4096x1xf32>, tensor<1x1xf32>) -> tensor<4096x1xf32>
  %v4 = kernel.constant {value = 0.0 : f32} : tensor<1x1xf32>
  %v5 = kernel.select %v3, %a0, %v4 : (tensor<4096x1xf32>, tensor<4096x4096xf32>, tensor<1x1xf32>) -> tensor<4096x4096xf32>
  %v6 = kernel.cumsum %v5 {dim = 1 : i64} : (tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  func.return %v6 : tensor<4096x4096xf32>
}
// expected-error @+1 {{@g is @f but inaccurate: 'kernel.floor' of indices is 0 in f32 where it should be 1}}
func.func @g(%a0: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %v1 = kernel.iota {dim = 0 : i64} : tensor<4096x1xf32>
  %v2 = kernel.scale %v1 {factor = 0.024390243902439025 : f32} : (tensor<4096x1xf32>) -> tensor<4096x1xf32>
  %v3 = kernel.floor %v2 : (tensor<4096x1xf32>) -> tensor<4096x1xf32>
  %v4 = kernel.constant {value = 1.0 : f32} : tensor<1x1xf32>
  %v5 = kernel.compare %v3, %v4 {predicate = "lt"} : (tensor<4096x1xf32>, tensor<1x1xf32>) -> tensor<4096x1xf32>
  %v6 = kernel.constant {value = 0.0 : f32} : tensor<1x1xf32>
  %v7 = kernel.select %v5, %a0, %v6 : (tensor<4096x1xf32>, tensor<4096x4096xf32>, tensor<1x1xf32>) -> tensor<4096x4096xf32>
  %v8 = kernel.cumsum %v7 {dim = 1 : i64} : (tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  func.return %v8 : tensor<4096x4096xf32>
}

// -----

// The same for segments of 41, whose rounding errors are not measured at all.
func.func @f(%a0: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %v1 = kernel.iota {dim = 1 : i64} : tensor<1x4096x1xf32>
  %v2 = kernel.iota {dim = 2 : i64} : tensor<1x1x4096xf32>
  %v3 = kernel.constant {value = 41.0 : f32} : tensor<1x1x1xf32>
  %v4 = kernel.div %v1, %v3 : (tensor<1x4096x1xf32>, tensor<1x1x1xf32>) -> tensor<1x4096x1xf32>
  %v5 = kernel.floor %v4 : (tensor<1x4096x1xf32>) -> tensor<1x4096x1xf32>
  %v6 = kernel.div %v2, %v3 : (tensor<1x1x4096xf32>, tensor<1x1x1xf32>) -> tensor<1x1x4096xf32>
  %v7 = kernel.floor %v6 : (tensor<1x1x4096xf32>) -> tensor<1x1x4096xf32>
  %v8 = kernel.compare %v5, %v7 {predicate = "eq"} : (tensor<1x4096x1xf32>, tensor<1x1x4096xf32>) -> tensor<1x4096x4096xf32>
  %v9 = kernel.compare %v2, %v1 {predicate = "le"} : (tensor<1x1x4096xf32>, tensor<1x4096x1xf32>) -> tensor<1x4096x4096xf32>
  %v10 = kernel.mul %v8, %v9 : (tensor<1x4096x4096xf32>, tensor<1x4096x4096xf32>) -> tensor<1x4096x4096xf32>
  %v11 = kernel.reshape %a0 : (tensor<4096x4096xf32>) -> tensor<4096x1x4096xf32>
  %v12 = kernel.constant {value = 0.0 : f32} : tensor<1x1x1xf32>
  %v13 = kernel.select %v10, %v11, %v12 : (tensor<1x4096x4096xf32>, tensor<4096x1x4096xf32>, tensor<1x1x1xf32>) -> tensor<4096x4096x4096xf32>
  %v14 = kernel.reduce_sum %v13 {dims = array<i64: 2>} : (tensor<4096x4096x4096xf32>) -> tensor<4096x4096x1xf32>
  %v15 = kernel.reshape %v14 : (tensor<4096x4096x1xf32>) -> tensor<4096x4096xf32>
  func.return %v15 : tensor<4096x4096xf32>
}
// expected-error @+1 {{@g is @f but inaccurate: 'kernel.floor' of indices is 0 in f32 where it should be 1}}
func.func @g(%a0: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %v1 = kernel.iota {dim = 1 : i64} : tensor<1x4096x1xf32>
  %v2 = kernel.iota {dim = 2 : i64} : tensor<1x1x4096xf32>
  %v3 = kernel.constant {value = 41.0 : f32} : tensor<1x1x1xf32>
  %v4 = kernel.scale %v1 {factor = 0.024390243902439025 : f32} : (tensor<1x4096x1xf32>) -> tensor<1x4096x1xf32>
  %v5 = kernel.floor %v4 : (tensor<1x4096x1xf32>) -> tensor<1x4096x1xf32>
  %v6 = kernel.scale %v2 {factor = 0.024390243902439025 : f32} : (tensor<1x1x4096xf32>) -> tensor<1x1x4096xf32>
  %v7 = kernel.floor %v6 : (tensor<1x1x4096xf32>) -> tensor<1x1x4096xf32>
  %v8 = kernel.compare %v5, %v7 {predicate = "eq"} : (tensor<1x4096x1xf32>, tensor<1x1x4096xf32>) -> tensor<1x4096x4096xf32>
  %v9 = kernel.compare %v2, %v1 {predicate = "le"} : (tensor<1x1x4096xf32>, tensor<1x4096x1xf32>) -> tensor<1x4096x4096xf32>
  %v10 = kernel.mul %v8, %v9 : (tensor<1x4096x4096xf32>, tensor<1x4096x4096xf32>) -> tensor<1x4096x4096xf32>
  %v11 = kernel.reshape %a0 : (tensor<4096x4096xf32>) -> tensor<4096x1x4096xf32>
  %v12 = kernel.constant {value = 0.0 : f32} : tensor<1x1x1xf32>
  %v13 = kernel.select %v10, %v11, %v12 : (tensor<1x4096x4096xf32>, tensor<4096x1x4096xf32>, tensor<1x1x1xf32>) -> tensor<4096x4096x4096xf32>
  %v14 = kernel.reduce_sum %v13 {dims = array<i64: 2>} : (tensor<4096x4096x4096xf32>) -> tensor<4096x4096x1xf32>
  %v15 = kernel.reshape %v14 : (tensor<4096x4096x1xf32>) -> tensor<4096x4096xf32>
  func.return %v15 : tensor<4096x4096xf32>
}
