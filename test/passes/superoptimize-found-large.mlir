// Programs whose kernels were all refused as inaccurate, or less accurate than the program, once.
// superoptimize-found.mlir has smaller ones, in every run.
// REQUIRES: every-case
// RUN: mirage-opt %s --superoptimize --split-input-file 2>/dev/null | filecheck %s

// Attention with a maximum, whose scores are another result.
// CHECK-LABEL: @attention_and_scores
// CHECK: kernel.graph_defined
func.func @attention_and_scores(%x: tensor<1x127x4xf32>, %a1: tensor<4x64xf32>, %a2: tensor<64xf32>, %a3: tensor<1x24x64xf32>, %a4: tensor<1x24x16xf32>, %a5: tensor<1x127x16xf32>) -> (tensor<2x127x16xf32>, tensor<1x127x64xf32>) {
  %v0 = kernel.matmul %x, %a1  : (tensor<1x127x4xf32>, tensor<4x64xf32>) -> tensor<1x127x64xf32>
  %v1 = kernel.rms_norm %v0, %a2 {eps = 1.000000000e-05 : f32} : (tensor<1x127x64xf32>, tensor<64xf32>) -> tensor<1x127x64xf32>
  %v2 = kernel.transpose %a3 {permutation = array<i64: 0, 2, 1>} : (tensor<1x24x64xf32>) -> tensor<1x64x24xf32>
  %v3 = kernel.matmul %v0, %v2  : (tensor<1x127x64xf32>, tensor<1x64x24xf32>) -> tensor<1x127x24xf32>
  %v4 = kernel.scale %v3 {factor = 1.250000000e-01 : f32} : (tensor<1x127x24xf32>) -> tensor<1x127x24xf32>
  %v5 = kernel.softmax %v4 {dim = 2 : i64} : (tensor<1x127x24xf32>) -> tensor<1x127x24xf32>
  %v6 = kernel.matmul %v5, %a4  : (tensor<1x127x24xf32>, tensor<1x24x16xf32>) -> tensor<1x127x16xf32>
  %v7 = kernel.max %v6, %a5  : (tensor<1x127x16xf32>, tensor<1x127x16xf32>) -> tensor<1x127x16xf32>
  %v8 = kernel.repeat_interleave %v7 {dim = 0 : i64, times = 2 : i64} : (tensor<1x127x16xf32>) -> tensor<2x127x16xf32>
  func.return %v8, %v0 : tensor<2x127x16xf32>, tensor<1x127x64xf32>
}

// -----

// A layer norm of cubes.
// CHECK-LABEL: @norm_of_cubes
// CHECK: kernel.graph_defined
func.func @norm_of_cubes(%x: tensor<4x130x127xf32>, %a1: tensor<127x3x130xf32>, %a2: tensor<127x96xf32>, %a3: tensor<127x130xf32>) -> tensor<26x520x5xf32> {
  %v0 = kernel.pow %x {exponent = 3.000000000e+00 : f32} : (tensor<4x130x127xf32>) -> tensor<4x130x127xf32>
  %v1 = kernel.layer_norm %v0 {eps = 1.000000000e-05 : f32} : (tensor<4x130x127xf32>) -> tensor<4x130x127xf32>
  %v2 = kernel.scale %x {factor = 1.250000000e-01 : f32} : (tensor<4x130x127xf32>) -> tensor<4x130x127xf32>
  %v3 = kernel.transpose %x {permutation = array<i64: 2, 0, 1>} : (tensor<4x130x127xf32>) -> tensor<127x4x130xf32>
  %v4 = kernel.concat %a1, %v3 {dim = 1 : i64} : (tensor<127x3x130xf32>, tensor<127x4x130xf32>) -> tensor<127x7x130xf32>
  %v5 = kernel.matmul %v2, %a2  : (tensor<4x130x127xf32>, tensor<127x96xf32>) -> tensor<4x130x96xf32>
  %v6 = kernel.scale %v3 {factor = 1.250000000e-01 : f32} : (tensor<127x4x130xf32>) -> tensor<127x4x130xf32>
  %v7 = kernel.square %v1  : (tensor<4x130x127xf32>) -> tensor<4x130x127xf32>
  %v8 = kernel.constant {value = 5.000000000e-01 : f32} : tensor<1x1x1xf32>
  %v9 = kernel.add %v7, %v8  : (tensor<4x130x127xf32>, tensor<1x1x1xf32>) -> tensor<4x130x127xf32>
  %v10 = kernel.div %v1, %v9  : (tensor<4x130x127xf32>, tensor<4x130x127xf32>) -> tensor<4x130x127xf32>
  %v11 = kernel.matmul %v1, %a3  : (tensor<4x130x127xf32>, tensor<127x130xf32>) -> tensor<4x130x130xf32>
  %v12 = kernel.reshape %v11  : (tensor<4x130x130xf32>) -> tensor<26x520x5xf32>
  func.return %v12 : tensor<26x520x5xf32>
}

