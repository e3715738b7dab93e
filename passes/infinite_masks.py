"""The `infinite-masks` pass."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf, prod

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from mirage_mlir.diagnostics import remark
from mirage_mlir.dialects import kernel
from mirage_mlir.dialects.bases import constant_value
from mirage_mlir.dialects.elementwise import row_of
from mirage_mlir.passes.analysis.index_formulas import VIEWS, is_formula
from mirage_mlir.passes.analysis.index_values import values_at

LARGE = -1e30
"""
Numbers below it stand for minus infinity: JAX has -2.4e38, or the lowest finite number. No score
of attention is near it: its square is no number of f32.
"""

AT_ONCE = 1 << 22
"""Elements of a mask that are looked at together: some 100 MB with all that they are made of."""

Dims = frozenset[int]
"""Dimensions, counted from the last, which is 0: operands with fewer are broadcast."""


def make_masks_infinite(op: Operation) -> None:
    """Write minus infinity into masks of a softmax which leave something of each of its rows."""
    for select in [each for each in op.walk() if isinstance(each, kernel.SelectOp)]:
        if (masked := _masked(select)) is None:
            continue
        row = _row_of_softmax(select.result)
        if row is not None and _leaves_some(select, seen=masked is select.rhs, row=row):
            _replace(select, masked)


def _masked(select: kernel.SelectOp) -> SSAValue | None:
    """
    The large number that a condition on indices selects in place of scores; None where there is
    none, or where another mask may have put such numbers among the scores: of a row that both hide
    the finite ones make a mean.
    """
    if is_formula(select.condition):
        for number, scores in ((select.rhs, select.lhs), (select.lhs, select.rhs)):
            if _is_large(number) and constant_value(number) != -inf and not _has_large(scores):
                return number
    return None


def _is_large(value: SSAValue) -> bool:
    number = constant_value(value)
    return number is not None and number <= LARGE


def _has_large(value: SSAValue) -> bool:
    """Whether elementwise operators take some of the elements of a value from large numbers."""
    pending, seen = [value], {value}
    while pending:
        value = pending.pop()
        op = value.owner
        if _is_large(value):
            return True
        if isinstance(op, VIEWS) or (isinstance(op, kernel.TensorOp) and row_of(op) is not None):
            pending += [operand for operand in op.operands if operand not in seen]
            seen.update(op.operands)
    return False


def _row_of_softmax(scores: SSAValue) -> Dims | None:
    """The dims of a row of a softmax of `scores`; None where these are used for anything else."""
    found = set[Dims]()
    for use in scores.uses:
        match use.operation:
            case kernel.SoftmaxOp() as op:
                found.add(_from_last(scores, [op.dim.value.data]))
            case kernel.ReduceMaxOp() as op:
                found.add(_from_last(scores, op.dims.get_values()))
            case kernel.SubOp() as op if _is_exponent(op, scores):
                pass
            case _:
                return None
    return found.pop() if len(found) == 1 else None


def _from_last(value: SSAValue, dims: Iterable[int]) -> Dims:
    last = len(kernel.shape_of(value)) - 1
    return frozenset(last - dim for dim in dims)


def _is_exponent(op: kernel.SubOp, scores: SSAValue) -> bool:
    """Whether scores less their maximum become exponentials, and nothing else."""
    maximum = op.rhs.owner
    while isinstance(maximum, kernel.ReshapeOp | kernel.BroadcastOp):
        maximum = maximum.operands[0].owner
    of_scores = isinstance(maximum, kernel.ReduceMaxOp) and maximum.input == scores
    return of_scores and all(isinstance(use.operation, kernel.ExpOp) for use in op.result.uses)


def _leaves_some(select: kernel.SelectOp, *, seen: bool, row: Dims) -> bool:
    """
    Whether each row has an element that is no number.

    Args:
        select: of a value or a number.
        seen: what the condition is where it selects the value.
        row: the dims of a row.
    """
    shape = kernel.shape_of(select.condition)
    axes = range(len(shape))
    rows = tuple(axis for axis in axes if len(shape) - 1 - axis in row)
    cut = max(set(axes).difference(rows), key=shape.__getitem__, default=0)
    step = shape[cut] if cut in rows else max(1, AT_ONCE * shape[cut] // prod(shape))
    for start in range(0, shape[cut], step):
        indices = [np.arange(size) for size in shape]
        indices[cut] = indices[cut][start : start + step]
        if not (values_at(select.condition, indices) == seen).any(axis=rows).all():
            return False
    return True


def _replace(select: kernel.SelectOp, masked: SSAValue) -> None:
    number = masked.owner
    assert isinstance(number, kernel.ConstantOp)
    infinite = kernel.ConstantOp(-inf, masked.type)
    infinite.location = number.location
    Rewriter.insert_op(infinite, InsertPoint.before(select))
    select.operands[select.operands.index(masked)] = infinite.result
    if not number.result.uses:
        Rewriter.erase_op(number)
    remark(select, f"takes {number.value.value.data:.2e} for minus infinity")


@dataclass(frozen=True)
class InfiniteMasksPass(ModulePass):
    """
    Write minus infinity for large finite numbers in masks of a softmax.

    Input:
        %lowest = kernel.constant {value = -2.38e+38 : f32} : tensor<1x1xf32>
        %masked = kernel.select %seen, %scores, %lowest : ...
        %y = kernel.softmax %masked {dim = 1 : i64} : ...

    Output:
        %infinite = kernel.constant {value = 0xFF800000 : f32} : tensor<1x1xf32>
        %masked = kernel.select %seen, %scores, %infinite : ...
        %y = kernel.softmax %masked {dim = 1 : i64} : ...

    Behind it `bound-loops` knows that masked scores add nothing to a sum of exponentials, and lets
    blocks leave out iterations of which nothing is seen. The condition must be a formula of indices
    that leaves something of each row, and no other mask may have put large numbers there: no row is
    masked as a whole then, of which the finite number would make a mean. Both are the same in f32
    wherever a row has a score above -1e30 that is seen. What JAX makes is converted so; a remark
    says where.
    """

    name = "infinite-masks"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        make_masks_infinite(op)
