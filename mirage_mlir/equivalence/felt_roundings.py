"""
Finds the operators whose rounding a program is about: a cast to the first of two halves, say.

To the search and to proofs rounding is nothing: `x - bf16(x)` is 0, and so is what a compensated
sum carries on. So the program runs in f64 with the rounding of its results to f16 and bf16, and
without. If some value differs in more than its last digits, what it is made of has to be rounded as
the program does it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, OpResult, SSAValue

from mirage_mlir.dialects import kernel
from mirage_mlir.equivalence.accuracy import (
    GATE_LABELS,
    MOST_TOGETHER,
    MOST_WHOLE,
    QUICK_GATE,
    READ,
)
from mirage_mlir.equivalence.float_gate import FELT, relative_errors
from mirage_mlir.equivalence.float_inputs import InputKind, drawn_inputs
from mirage_mlir.equivalence.sample import adjacent
from mirage_mlir.equivalence.slabs import find_slabs
from mirage_mlir.equivalence.work import most_elements, seconds
from mirage_mlir.interpreters.float_domain import Floats
from mirage_mlir.interpreters.rounded_results import RoundedResults, rounds
from mirage_mlir.interpreters.tensors import Tensor

MOST_SECONDS = 2.0
"""Estimated, of a run on the fewest elements: a layer of a language model has 0.2."""

NORMAL = [InputKind("normal inputs")]

SEED = 0
"""Of the inputs: the same program has the same kernels."""


def felt_roundings(function: FuncOp) -> frozenset[Operation]:
    """
    The operators of a function whose rounding is felt, and those whose results show it first.

    Where the function is too large to be run, the casts whose operand is read by others as well.
    """
    rounding = [op for op in function.body.block.ops if rounds(op)]
    met_again = list(filter(_is_met_again, rounding))
    if not met_again:
        return frozenset()
    inputs = _inputs(function)
    if inputs is None:
        return frozenset(filter(_is_split, rounding))
    rounded = _values(function, inputs)
    different = _different(rounded, _values(function, inputs, met_again))
    first = {value.op for value in different if different.isdisjoint(value.op.operands)}
    # Each rounding before shifts what is left of one.
    before = {value.owner for op in first for value in _before(op.operands)}
    return frozenset(first.union(op for op in rounding if op in before))


def _is_split(op: Operation) -> bool:
    return isinstance(op, kernel.CastOp) and len(set(_readers(op.input))) > 1


def _is_met_again(op: Operation) -> bool:
    """Whether something reads what an operator makes, and also what that is made of."""
    after = _after(op)
    sources = _before(op.operands)
    others = (o for each in after for o in each.operands if o.owner is not op)
    return not sources.isdisjoint(_before(o for o in others if o.owner not in after))


def _readers(value: SSAValue) -> list[Operation]:
    return [use.operation for use in value.uses]


def _after(op: Operation) -> set[Operation]:
    """All operations that depend on one."""
    found: set[Operation] = set()
    pending = [reader for result in op.results for reader in _readers(result)]
    while pending:
        last = pending.pop()
        if last not in found:
            found.add(last)
            pending += [reader for result in last.results for reader in _readers(result)]
    return found


def _before(values: Iterable[SSAValue]) -> set[SSAValue]:
    """Some values and all that they depend on, but for constants."""
    found: set[SSAValue] = set()
    pending = list(values)
    while pending:
        value = pending.pop()
        if value not in found and not isinstance(value.owner, kernel.ConstantOp | kernel.IotaOp):
            found.add(value)
            pending += value.owner.operands if isinstance(value.owner, Operation) else ()
    return found


def _inputs(function: FuncOp) -> list[Tensor[Floats]] | None:
    """Normal inputs in f64, of as few elements as stand for all; None where those are too many."""
    slabs = find_slabs(function, function, sums=True)

    def fits(labels: int, most_seconds: float, most: float) -> bool:
        if seconds(function, 1, slabs, labels, READ) > most_seconds:
            return False
        return most_elements(function, slabs, labels) <= most

    labels = next((n for n in GATE_LABELS if fits(n, QUICK_GATE, MOST_TOGETHER)), 1)
    if not fits(labels, MOST_SECONDS, MOST_WHOLE):
        return None
    dims = adjacent(function, slabs, labels, np.random.default_rng(SEED))
    inputs = drawn_inputs(function, dims, NORMAL, np.ones(1), SEED)
    return [each.mapped(lambda x: x.astype(np.float64)) for each in inputs]


Values = Mapping[OpResult, Tensor[Floats]]


def _values(
    function: FuncOp, inputs: Sequence[Tensor[Floats]], without: Collection[Operation] = ()
) -> Values:
    """All values of a function in f64, with the rounding of results but for some."""
    interpreter = RoundedResults(without)
    interpreter.run(function, inputs)
    return interpreter.values


def _different(one: Values, other: Values) -> set[OpResult]:
    """The values about which rounding decides more than the last digits."""
    return {value for value in one if max(relative_errors(other[value], one[value])) > FELT}
