"""
The MMA instructions of a warpgroup, `wgmma`.

A warpgroup is four consecutive warps, the first of a number that 4 divides; all 128 threads
execute each of these operations. The matmuls run while the threads do other work: `fence`, then
matmuls, then `commit`, and nothing may touch the accumulators until `wait`. The form that takes A
from registers has no operation in NVVM: it is inline PTX, which `RegistersForm` makes and reads.
Source: PTX ISA 8.6, "Asynchronous warpgroup level matrix instructions".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from xdsl.dialects.builtin import I64, IntAttr, IntegerAttr, f32, i64
from xdsl.dialects.llvm import InlineAsmOp, LLVMStructType
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    base,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.utils.str_enum import StrEnum

from mirage_mlir.diagnostics import invalid
from mirage_mlir.dialects.nvvm_attributes import (
    BracketedEnumAttribute,
    MatrixLayout,
    MatrixLayoutAttr,
    MmaShapeAttr,
)
from mirage_mlir.dialects.nvvm_hopper import Needs
from mirage_mlir.targets.target import Feature

ElementName = Literal["f16", "bf16"]

ROWS, DEPTH, MAX_COLUMNS = 64, 16, 256
"""Of one matmul of 16-bit elements; its columns are a multiple of 8."""

FRAGMENT_REGISTERS = 4
"""Registers of a thread, two elements each, that hold its part of A."""


class WgmmaType(StrEnum):
    """Element types of operands and results."""

    F16 = "f16"
    BF16 = "bf16"
    F32 = "f32"


class WgmmaScaleOut(StrEnum):
    """Whether the matmul is added to the accumulators, or replaces them."""

    ONE = "one"
    ZERO = "zero"


class WgmmaScaleIn(StrEnum):
    """Whether an operand is taken as it is, or with the other sign."""

    ONE = "one"
    NEG = "neg"


@irdl_attr_definition
class WgmmaTypeAttr(BracketedEnumAttribute[WgmmaType]):
    """`#nvvm.wgmma_type<f16>`."""

    name = "nvvm.wgmma_type"
    enum_type = WgmmaType


@irdl_attr_definition
class WgmmaScaleOutAttr(BracketedEnumAttribute[WgmmaScaleOut]):
    """`#nvvm.wgmma_scale_out<one>`."""

    name = "nvvm.wgmma_scale_out"
    enum_type = WgmmaScaleOut


@irdl_attr_definition
class WgmmaScaleInAttr(BracketedEnumAttribute[WgmmaScaleIn]):
    """`#nvvm.wgmma_scale_in<one>`."""

    name = "nvvm.wgmma_scale_in"
    enum_type = WgmmaScaleIn


class WgmmaOp(IRDLOperation):
    """An operation on the MMAs of a warpgroup."""

    traits = traits_def(Needs(Feature.WGMMA))


@irdl_op_definition
class WgmmaFenceOp(WgmmaOp):
    """Order what the threads wrote to registers before the matmuls that read them."""

    name = "nvvm.wgmma.fence.aligned"

    assembly_format = "attr-dict"

    def __init__(self) -> None:
        super().__init__()


@irdl_op_definition
class WgmmaCommitOp(WgmmaOp):
    """Close a group: the matmuls that were started since the last group."""

    name = "nvvm.wgmma.commit.group.sync.aligned"

    assembly_format = "attr-dict"

    def __init__(self) -> None:
        super().__init__()


@irdl_op_definition
class WgmmaWaitOp(WgmmaOp):
    """Wait until at most `group` of the latest groups of matmuls are unfinished."""

    name = "nvvm.wgmma.wait.group.sync.aligned"

    group = prop_def(IntegerAttr[I64])

    def __init__(self, group: int) -> None:
        super().__init__(properties={"group": IntegerAttr(group, i64)})

    def verify_(self) -> None:
        if not 0 <= self.group.value.data <= 7:
            raise invalid(self, f"leaves 0 to 7 groups unfinished, not {self.group.value.data}")


@irdl_op_definition
class WgmmaMmaAsyncOp(WgmmaOp):
    """
    Start D = A B + C, of tiles in shared memory that two descriptors stand for.

    A is 64 x 16, B is 16 x n. `layoutA` is `row` where neighbours lie along the depth, `col` where
    they lie along the rows; `layoutB` is `col` where neighbours lie along the depth, `row` where
    they lie along the columns. Of warp w, with g = lane/4 and t = lane%4, slot 4j + 2i + e of a
    thread is the element (16w + g + 8i, 8j + 2t + e). With `scaleD` zero C is not read.
    """

    name = "nvvm.wgmma.mma_async"

    inouts = operand_def(base(LLVMStructType))
    descriptor_a = operand_def(i64)
    descriptor_b = operand_def(i64)
    shape = prop_def(MmaShapeAttr)
    type_a = prop_def(WgmmaTypeAttr, prop_name="typeA")
    type_b = prop_def(WgmmaTypeAttr, prop_name="typeB")
    type_d = prop_def(WgmmaTypeAttr, prop_name="typeD")
    scale_d = prop_def(WgmmaScaleOutAttr, prop_name="scaleD")
    scale_a = prop_def(WgmmaScaleInAttr, prop_name="scaleA")
    scale_b = prop_def(WgmmaScaleInAttr, prop_name="scaleB")
    layout_a = prop_def(MatrixLayoutAttr, prop_name="layoutA")
    layout_b = prop_def(MatrixLayoutAttr, prop_name="layoutB")
    results_ = result_def(base(LLVMStructType))

    def __init__(
        self,
        inouts: SSAValue,
        descriptor_a: SSAValue,
        descriptor_b: SSAValue,
        columns: int,
        element_type: ElementName,
        layouts: tuple[Literal["row", "col"], Literal["row", "col"]],
        *,
        adds: bool = True,
    ) -> None:
        element = WgmmaTypeAttr(WgmmaType(element_type))
        layout_a, layout_b = (MatrixLayoutAttr(MatrixLayout(layout)) for layout in layouts)
        super().__init__(
            operands=[inouts, descriptor_a, descriptor_b],
            properties={
                "shape": MmaShapeAttr(IntAttr(ROWS), IntAttr(columns), IntAttr(DEPTH)),
                "typeA": element,
                "typeB": element,
                "typeD": WgmmaTypeAttr(WgmmaType.F32),
                "scaleD": WgmmaScaleOutAttr(WgmmaScaleOut.ONE if adds else WgmmaScaleOut.ZERO),
                "scaleA": WgmmaScaleInAttr(WgmmaScaleIn.ONE),
                "scaleB": WgmmaScaleInAttr(WgmmaScaleIn.ONE),
                "layoutA": layout_a,
                "layoutB": layout_b,
            },
            result_types=[inouts.type],
        )

    def verify_(self) -> None:
        rows, columns, depth = self.shape.sizes
        if (rows, depth) != (ROWS, DEPTH) or not is_width(columns):
            raise invalid(self, f"has no form of shape {self.shape.sizes}")
        if self.type_a != self.type_b or self.type_a.data == WgmmaType.F32:
            raise invalid(self, f"multiplies {self.type_a.data} by {self.type_b.data}")
        if self.type_d.data != WgmmaType.F32:
            raise invalid(self, f"adds up in f32, not in {self.type_d.data}")
        expected = accumulators(columns)
        for value in (self.inouts, self.results_):
            if value.type != expected:
                raise invalid(self, f"keeps {columns // 2} sums of type f32, not {value.type}")


def is_width(columns: int) -> bool:
    """Whether a matmul may have so many columns."""
    return columns % 8 == 0 and 8 <= columns <= MAX_COLUMNS


def accumulators(columns: int) -> LLVMStructType:
    """What a thread holds of a matmul with so many columns."""
    return LLVMStructType.from_type_list((f32,) * (ROWS * columns // 128))


def pinned(values: Sequence[SSAValue]) -> InlineAsmOp:
    """
    The same f32 values in registers of their own, as a struct, at this place of the program.

    LLVM may move arithmetic across `fence` and `wait`, which it does not know to concern the
    values; no instruction is made.
    """
    outputs = ["=f"] * len(values)
    inputs = [str(number) for number in range(len(values))]
    kind = LLVMStructType.from_type_list([value.type for value in values])
    return InlineAsmOp("", ",".join([*outputs, *inputs]), values, [kind], 0, has_side_effects=True)


_REGISTERS_FORM = re.compile(
    r"setp\.ne\.b32 p, ([01]), 0; wgmma\.mma_async\.sync\.aligned\.m64n(\d+)k16\.f32\.(\w+)\.\w+ "
    r".* p, 1, 1, ([01]);"
)


@dataclass(frozen=True)
class RegistersForm:
    """
    A matmul whose A, 64 x 16, is in registers; B, 16 x `columns`, is in shared memory.

    Of warp w, with g = lane/4 and t = lane%4, the four registers of A are rows 16w + g and 8 on at
    columns 2t, then the same rows at columns 2t + 8: as `mma.sync.m16n8k16` takes its 16 rows.

    Args:
        element: of A and B, `f16` or `bf16`.
        transposed: whether neighbours of B lie along its columns rather than the depth.
        adds: whether the matmul is added to the accumulators, or replaces them.
    """

    columns: int
    element: ElementName
    transposed: bool
    adds: bool = True

    def make(
        self, sums: Sequence[SSAValue], left: Sequence[SSAValue], descriptor: SSAValue
    ) -> InlineAsmOp:
        """The matmul of `left` (four i32) and `descriptor` (i64); a struct of all sums."""
        assert is_width(self.columns)
        assert len(left) == FRAGMENT_REGISTERS
        count = self.columns // 2
        results = ", ".join(f"${number}" for number in range(count))
        first = 2 * count
        registers = ", ".join(f"${first + number}" for number in range(FRAGMENT_REGISTERS))
        text = (
            f"{{ .reg .pred p; setp.ne.b32 p, {int(self.adds)}, 0; "
            f"wgmma.mma_async.sync.aligned.m64n{self.columns}k16.f32.{self.element}.{self.element} "
            f"{{{results}}}, {{{registers}}}, ${first + FRAGMENT_REGISTERS}, "
            f"p, 1, 1, {int(self.transposed)}; }}"
        )
        constraints = [
            *["=f"] * count,
            *(str(number) for number in range(count)),
            *["r"] * FRAGMENT_REGISTERS,
            "l",
        ]
        return InlineAsmOp(
            text,
            ",".join(constraints),
            [*sums, *left, descriptor],
            [accumulators(self.columns)],
            0,
            has_side_effects=True,
        )

    @staticmethod
    def of(op: Operation) -> RegistersForm | None:
        """What `op` multiplies, if `make` made it: operands are sums, four of A, a descriptor."""
        if not isinstance(op, InlineAsmOp):
            return None
        found = _REGISTERS_FORM.search(op.asm_string.data)
        if found is None:
            return None
        adds, columns, element, transposed = found.groups()
        name: ElementName = "f16" if element == "f16" else "bf16"
        return RegistersForm(int(columns), name, transposed == "1", adds == "1")


def is_pin(op: Operation) -> bool:
    """Whether `op` is what `pinned` makes: its struct has its operands."""
    return isinstance(op, InlineAsmOp) and not op.asm_string.data


WGMMA_OPERATIONS = [WgmmaCommitOp, WgmmaFenceOp, WgmmaMmaAsyncOp, WgmmaWaitOp]

WGMMA_ATTRIBUTES = [WgmmaScaleInAttr, WgmmaScaleOutAttr, WgmmaTypeAttr]
