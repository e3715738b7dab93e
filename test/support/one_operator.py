"""A graph of one operator on tiles, whose name is to be put in."""

PROGRAM = """
func.func @f(%x: tensor<32x64xf32>) -> tensor<32x64xf32> {
  %y = kernel.graph_defined ins(%x) grid [2] {
  ^bb0(%0: tensor<32x64xf32>):
    %t = threadblock.load %0 grid_map [0] : (tensor<32x64xf32>) -> !threadblock.tile<16x64xf32>
    %s = threadblock.OPERATOR %t : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x64xf32>
    threadblock.store %s grid_map [0] : !threadblock.tile<16x64xf32>
  } : (tensor<32x64xf32>) -> tensor<32x64xf32>
  func.return %y : tensor<32x64xf32>
}
"""
