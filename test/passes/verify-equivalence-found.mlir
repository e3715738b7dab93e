// Wrong and inaccurate candidates that were accepted once, whatever the seed.
// RUN: mirage-opt %s --split-input-file --verify-diagnostics --verify-equivalence="reference=f candidate=g"
// RUN: mirage-opt %s --split-input-file --verify-diagnostics --verify-equivalence="reference=f candidate=g seed=2"

// Rows 100 and 105 differ.
func.func @f(%x: tensor<256x8xf32>) -> tensor<1x8xf32> {
  %v0 = kernel.slice %x {offsets = array<i64: 100, 0>, sizes = array<i64: 1, 8>, strides = array<i64: 1, 1>} : (tensor<256x8xf32>) -> tensor<1x8xf32>
  func.return %v0 : tensor<1x8xf32>
}
// expected-error @+1 {{@g is not @f: output 0 at [0, }}
func.func @g(%x: tensor<256x8xf32>) -> tensor<1x8xf32> {
  %v0 = kernel.slice %x {offsets = array<i64: 105, 0>, sizes = array<i64: 1, 8>, strides = array<i64: 1, 1>} : (tensor<256x8xf32>) -> tensor<1x8xf32>
  func.return %v0 : tensor<1x8xf32>
}

// -----

// Two blocks of 16 rows change places behind the kernel.
func.func @f(%x: tensor<128x16xf32>) -> tensor<128x16xf32> {
  %v0 = kernel.tanh %x  : (tensor<128x16xf32>) -> tensor<128x16xf32>
  func.return %v0 : tensor<128x16xf32>
}
// expected-error @+1 {{@g is not @f: output 0 at [32, }}
func.func @g(%x: tensor<128x16xf32>) -> tensor<128x16xf32> {
  %o = kernel.graph_defined ins(%x) grid [8] {
  ^bb0(%a: tensor<128x16xf32>):
    %t = threadblock.load %a grid_map [0] : (tensor<128x16xf32>) -> !threadblock.tile<16x16xf32>
    %e = threadblock.tanh %t : (!threadblock.tile<16x16xf32>) -> !threadblock.tile<16x16xf32>
    threadblock.store %e grid_map [0] : !threadblock.tile<16x16xf32>
  } : (tensor<128x16xf32>) -> tensor<128x16xf32>
  %s0 = kernel.slice %o {offsets = array<i64: 0, 0>, sizes = array<i64: 16, 16>, strides = array<i64: 1, 1>} : (tensor<128x16xf32>) -> tensor<16x16xf32>
  %s1 = kernel.slice %o {offsets = array<i64: 16, 0>, sizes = array<i64: 16, 16>, strides = array<i64: 1, 1>} : (tensor<128x16xf32>) -> tensor<16x16xf32>
  %s2 = kernel.slice %o {offsets = array<i64: 48, 0>, sizes = array<i64: 16, 16>, strides = array<i64: 1, 1>} : (tensor<128x16xf32>) -> tensor<16x16xf32>
  %s3 = kernel.slice %o {offsets = array<i64: 32, 0>, sizes = array<i64: 16, 16>, strides = array<i64: 1, 1>} : (tensor<128x16xf32>) -> tensor<16x16xf32>
  %s4 = kernel.slice %o {offsets = array<i64: 64, 0>, sizes = array<i64: 16, 16>, strides = array<i64: 1, 1>} : (tensor<128x16xf32>) -> tensor<16x16xf32>
  %s5 = kernel.slice %o {offsets = array<i64: 80, 0>, sizes = array<i64: 16, 16>, strides = array<i64: 1, 1>} : (tensor<128x16xf32>) -> tensor<16x16xf32>
  %s6 = kernel.slice %o {offsets = array<i64: 96, 0>, sizes = array<i64: 16, 16>, strides = array<i64: 1, 1>} : (tensor<128x16xf32>) -> tensor<16x16xf32>
  %s7 = kernel.slice %o {offsets = array<i64: 112, 0>, sizes = array<i64: 16, 16>, strides = array<i64: 1, 1>} : (tensor<128x16xf32>) -> tensor<16x16xf32>
  %r = kernel.concat %s0, %s1, %s2, %s3, %s4, %s5, %s6, %s7 {dim = 0 : i64} : (tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<128x16xf32>
  func.return %r : tensor<128x16xf32>
}

// -----

// The maximum misses row 57.
func.func @f(%x: tensor<100x1xf32>) -> tensor<1x1xf32> {
  %v0 = kernel.reduce_max %x {dims = array<i64: 0>} : (tensor<100x1xf32>) -> tensor<1x1xf32>
  func.return %v0 : tensor<1x1xf32>
}
// expected-error @+1 {{@g may be @f or not, not proved: output 0 at [0, 0]}}
func.func @g(%x: tensor<100x1xf32>) -> tensor<1x1xf32> {
  %v0 = kernel.slice %x {offsets = array<i64: 0, 0>, sizes = array<i64: 57, 1>, strides = array<i64: 1, 1>} : (tensor<100x1xf32>) -> tensor<57x1xf32>
  %v1 = kernel.slice %x {offsets = array<i64: 58, 0>, sizes = array<i64: 42, 1>, strides = array<i64: 1, 1>} : (tensor<100x1xf32>) -> tensor<42x1xf32>
  %v2 = kernel.concat %v0, %v1 {dim = 0 : i64} : (tensor<57x1xf32>, tensor<42x1xf32>) -> tensor<99x1xf32>
  %v3 = kernel.reduce_max %v2 {dims = array<i64: 0>} : (tensor<99x1xf32>) -> tensor<1x1xf32>
  func.return %v3 : tensor<1x1xf32>
}

// -----

// Products of f32 have operands that were rounded to f16.
func.func @f(%x: tensor<16x8192xf32>, %w: tensor<8192x64xf32>) -> tensor<16x64xf32> {
  %v0 = kernel.matmul %x, %w  : (tensor<16x8192xf32>, tensor<8192x64xf32>) -> tensor<16x64xf32>
  func.return %v0 : tensor<16x64xf32>
}
// expected-error @+1 {{@g is @f but inaccurate: rounding error}}
func.func @g(%x: tensor<16x8192xf32>, %w: tensor<8192x64xf32>) -> tensor<16x64xf32> {
  %v0 = kernel.cast %x  : (tensor<16x8192xf32>) -> tensor<16x8192xf16>
  %v1 = kernel.cast %w  : (tensor<8192x64xf32>) -> tensor<8192x64xf16>
  %v2 = kernel.matmul %v0, %v1  : (tensor<16x8192xf16>, tensor<8192x64xf16>) -> tensor<16x64xf32>
  func.return %v2 : tensor<16x64xf32>
}
