// Maxima of what data masks, all of which may be -inf: they are subtracted only where the program has no value then.
// RUN: mirage-opt %s --split-input-file --verify-diagnostics --verify-equivalence="reference=f candidate=g" -o /dev/null

// The shift is the maximum of a part in the middle.
func.func @f(%m: tensor<4x16xf32>, %x: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %v0 = kernel.constant {value = 0.0 : f32} : tensor<f32>
  %v1 = kernel.compare %m, %v0 {predicate = "lt"} : (tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
  %v2 = kernel.constant {value = 0xff800000 : f32} : tensor<f32>
  %v3 = kernel.select %v1, %v2, %x : (tensor<4x16xf32>, tensor<f32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  %v4 = kernel.softmax %v3 {dim = 1 : i64} : (tensor<4x16xf32>) -> tensor<4x16xf32>
  func.return %v4 : tensor<4x16xf32>
}
// expected-error @+1 {{@g may be @f or not, not proved}}
func.func @g(%m: tensor<4x16xf32>, %x: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %v0 = kernel.constant {value = 0.0 : f32} : tensor<f32>
  %v1 = kernel.compare %m, %v0 {predicate = "lt"} : (tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
  %v2 = kernel.constant {value = 0xff800000 : f32} : tensor<f32>
  %v3 = kernel.select %v1, %v2, %x : (tensor<4x16xf32>, tensor<f32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  %v4 = kernel.slice %v3 {offsets = array<i64: 0, 4>, sizes = array<i64: 4, 8>, strides = array<i64: 1, 1>} : (tensor<4x16xf32>) -> tensor<4x8xf32>
  %v5 = kernel.reduce_max %v4 {dims = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %v6 = kernel.sub %v3, %v5 : (tensor<4x16xf32>, tensor<4x1xf32>) -> tensor<4x16xf32>
  %v7 = kernel.exp %v6 : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %v8 = kernel.reduce_sum %v7 {dims = array<i64: 1>} : (tensor<4x16xf32>) -> tensor<4x1xf32>
  %v9 = kernel.div %v7, %v8 : (tensor<4x16xf32>, tensor<4x1xf32>) -> tensor<4x16xf32>
  func.return %v9 : tensor<4x16xf32>
}

// -----

// Two parts that lie between each other, each shifted by its own maximum.
func.func @f(%m: tensor<4x16xf32>, %x: tensor<4x16xf32>, %v: tensor<16x8xf32>) -> tensor<4x8xf32> {
  %v0 = kernel.constant {value = 0.0 : f32} : tensor<f32>
  %v1 = kernel.compare %m, %v0 {predicate = "lt"} : (tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
  %v2 = kernel.constant {value = 0xff800000 : f32} : tensor<f32>
  %v3 = kernel.select %v1, %v2, %x : (tensor<4x16xf32>, tensor<f32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  %v4 = kernel.softmax %v3 {dim = 1 : i64} : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %v5 = kernel.matmul %v4, %v : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
  func.return %v5 : tensor<4x8xf32>
}
// expected-error @+1 {{@g may be @f or not, not proved: normal forms: the candidate alone is not defined}}
func.func @g(%m: tensor<4x16xf32>, %x: tensor<4x16xf32>, %v: tensor<16x8xf32>) -> tensor<4x8xf32> {
  %v0 = kernel.constant {value = 0.0 : f32} : tensor<f32>
  %v1 = kernel.compare %m, %v0 {predicate = "lt"} : (tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
  %v2 = kernel.constant {value = 0xff800000 : f32} : tensor<f32>
  %v3 = kernel.select %v1, %v2, %x : (tensor<4x16xf32>, tensor<f32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  %v4 = kernel.slice %v3 {offsets = array<i64: 0, 0>, sizes = array<i64: 4, 2>, strides = array<i64: 1, 1>} : (tensor<4x16xf32>) -> tensor<4x2xf32>
  %v5 = kernel.slice %v3 {offsets = array<i64: 0, 4>, sizes = array<i64: 4, 2>, strides = array<i64: 1, 1>} : (tensor<4x16xf32>) -> tensor<4x2xf32>
  %v6 = kernel.concat %v4, %v5 {dim = 1 : i64} : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x4xf32>
  %v7 = kernel.slice %v3 {offsets = array<i64: 0, 8>, sizes = array<i64: 4, 2>, strides = array<i64: 1, 1>} : (tensor<4x16xf32>) -> tensor<4x2xf32>
  %v8 = kernel.concat %v6, %v7 {dim = 1 : i64} : (tensor<4x4xf32>, tensor<4x2xf32>) -> tensor<4x6xf32>
  %v9 = kernel.slice %v3 {offsets = array<i64: 0, 12>, sizes = array<i64: 4, 2>, strides = array<i64: 1, 1>} : (tensor<4x16xf32>) -> tensor<4x2xf32>
  %v10 = kernel.concat %v8, %v9 {dim = 1 : i64} : (tensor<4x6xf32>, tensor<4x2xf32>) -> tensor<4x8xf32>
  %v11 = kernel.reduce_max %v10 {dims = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %v12 = kernel.sub %v10, %v11 : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %v13 = kernel.exp %v12 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %v14 = kernel.slice %v {offsets = array<i64: 0, 0>, sizes = array<i64: 2, 8>, strides = array<i64: 1, 1>} : (tensor<16x8xf32>) -> tensor<2x8xf32>
  %v15 = kernel.slice %v {offsets = array<i64: 4, 0>, sizes = array<i64: 2, 8>, strides = array<i64: 1, 1>} : (tensor<16x8xf32>) -> tensor<2x8xf32>
  %v16 = kernel.concat %v14, %v15 {dim = 0 : i64} : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<4x8xf32>
  %v17 = kernel.slice %v {offsets = array<i64: 8, 0>, sizes = array<i64: 2, 8>, strides = array<i64: 1, 1>} : (tensor<16x8xf32>) -> tensor<2x8xf32>
  %v18 = kernel.concat %v16, %v17 {dim = 0 : i64} : (tensor<4x8xf32>, tensor<2x8xf32>) -> tensor<6x8xf32>
  %v19 = kernel.slice %v {offsets = array<i64: 12, 0>, sizes = array<i64: 2, 8>, strides = array<i64: 1, 1>} : (tensor<16x8xf32>) -> tensor<2x8xf32>
  %v20 = kernel.concat %v18, %v19 {dim = 0 : i64} : (tensor<6x8xf32>, tensor<2x8xf32>) -> tensor<8x8xf32>
  %v21 = kernel.matmul %v13, %v20 : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %v22 = kernel.slice %v3 {offsets = array<i64: 0, 2>, sizes = array<i64: 4, 2>, strides = array<i64: 1, 1>} : (tensor<4x16xf32>) -> tensor<4x2xf32>
  %v23 = kernel.slice %v3 {offsets = array<i64: 0, 6>, sizes = array<i64: 4, 2>, strides = array<i64: 1, 1>} : (tensor<4x16xf32>) -> tensor<4x2xf32>
  %v24 = kernel.concat %v22, %v23 {dim = 1 : i64} : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x4xf32>
  %v25 = kernel.slice %v3 {offsets = array<i64: 0, 10>, sizes = array<i64: 4, 2>, strides = array<i64: 1, 1>} : (tensor<4x16xf32>) -> tensor<4x2xf32>
  %v26 = kernel.concat %v24, %v25 {dim = 1 : i64} : (tensor<4x4xf32>, tensor<4x2xf32>) -> tensor<4x6xf32>
  %v27 = kernel.slice %v3 {offsets = array<i64: 0, 14>, sizes = array<i64: 4, 2>, strides = array<i64: 1, 1>} : (tensor<4x16xf32>) -> tensor<4x2xf32>
  %v28 = kernel.concat %v26, %v27 {dim = 1 : i64} : (tensor<4x6xf32>, tensor<4x2xf32>) -> tensor<4x8xf32>
  %v29 = kernel.reduce_max %v28 {dims = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %v30 = kernel.max %v11, %v29 : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  %v31 = kernel.sub %v11, %v30 : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  %v32 = kernel.exp %v31 : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %v33 = kernel.mul %v21, %v32 : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %v34 = kernel.sub %v28, %v29 : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %v35 = kernel.exp %v34 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %v36 = kernel.slice %v {offsets = array<i64: 2, 0>, sizes = array<i64: 2, 8>, strides = array<i64: 1, 1>} : (tensor<16x8xf32>) -> tensor<2x8xf32>
  %v37 = kernel.slice %v {offsets = array<i64: 6, 0>, sizes = array<i64: 2, 8>, strides = array<i64: 1, 1>} : (tensor<16x8xf32>) -> tensor<2x8xf32>
  %v38 = kernel.concat %v36, %v37 {dim = 0 : i64} : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<4x8xf32>
  %v39 = kernel.slice %v {offsets = array<i64: 10, 0>, sizes = array<i64: 2, 8>, strides = array<i64: 1, 1>} : (tensor<16x8xf32>) -> tensor<2x8xf32>
  %v40 = kernel.concat %v38, %v39 {dim = 0 : i64} : (tensor<4x8xf32>, tensor<2x8xf32>) -> tensor<6x8xf32>
  %v41 = kernel.slice %v {offsets = array<i64: 14, 0>, sizes = array<i64: 2, 8>, strides = array<i64: 1, 1>} : (tensor<16x8xf32>) -> tensor<2x8xf32>
  %v42 = kernel.concat %v40, %v41 {dim = 0 : i64} : (tensor<6x8xf32>, tensor<2x8xf32>) -> tensor<8x8xf32>
  %v43 = kernel.matmul %v35, %v42 : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %v44 = kernel.sub %v29, %v30 : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  %v45 = kernel.exp %v44 : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %v46 = kernel.mul %v43, %v45 : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %v47 = kernel.add %v33, %v46 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %v48 = kernel.reduce_sum %v13 {dims = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %v49 = kernel.sub %v11, %v30 : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  %v50 = kernel.exp %v49 : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %v51 = kernel.mul %v48, %v50 : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  %v52 = kernel.reduce_sum %v35 {dims = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %v53 = kernel.sub %v29, %v30 : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  %v54 = kernel.exp %v53 : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %v55 = kernel.mul %v52, %v54 : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  %v56 = kernel.add %v51, %v55 : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  %v57 = kernel.div %v47, %v56 : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  func.return %v57 : tensor<4x8xf32>
}

// -----

// The same of two parts, shifted by the maximum of both.
func.func @f(%m: tensor<4x16xf32>, %x: tensor<4x16xf32>, %v: tensor<16x8xf32>) -> tensor<4x8xf32> {
  %v0 = kernel.constant {value = 0.0 : f32} : tensor<f32>
  %v1 = kernel.compare %m, %v0 {predicate = "lt"} : (tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
  %v2 = kernel.constant {value = 0xff800000 : f32} : tensor<f32>
  %v3 = kernel.select %v1, %v2, %x : (tensor<4x16xf32>, tensor<f32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  %v4 = kernel.softmax %v3 {dim = 1 : i64} : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %v5 = kernel.matmul %v4, %v : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
  func.return %v5 : tensor<4x8xf32>
}
// expected-remark @+1 {{@g is @f: proved}}
func.func @g(%m: tensor<4x16xf32>, %x: tensor<4x16xf32>, %v: tensor<16x8xf32>) -> tensor<4x8xf32> {
  %v0 = kernel.constant {value = 0.0 : f32} : tensor<f32>
  %v1 = kernel.compare %m, %v0 {predicate = "lt"} : (tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
  %v2 = kernel.constant {value = 0xff800000 : f32} : tensor<f32>
  %v3 = kernel.select %v1, %v2, %x : (tensor<4x16xf32>, tensor<f32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  %v4 = kernel.slice %v3 {offsets = array<i64: 0, 4>, sizes = array<i64: 4, 8>, strides = array<i64: 1, 1>} : (tensor<4x16xf32>) -> tensor<4x8xf32>
  %v5 = kernel.reduce_max %v4 {dims = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %v6 = kernel.slice %v3 {offsets = array<i64: 0, 0>, sizes = array<i64: 4, 4>, strides = array<i64: 1, 1>} : (tensor<4x16xf32>) -> tensor<4x4xf32>
  %v7 = kernel.slice %v3 {offsets = array<i64: 0, 12>, sizes = array<i64: 4, 4>, strides = array<i64: 1, 1>} : (tensor<4x16xf32>) -> tensor<4x4xf32>
  %v8 = kernel.concat %v6, %v7 {dim = 1 : i64} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x8xf32>
  %v9 = kernel.reduce_max %v8 {dims = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %v10 = kernel.max %v5, %v9 : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  %v11 = kernel.sub %v4, %v10 : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %v12 = kernel.exp %v11 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %v13 = kernel.slice %v {offsets = array<i64: 4, 0>, sizes = array<i64: 8, 8>, strides = array<i64: 1, 1>} : (tensor<16x8xf32>) -> tensor<8x8xf32>
  %v14 = kernel.matmul %v12, %v13 : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %v15 = kernel.sub %v8, %v10 : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %v16 = kernel.exp %v15 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %v17 = kernel.slice %v {offsets = array<i64: 0, 0>, sizes = array<i64: 4, 8>, strides = array<i64: 1, 1>} : (tensor<16x8xf32>) -> tensor<4x8xf32>
  %v18 = kernel.slice %v {offsets = array<i64: 12, 0>, sizes = array<i64: 4, 8>, strides = array<i64: 1, 1>} : (tensor<16x8xf32>) -> tensor<4x8xf32>
  %v19 = kernel.concat %v17, %v18 {dim = 0 : i64} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  %v20 = kernel.matmul %v16, %v19 : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %v21 = kernel.add %v14, %v20 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %v22 = kernel.reduce_sum %v12 {dims = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %v23 = kernel.reduce_sum %v16 {dims = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %v24 = kernel.add %v22, %v23 : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  %v25 = kernel.div %v21, %v24 : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  func.return %v25 : tensor<4x8xf32>
}

// -----

// A quotient of a part, which may be 0 by 0.
func.func @f(%m: tensor<4x16xf32>, %x: tensor<4x16xf32>) -> tensor<4x1xf32> {
  %v0 = kernel.constant {value = 0.0 : f32} : tensor<f32>
  %v1 = kernel.compare %m, %v0 {predicate = "lt"} : (tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
  %v2 = kernel.constant {value = 0xff800000 : f32} : tensor<f32>
  %v3 = kernel.select %v1, %v2, %x : (tensor<4x16xf32>, tensor<f32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  %v4 = kernel.exp %v3 : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %v5 = kernel.reduce_sum %v4 {dims = array<i64: 1>} : (tensor<4x16xf32>) -> tensor<4x1xf32>
  func.return %v5 : tensor<4x1xf32>
}
// expected-error @+1 {{@g may be @f or not, not proved}}
func.func @g(%m: tensor<4x16xf32>, %x: tensor<4x16xf32>) -> tensor<4x1xf32> {
  %v0 = kernel.constant {value = 0.0 : f32} : tensor<f32>
  %v1 = kernel.compare %m, %v0 {predicate = "lt"} : (tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
  %v2 = kernel.constant {value = 0xff800000 : f32} : tensor<f32>
  %v3 = kernel.select %v1, %v2, %x : (tensor<4x16xf32>, tensor<f32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  %v4 = kernel.exp %v3 : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %v5 = kernel.reduce_sum %v4 {dims = array<i64: 1>} : (tensor<4x16xf32>) -> tensor<4x1xf32>
  %v6 = kernel.slice %v3 {offsets = array<i64: 0, 4>, sizes = array<i64: 4, 8>, strides = array<i64: 1, 1>} : (tensor<4x16xf32>) -> tensor<4x8xf32>
  %v7 = kernel.exp %v6 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %v8 = kernel.reduce_sum %v7 {dims = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %v9 = kernel.slice %v3 {offsets = array<i64: 0, 4>, sizes = array<i64: 4, 8>, strides = array<i64: 1, 1>} : (tensor<4x16xf32>) -> tensor<4x8xf32>
  %v10 = kernel.exp %v9 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %v11 = kernel.reduce_sum %v10 {dims = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %v12 = kernel.div %v8, %v11 : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  %v13 = kernel.mul %v5, %v12 : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  func.return %v13 : tensor<4x1xf32>
}

// -----

// A sum with another term has a value where all is masked.
func.func @f(%m: tensor<4x16xf32>, %x: tensor<4x16xf32>, %v: tensor<16x8xf32>, %y: tensor<4x16xf32>) -> tensor<4x8xf32> {
  %v0 = kernel.constant {value = 0.0 : f32} : tensor<f32>
  %v1 = kernel.compare %m, %v0 {predicate = "lt"} : (tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
  %v2 = kernel.constant {value = 0xff800000 : f32} : tensor<f32>
  %v3 = kernel.select %v1, %v2, %x : (tensor<4x16xf32>, tensor<f32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  %v4 = kernel.exp %v3 : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %v5 = kernel.matmul %v4, %v : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
  %v6 = kernel.reduce_sum %v4 {dims = array<i64: 1>} : (tensor<4x16xf32>) -> tensor<4x1xf32>
  %v7 = kernel.slice %y {offsets = array<i64: 0, 0>, sizes = array<i64: 4, 1>, strides = array<i64: 1, 1>} : (tensor<4x16xf32>) -> tensor<4x1xf32>
  %v8 = kernel.exp %v7 : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %v9 = kernel.add %v6, %v8 : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  %v10 = kernel.div %v5, %v9 : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  func.return %v10 : tensor<4x8xf32>
}
// expected-error @+1 {{@g may be @f or not, not proved}}
func.func @g(%m: tensor<4x16xf32>, %x: tensor<4x16xf32>, %v: tensor<16x8xf32>, %y: tensor<4x16xf32>) -> tensor<4x8xf32> {
  %v0 = kernel.constant {value = 0.0 : f32} : tensor<f32>
  %v1 = kernel.compare %m, %v0 {predicate = "lt"} : (tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
  %v2 = kernel.constant {value = 0xff800000 : f32} : tensor<f32>
  %v3 = kernel.select %v1, %v2, %x : (tensor<4x16xf32>, tensor<f32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  %v4 = kernel.reduce_max %v3 {dims = array<i64: 1>} : (tensor<4x16xf32>) -> tensor<4x1xf32>
  %v5 = kernel.sub %v3, %v4 : (tensor<4x16xf32>, tensor<4x1xf32>) -> tensor<4x16xf32>
  %v6 = kernel.exp %v5 : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %v7 = kernel.matmul %v6, %v : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
  %v8 = kernel.sub %v3, %v4 : (tensor<4x16xf32>, tensor<4x1xf32>) -> tensor<4x16xf32>
  %v9 = kernel.exp %v8 : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %v10 = kernel.reduce_sum %v9 {dims = array<i64: 1>} : (tensor<4x16xf32>) -> tensor<4x1xf32>
  %v11 = kernel.slice %y {offsets = array<i64: 0, 0>, sizes = array<i64: 4, 1>, strides = array<i64: 1, 1>} : (tensor<4x16xf32>) -> tensor<4x1xf32>
  %v12 = kernel.sub %v11, %v4 : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  %v13 = kernel.exp %v12 : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %v14 = kernel.add %v10, %v13 : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  %v15 = kernel.div %v7, %v14 : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  func.return %v15 : tensor<4x8xf32>
}

// -----

// So has a sum of exponentials.
func.func @f(%m: tensor<4x16xf32>, %x: tensor<4x16xf32>) -> tensor<4x1xf32> {
  %v0 = kernel.constant {value = 0.0 : f32} : tensor<f32>
  %v1 = kernel.compare %m, %v0 {predicate = "lt"} : (tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
  %v2 = kernel.constant {value = 0xff800000 : f32} : tensor<f32>
  %v3 = kernel.select %v1, %v2, %x : (tensor<4x16xf32>, tensor<f32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  %v4 = kernel.exp %v3 : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %v5 = kernel.reduce_sum %v4 {dims = array<i64: 1>} : (tensor<4x16xf32>) -> tensor<4x1xf32>
  func.return %v5 : tensor<4x1xf32>
}
// expected-error @+1 {{@g may be @f or not, not proved}}
func.func @g(%m: tensor<4x16xf32>, %x: tensor<4x16xf32>) -> tensor<4x1xf32> {
  %v0 = kernel.constant {value = 0.0 : f32} : tensor<f32>
  %v1 = kernel.compare %m, %v0 {predicate = "lt"} : (tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
  %v2 = kernel.constant {value = 0xff800000 : f32} : tensor<f32>
  %v3 = kernel.select %v1, %v2, %x : (tensor<4x16xf32>, tensor<f32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  %v4 = kernel.reduce_max %v3 {dims = array<i64: 1>} : (tensor<4x16xf32>) -> tensor<4x1xf32>
  %v5 = kernel.sub %v3, %v4 : (tensor<4x16xf32>, tensor<4x1xf32>) -> tensor<4x16xf32>
  %v6 = kernel.exp %v5 : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %v7 = kernel.reduce_sum %v6 {dims = array<i64: 1>} : (tensor<4x16xf32>) -> tensor<4x1xf32>
  %v8 = kernel.exp %v4 : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %v9 = kernel.mul %v7, %v8 : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  func.return %v9 : tensor<4x1xf32>
}

// -----

// And a masked element is -inf.
func.func @f(%m: tensor<4x16xf32>, %x: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %v0 = kernel.constant {value = 0.0 : f32} : tensor<f32>
  %v1 = kernel.compare %m, %v0 {predicate = "lt"} : (tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
  %v2 = kernel.constant {value = 0xff800000 : f32} : tensor<f32>
  %v3 = kernel.select %v1, %v2, %x : (tensor<4x16xf32>, tensor<f32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  func.return %v3 : tensor<4x16xf32>
}
// expected-error @+1 {{@g may be @f or not, not proved}}
func.func @g(%m: tensor<4x16xf32>, %x: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %v0 = kernel.constant {value = 0.0 : f32} : tensor<f32>
  %v1 = kernel.compare %m, %v0 {predicate = "lt"} : (tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
  %v2 = kernel.constant {value = 0xff800000 : f32} : tensor<f32>
  %v3 = kernel.select %v1, %v2, %x : (tensor<4x16xf32>, tensor<f32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  %v4 = kernel.reduce_max %v3 {dims = array<i64: 1>} : (tensor<4x16xf32>) -> tensor<4x1xf32>
  %v5 = kernel.sub %v3, %v4 : (tensor<4x16xf32>, tensor<4x1xf32>) -> tensor<4x16xf32>
  %v6 = kernel.add %v5, %v4 : (tensor<4x16xf32>, tensor<4x1xf32>) -> tensor<4x16xf32>
  func.return %v6 : tensor<4x16xf32>
}

// -----

// Weights times their sum.
func.func @f(%m: tensor<4x16xf32>, %x: tensor<4x16xf32>, %v: tensor<16x8xf32>) -> tensor<4x8xf32> {
  %v0 = kernel.constant {value = 0.0 : f32} : tensor<f32>
  %v1 = kernel.compare %m, %v0 {predicate = "lt"} : (tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
  %v2 = kernel.constant {value = 0xff800000 : f32} : tensor<f32>
  %v3 = kernel.select %v1, %v2, %x : (tensor<4x16xf32>, tensor<f32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  %v4 = kernel.exp %v3 : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %v5 = kernel.matmul %v4, %v : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
  func.return %v5 : tensor<4x8xf32>
}
// expected-error @+1 {{@g may be @f or not, not proved}}
func.func @g(%m: tensor<4x16xf32>, %x: tensor<4x16xf32>, %v: tensor<16x8xf32>) -> tensor<4x8xf32> {
  %v0 = kernel.constant {value = 0.0 : f32} : tensor<f32>
  %v1 = kernel.compare %m, %v0 {predicate = "lt"} : (tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
  %v2 = kernel.constant {value = 0xff800000 : f32} : tensor<f32>
  %v3 = kernel.select %v1, %v2, %x : (tensor<4x16xf32>, tensor<f32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  %v4 = kernel.softmax %v3 {dim = 1 : i64} : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %v5 = kernel.matmul %v4, %v : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
  %v6 = kernel.exp %v3 : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %v7 = kernel.reduce_sum %v6 {dims = array<i64: 1>} : (tensor<4x16xf32>) -> tensor<4x1xf32>
  %v8 = kernel.mul %v5, %v7 : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  func.return %v8 : tensor<4x8xf32>
}

// -----

// Weights that are selected behind the division.
func.func @f(%m: tensor<4x16xf32>, %x: tensor<4x16xf32>, %v: tensor<16x8xf32>) -> tensor<4x8xf32> {
  %v0 = kernel.constant {value = 0.0 : f32} : tensor<f32>
  %v1 = kernel.compare %m, %v0 {predicate = "lt"} : (tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
  %v2 = kernel.constant {value = 0.0 : f32} : tensor<f32>
  %v3 = kernel.constant {value = 0xff800000 : f32} : tensor<f32>
  %v4 = kernel.select %v1, %v3, %x : (tensor<4x16xf32>, tensor<f32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  %v5 = kernel.softmax %v4 {dim = 1 : i64} : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %v6 = kernel.select %v1, %v2, %v5 : (tensor<4x16xf32>, tensor<f32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  %v7 = kernel.matmul %v6, %v : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
  func.return %v7 : tensor<4x8xf32>
}
// expected-error @+1 {{@g may be @f or not, not proved}}
func.func @g(%m: tensor<4x16xf32>, %x: tensor<4x16xf32>, %v: tensor<16x8xf32>) -> tensor<4x8xf32> {
  %v0 = kernel.constant {value = 0.0 : f32} : tensor<f32>
  %v1 = kernel.compare %m, %v0 {predicate = "lt"} : (tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
  %v2 = kernel.constant {value = 0xff800000 : f32} : tensor<f32>
  %v3 = kernel.select %v1, %v2, %x : (tensor<4x16xf32>, tensor<f32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  %v4 = kernel.reduce_max %v3 {dims = array<i64: 1>} : (tensor<4x16xf32>) -> tensor<4x1xf32>
  %v5 = kernel.sub %v3, %v4 : (tensor<4x16xf32>, tensor<4x1xf32>) -> tensor<4x16xf32>
  %v6 = kernel.exp %v5 : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %v7 = kernel.constant {value = 1.0 : f32} : tensor<f32>
  %v8 = kernel.sub %v7, %v1 : (tensor<f32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  %v9 = kernel.mul %v6, %v8 : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  %v10 = kernel.matmul %v9, %v : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
  %v11 = kernel.sub %v3, %v4 : (tensor<4x16xf32>, tensor<4x1xf32>) -> tensor<4x16xf32>
  %v12 = kernel.exp %v11 : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %v13 = kernel.reduce_sum %v12 {dims = array<i64: 1>} : (tensor<4x16xf32>) -> tensor<4x1xf32>
  %v14 = kernel.div %v10, %v13 : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  func.return %v14 : tensor<4x8xf32>
}

// -----

// Masks that are added may be -inf, too.
func.func @f(%x: tensor<4x16xf32>, %m: tensor<4x16xf32>, %v: tensor<16x8xf32>) -> tensor<4x8xf32> {
  %v0 = kernel.add %x, %m : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  %v1 = kernel.softmax %v0 {dim = 1 : i64} : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %v2 = kernel.matmul %v1, %v : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
  func.return %v2 : tensor<4x8xf32>
}
// expected-error @+1 {{@g is @f but inaccurate: rounding error inf of output 0 on masks of -inf}}
func.func @g(%x: tensor<4x16xf32>, %m: tensor<4x16xf32>, %v: tensor<16x8xf32>) -> tensor<4x8xf32> {
  %v0 = kernel.add %x, %m : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  %v1 = kernel.slice %v0 {offsets = array<i64: 0, 4>, sizes = array<i64: 4, 8>, strides = array<i64: 1, 1>} : (tensor<4x16xf32>) -> tensor<4x8xf32>
  %v2 = kernel.reduce_max %v1 {dims = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %v3 = kernel.sub %v1, %v2 : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %v4 = kernel.exp %v3 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %v5 = kernel.slice %v {offsets = array<i64: 4, 0>, sizes = array<i64: 8, 8>, strides = array<i64: 1, 1>} : (tensor<16x8xf32>) -> tensor<8x8xf32>
  %v6 = kernel.matmul %v4, %v5 : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %v7 = kernel.slice %v0 {offsets = array<i64: 0, 0>, sizes = array<i64: 4, 4>, strides = array<i64: 1, 1>} : (tensor<4x16xf32>) -> tensor<4x4xf32>
  %v8 = kernel.slice %v0 {offsets = array<i64: 0, 12>, sizes = array<i64: 4, 4>, strides = array<i64: 1, 1>} : (tensor<4x16xf32>) -> tensor<4x4xf32>
  %v9 = kernel.concat %v7, %v8 {dim = 1 : i64} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x8xf32>
  %v10 = kernel.reduce_max %v9 {dims = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %v11 = kernel.max %v2, %v10 : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  %v12 = kernel.sub %v2, %v11 : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  %v13 = kernel.exp %v12 : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %v14 = kernel.mul %v6, %v13 : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %v15 = kernel.sub %v9, %v10 : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %v16 = kernel.exp %v15 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %v17 = kernel.slice %v {offsets = array<i64: 0, 0>, sizes = array<i64: 4, 8>, strides = array<i64: 1, 1>} : (tensor<16x8xf32>) -> tensor<4x8xf32>
  %v18 = kernel.slice %v {offsets = array<i64: 12, 0>, sizes = array<i64: 4, 8>, strides = array<i64: 1, 1>} : (tensor<16x8xf32>) -> tensor<4x8xf32>
  %v19 = kernel.concat %v17, %v18 {dim = 0 : i64} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  %v20 = kernel.matmul %v16, %v19 : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %v21 = kernel.sub %v10, %v11 : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  %v22 = kernel.exp %v21 : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %v23 = kernel.mul %v20, %v22 : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %v24 = kernel.add %v14, %v23 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %v25 = kernel.reduce_sum %v4 {dims = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %v26 = kernel.sub %v2, %v11 : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  %v27 = kernel.exp %v26 : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %v28 = kernel.mul %v25, %v27 : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  %v29 = kernel.reduce_sum %v16 {dims = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %v30 = kernel.sub %v10, %v11 : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  %v31 = kernel.exp %v30 : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %v32 = kernel.mul %v29, %v31 : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  %v33 = kernel.add %v28, %v32 : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  %v34 = kernel.div %v24, %v33 : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  func.return %v34 : tensor<4x8xf32>
}

// -----

// The maximum, which may be -inf, is multiplied by what is no known number: the product is not 0.
func.func @f(%x: tensor<4x8xf32>, %m: tensor<4x8xf32>, %y: tensor<4x1xf32>) -> tensor<4x8xf32> {
  %low = kernel.constant {value = 0xFF800000 : f32} : tensor<1x1xf32>
  %s = kernel.select %m, %low, %x : (tensor<4x8xf32>, tensor<1x1xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %p = kernel.softmax %s {dim = 1 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %p : tensor<4x8xf32>
}
// expected-error @+1 {{@g is not @f}}
func.func @g(%x: tensor<4x8xf32>, %m: tensor<4x8xf32>, %y: tensor<4x1xf32>) -> tensor<4x8xf32> {
  %low = kernel.constant {value = 0xFF800000 : f32} : tensor<1x1xf32>
  %s = kernel.select %m, %low, %x : (tensor<4x8xf32>, tensor<1x1xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %p = kernel.softmax %s {dim = 1 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %t = kernel.reduce_max %s {dims = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %u = kernel.mul %t, %y : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  %o = kernel.add %p, %u : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  func.return %o : tensor<4x8xf32>
}
