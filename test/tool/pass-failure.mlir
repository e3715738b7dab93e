// A pass that cannot transform the program says so; one of xDSL's own knows no place but the file.
// RUN: not mirage-opt %s --cse --convert-ptr-type-offsets --dce --print-ir-after-all 2>&1 | filecheck %s
// RUN: not mirage-opt %s --convert-ptr-type-offsets --verify-diagnostics 2>&1 | filecheck %s --check-prefix=UNEXPECTED

// CHECK:      // -----// IR Dump After CommonSubexpressionElimination (cse) //----- //
// CHECK:      // -----// IR Dump After ConvertPtrTypeOffsetsPass Failed (convert-ptr-type-offsets) //----- //
// CHECK:      pass-failure.mlir: error: 'convert-ptr-type-offsets' failed: Type offset is currently only supported for fixed size types
// CHECK-NOT:  IR Dump After DeadCodeElimination
// UNEXPECTED: pass-failure.mlir: error: unexpected error: 'convert-ptr-type-offsets' failed: Type offset
func.func @f() -> index {
  %x = "ptr_xdsl.type_offset"() <{elem_type = tensor<2xf32>}> : () -> index
  func.return %x : index
}
