// RUN: %roundtrip
// RUN: %generic-roundtrip

// The GPU that a module is compiled for.
// CHECK: builtin.module attributes {kernel.target = #kernel.target<"H100">} {
// CHECK-GENERIC: kernel.target = #kernel.target<"H100">
builtin.module attributes {kernel.target = #kernel.target<"H100">} {
  func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
    func.return %x : tensor<4xf32>
  }
}
