// A matmul, a bias and a residual; ROWS and COLUMNS are put in.
func.func @f(%x: tensor<ROWSx128xf16>, %w: tensor<128xCOLUMNSxf16>, %b: tensor<COLUMNSxf16>, %r: tensor<ROWSxCOLUMNSxf16>) -> tensor<ROWSxCOLUMNSxf16> {
  %y = kernel.graph_defined ins(%x, %w, %b, %r) grid [DOWN, ACROSS] loop [2] {
  ^bb0(%0: tensor<ROWSx128xf16>, %1: tensor<128xCOLUMNSxf16>, %2: tensor<COLUMNSxf16>, %3: tensor<ROWSxCOLUMNSxf16>):
    %4 = threadblock.load %0 grid_map [0, _] loop_map [1] : (tensor<ROWSx128xf16>) -> !threadblock.tile<72x64xf16>
    %5 = threadblock.load %1 grid_map [_, 1] loop_map [0] : (tensor<128xCOLUMNSxf16>) -> !threadblock.tile<64x128xf16>
    %6 = threadblock.load %2 grid_map [_, 0] loop_map [_] : (tensor<COLUMNSxf16>) -> !threadblock.tile<128xf16>
    %7 = threadblock.load %3 grid_map [0, 1] loop_map [_] : (tensor<ROWSxCOLUMNSxf16>) -> !threadblock.tile<72x128xf16>
    %8 = threadblock.add %6, %7 : (!threadblock.tile<128xf16>, !threadblock.tile<72x128xf16>) -> !threadblock.tile<72x128xf32>
    %9 = threadblock.matmul %4, %5 : (!threadblock.tile<72x64xf16>, !threadblock.tile<64x128xf16>) -> !threadblock.tile<72x128xf32>
    %10 = threadblock.accumulate %9 : (!threadblock.tile<72x128xf32>) -> !threadblock.tile<72x128xf32>
    %11 = threadblock.add %10, %8 : (!threadblock.tile<72x128xf32>, !threadblock.tile<72x128xf32>) -> !threadblock.tile<72x128xf32>
    %12 = threadblock.cast %11 : (!threadblock.tile<72x128xf32>) -> !threadblock.tile<72x128xf16>
    threadblock.store %12 grid_map [0, 1] : !threadblock.tile<72x128xf16>
  } : (tensor<ROWSx128xf16>, tensor<128xCOLUMNSxf16>, tensor<COLUMNSxf16>, tensor<ROWSxCOLUMNSxf16>) -> tensor<ROWSxCOLUMNSxf16>
  func.return %y : tensor<ROWSxCOLUMNSxf16>
}
