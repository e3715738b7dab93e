// RUN: mirage-opt %s --convert-linalg-to-kernel --split-input-file -o %t 2>&1 | filecheck %s

// What lies outside of a tensor stays on the host.
func.func @outside(%x: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %y = tensor.extract_slice %x[2, 0] [2, 4] [1, 1] : tensor<3x4xf32> to tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}
// CHECK: 'tensor.extract_slice' op takes elements 2 to 3 of dim 0 (size 3)

// -----

// The last bit of a number, not whether it is one.
#m = affine_map<(d0) -> (d0)>
func.func @last_bit(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [#m, #m], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %i = linalg.index 0 : index
    %a = arith.index_cast %i : index to i32
    %k = arith.trunci %a : i32 to i1
    %y = arith.select %k, %in, %zero : f32
    linalg.yield %y : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}
// CHECK: 'arith.trunci' op makes a boolean of the last bit of a number: compare it with a number instead

// -----

// Kernels round to the nearest even number.
func.func @upward(%x: tensor<4xf32>) -> tensor<4xf16> {
  %y = arith.truncf %x upward : tensor<4xf32> to tensor<4xf16>
  return %y : tensor<4xf16>
}
// CHECK: 'arith.truncf' op rounds otherwise than to the nearest even number

// -----

func.func @pad(%x: tensor<3x4xf32>) -> tensor<5x4xf32> {
  %c = arith.constant 1.0 : f32
  %p = tensor.pad %x low[1, 0] high[2, 0] {
  ^bb0(%a: index, %b: index):
    tensor.yield %c : f32
  } : tensor<3x4xf32> to tensor<5x4xf32>
  return %p : tensor<5x4xf32>
}
// CHECK: 'tensor.pad' op has a result of sizes [5, 4], where it makes [6, 4]

// -----

func.func @infinite_power(%x: tensor<4xf32>) -> tensor<4xf32> {
  %p = arith.constant dense<0x7F800000> : tensor<4xf32>
  %y = math.powf %x, %p : tensor<4xf32>
  return %y : tensor<4xf32>
}
// CHECK: 'math.powf' op has the exponent inf, which is no number for kernel.pow
