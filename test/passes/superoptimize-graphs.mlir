// RUN: mirage-opt %s --superoptimize --explain 2>&1 \
// RUN:   | filecheck %s

// A function of graphs and views alone has nothing to search: it is verified and returned.

// CHECK: remark: has graphs already
// CHECK: func.func @f
// CHECK: kernel.graph_defined
func.func @f(%x: tensor<16x64xf16>) -> tensor<1024xf16> {
  %y = kernel.graph_defined ins(%x) grid [2] {
  ^bb0(%a: tensor<16x64xf16>):
    %t = threadblock.load %a grid_map [0] : (tensor<16x64xf16>) -> !threadblock.tile<8x64xf16>
    %s = threadblock.square %t : (!threadblock.tile<8x64xf16>) -> !threadblock.tile<8x64xf16>
    threadblock.store %s grid_map [0] : !threadblock.tile<8x64xf16>
  } : (tensor<16x64xf16>) -> tensor<16x64xf16>
  %z = kernel.reshape %y : (tensor<16x64xf16>) -> tensor<1024xf16>
  func.return %z : tensor<1024xf16>
}
