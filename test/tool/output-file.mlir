// An output file appears whole or not at all; nothing else is left in its folder.
// RUN: rm -rf %t && mkdir -p %t
// RUN: echo old > %t/kept.mlir
// RUN: not mirage-opt %s --split-input-file -o %t/kept.mlir 2>/dev/null
// RUN: filecheck %s --check-prefix=OLD < %t/kept.mlir
// RUN: not mirage-opt %s --split-input-file -o %t/never.mlir 2>/dev/null
// RUN: not ls %t/never.mlir
// RUN: echo "builtin.module {}" | mirage-opt -o %t/kept.mlir | filecheck %s --check-prefix=NOTHING --allow-empty
// RUN: filecheck %s --check-prefix=NEW < %t/kept.mlir
// RUN: ls -A %t | filecheck %s --check-prefix=FOLDER
// RUN: echo "builtin.module {}" | mirage-opt -o /dev/null
// RUN: echo "builtin.module {}" | not mirage-opt -o %t/none/x.mlir 2>&1 | filecheck %s --check-prefix=MISSING
// RUN: echo "builtin.module {}" | not mirage-opt -o %t 2>&1 | filecheck %s --check-prefix=DIRECTORY
// RUN: echo "builtin.module {}" | not mirage-opt -o /proc/x.mlir 2>&1 | filecheck %s --check-prefix=MISSING

// OLD:         old
// NOTHING-NOT: module
// NEW:         builtin.module {
// FOLDER:      kept.mlir
// FOLDER-NOT:  {{.}}
// MISSING:     mirage-opt: error: cannot open output file '{{.*}}x.mlir': No such file or directory
// DIRECTORY:   mirage-opt: error: cannot open output file '{{.*}}': Is a directory
func.func @good() {
  func.return
}

// -----

func.func @bad() -> i32 {
  func.return
}
