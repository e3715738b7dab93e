"""Emits comparisons of indices, which masks are made of, as those of integers, not of floats."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr
from xdsl.ir import SSAValue

from mirage_mlir.float_formats import FORMATS
from mirage_mlir.passes.codegen.emitter import Emitter, Index

MOST_TERMS = 16
"""Of a sum of indices and constants: each is at most 2^24, so that their sum is an i32."""

_NAMES = {"eq": "eq", "ne": "ne", "lt": "slt", "le": "sle", "gt": "sgt", "ge": "sge"}
PREDICATES = {f"{kind}{name}": whole for kind in "ou" for name, whole in _NAMES.items()}
"""The predicates of `arith.cmpi` for those of `arith.cmpf`, ordered and unordered."""


def compared_indices(emit: Emitter, op: arith.CmpfOp, operands: list[SSAValue]) -> SSAValue | None:
    """
    What `op` says of operands that are sums of indices in f32 and of constants without a fraction.

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
    """A value in f32 as an i32: a sum of up to `terms` indices and constants; None for others."""
    made = value.owner
    if isinstance(made, arith.UIToFPOp):
        return made.input
    if isinstance(made, arith.ConstantOp) and isinstance(made.value, FloatAttr):
        number = made.value.value.data
        exact = number.is_integer() and abs(number) <= FORMATS["f32"].counts_to
        return int(number) if exact else None
    if isinstance(made, arith.AddfOp | arith.SubfOp) and terms > 1:
        lhs, rhs = (_whole_number(emit, operand, terms // 2) for operand in made.operands)
        if lhs is not None and rhs is not None:
            return emit.add(lhs, rhs) if isinstance(made, arith.AddfOp) else emit.sub(lhs, rhs)
    return None
