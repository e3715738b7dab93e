// Attention, of which a script wants the exponential of its softmax: one operation is left.
// RUN: rm -rf %t && mkdir -p %t
// RUN: echo '#!/bin/sh' > %t/test.sh && echo 'grep -q stablehlo.exponential "$1"' >> %t/test.sh
// RUN: chmod +x %t/test.sh
// RUN: mirage-reduce --test=%t/test.sh %S/../import/attention.mlir -o %t/small.mlir 2>&1 | filecheck %s --check-prefix=SAID
// RUN: filecheck %s < %t/small.mlir
// RUN: mirage-reduce --interesting='cosine.*has no counterpart' --pipeline=convert-stablehlo-to-kernel %s | filecheck %s --check-prefix=PRINTED
// RUN: not mirage-reduce --test=%t/test.sh %s 2>&1 | filecheck %s --check-prefix=DULL
// RUN: not mirage-reduce %s 2>&1 | filecheck %s --check-prefix=USAGE

// SAID:         operations, now 2,
// CHECK:        func.func public @main(%{{[0-9]+}}: tensor<[[TYPE:[0-9a-z]*f16]]>)
// CHECK-NEXT:     "stablehlo.exponential"(%{{[0-9]+}}) : (tensor<[[TYPE]]>)
// CHECK-NEXT:     func.return
// CHECK-NOT:    func.func
// PRINTED:      func.func @f(%{{[a-z0-9]+}}: tensor<1x1xf16>) {
// PRINTED-NEXT:   stablehlo.cosine
// PRINTED-NEXT:   func.return
// DULL:         reduce.mlir: error: the program is not interesting: nothing to reduce
// USAGE:        mirage-reduce: error: one of --test=SCRIPT and --interesting=REGEX
func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = "stablehlo.cosine"(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}
