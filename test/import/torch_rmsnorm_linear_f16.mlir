// `rmsnorm_linear_f16` of test/support/torch_mlir_programs.py, printed by torch-mlir 20261001.
// RUN: mirage-opt --convert-linalg-to-kernel %s --verify-diagnostics | filecheck %s
// CHECK: func.func @rmsnorm_linear_f16(
// CHECK-NOT: {{linalg\.|tensor\.|arith\.|math\.|func.call}}
// CHECK: func.return
// CHECK-NOT: func.func
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0, 0)>
module {
  func.func @rmsnorm_linear_f16(%arg0: tensor<16x128xf16>, %arg1: tensor<128x64xf16>) -> tensor<16x64xf16> {
    %c2_i64 = arith.constant 2 : i64
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 1.000000e-05 : f64
    %cst_1 = arith.constant 1.280000e+02 : f32
    %0 = tensor.empty() : tensor<16x128xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<16x128xf16>) outs(%0 : tensor<16x128xf32>) {
    ^bb0(%in: f16, %out: f32):
      %17 = arith.extf %in : f16 to f32
      linalg.yield %17 : f32
    } -> tensor<16x128xf32>
    %2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%1 : tensor<16x128xf32>) outs(%0 : tensor<16x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      %17 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %17 : f32
    } -> tensor<16x128xf32>
    %3 = tensor.empty() : tensor<16x1xf32>
    %4 = linalg.fill ins(%cst : f32) outs(%3 : tensor<16x1xf32>) -> tensor<16x1xf32>
    %5 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%2 : tensor<16x128xf32>) outs(%4 : tensor<16x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %17 = arith.addf %in, %out : f32
      linalg.yield %17 : f32
    } -> tensor<16x1xf32>
    %6 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%5 : tensor<16x1xf32>) outs(%3 : tensor<16x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %17 = arith.divf %in, %cst_1 : f32
      linalg.yield %17 : f32
    } -> tensor<16x1xf32>
    %7 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%6 : tensor<16x1xf32>) outs(%3 : tensor<16x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %17 = arith.truncf %cst_0 : f64 to f32
      %18 = arith.addf %in, %17 : f32
      linalg.yield %18 : f32
    } -> tensor<16x1xf32>
    %8 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%7 : tensor<16x1xf32>) outs(%3 : tensor<16x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %17 = math.rsqrt %in : f32
      linalg.yield %17 : f32
    } -> tensor<16x1xf32>
    %9 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%1, %8 : tensor<16x128xf32>, tensor<16x1xf32>) outs(%0 : tensor<16x128xf32>) {
    ^bb0(%in: f32, %in_2: f32, %out: f32):
      %17 = arith.mulf %in, %in_2 : f32
      linalg.yield %17 : f32
    } -> tensor<16x128xf32>
    %10 = tensor.empty() : tensor<16x128xf16>
    %11 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%9 : tensor<16x128xf32>) outs(%10 : tensor<16x128xf16>) {
    ^bb0(%in: f32, %out: f16):
      %17 = arith.truncf %in : f32 to f16
      linalg.yield %17 : f16
    } -> tensor<16x128xf16>
    %12 = tensor.empty() : tensor<16x64xf32>
    %13 = linalg.fill ins(%cst : f32) outs(%12 : tensor<16x64xf32>) -> tensor<16x64xf32>
    %14 = linalg.matmul ins(%11, %arg1 : tensor<16x128xf16>, tensor<128x64xf16>) outs(%13 : tensor<16x64xf32>) -> tensor<16x64xf32>
    %15 = tensor.empty() : tensor<16x64xf16>
    %16 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%14 : tensor<16x64xf32>) outs(%15 : tensor<16x64xf16>) {
    ^bb0(%in: f32, %out: f16):
      %17 = arith.truncf %in : f32 to f16
      linalg.yield %17 : f16
    } -> tensor<16x64xf16>
    return %16 : tensor<16x64xf16>
  }
}
