// RUN: mirage-opt %s --verify-diagnostics --split-input-file

// An instruction set does not tell an H100 from an H200.
// expected-error @+1 {{unknown GPU 'sm_90a' as target: it is one of H200, H100, A100}}
builtin.module attributes {kernel.target = #kernel.target<"sm_90a">} {
}

// -----

// expected-error @+1 {{'builtin.module' op has a kernel.target that is no #kernel.target<"H200">}}
builtin.module attributes {kernel.target = "H200"} {
}
