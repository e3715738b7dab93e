// RUN: mirage-opt %s --superoptimize | filecheck %s --check-prefixes=CHECK,F32
// RUN: mirage-opt %s --superoptimize="f32=tf32" | filecheck %s --check-prefixes=CHECK,TF32
// RUN: not mirage-opt %s --superoptimize="f32=bf16" 2>&1 | filecheck %s --check-prefix=WRONG

// WRONG: error: 'superoptimize': products of f32 are 3xtf32 or tf32, not 'bf16'

// All products of f32 are as the option says.
// CHECK-LABEL: func.func @linear
// F32:           threadblock.matmul
// F32-NOT:       precision
// TF32:          threadblock.matmul {{.*}}precision = "tf32"
func.func @linear(%x: tensor<16x128xf32>, %w: tensor<128x64xf32>) -> tensor<16x64xf32> {
  %z = kernel.matmul %x, %w : (tensor<16x128xf32>, tensor<128x64xf32>) -> tensor<16x64xf32>
  func.return %z : tensor<16x64xf32>
}

// One that asks for tf32 has it whatever the option is.
// CHECK-LABEL: func.func @asks
// CHECK:         threadblock.matmul {{.*}}precision = "tf32"
func.func @asks(%x: tensor<16x128xf32>, %w: tensor<128x64xf32>) -> tensor<16x64xf32> {
  %z = kernel.matmul %x, %w {precision = "tf32"} : (tensor<16x128xf32>, tensor<128x64xf32>) -> tensor<16x64xf32>
  func.return %z : tensor<16x64xf32>
}
