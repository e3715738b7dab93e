// After fusion a block graph holds thread graphs, in which a sigmoid is an exp and a gelu a tanh.
// RUN: mirage-opt %S/../ugraphs/gated_mlp.mlir --fuse-thread-graphs --verify-equivalence="reference=reference candidate=ugraph" 2>&1 | filecheck %s
// RUN: mirage-opt %S/../ugraphs/linear_bias_gelu.mlir --fuse-thread-graphs --verify-equivalence="reference=reference candidate=ugraph" 2>&1 | filecheck %s

// CHECK-DAG: remark: @ugraph is @reference: proved: the normal forms are equal; tested: equal modulo random primes
// CHECK-DAG: thread.graph
