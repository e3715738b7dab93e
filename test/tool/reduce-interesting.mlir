// What mirage-opt prints is what is interesting; what is not from the beginning is an error.
// RUN: mirage-reduce --interesting='cbrt.*has no counterpart' --pipeline=convert-stablehlo-to-kernel %s | filecheck %s
// RUN: not mirage-reduce --interesting='internal error' %s 2>&1 | filecheck %s --check-prefix=DULL
// RUN: not mirage-reduce %s 2>&1 | filecheck %s --check-prefix=USAGE
// RUN: not mirage-reduce --test=true --args=-v %s 2>&1 | filecheck %s --check-prefix=ARGS
// RUN: not mirage-reduce --interesting='(' %s 2>&1 | filecheck %s --check-prefix=REGEX
// RUN: not mirage-reduce --test=true %t.none 2>&1 | filecheck %s --check-prefix=MISSING
// RUN: echo "func.func" | not mirage-reduce --test=true - 2>&1 | filecheck %s --check-prefix=PARSE
// RUN: %installed/mirage-reduce --version | filecheck %s --check-prefix=VERSION

// CHECK:      func.func @f(%{{[a-z0-9]+}}: tensor<1xf16>) {
// CHECK-NEXT:   "stablehlo.cbrt"
// CHECK-NEXT:   func.return
// DULL:       reduce-interesting.mlir: error: the program is not interesting: nothing to reduce
// USAGE:      mirage-reduce: error: one of --test=SCRIPT and --interesting=REGEX
// ARGS:       mirage-reduce: error: --pipeline and --args are for --interesting
// REGEX:      mirage-reduce: error: --interesting or --args:
// MISSING:    mirage-reduce: error: cannot open input file
// PARSE:      <stdin>:{{[0-9]+}}:{{[0-9]+}}: error:
// VERSION:    mirage-reduce 0.
func.func @f(%x: tensor<1xf16>) -> tensor<1xf16> {
  %y = "stablehlo.cbrt"(%x) : (tensor<1xf16>) -> tensor<1xf16>
  func.return %y : tensor<1xf16>
}
