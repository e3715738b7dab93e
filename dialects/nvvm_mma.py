"""Products of matrices by a warp in the `nvvm` dialect, and loads of their operands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from xdsl.dialects.builtin import IntAttr, IntegerAttr, IntegerType, VectorType, f16, f32, i32
from xdsl.dialects.llvm import LLVMStructType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    ParsePropInAttrDict,
    base,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import MemoryReadEffect, Pure

from mirage_mlir.diagnostics import invalid
from mirage_mlir.dialects.nvvm_attributes import (
    SHARED,
    MatrixElementType,
    MatrixElementTypeAttr,
    MatrixLayout,
    MatrixLayoutAttr,
    MatrixShapeAttr,
    MmaShapeAttr,
    MultiplicandType,
    MultiplicandTypeAttr,
)


def struct_of(element: Attribute, count: int) -> LLVMStructType:
    """The type in which an instruction returns `count` registers of one type."""
    return LLVMStructType.from_type_list((element,) * count)


@irdl_op_definition
class LdMatrixOp(IRDLOperation):
    """
    Load `num` (1, 2 or 4) 8x8 matrices of 16-bit elements from shared memory, by a whole warp.

    Lane 8*i + r holds the address of row r (16 bytes, aligned) of matrix i. Lane l receives, in
    register i, elements (l/4, 2*(l%4)) and the next of matrix i; with `COL` of its transpose.
    The result is one i32, or a struct of `num` i32, each of two elements.
    """

    name = "nvvm.ldmatrix"

    ptr = operand_def(SHARED)
    num = prop_def(IntegerAttr[IntegerType])
    layout = prop_def(MatrixLayoutAttr)
    shape = prop_def(MatrixShapeAttr)
    element_type = prop_def(MatrixElementTypeAttr, prop_name="eltType")
    res = result_def(base(LLVMStructType) | base(IntegerType))

    traits = traits_def(MemoryReadEffect())
    assembly_format = "$ptr attr-dict `:` functional-type($ptr, $res)"
    irdl_options = (ParsePropInAttrDict(),)

    def __init__(
        self, ptr: SSAValue | Operation, num: int, layout: Literal["row", "col"] = "row"
    ) -> None:
        super().__init__(
            operands=[ptr],
            properties={
                "num": IntegerAttr(num, i32),
                "layout": MatrixLayoutAttr(MatrixLayout(layout)),
                "shape": MatrixShapeAttr(IntAttr(8), IntAttr(8)),
                "eltType": MatrixElementTypeAttr(MatrixElementType.B16),
            },
            result_types=[i32 if num == 1 else struct_of(i32, num)],
        )

    def verify_(self) -> None:
        num = self.num.value.data
        if num not in (1, 2, 4):
            raise invalid(self, f"loads 1, 2 or 4 matrices, not {num}")
        expected = i32 if num == 1 else struct_of(i32, num)
        if self.res.type != expected:
            raise invalid(self, f"returns {expected} for {num} matrices, not {self.res.type}")


_HALVES = VectorType(f16, (2,))

MMA_REGISTERS: dict[tuple[MultiplicandType, tuple[int, int, int]], tuple[int, int, int]] = {
    (MultiplicandType.F16, (16, 8, 8)): (2, 1, 4),
    (MultiplicandType.F16, (16, 8, 16)): (4, 2, 4),
    (MultiplicandType.BF16, (16, 8, 8)): (2, 1, 4),
    (MultiplicandType.BF16, (16, 8, 16)): (4, 2, 4),
    (MultiplicandType.TF32, (16, 8, 4)): (2, 1, 4),
    (MultiplicandType.TF32, (16, 8, 8)): (4, 2, 4),
}
"""Registers of A, B and C per lane: 32 bits each, of 16-bit pairs, tf32 or (C) f32."""


@irdl_op_definition
class MmaSyncOp(IRDLOperation):
    """
    D = A B + C on the tensor core, by a whole warp; C and D are f32.

    A is m x k by rows, B is k x n by columns. With g = lane/4 and t = lane%4, for m16n8k16: A's
    registers are rows g, g+8, g, g+8 at columns 2t, 2t, 2t+8, 2t+8 (pairs), B's are rows 2t and
    2t+8 (pairs) of column g, C's are (g, 2t), (g, 2t+1), (g+8, 2t), (g+8, 2t+1).
    f16 registers are vector<2xf16>, bf16 and tf32 ones i32.
    """

    name = "nvvm.mma.sync"

    a = var_operand_def()
    b = var_operand_def()
    c = var_operand_def(f32)
    shape = prop_def(MmaShapeAttr)
    layout_a = prop_def(MatrixLayoutAttr, prop_name="layoutA")
    layout_b = prop_def(MatrixLayoutAttr, prop_name="layoutB")
    type_a = prop_def(MultiplicandTypeAttr, prop_name="multiplicandAPtxType")
    type_b = prop_def(MultiplicandTypeAttr, prop_name="multiplicandBPtxType")
    res = result_def(struct_of(f32, 4))

    traits = traits_def(Pure())
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        a: Sequence[SSAValue | Operation],
        b: Sequence[SSAValue | Operation],
        c: Sequence[SSAValue | Operation],
        shape: tuple[int, int, int],
        element_type: Literal["f16", "bf16", "tf32"],
    ) -> None:
        multiplicand = MultiplicandTypeAttr(MultiplicandType(element_type))
        super().__init__(
            operands=[a, b, c],
            properties={
                "shape": MmaShapeAttr(*(IntAttr(size) for size in shape)),
                "layoutA": MatrixLayoutAttr(MatrixLayout.ROW),
                "layoutB": MatrixLayoutAttr(MatrixLayout.COL),
                "multiplicandAPtxType": multiplicand,
                "multiplicandBPtxType": multiplicand,
            },
            result_types=[struct_of(f32, 4)],
        )

    def verify_(self) -> None:
        if self.type_a != self.type_b:
            raise invalid(self, f"multiplies {self.type_a.data} by {self.type_b.data}")
        if (self.layout_a.data, self.layout_b.data) != (MatrixLayout.ROW, MatrixLayout.COL):
            raise invalid(self, "takes A by rows and B by columns only")
        element, sizes = self.type_a.data, self.shape.sizes
        expected = MMA_REGISTERS.get((element, sizes))
        if expected is None:
            raise invalid(self, f"has no {element} form of shape {sizes}")
        found = (len(self.a), len(self.b), len(self.c))
        if found != expected:
            raise invalid(self, f"takes {expected} registers of A, B and C, not {found}")
        register = _HALVES if element == MultiplicandType.F16 else i32
        for value in (*self.a, *self.b):
            if value.type != register:
                raise invalid(self, f"takes {element} registers as {register}, not {value.type}")
