// RUN: mirage-opt %s --verify-equivalence="reference=reference candidate=ugraph" --verify-diagnostics
// RUN: mirage-opt %s > %t && mirage-opt %t --print-op-generic | mirage-opt | diff %t -

// A product of 40 rows and a depth of 200, without a loop.
//
// The idea. A depth of 200 fits into shared memory as it is: one load, one product, no accumulator. 200
// is no multiple of the tensor core's 16 either, nor are 40 rows: that needs no word here. 40 rows are
// three tiles of the tensor core, and go to different warps; with up to 16 rows, warps share the
// columns or the depth. That is not said here either: a uGraph says what a block does.
func.func @reference(%x: tensor<40x200xf16>, %w: tensor<200x2048xf16> {kernel.constant}) -> tensor<40x2048xf16> {
  %o = kernel.matmul %x, %w : (tensor<40x200xf16>, tensor<200x2048xf16>) -> tensor<40x2048xf16>
  func.return %o : tensor<40x2048xf16>
}

// expected-remark @+1 {{@ugraph is @reference: proved: the normal forms are equal; tested: equal modulo random primes}}
func.func @ugraph(%x: tensor<40x200xf16>, %w: tensor<200x2048xf16> {kernel.constant}) -> tensor<40x2048xf16> {
  %o = kernel.graph_defined ins(%x, %w) grid [128] {
  ^bb0(%xa: tensor<40x200xf16>, %wa: tensor<200x2048xf16>):
    %xt = threadblock.load %xa grid_map [_] : (tensor<40x200xf16>) -> !threadblock.tile<40x200xf16>
    %wt = threadblock.load %wa grid_map [1] : (tensor<200x2048xf16>) -> !threadblock.tile<200x16xf16>
    %p = threadblock.matmul %xt, %wt : (!threadblock.tile<40x200xf16>, !threadblock.tile<200x16xf16>) -> !threadblock.tile<40x16xf32>
    %z = threadblock.cast %p : (!threadblock.tile<40x16xf32>) -> !threadblock.tile<40x16xf16>
    threadblock.store %z grid_map [1] : !threadblock.tile<40x16xf16>
  } : (tensor<40x200xf16>, tensor<200x2048xf16>) -> tensor<40x2048xf16>
  func.return %o : tensor<40x2048xf16>
}
