// What is wrong has a place and an exit code, and no file is touched.
// RUN: rm -rf %t && mkdir -p %t && echo old > %t/kept.mlir
// RUN: not mirage-translate --to=kernel %s -o %t/kept.mlir 2>&1 | filecheck %s --check-prefix=PLACE
// RUN: filecheck %s --check-prefix=OLD < %t/kept.mlir
// RUN: mirage-translate --to=kernel --parts %s 2>&1 | filecheck %s --check-prefix=PARTS
// RUN: not mirage-translate %s 2>&1 | filecheck %s --check-prefix=NOTHING
// RUN: not mirage-translate --to=c %s 2>&1 | filecheck %s --check-prefix=FOLDER
// RUN: not mirage-translate --to=kernel --target=A100 %s 2>&1 | filecheck %s --check-prefix=TARGET
// RUN: not mirage-translate --to=kernel %t/none.mlir 2>&1 | filecheck %s --check-prefix=MISSING
// RUN: %installed/mirage-translate --version | filecheck %s --check-prefix=VERSION

// PLACE:    translate-invalid.mlir:{{[0-9]+}}:8: error: 'stablehlo.cbrt' op has no counterpart
// OLD:      old
// PARTS:    remark: {{.*}}stays a function of the host
// PARTS:    stablehlo.cbrt
// NOTHING:  mirage-translate: error: the following arguments are required: --to
// FOLDER:   mirage-translate: error: --to=c makes files: name their folder, -o DIR
// TARGET:   mirage-translate: error: --target is for what is searched
// MISSING:  mirage-translate: error: cannot open input file '{{.*}}none.mlir'
// VERSION:  mirage-translate 0.
func.func @f(%x: tensor<4x8xf16>) -> tensor<4x8xf16> {
  %y = "stablehlo.cbrt"(%x) : (tensor<4x8xf16>) -> tensor<4x8xf16>
  func.return %y : tensor<4x8xf16>
}
