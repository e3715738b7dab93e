// RUN: mirage-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{has a constant input that is none of 1 inputs}}
"test.op"() {i = #kernel.interface<"f", [tensor<4xf32>], array<i64: 1>, [], [], [], []>} : () -> ()

// -----

// expected-error @below {{has no stride for each dimension of each result}}
"test.op"() {i = #kernel.interface<"f", [], array<i64>, [tensor<4x8xf32>], [array<i64: 1>], [], []>} : () -> ()

// -----

// expected-error @below {{has no box or stride for each of its dimensions}}
"test.op"() {m = #kernel.tensor_map<tensor = "input:0", dims = [512, 16], box = [64, 16], element = "f16">} : () -> ()

// -----

// expected-error @below {{has dimensions, strides or boxes below 1, or a negative offset}}
"test.op"() {m = #kernel.tensor_map<tensor = "input:0", dims = [512], box = [0], element = "f16">} : () -> ()

// -----

// expected-error @below {{swizzle is 16, not 0 or one of (128, 64, 32)}}
"test.op"() {m = #kernel.tensor_map<tensor = "input:0", dims = [8], box = [8], swizzle = 16, element = "f16">} : () -> ()

// -----

// expected-error @below {{tensor is 'counters:0', not memory such as 'input:0'}}
"test.op"() {m = #kernel.tensor_map<tensor = "counters:0", dims = [8], box = [8], element = "f16">} : () -> ()

// -----

// expected-error @below {{element is 'f64', not one of f16, bf16, f32}}
"test.op"() {m = #kernel.tensor_map<tensor = "input:0", dims = [8], box = [8], element = "f64">} : () -> ()

// -----

// expected-error @below {{a packing has tiles of whole panels}}
"test.op"() {p = #kernel.packing<tensor = "input:0", element = "f16", shape = [8], strides = [1], tile = [8],
                                 counts = [1], order = [0], panel = 5>} : () -> ()

// -----

// expected-error @below {{there is no 'boxes'; did you mean 'box'?}}
"test.op"() {m = #kernel.tensor_map<tensor = "input:0", dims = [8], boxes = [8], element = "f16">} : () -> ()
