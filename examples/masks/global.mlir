// Attention of each query to the keys around it and to the first 4; the first 4 queries see all.
//
//     mirage-opt examples/masks/global.mlir --superoptimize
func.func @global(%q: tensor<2x32x16xf16>, %k: tensor<2x32x16xf16>, %v: tensor<2x32x16xf16>) -> tensor<2x32x16xf16> {
  %n = kernel.iota {dim = 0 : i64} : tensor<32xf16>
  %i = kernel.reshape %n : (tensor<32xf16>) -> tensor<32x1xf16>
  %j = kernel.reshape %n : (tensor<32xf16>) -> tensor<1x32xf16>
  %distance = kernel.sub %i, %j : (tensor<32x1xf16>, tensor<1x32xf16>) -> tensor<32x32xf16>
  %far = kernel.abs %distance : (tensor<32x32xf16>) -> tensor<32x32xf16>
  %window = kernel.constant {value = 5.0 : f32} : tensor<1x1xf16>
  %near = kernel.compare %far, %window {predicate = "lt"} : (tensor<32x32xf16>, tensor<1x1xf16>) -> tensor<32x32xf16>
  %first = kernel.constant {value = 4.0 : f32} : tensor<1x1xf16>
  %keys = kernel.compare %j, %first {predicate = "lt"} : (tensor<1x32xf16>, tensor<1x1xf16>) -> tensor<1x32xf16>
  %queries = kernel.compare %i, %first {predicate = "lt"} : (tensor<32x1xf16>, tensor<1x1xf16>) -> tensor<32x1xf16>
  %seen = kernel.max %near, %keys : (tensor<32x32xf16>, tensor<1x32xf16>) -> tensor<32x32xf16>
  %mask = kernel.max %seen, %queries : (tensor<32x32xf16>, tensor<32x1xf16>) -> tensor<32x32xf16>
  %kt = kernel.transpose %k {permutation = array<i64: 0, 2, 1>} : (tensor<2x32x16xf16>) -> tensor<2x16x32xf16>
  %s = kernel.matmul %q, %kt : (tensor<2x32x16xf16>, tensor<2x16x32xf16>) -> tensor<2x32x32xf16>
  %low = kernel.constant {value = 0xFF800000 : f32} : tensor<1x1x1xf16>
  %masked = kernel.select %mask, %s, %low : (tensor<32x32xf16>, tensor<2x32x32xf16>, tensor<1x1x1xf16>) -> tensor<2x32x32xf16>
  %p = kernel.softmax %masked {dim = 2 : i64} : (tensor<2x32x32xf16>) -> tensor<2x32x32xf16>
  %o = kernel.matmul %p, %v : (tensor<2x32x32xf16>, tensor<2x32x16xf16>) -> tensor<2x32x16xf16>
  func.return %o : tensor<2x32x16xf16>
}
