// `masked_attention` of test/support/torch_mlir_programs.py, printed by torch-mlir 20261001.
// RUN: mirage-opt --convert-stablehlo-to-kernel %s --verify-diagnostics | filecheck %s
// CHECK: func.func @masked_attention(
// CHECK-NOT: {{stablehlo\.|tensor\.|arith\.|math\.|func.call}}
// CHECK: func.return
// CHECK-NOT: func.func
module {
  func.func @masked_attention(%arg0: tensor<2x16x64xf32>, %arg1: tensor<2x16x64xf32>, %arg2: tensor<2x16x64xf32>) -> tensor<2x16x64xf32> {
    %c = stablehlo.constant dense<0> : tensor<16x16xi64>
    %c_0 = stablehlo.constant dense<0> : tensor<16xi64>
    %c_1 = stablehlo.constant dense<1> : tensor<16xi64>
    %c_2 = stablehlo.constant dense<16> : tensor<i64>
    %c_3 = stablehlo.constant dense<1> : tensor<i64>
    %cst = stablehlo.constant dense<-1.000000e+04> : tensor<f32>
    %c_4 = stablehlo.constant dense<true> : tensor<16x16xi1>
    %cst_5 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_7 = arith.constant dense<8.000000e+00> : tensor<1xf64>
    %0 = stablehlo.transpose %arg1, dims = [0, 2, 1] : (tensor<2x16x64xf32>) -> tensor<2x64x16xf32>
    %1 = stablehlo.reshape %arg0 : (tensor<2x16x64xf32>) -> tensor<2x16x64xf32>
    %2 = stablehlo.reshape %0 : (tensor<2x64x16xf32>) -> tensor<2x64x16xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1, 2] : (tensor<2x64x16xf32>) -> tensor<2x64x16xf32>
    %4 = stablehlo.dot_general %1, %3, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x16x64xf32>, tensor<2x64x16xf32>) -> tensor<2x16x16xf32>
    %5 = stablehlo.reshape %4 : (tensor<2x16x16xf32>) -> tensor<2x16x16xf32>
    %6 = stablehlo.convert %cst_7 : (tensor<1xf64>) -> tensor<1xf32>
    %7 = stablehlo.reshape %6 : (tensor<1xf32>) -> tensor<f32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [] : (tensor<f32>) -> tensor<2x16x16xf32>
    %9 = stablehlo.divide %5, %8 : tensor<2x16x16xf32>
    %10 = stablehlo.convert %c_3 : (tensor<i64>) -> tensor<f64>
    %11 = stablehlo.convert %c_2 : (tensor<i64>) -> tensor<f64>
    %12 = stablehlo.divide %11, %10 : tensor<f64>
    %13 = stablehlo.ceil %12 : tensor<f64>
    %14 = stablehlo.convert %13 : (tensor<f64>) -> tensor<i64>
    %15 = stablehlo.reshape %14 : (tensor<i64>) -> tensor<1xi64>
    %16 = stablehlo.dynamic_iota %15, dim = 0 : (tensor<1xi64>) -> tensor<16xi64>
    %17 = stablehlo.multiply %16, %c_1 : tensor<16xi64>
    %18 = stablehlo.add %17, %c_0 : tensor<16xi64>
    %19 = stablehlo.reshape %18 : (tensor<16xi64>) -> tensor<1x16xi64>
    %20 = stablehlo.reshape %18 : (tensor<16xi64>) -> tensor<16x1xi64>
    %21 = stablehlo.broadcast_in_dim %19, dims = [0, 1] : (tensor<1x16xi64>) -> tensor<16x16xi64>
    %22 = stablehlo.broadcast_in_dim %20, dims = [0, 1] : (tensor<16x1xi64>) -> tensor<16x16xi64>
    %23 = stablehlo.subtract %21, %22 : tensor<16x16xi64>
    %24 = stablehlo.compare LE, %23, %c, SIGNED : (tensor<16x16xi64>, tensor<16x16xi64>) -> tensor<16x16xi1>
    %25 = stablehlo.and %24, %c_4 : tensor<16x16xi1>
    %26 = stablehlo.not %25 : tensor<16x16xi1>
    %27 = stablehlo.reshape %26 : (tensor<16x16xi1>) -> tensor<1x16x16xi1>
    %28 = stablehlo.broadcast_in_dim %27, dims = [0, 1, 2] : (tensor<1x16x16xi1>) -> tensor<2x16x16xi1>
    %29 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x16x16xf32>
    %30 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2] : (tensor<2x16x16xf32>) -> tensor<2x16x16xf32>
    %31 = stablehlo.select %28, %29, %30 : tensor<2x16x16xi1>, tensor<2x16x16xf32>
    %32 = stablehlo.reduce(%31 init: %cst_5) applies stablehlo.maximum across dimensions = [2] : (tensor<2x16x16xf32>, tensor<f32>) -> tensor<2x16xf32>
    %33 = stablehlo.reshape %32 : (tensor<2x16xf32>) -> tensor<2x16x1xf32>
    %34 = stablehlo.broadcast_in_dim %33, dims = [0, 1, 2] : (tensor<2x16x1xf32>) -> tensor<2x16x16xf32>
    %35 = stablehlo.subtract %31, %34 : tensor<2x16x16xf32>
    %36 = stablehlo.exponential %35 : tensor<2x16x16xf32>
    %37 = stablehlo.reduce(%36 init: %cst_6) applies stablehlo.add across dimensions = [2] : (tensor<2x16x16xf32>, tensor<f32>) -> tensor<2x16xf32>
    %38 = stablehlo.reshape %37 : (tensor<2x16xf32>) -> tensor<2x16x1xf32>
    %39 = stablehlo.broadcast_in_dim %38, dims = [0, 1, 2] : (tensor<2x16x1xf32>) -> tensor<2x16x16xf32>
    %40 = stablehlo.divide %36, %39 : tensor<2x16x16xf32>
    %41 = stablehlo.reshape %40 : (tensor<2x16x16xf32>) -> tensor<2x16x16xf32>
    %42 = stablehlo.reshape %arg2 : (tensor<2x16x64xf32>) -> tensor<2x16x64xf32>
    %43 = stablehlo.broadcast_in_dim %42, dims = [0, 1, 2] : (tensor<2x16x64xf32>) -> tensor<2x16x64xf32>
    %44 = stablehlo.dot_general %41, %43, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x16x16xf32>, tensor<2x16x64xf32>) -> tensor<2x16x64xf32>
    %45 = stablehlo.reshape %44 : (tensor<2x16x64xf32>) -> tensor<2x16x64xf32>
    return %45 : tensor<2x16x64xf32>
  }
}
