// What is beside operators or kernels in one function, and calls of such functions.
// RUN: mirage-opt %s --superoptimize --sink-reductions --fuse-thread-graphs --split-cross-block-sums --select-mma --select-copies --assign-layouts --software-pipeline --plan-memory --overlap-launches --lower-to-nvvm --verify-diagnostics --split-input-file

func.func private @declared(%x: tensor<64x64xf16>) -> tensor<64x64xf16>
func.func @calls(%x: tensor<64x64xf16>) -> tensor<64x64xf16> {
  // expected-error @+2 {{'func.call' op is no operator of the kernel dialect}}
  // expected-note @+1 {{a function to compile holds nothing else}}
  %y = func.call @declared(%x) : (tensor<64x64xf16>) -> tensor<64x64xf16>
  %z = kernel.relu %y : (tensor<64x64xf16>) -> tensor<64x64xf16>
  func.return %z : tensor<64x64xf16>
}

// -----

// expected-error @+1 {{'func.func' op has argument 1 of type f32, which is no tensor of floats}}
func.func @scalar(%x: tensor<64x64xf16>, %s: f32) -> tensor<64x64xf16> {
  %y = kernel.relu %x : (tensor<64x64xf16>) -> tensor<64x64xf16>
  func.return %y : tensor<64x64xf16>
}

// -----

// expected-error @+1 {{'func.func' op has argument 1 of type i1, which is no tensor of floats}}
func.func @nested(%x: tensor<4xf16>, %c: i1) -> tensor<4xf16> {
  %r = "scf.if"(%c) ({
    %y = kernel.relu %x : (tensor<4xf16>) -> tensor<4xf16>
    scf.yield %y : tensor<4xf16>
  }, {
    scf.yield %x : tensor<4xf16>
  }) : (i1) -> tensor<4xf16>
  func.return %r : tensor<4xf16>
}
