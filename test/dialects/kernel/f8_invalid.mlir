// RUN: mirage-opt %s --verify-diagnostics --split-input-file

func.func @f(%x: tensor<4x8xf8E4M3FN>) -> tensor<4x8xf8E4M3FN> {
  // expected-error @+1 {{'kernel.add' op has elements of type f8E4M3FN, which is not f16, bf16 or f32; kernel.cast makes one of these of it}}
  %y = kernel.add %x, %x : (tensor<4x8xf8E4M3FN>, tensor<4x8xf8E4M3FN>) -> tensor<4x8xf8E4M3FN>
  func.return %y : tensor<4x8xf8E4M3FN>
}

// -----

func.func @f(%x: tensor<4x8xf8E5M2>, %w: tensor<8x4xf16>) -> tensor<4x4xf16> {
  // expected-error @+1 {{'kernel.matmul' op has elements of type f8E5M2, which is not f16, bf16 or f32; kernel.cast makes one of these of it}}
  %y = kernel.matmul %x, %w : (tensor<4x8xf8E5M2>, tensor<8x4xf16>) -> tensor<4x4xf16>
  func.return %y : tensor<4x4xf16>
}

// -----

func.func @f(%x: tensor<4x8xf16>) -> tensor<4x8xf8E4M3> {
  // expected-error @+1 {{has elements of type f8E4M3, which is none of f16, bf16, f32, f8E4M3FN, f8E5M2}}
  %y = kernel.cast %x : (tensor<4x8xf16>) -> tensor<4x8xf8E4M3>
  func.return %y : tensor<4x8xf8E4M3>
}

// -----

func.func @f(%x: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %y = kernel.graph_defined ins(%x) grid [2] {
  ^bb0(%xa: tensor<64x64xf16>):
    %t = threadblock.load %xa grid_map [0] : (tensor<64x64xf16>) -> !threadblock.tile<32x64xf16>
    // expected-error @+1 {{has elements of type f8E5M2, which is not f16, bf16 or f32}}
    %c = threadblock.cast %t : (!threadblock.tile<32x64xf16>) -> !threadblock.tile<32x64xf8E5M2>
    threadblock.store %t grid_map [0] : !threadblock.tile<32x64xf16>
  } : (tensor<64x64xf16>) -> tensor<64x64xf16>
  func.return %y : tensor<64x64xf16>
}
