"""
Finds the residuals of rounding among the values of a function: the second of two halves, say.

To the search and to proofs rounding is nothing: `x - bf16(x)` is 0, and so is what a compensated
sum carries on. A function runs in f64 with the rounding of its results to f16 and bf16, and
without; where a value differs in more than its last digits, it is a residual. From there on both
runs go on with the value of the first.

What rounding takes away may be small beside what is added to it, `(x - bf16(x)) + y`. So there are
several runs, in each of which one of the arguments, or all numbers of the program, are small.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import inf, prod

import numpy as np
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, OpResult, SSAValue

from mirage_mlir.dialects import kernel
from mirage_mlir.equivalence.dependences import operators_after, values_before
from mirage_mlir.equivalence.float_inputs import NORMAL, drawn_inputs
from mirage_mlir.equivalence.sample import Dims
from mirage_mlir.float_formats import FORMATS
from mirage_mlir.interpreters.domain import AnyArray
from mirage_mlir.interpreters.float_domain import FloatDomain, Floats, round_to_format
from mirage_mlir.interpreters.kernel import KernelInterpreter
from mirage_mlir.interpreters.operators import element_type_of, shape_of
from mirage_mlir.interpreters.rounded_results import rounds
from mirage_mlir.interpreters.tensors import Tensor

RESIDUAL = 1 / 16
"""
How much a value that is a residual of rounding changes without it, relative to its norm.

Of 222 programs of networks the largest changes are 0.02, of products of bf16 of random sign; what
is left of a value less its rounding changes by 1.
"""

SMALL = 2.0**-12
"""Of small inputs beside normal ones: less than what rounding to bf16 takes away."""

SAME, OTHER = 1e-9, 1e-6
"""How far numbers lie apart, relative to the largest, that are the same but for the order of sums,
and that are not."""

UNBOUNDED = {"least_exponent": -1074, "largest": inf}
"""A format without ends but those of f64: small numbers have all digits."""

MOST_RUNS = 12
"""Arguments that are small in a run of their own, at most."""

Values = dict[OpResult, Tensor[Floats]]


def rounding_residuals(
    function: FuncOp, dims: Dims, most_runs: int, seed: int
) -> frozenset[Operation]:
    """
    The operators of a function that make residuals, and all before them that round.

    Args:
        function: of kernel operators.
        dims: the elements of its arguments that are computed.
        most_runs: how many arguments are small in a run of their own, at most, and two more.
        seed: of the arguments.
    """
    rounding = [op for op in function.body.block.ops if rounds(op)]
    if not any(map(_is_met_again, rounding)):
        return frozenset()
    inputs, small_numbers = _inputs(function, dims, most_runs, seed)
    rounded = _Rounded(small_numbers)
    rounded.run(function, inputs)
    unrounded = _Unrounded(small_numbers, rounded.values)
    unrounded.run(function, inputs)
    # Each rounding before shifts what is left of one.
    read = (operand for op in unrounded.residuals for operand in op.operands)
    before = {value.owner for value in _varying_before(read)}
    return unrounded.residuals.union(op for op in rounding if op in before)


def _is_met_again(op: Operation) -> bool:
    """Whether something reads what an operator makes, and also what that is made of."""
    after = operators_after(op)
    sources = _varying_before(op.operands)
    others = (o for each in after for o in each.operands if o.owner is not op)
    return not sources.isdisjoint(_varying_before(o for o in others if o.owner not in after))


def _varying_before(values: Iterable[SSAValue]) -> set[SSAValue]:
    """Some values and all that they are computed from, but for constants."""
    fixed = kernel.ConstantOp | kernel.IotaOp
    return {value for value in values_before(values) if not isinstance(value.owner, fixed)}


def _inputs(
    function: FuncOp, dims: Dims, most_runs: int, seed: int
) -> tuple[list[Tensor[Floats]], Floats]:
    """Inputs in f64, and the factors of the program's own numbers, for all runs."""
    arguments = function.body.block.args
    smallest = sorted(range(len(arguments)), key=lambda n: prod(shape_of(arguments[n])))
    small = smallest[:most_runs]
    runs = len(small) + 2
    drawn = drawn_inputs(function, dims, [NORMAL] * runs, np.ones(runs), seed)
    factors = np.ones((len(arguments) + 1, runs))
    for run, number in enumerate([*small, len(arguments)]):
        factors[number, run] = SMALL
    return [_times(x, each) for x, each in zip(drawn, factors[:-1], strict=True)], factors[-1]


