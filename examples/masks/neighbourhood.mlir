// Attention on an image of 4 rows and 8 columns, to the pixels within 2 of each, as circles have
// them: the squares of the distances along both sides are at most 4 together.
//
//     mirage-opt examples/masks/neighbourhood.mlir --superoptimize
func.func @neighbourhood(%q: tensor<2x32x16xf16>, %k: tensor<2x32x16xf16>, %v: tensor<2x32x16xf16>) -> tensor<2x32x16xf16> {
  %n = kernel.iota {dim = 0 : i64} : tensor<32xf16>
  %i = kernel.reshape %n : (tensor<32xf16>) -> tensor<32x1xf16>
  %j = kernel.reshape %n : (tensor<32xf16>) -> tensor<1x32xf16>
  %i_eighth = kernel.scale %i {factor = 0.125 : f32} : (tensor<32x1xf16>) -> tensor<32x1xf16>
  %i_row = kernel.floor %i_eighth : (tensor<32x1xf16>) -> tensor<32x1xf16>
  %i_start = kernel.scale %i_row {factor = 8.0 : f32} : (tensor<32x1xf16>) -> tensor<32x1xf16>
  %i_column = kernel.sub %i, %i_start : (tensor<32x1xf16>, tensor<32x1xf16>) -> tensor<32x1xf16>
  %j_eighth = kernel.scale %j {factor = 0.125 : f32} : (tensor<1x32xf16>) -> tensor<1x32xf16>
  %j_row = kernel.floor %j_eighth : (tensor<1x32xf16>) -> tensor<1x32xf16>
  %j_start = kernel.scale %j_row {factor = 8.0 : f32} : (tensor<1x32xf16>) -> tensor<1x32xf16>
  %j_column = kernel.sub %j, %j_start : (tensor<1x32xf16>, tensor<1x32xf16>) -> tensor<1x32xf16>
  %rows = kernel.sub %i_row, %j_row : (tensor<32x1xf16>, tensor<1x32xf16>) -> tensor<32x32xf16>
  %columns = kernel.sub %i_column, %j_column : (tensor<32x1xf16>, tensor<1x32xf16>) -> tensor<32x32xf16>
  %rows_squared = kernel.square %rows : (tensor<32x32xf16>) -> tensor<32x32xf16>
  %columns_squared = kernel.square %columns : (tensor<32x32xf16>) -> tensor<32x32xf16>
  %squared = kernel.add %rows_squared, %columns_squared : (tensor<32x32xf16>, tensor<32x32xf16>) -> tensor<32x32xf16>
  %radius = kernel.constant {value = 4.0 : f32} : tensor<1x1xf16>
  %mask = kernel.compare %squared, %radius {predicate = "le"} : (tensor<32x32xf16>, tensor<1x1xf16>) -> tensor<32x32xf16>
  %kt = kernel.transpose %k {permutation = array<i64: 0, 2, 1>} : (tensor<2x32x16xf16>) -> tensor<2x16x32xf16>
  %s = kernel.matmul %q, %kt : (tensor<2x32x16xf16>, tensor<2x16x32xf16>) -> tensor<2x32x32xf16>
  %low = kernel.constant {value = 0xFF800000 : f32} : tensor<1x1x1xf16>
  %masked = kernel.select %mask, %s, %low : (tensor<32x32xf16>, tensor<2x32x32xf16>, tensor<1x1x1xf16>) -> tensor<2x32x32xf16>
  %p = kernel.softmax %masked {dim = 2 : i64} : (tensor<2x32x32xf16>) -> tensor<2x32x32xf16>
  %o = kernel.matmul %p, %v : (tensor<2x32x32xf16>, tensor<2x32x16xf16>) -> tensor<2x32x16xf16>
  func.return %o : tensor<2x32x16xf16>
}
