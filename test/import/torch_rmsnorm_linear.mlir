// `rmsnorm_linear` of test/support/torch_mlir_programs.py, printed by torch-mlir 20261001.
// RUN: mirage-opt --convert-linalg-to-kernel %s --verify-diagnostics | filecheck %s
// CHECK: func.func @rmsnorm_linear(
// CHECK-NOT: {{linalg\.|tensor\.|arith\.|math\.|func.call}}
// CHECK: func.return
// CHECK-NOT: func.func
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0, 0)>
#map2 = affine_map<(d0, d1) -> (d1)>
module {
  func.func @rmsnorm_linear(%arg0: tensor<16x128xf32>, %arg1: tensor<128xf32>, %arg2: tensor<128x64xf32>) -> tensor<16x64xf32> {
    %c2_i64 = arith.constant 2 : i64
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 1.000000e-05 : f64
    %cst_1 = arith.constant 1.280000e+02 : f32
    %0 = tensor.empty() : tensor<16x128xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<16x128xf32>) outs(%0 : tensor<16x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      %13 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %13 : f32
    } -> tensor<16x128xf32>
    %2 = tensor.empty() : tensor<16x1xf32>
    %3 = linalg.fill ins(%cst : f32) outs(%2 : tensor<16x1xf32>) -> tensor<16x1xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%1 : tensor<16x128xf32>) outs(%3 : tensor<16x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %13 = arith.addf %in, %out : f32
      linalg.yield %13 : f32
    } -> tensor<16x1xf32>
    %5 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%4 : tensor<16x1xf32>) outs(%2 : tensor<16x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %13 = arith.divf %in, %cst_1 : f32
      linalg.yield %13 : f32
    } -> tensor<16x1xf32>
    %6 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%5 : tensor<16x1xf32>) outs(%2 : tensor<16x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %13 = arith.truncf %cst_0 : f64 to f32
      %14 = arith.addf %in, %13 : f32
      linalg.yield %14 : f32
    } -> tensor<16x1xf32>
    %7 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%6 : tensor<16x1xf32>) outs(%2 : tensor<16x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %13 = math.rsqrt %in : f32
      linalg.yield %13 : f32
    } -> tensor<16x1xf32>
    %8 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0, %7 : tensor<16x128xf32>, tensor<16x1xf32>) outs(%0 : tensor<16x128xf32>) {
    ^bb0(%in: f32, %in_2: f32, %out: f32):
      %13 = arith.mulf %in, %in_2 : f32
      linalg.yield %13 : f32
    } -> tensor<16x128xf32>
    %9 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel"]} ins(%8, %arg1 : tensor<16x128xf32>, tensor<128xf32>) outs(%0 : tensor<16x128xf32>) {
    ^bb0(%in: f32, %in_2: f32, %out: f32):
      %13 = arith.mulf %in, %in_2 : f32
      linalg.yield %13 : f32
    } -> tensor<16x128xf32>
    %10 = tensor.empty() : tensor<16x64xf32>
    %11 = linalg.fill ins(%cst : f32) outs(%10 : tensor<16x64xf32>) -> tensor<16x64xf32>
    %12 = linalg.matmul ins(%9, %arg2 : tensor<16x128xf32>, tensor<128x64xf32>) outs(%11 : tensor<16x64xf32>) -> tensor<16x64xf32>
    return %12 : tensor<16x64xf32>
  }
}
