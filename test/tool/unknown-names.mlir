// What the command line names must exist; what was perhaps meant is said.
// RUN: not mirage-opt %s --canonicalise 2>&1 | filecheck %s --check-prefix=FLAG --match-full-lines
// RUN: not mirage-opt %s -p no-such-pass 2>&1 | filecheck %s --check-prefix=PASS
// RUN: not mirage-opt %s --cse=nope=1 2>&1 | filecheck %s --check-prefix=NONE
// RUN: not mirage-opt %s --verify-equivalence=nope=1 2>&1 | filecheck %s --check-prefix=OPTION
// RUN: not mirage-opt %s --superoptimize=top-k=4,wide 2>&1 | filecheck %s --check-prefix=VALUE
// RUN: not mirage-opt %s --superoptimize=allow-unverified=maybe 2>&1 | filecheck %s --check-prefix=BOOL
// RUN: not mirage-opt %s -t nope 2>&1 | filecheck %s --check-prefix=TARGET
// RUN: not mirage-opt %s --cse='a b=' 2>&1 | filecheck %s --check-prefix=SYNTAX
// RUN: not mirage-opt %s --pack -t cubin 2>&1 | filecheck %s --check-prefix=PACK
// RUN: not mirage-opt %s %s 2>&1 | filecheck %s --check-prefix=FILES

// FLAG:   mirage-opt: error: unknown argument '--canonicalise'; did you mean '--canonicalize'?
// PASS:   mirage-opt: error: unknown pass 'no-such-pass'
// NONE:   mirage-opt: error: 'cse' has no option 'nope' (it has none)
// OPTION: mirage-opt: error: 'verify-equivalence' has no option 'nope' (it has reference, candidate, tests, seed, budget, top-k, allow-unverified)
// VALUE:  mirage-opt: error: option 'top-k' of 'superoptimize' takes an integer, not '4,wide'
// BOOL:   mirage-opt: error: option 'allow-unverified' of 'superoptimize' takes true or false, not 'maybe'
// TARGET: mirage-opt: error: unknown target 'nope'; there are binary, c, cubin, irdl, irdl-generic, mlir, nvvm, ptx{{$}}
// SYNTAX: mirage-opt: error: --cse: expected a value at column 5 of 'a b='
// PACK:   mirage-opt: error: --pack is for --report, --artifacts and --profile; for -t write {pack=true}
// FILES:  mirage-opt: error: unknown argument '{{.*}}unknown-names.mlir'
builtin.module {}
