// Indices whose rows and columns are one dimension elsewhere.
//
// RUN: mirage-opt %s --compute-indices --verify-diagnostics

func.func @merged(%x: tensor<128xf32>) -> tensor<128xf32> {
  %n = kernel.iota {dim = 1 : i64} : tensor<8x16xf32>
  %m = kernel.reshape %n : (tensor<8x16xf32>) -> tensor<128xf32>
  %o = kernel.graph_defined ins(%m, %x) grid [8] {
  ^bb0(%0: tensor<128xf32>, %1: tensor<128xf32>):
    // expected-error @below {{loads indices in another shape, whose dims are not sums of theirs}}
    %i = threadblock.load %0 grid_map [0] : (tensor<128xf32>) -> !threadblock.tile<16xf32>
    %t = threadblock.load %1 grid_map [0] : (tensor<128xf32>) -> !threadblock.tile<16xf32>
    %s = threadblock.add %i, %t : (!threadblock.tile<16xf32>, !threadblock.tile<16xf32>) -> !threadblock.tile<16xf32>
    threadblock.store %s grid_map [0] : !threadblock.tile<16xf32>
  } : (tensor<128xf32>, tensor<128xf32>) -> tensor<128xf32>
  func.return %o : tensor<128xf32>
}
