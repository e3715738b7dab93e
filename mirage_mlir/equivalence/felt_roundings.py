"""
Finds the casts whose rounding a program is about, as that of the first of two halves is.

To the search and to proofs a cast is nothing, and `x - bf16(x)` is 0. So the program runs in f64
with the rounding of its casts, and without that of one of them: if some value then differs in more
than its last digits, that cast is felt. It has to stay what it is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, OpResult, SSAValue

from mirage_mlir.dialects import kernel
from mirage_mlir.equivalence.accuracy import GATE, Accuracy
from mirage_mlir.equivalence.float_gate import drawn_inputs, relative_errors
from mirage_mlir.equivalence.float_inputs import InputKind
from mirage_mlir.equivalence.known import Known
from mirage_mlir.equivalence.slabs import find_slabs
from mirage_mlir.interpreters.float_domain import Floats
from mirage_mlir.interpreters.rounded_casts import RoundedCasts, rounds
from mirage_mlir.interpreters.tensors import Tensor

FELT = 1 / 16
"""
How much a value changes, relative to its norm, if a cast that is felt does not round.

Of the casts of 62 programs of networks the largest changes are 0.018, products of bf16 of random
sign; what is left of a difference of a value and its rounding changes by 1.
"""

NORMAL = (InputKind("normal inputs"),)

SEED = 0
"""Of the inputs: the same program has the same kernels."""


def felt_roundings(function: FuncOp) -> frozenset[Operation]:
    """
    The casts of a function of kernel operators whose rounding is felt, and what feels it first.

    Where the function is too large to be run, the casts whose operand is read by others as well.
    """
    casts = [op for op in function.body.block.ops if rounds(op) and _is_met_again(op)]
    if not casts:
        return frozenset()
    inputs = _inputs(function)
    if inputs is None:
        return frozenset(op for op in casts if len(set(_readers(op.operands[0]))) > 1)
    rounded = _values(function, inputs)
    if not _different(rounded, _values(function, inputs, casts)):
        return frozenset()
    found: set[Operation] = set()
    for cast in casts:
        different = _different(rounded, _values(function, inputs, [cast]))
        first = {value.owner for value in different if not different & {*value.owner.operands}}
        found |= {cast, *first} if first else set()
    return frozenset(found)


def _is_met_again(cast: Operation) -> bool:
    """Whether something reads what a cast makes, and also what the cast's operand is made of."""
    after = _after(cast)
    sources = _before(cast.operands)
    others = (
        o for op in after for o in op.operands if o.owner is not cast and o.owner not in after
    )
    return any(value in sources for value in _before(others))


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
    accuracy = Accuracy(Known(function, SEED, quick=True), function, (), exponentials=False)
    sampled = accuracy.sampled(find_slabs(function, function, sums=True), GATE)
    if sampled is None:
        return None
    inputs = drawn_inputs(function, sampled[0], NORMAL, np.ones(1), SEED)
    return [each.mapped(lambda x: x.astype(np.float64)) for each in inputs]


Values = Mapping[OpResult, Tensor[Floats]]


def _values(
    function: FuncOp, inputs: Sequence[Tensor[Floats]], without: Collection[Operation] = ()
) -> Values:
    """All values of a function in f64, with the rounding of its casts but for some."""
    interpreter = RoundedCasts(without)
    interpreter.run(function, inputs)
    return interpreter.values


def _different(one: Values, other: Values) -> set[OpResult]:
    """The values of which the rounding of casts decides about more than the last digits."""
    return {value for value in one if max(relative_errors(other[value], one[value])) > FELT}