// -----

// Three products in a row, and a quotient.
// CHECK-LABEL: @products_in_a_row
// CHECK: kernel.graph_defined
func.func @products_in_a_row(%x: tensor<5x127xf16>, %a1: tensor<127x1000xf16>, %a2: tensor<257x1000xf16>, %a3: tensor<333x257xf16>, %a4: tensor<33x333xf16>, %a5: tensor<5x128xf16>) -> tensor<2x128xf16> {
  %v0 = kernel.matmul %x, %a1  : (tensor<5x127xf16>, tensor<127x1000xf16>) -> tensor<5x1000xf16>
  %v1 = kernel.transpose %a2 {permutation = array<i64: 1, 0>} : (tensor<257x1000xf16>) -> tensor<1000x257xf16>
  %v2 = kernel.matmul %v0, %v1  : (tensor<5x1000xf16>, tensor<1000x257xf16>) -> tensor<5x257xf16>
  %v3 = kernel.transpose %a3 {permutation = array<i64: 1, 0>} : (tensor<333x257xf16>) -> tensor<257x333xf16>
  %v4 = kernel.matmul %v2, %v3  : (tensor<5x257xf16>, tensor<257x333xf16>) -> tensor<5x333xf16>
  %v5 = kernel.square %v4  : (tensor<5x333xf16>) -> tensor<5x333xf16>
  %v6 = kernel.constant {value = 2.000000000e+00 : f32} : tensor<1x1xf16>
  %v7 = kernel.add %v5, %v6  : (tensor<5x333xf16>, tensor<1x1xf16>) -> tensor<5x333xf16>
  %v8 = kernel.div %v4, %v7  : (tensor<5x333xf16>, tensor<5x333xf16>) -> tensor<5x333xf16>
  %v9 = kernel.transpose %a4 {permutation = array<i64: 1, 0>} : (tensor<33x333xf16>) -> tensor<333x33xf16>
  %v10 = kernel.matmul %v8, %v9  : (tensor<5x333xf16>, tensor<333x33xf16>) -> tensor<5x33xf16>
  %v11 = kernel.transpose %v10 {permutation = array<i64: 1, 0>} : (tensor<5x33xf16>) -> tensor<33x5xf16>
  %v12 = kernel.slice %v11 {offsets = array<i64: 24, 0>, sizes = array<i64: 2, 5>, strides = array<i64: 2, 1>} : (tensor<33x5xf16>) -> tensor<2x5xf16>
  %v13 = kernel.silu %v12  : (tensor<2x5xf16>) -> tensor<2x5xf16>
  %v14 = kernel.matmul %v13, %a5  : (tensor<2x5xf16>, tensor<5x128xf16>) -> tensor<2x128xf16>
  func.return %v14 : tensor<2x128xf16>
}

// -----

// A softmax over three copies that are scaled alike.
// CHECK-LABEL: @softmax_of_copies
// CHECK: kernel.graph_defined
func.func @softmax_of_copies(%x: tensor<128x333xf16>, %a1: tensor<333x127xf16>, %a2: tensor<1xf16>, %a3: tensor<3x1x31xf16>) -> tensor<3x42624x31xf16> {
  %v0 = kernel.softmax %x {dim = 1 : i64} : (tensor<128x333xf16>) -> tensor<128x333xf16>
  %v1 = kernel.matmul %v0, %a1  : (tensor<128x333xf16>, tensor<333x127xf16>) -> tensor<128x127xf16>
  %v2 = kernel.reshape %v0  : (tensor<128x333xf16>) -> tensor<1x42624x1xf16>
  %v3 = kernel.mul %v2, %a2  : (tensor<1x42624x1xf16>, tensor<1xf16>) -> tensor<1x42624x1xf16>
  %v4 = kernel.repeat_interleave %v3 {dim = 0 : i64, times = 3 : i64} : (tensor<1x42624x1xf16>) -> tensor<3x42624x1xf16>
  %v5 = kernel.matmul %v4, %a3  : (tensor<3x42624x1xf16>, tensor<3x1x31xf16>) -> tensor<3x42624x31xf16>
  %v6 = kernel.clamp %v5 {min = -1.000000000e+00 : f32, max = 2.000000000e+00 : f32} : (tensor<3x42624x31xf16>) -> tensor<3x42624x31xf16>
  %v7 = kernel.softmax %v6 {dim = 0 : i64} : (tensor<3x42624x31xf16>) -> tensor<3x42624x31xf16>
  func.return %v7 : tensor<3x42624x31xf16>
}
