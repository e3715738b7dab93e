"""Operations of the `nvvm` dialect for device memory that blocks share, and for tf32."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from xdsl.dialects.builtin import BoolAttr, IntegerAttr, IntegerType, StringAttr, f32, i32, i64
from xdsl.dialects.llvm import InlineAsmOp, LLVMStructType
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect, Pure
from xdsl.utils.str_enum import StrEnum

from mirage_mlir.diagnostics import invalid
from mirage_mlir.dialects.nvvm_attributes import (
    GLOBAL,
    BracketedEnumAttribute,
    MemoryScope,
    MemoryScopeAttr,
)


class RoundingMode(StrEnum):
    """How a number is rounded that a type cannot represent: to nearest, ties away from zero."""

    NEAREST_AWAY = "rna"


@irdl_attr_definition
class RoundingModeAttr(BracketedEnumAttribute[RoundingMode]):
    """`#nvvm.fp_rnd_mode<rna>`."""

    name = "nvvm.fp_rnd_mode"
    enum_type = RoundingMode


class Saturation(StrEnum):
    """Whether a number that is too large saturates; here it does not."""

    NONE = "none"


@irdl_attr_definition
class SaturationAttr(BracketedEnumAttribute[Saturation]):
    """`#nvvm.sat_mode<none>`."""

    name = "nvvm.sat_mode"
    enum_type = Saturation


@irdl_op_definition
class ConvertFloatToTf32Op(IRDLOperation):
    """The nearest tf32 of an f32, as the register that a tensor core takes."""

    name = "nvvm.convert.float.to.tf32"

    src = operand_def(f32)
    rnd = prop_def(RoundingModeAttr)
    sat = prop_def(SaturationAttr)
    relu = prop_def(BoolAttr)
    res = result_def(i32)

    traits = traits_def(Pure())

    def __init__(self, src: SSAValue | Operation) -> None:
        super().__init__(
            operands=[src],
            properties={
                "rnd": RoundingModeAttr(RoundingMode.NEAREST_AWAY),
                "sat": SaturationAttr(Saturation.NONE),
                "relu": BoolAttr.from_bool(False),
            },
            result_types=[i32],
        )


@irdl_op_definition
class MemoryBarrierOp(IRDLOperation):
    """
    A memory fence: threads of `scope` see this thread's earlier writes before its later ones.

    With a barrier of the block behind it, the same holds for the writes of all its threads.
    """

    name = "nvvm.memory.barrier"

    scope = prop_def(MemoryScopeAttr)

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(self, scope: Literal["gpu"] = "gpu") -> None:
        super().__init__(properties={"scope": MemoryScopeAttr(MemoryScope(scope))})


ATOMIC_COUNT = 15
"""LLVM's `uinc_wrap`: increment, or 0 where the result would be above the operand."""

ACQUIRE_AND_RELEASE = 6
"""LLVM's `acq_rel`: earlier accesses of the thread come before it, later ones after it."""


@irdl_op_definition
class AtomicCountOp(IRDLOperation):
    """
    Increment the i32 at `ptr`, or set it to 0 where it is `val` or more.

    The result is the old value: of `val + 1` threads the last one gets `val`, and leaves 0 for the
    next round. Orders memory accesses of the threads of the device that increment this counter.
    """

    name = "llvm.atomicrmw"

    ptr = operand_def(GLOBAL)
    val = operand_def(i32)
    bin_op = prop_def(IntegerAttr[IntegerType])
    ordering = prop_def(IntegerAttr[IntegerType])
    syncscope = prop_def(StringAttr)
    res = result_def(i32)

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(self, ptr: SSAValue | Operation, val: SSAValue | Operation) -> None:
        super().__init__(
            operands=[ptr, val],
            properties={
                "bin_op": IntegerAttr(ATOMIC_COUNT, i64),
                "ordering": IntegerAttr(ACQUIRE_AND_RELEASE, i64),
                "syncscope": StringAttr("device"),
            },
            result_types=[i32],
        )

    def verify_(self) -> None:
        found = self.bin_op.value.data, self.ordering.value.data, self.syncscope.data
        if found != (ATOMIC_COUNT, ACQUIRE_AND_RELEASE, "device"):
            raise invalid(self, f"counts on the device in order, and does not do {found}")


KEPT_WORDS = 4
"""Words of 32 bits that `kept_load` reads, and `kept_store` writes: 16 bytes."""

_KEPT_LOAD = "ld.global.L2::cache_hint.v4.b32 {$0, $1, $2, $3}, [$4], $5;"
_KEPT_STORE = "st.global.L2::cache_hint.v4.b32 [$0], {$1, $2, $3, $4}, $5;"


def kept_load(address: SSAValue, policy: SSAValue) -> InlineAsmOp:
    """
    Load four words of device memory at `address` with an L2 cache `policy` (i64), as a struct.

    The dialect has no operation for it, so it is inline PTX. Other memory accesses do not move
    across it.
    """
    kind = LLVMStructType.from_type_list([i32] * KEPT_WORDS)
    constraints = ",".join(["=r"] * KEPT_WORDS + ["l", "l", "~{memory}"])
    return InlineAsmOp(_KEPT_LOAD, constraints, [address, policy], [kind], 0, has_side_effects=True)


def is_kept_load(op: Operation) -> bool:
    """Whether `kept_load` made `op`."""
    return isinstance(op, InlineAsmOp) and op.asm_string.data == _KEPT_LOAD


def kept_store(address: SSAValue, words: Sequence[SSAValue], policy: SSAValue) -> InlineAsmOp:
    """Store four words (i32) to device memory at `address` with an L2 cache `policy` (i64)."""
    constraints = ",".join(["l", *["r"] * KEPT_WORDS, "l", "~{memory}"])
    operands = [address, *words, policy]
    return InlineAsmOp(_KEPT_STORE, constraints, operands, [], 0, has_side_effects=True)


def is_kept_store(op: Operation) -> bool:
    """Whether `kept_store` made `op`."""
    return isinstance(op, InlineAsmOp) and op.asm_string.data == _KEPT_STORE


_TRANSPOSE = "movmatrix.sync.aligned.m8n8.trans.b16 $0, $1;"


def transposed_matrix(word: SSAValue) -> InlineAsmOp:
    """
    Transpose the 8 by 8 matrix of 16-bit elements of which each lane of a warp holds a `word`.

    Lane 4 r + c has elements 2 c and 2 c + 1 of row r (PTX ISA, section "movmatrix"). The dialect
    has no operation for it, so it is inline PTX.
    """
    return InlineAsmOp(_TRANSPOSE, "=r,r", [word], [i32], 0, has_side_effects=True)


def is_transposed_matrix(op: Operation) -> bool:
    """Whether `transposed_matrix` made `op`."""
    return isinstance(op, InlineAsmOp) and op.asm_string.data == _TRANSPOSE


def kept_in_place(value: SSAValue) -> InlineAsmOp:
    """
    The same i32, of which LLVM does not know that it is the same; no instruction is made.

    What is computed of it is not moved out of the loop that it stands in.
    """
    return InlineAsmOp("", "=r,0", [value], [i32], 0, has_side_effects=True)


def is_kept_in_place(op: Operation) -> bool:
    """Whether `kept_in_place` made `op`."""
    empty = isinstance(op, InlineAsmOp) and not op.asm_string.data
    return empty and [result.type for result in op.results] == [i32]
