"""Emits comparisons of indices, as masks have them, of whole numbers: nothing is converted."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr
from xdsl.ir import SSAValue

from mirage_mlir.dialects.threadblock_indices import MOST_EXACT
from mirage_mlir.passes.codegen.emitter import Emitter, Index

MOST_TERMS = 16
"""Of a sum of indices and numbers: each is at most 2^24, so that their sum is an i32."""

_NAMES = {"eq": "eq", "ne": "ne", "lt": "slt", "le": "sle", "gt": "sgt", "ge": "sge"}
PREDICATES = {f"{kind}{name}": whole for kind in "ou" for name, whole in _NAMES.items()}
"""Comparisons of floats, ordered and unordered, as those of whole numbers."""


def compared_indices(emit: Emitter, op: arith.CmpfOp, operands: list[SSAValue]) -> SSAValue | None:
    """
    What `op` says of operands that are sums of indices in f32 and of whole constants.

    A conversion takes four times as long as a comparison, and LLVM takes an index that is
    converted once, plus a constant, for one that is converted anew.

    Returns:
        None where one of them is something else.
    """
    predicate = PREDICATES.get(arith.CMPF_COMPARISON_OPERATIONS[op.predicate.value.data])
    lhs, rhs = (_whole_number(emit, value) for value in operands)
    if predicate is None or lhs is None or rhs is None:
        return None
    if isinstance(lhs, int) and isinstance(rhs, int):
        return None
    return emit.pure(arith.CmpiOp, emit.i32(lhs), emit.i32(rhs), predicate)


def _whole_number(emit: Emitter, value: SSAValue, terms: int = MOST_TERMS) -> Index | None:
    """The index that a value in f32 is, or the sum of up to `terms` of them; None for others."""
    made = value.owner
    if isinstance(made, arith.UIToFPOp):
        return made.input
    if isinstance(made, arith.ConstantOp) and isinstance(made.value, FloatAttr):
        number = made.value.value.data
        return int(number) if number.is_integer() and abs(number) <= MOST_EXACT else None
    if isinstance(made, arith.AddfOp | arith.SubfOp) and terms > 1:
        lhs, rhs = (_whole_number(emit, operand, terms // 2) for operand in made.operands)
        if lhs is not None and rhs is not None:
            return emit.add(lhs, rhs) if isinstance(made, arith.AddfOp) else emit.sub(lhs, rhs)
    return None
