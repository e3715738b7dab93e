// RUN: mirage-opt %s --verify-equivalence="reference=reference candidate=ugraph" --verify-diagnostics
// RUN: mirage-opt %s > %t && mirage-opt %t --print-op-generic | mirage-opt | diff %t -

// RMSNorm, then Linear, in one kernel that reads every weight once. (Start here: this file explains
// the language, the others only what is new in them.)
//
// The idea. With r = sqrt(mean(x^2) + eps), a number per row, (x / r) W = (x W) / r: the norm can be
// divided out after the product. So nobody has to wait for r; the sum of squares is collected beside
// the product, from the same tiles of x.
//
// The reference is a program of tensor operators, as a user writes it.
func.func @reference(%x: tensor<16x4096xf16>, %w: tensor<4096x6144xf16> {kernel.constant}) -> tensor<16x6144xf16> {
  %y = kernel.rms_norm %x {eps = 1.0e-05 : f32} : (tensor<16x4096xf16>) -> tensor<16x4096xf16>
  %o = kernel.matmul %y, %w : (tensor<16x4096xf16>, tensor<4096x6144xf16>) -> tensor<16x6144xf16>
  func.return %o : tensor<16x6144xf16>
}

// The uGraph says how. One `kernel.graph_defined` is one kernel; its region is what each block does.
//
// expected-remark @+1 {{@ugraph is @reference: proved: the normal forms are equal; tested: equal modulo random primes}}
func.func @ugraph(%x: tensor<16x4096xf16>, %w: tensor<4096x6144xf16> {kernel.constant}) -> tensor<16x6144xf16> {
  // 96 blocks, a little less than a GPU of 132 multiprocessors can run at once; each makes 64 columns
  // of the result (128 bytes of a row of W, what a memory transaction likes) in 64 iterations.
  %o = kernel.graph_defined ins(%x, %w) grid [96] loop [64] {
  ^bb0(%xa: tensor<16x4096xf16>, %wa: tensor<4096x6144xf16>):
    // A load cuts a tile out of a tensor. `grid_map` has one entry for each axis of the grid: the
    // dimension of the tensor that the axis cuts, `_` for none. `loop_map` says the same of the loop.
    // Here every block sees all rows of x, and each iteration 64 of its columns, ...
    %xt = threadblock.load %xa grid_map [_] loop_map [1] : (tensor<16x4096xf16>) -> !threadblock.tile<16x64xf16>
    // ... and the 64 rows of W that belong to them, of which each block has its own 64 columns.
    %wt = threadblock.load %wa grid_map [1] loop_map [0] : (tensor<4096x6144xf16>) -> !threadblock.tile<64x64xf16>

    // What depends on these tiles is computed in every iteration, in f32 unless its type says
    // something else.
    %p = threadblock.matmul %xt, %wt : (!threadblock.tile<16x64xf16>, !threadblock.tile<64x64xf16>) -> !threadblock.tile<16x64xf32>
    %q = threadblock.square %xt : (!threadblock.tile<16x64xf16>) -> !threadblock.tile<16x64xf32>
    %s = threadblock.reduce_sum %q {dims = array<i64: 1>} : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x1xf32>

    // `accumulate` adds up what all iterations made. Its result exists after the loop, and so does
    // all that is computed from it.
    %xw = threadblock.accumulate %p : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x64xf32>
    %ss = threadblock.accumulate %s : (!threadblock.tile<16x1xf32>) -> !threadblock.tile<16x1xf32>

    %mean = threadblock.scale %ss {factor = 2.44140625e-04 : f32} : (!threadblock.tile<16x1xf32>) -> !threadblock.tile<16x1xf32>
    %eps = threadblock.constant {value = 1.0e-05 : f32} : !threadblock.tile<16x1xf32>
    %shifted = threadblock.add %mean, %eps : (!threadblock.tile<16x1xf32>, !threadblock.tile<16x1xf32>) -> !threadblock.tile<16x1xf32>
    %r = threadblock.sqrt %shifted : (!threadblock.tile<16x1xf32>) -> !threadblock.tile<16x1xf32>
    %z = threadblock.div %xw, %r : (!threadblock.tile<16x64xf32>, !threadblock.tile<16x1xf32>) -> !threadblock.tile<16x64xf32>

    // A store places the block's tile in a result: store number i in result i. Rounding is explicit.
    %zo = threadblock.cast %z : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x64xf16>
    threadblock.store %zo grid_map [1] : !threadblock.tile<16x64xf16>
  } : (tensor<16x4096xf16>, tensor<4096x6144xf16>) -> tensor<16x6144xf16>
  func.return %o : tensor<16x6144xf16>
}
