// The function that a module of kernels computes, and what a call prepares; custom and generic form.
// RUN: %roundtrip
// RUN: %generic-roundtrip

// CHECK:      "test.op"() {kernel.interface = #kernel.interface<"f", [tensor<16x512xf16>, tensor<512x64xf16>], array<i64: 1>, [tensor<16x64xf16>], [array<i64: 64, 1>], [#kernel.tensor_map<tensor = "input:0", dims = [512, 16], strides = [1024], box = [64, 16], swizzle = 128, element = "f16">], [#kernel.packing<tensor = "input:1", shape = [512, 64], strides = [64, 1], tile = [64, 64], counts = [8, 1], order = [1, 0], run_dim = 1, panel = 64, element = "f16">]>}
"test.op"() {kernel.interface = #kernel.interface<"f",
  [tensor<16x512xf16>, tensor<512x64xf16>], array<i64: 1>, [tensor<16x64xf16>], [array<i64: 64, 1>],
  [#kernel.tensor_map<swizzle = 128, dims = [512, 16], strides = [1024], box = [64, 16], element = "f16", tensor = "input:0">],
  [#kernel.packing<tensor = "input:1", element = "f16", shape = [512, 64], strides = [64, 1], tile = [64, 64],
                   counts = [8, 1], order = [1, 0], run_dim = 1, panel = 64>]>} : () -> ()

// A vector: no stride, an offset into memory between kernels.
// CHECK-NEXT: "test.op"() {map = #kernel.tensor_map<tensor = "scratch:256", dims = [64], box = [64], offset = 32, element = "bf16">}
"test.op"() {map = #kernel.tensor_map<tensor = "scratch:256", dims = [64], box = [64], offset = 32, element = "bf16">} : () -> ()
