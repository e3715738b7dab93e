// RUN: mirage-opt %s --convert-stablehlo-to-kernel --split-input-file | filecheck %s

// Four rows are cut off, which are all, and four of the padding come.
// CHECK-LABEL: func.func @all_cut_off
// CHECK-NEXT:    %[[C:[0-9]+]] = kernel.constant {value = 1.000000e+00 : f32} : tensor<4x8xf32>
// CHECK-NEXT:    func.return %[[C]]
func.func @all_cut_off(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %c = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = stablehlo.pad %x, %c, low = [-4, 0], high = [4, 0], interior = [0, 0] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  func.return %0 : tensor<4x8xf32>
}

// -----

// CHECK-LABEL: func.func @one_cut_off
// CHECK:         kernel.slice %arg0
// CHECK:         kernel.concat
func.func @one_cut_off(%x: tensor<4x8xf32>) -> tensor<5x8xf32> {
  %c = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = stablehlo.pad %x, %c, low = [-1, 0], high = [2, 0], interior = [0, 0] : (tensor<4x8xf32>, tensor<f32>) -> tensor<5x8xf32>
  func.return %0 : tensor<5x8xf32>
}