def _times(x: Tensor[Floats], factors: Floats) -> Tensor[Floats]:
    """A tensor in f64 with another factor in each run."""

    def change(array: AnyArray) -> AnyArray:
        return array.astype(np.float64) * factors.reshape(-1, *(1,) * (array.ndim - 1))

    return x.mapped(change)


class _WithFactors(KernelInterpreter[Floats]):
    """Runs functions in f64, with other numbers of the program in each run."""

    def __init__(self, factors: Floats):
        super().__init__(FloatDomain(rounding=False), sparse=True)
        self._factors = factors

    def _results(self, op: Operation, operands: list[Tensor[Floats]]) -> list[Tensor[Floats]]:
        found = super()._results(op, operands)
        if isinstance(op, kernel.ConstantOp):
            return [_times(each, self._factors) for each in found]
        return found


class _Rounded(_WithFactors):
    """Rounds the mantissa of results; exponents have no end, and small numbers all digits."""

    def __init__(self, factors: Floats):
        super().__init__(factors)
        self.values: Values = {}

    def _results(self, op: Operation, operands: list[Tensor[Floats]]) -> list[Tensor[Floats]]:
        found = super()._results(op, operands)
        if rounds(op):
            (value,), (result,) = found, op.results
            kind = replace(FORMATS[element_type_of(result.type)], **UNBOUNDED)
            found = [value.mapped(lambda x: round_to_format(x, kind))]
        self.values.update(zip(op.results, found, strict=True))
        return found


class _Unrounded(_WithFactors):
    """Goes on with the rounded values where these differ."""

    def __init__(self, factors: Floats, rounded: Values):
        super().__init__(factors)
        self._rounded = rounded
        self.residuals: frozenset[Operation] = frozenset()

    def _results(self, op: Operation, operands: list[Tensor[Floats]]) -> list[Tensor[Floats]]:
        found = super()._results(op, operands)
        rounded = [self._rounded[result] for result in op.results]
        if not any(self._differ(*pair) for pair in zip(rounded, found, strict=True)):
            return found
        self.residuals |= {op}
        return rounded

    def _differ(self, rounded: Tensor[Floats], other: Tensor[Floats]) -> bool:
        arrays = (self.domain.expanded(rounded), self.domain.expanded(other))
        ours, theirs = np.broadcast_arrays(*arrays)
        return _is_one_number(ours, theirs) or any(map(_are_apart, ours, theirs))


def _are_apart(rounded: AnyArray, other: AnyArray) -> bool:
    """Whether the finite values of one run differ in more than their last digits."""
    finite = np.isfinite(rounded) & np.isfinite(other)
    distance = np.linalg.norm(rounded[finite] - other[finite])
    return bool(distance > RESIDUAL * np.linalg.norm(rounded[finite]))


def _is_one_number(rounded: AnyArray, other: AnyArray) -> bool:
    """Whether all is one number but for rounding, as a value over its rounding is."""
    spreads = [_spread(array[np.isfinite(array)]) for array in (other, rounded)]
    return spreads[0] <= SAME and spreads[1] > OTHER


def _spread(values: Sequence[float] | AnyArray) -> float:
    """How far some numbers lie apart, relative to the largest."""
    array = np.asarray(values)
    if not array.size:
        return 0.0
    return float(np.ptp(array) / max(np.abs(array).max(), np.finfo(np.float64).tiny))
