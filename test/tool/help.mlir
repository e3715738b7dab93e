// --help has every pass of ours with its options, their meanings and defaults; of xDSL's passes and
// output formats it has those that our programs can use.
// RUN: env COLUMNS=100 mirage-opt --help | filecheck %s
// RUN: env COLUMNS=100 mirage-opt --help | filecheck %s --check-prefix=FOREIGN
// RUN: env COLUMNS=20 mirage-opt --help | filecheck %s --check-prefix=NARROW

// CHECK:      usage: mirage-opt [--PASS[=OPTIONS]]... [options] [FILE]
// CHECK:      --superoptimize --report --artifacts=DIR FILE finds
// CHECK:      -o FILE {{ *}}write the result to FILE (default: -, standard output)
// CHECK:      pipelines of passes, as --NAME or
// CHECK-NEXT:   --superoptimize
// CHECK-NEXT:       Replace functions of kernel operators by the fastest equivalent uGraphs that a search finds.
// CHECK-NEXT:       target=STRING         The GPU to search for: H200,
// CHECK:            top-k=INTEGER         How many results to keep: the others follow as `@NAME__candidate_<i>`
// CHECK-NEXT:                             (default: 1)
// CHECK:            allow-unverified=true|false
// CHECK:      passes; with --verify-equivalence behind it --superoptimize is the pass:
// CHECK:        --algebraic-rewrite
// CHECK:            rules=STRING,...      The equations, in the order of their use;
// CHECK:        --superoptimize
// CHECK-NEXT:       Write the fastest uGraphs that a search finds for functions of kernel operators, unverified.
// CHECK:        --verify-equivalence
// CHECK:            reference=STRING      The function to compare with; if not given, the candidates of
// CHECK:        --fuse-thread-graphs      Turn each elementwise chain
// CHECK:        --check-lowered-kernels
// CHECK:        --canonicalize            Simplify
// CHECK-NEXT:   --cse                     Compute
// CHECK-NEXT:   --dce                     Remove
// CHECK-NEXT:   --licm                    Move
// CHECK-EMPTY:
// CHECK-NEXT: output formats, as -t NAME
// CHECK-NEXT:   mlir                      The program as MLIR text
// CHECK:        ptx
// CHECK:            function=STRING       The function whose kernels are meant

// FOREIGN-NOT: {{stencil|riscv|x86|snitch|wgsl|eqsat}}

// NARROW:      time-limit=NUMBER     Seconds of search after which
