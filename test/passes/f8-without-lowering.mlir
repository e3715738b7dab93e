// There are no kernels for tensors of 8-bit floats yet: whatever makes kernels says so.
// RUN: mirage-opt %s --split-input-file --verify-diagnostics --superoptimize
// RUN: mirage-opt %s --split-input-file --verify-diagnostics --partition-program
// RUN: mirage-opt %s --split-input-file --verify-diagnostics --lower-to-nvvm

// expected-error @+1 {{'func.func' op has argument 0 of type tensor<16x64xf8E4M3FN>, for whose elements there is no lowering: there is one for f16, bf16 and f32}}
func.func @weights(%x: tensor<16x64xf8E4M3FN>) -> tensor<16x64xf16> {
  %y = kernel.cast %x : (tensor<16x64xf8E4M3FN>) -> tensor<16x64xf16>
  func.return %y : tensor<16x64xf16>
}

// -----

func.func @between(%x: tensor<16x64xf16>) -> tensor<16x64xf16> {
  // expected-error @+1 {{'kernel.cast' op works on tensor<16x64xf8E5M2>, for whose elements there is no lowering: there is one for f16, bf16 and f32}}
  %y = kernel.cast %x : (tensor<16x64xf16>) -> tensor<16x64xf8E5M2>
  %z = kernel.cast %y : (tensor<16x64xf8E5M2>) -> tensor<16x64xf16>
  func.return %z : tensor<16x64xf16>
}
