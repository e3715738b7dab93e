// A tile of several lines is no window of its tensor.
// RUN: not mirage-opt %s -p "assign-layouts,software-pipeline,plan-memory,overlap-launches,lower-to-nvvm" 2>&1 | filecheck %s

// CHECK: window-invalid.mlir:[[# @LINE + 4]]:10: error: 'threadblock.load' op has copy = "window", and is not one whole line of its tensor
func.func @lines(%in: tensor<16x511xf16>) -> tensor<2x511xf32> {
  %o = kernel.graph_defined ins(%in) grid [1] loop [8] schedule <threads = 128> {
  ^bb0(%xa: tensor<16x511xf16>):
    %x = threadblock.load %xa grid_map [_] loop_map [0] {copy = "window"} : (tensor<16x511xf16>) -> !threadblock.tile<2x511xf16>
    %t = threadblock.accumulate %x : (!threadblock.tile<2x511xf16>) -> !threadblock.tile<2x511xf32>
    threadblock.store %t grid_map [_] : !threadblock.tile<2x511xf32>
  } : (tensor<16x511xf16>) -> tensor<2x511xf32>
  func.return %o : tensor<2x511xf32>
}
