"""
How accurate a function is: the floating-point gate.

A candidate runs with the rounding of its element types and f32 sums, and is compared with the
reference in f64 without rounding; so does the reference itself, operator by operator. The error of
an output is ||y - r||_2 / ||r||_2, where the reference is finite in both ways, and not so large
that rounding decides whether its type has the number; it may reach

    4 e + 2 u + 2 u32 sqrt(K)

for the error e of the reference itself, a unit roundoff u, and the longest sum K: a program that is
ill-conditioned as its author wrote it is not the candidate's fault; a candidate may round another
intermediate value than the program does, once; and another order of a sum of K terms of random sign
in f32 has another error of about u32 sqrt(K). u is that of the output's type, or the largest on the
way to it if the program has an error of that size: with two halves for a value it has not. Where
the program is finite, the candidate has to be.

An output may be made of what rounding takes away (`x - bf16(x)`), which is nothing without. Its
reference has the rounding that makes it, in f64 otherwise (`rounding_residuals`).

Where few elements have large errors (near ties of large scores), or where a result is what did not
cancel (the divergence of distributions that are nearly equal), e is luck. So before a candidate is
refused, e is also the largest error of some runs of the program in which each value is rounded up
or down at random, the nearer number being more likely (stochastic rounding; Connolly, Higham and
Mary, Stochastic rounding and its probabilistic backward error analysis, 2021).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf, isfinite, isnan, log2, prod

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import SSAValue

from mirage_mlir.equivalence.dependences import operators_before
from mirage_mlir.equivalence.float_inputs import (
    KEPT,
    NORMAL,
    SCALED,
    InputKind,
    drawn_inputs,
)
from mirage_mlir.equivalence.rounding_residuals import MOST_RUNS, rounding_residuals
from mirage_mlir.equivalence.sample import Dims
from mirage_mlir.equivalence.tolerances import PROGRAM, tolerated
from mirage_mlir.interpreters.float_domain import FloatDomain, Floats
from mirage_mlir.interpreters.kernel import KernelInterpreter
from mirage_mlir.interpreters.operators import (
    element_type_of,
)
from mirage_mlir.interpreters.rounded_results import NoisyResults, RoundedResults
from mirage_mlir.interpreters.tensors import Tensor, TensorDomain

LARGEST = {"f16": 65504.0}
"""The largest number of types that programs come near to; nobody comes near to those of others."""

NEAR = 15 / 16
"""Part of the largest number beyond which rounding may, or may not, make infinity of a result."""

OTHER_RUNS = 3
"""How often the program runs with other luck, where a candidate is less accurate than it."""

MOST_FACTORS = 16.0
"""Inputs that are multiplied before exp, at most."""

LARGE_FACTORS = (8.0, 64.0, 512.0, 4096.0, 2.0**18)
"""Of normal inputs; f16 ends 65504 times above 1, and with the last no such input fits."""

SMALL_FACTORS = (2.0**-3, 2.0**-6, 2.0**-9, 2.0**-12)
"""Of normal inputs; below 2^-14 f16 has fewer bits."""

WIDE_FACTORS = (2.0**17, 2.0**34, 2.0**100)
"""
The same of the data of programs without f16, and their inverses: a hundred thousand; 2e10, whose
third power types with the exponents of f32 hold; and what programs bear that divide by the largest
first, so that they can square.
"""

NOISE = 2.0**-17
"""
Of what is not exact before it is rounded to f16 or bf16, where what rounding takes away is kept:
many times what other orders of operations change, so that some ties are rounded the other way in
each run; of values that are rounded to bf16 one in 256, so that what is left has digits still.
"""

DISTINCT = 1e-9
"""Relative distance in f64 beyond which outputs are different: reordered sums stay below 1e-12."""


@dataclass(frozen=True)
class Loss:
    """The error of one output on inputs of one kind."""

    output: int
    inputs: str
    error: float
    tolerance: float

    @property
    def acceptable(self) -> bool:
        """Whether the error is within the tolerance; NaN is not."""
        return self.error <= self.tolerance


class FloatGate:
    """Inputs, f64 results and tolerances of a reference, for any number of candidates."""

    def __init__(self, reference: FuncOp, dims: Dims, kinds: Sequence[InputKind], seed: int):
        self.reference = reference
        self.dims = dims
        self.seed = seed
        largest = max([1, *(prod(dim.count for dim in each) for each in dims)])
        together = max(1, KEPT // largest)
        factors = self._factors(kinds)
        runs = min(MOST_RUNS, max(0, together - 2))
        self.kept = rounding_residuals(reference, dims, runs, seed)
        """The operators whose rounding is part of what is to be computed."""
        self.of_residuals = [
            not self.kept.isdisjoint(operators_before([value])) for value in results_of(reference)
        ]
        """Of each output whether it is computed from residuals of rounding."""
        # Those of shifted arguments by themselves: the luck of the others does not depend on them.
        apart = [
            [place for place, kind in enumerate(kinds) if bool(kind.shift) == shifted]
            for shifted in (False, True)
        ]
        groups = [
            group[start : start + together]
            for group in apart
            for start in range(0, len(group), together)
        ]
        self._groups = [
            _Group(self, [kinds[place] for place in group], factors[group]) for group in groups
        ]

    def losses(self, candidate: FuncOp) -> list[Loss]:
        """
        The errors of each output on inputs of each kind.

        Raises:
            NotInterpretable: an operation has no interpretation.
        """
        found = [loss for group in self._groups for loss in group.losses(candidate)]
        return sorted(found, key=lambda loss: loss.output)

    def differs(self, candidate: FuncOp) -> bool:
        """Whether some output differs in f64 on inputs of some kind."""
        return any(group.differs(candidate) for group in self._groups)

    @property
    def is_defined(self) -> bool:
        """Whether each output has elements that are numbers, on inputs of some kind."""
        each = zip(*(group.defined for group in self._groups), strict=True)
        return all(any(found) for found in each)

    def drawn(
        self, kinds: Sequence[InputKind], factors: NDArray[np.float64]
    ) -> list[Tensor[Floats]]:
        """See `drawn_inputs`."""
        return drawn_inputs(self.reference, self.dims, kinds, factors, self.seed)

    def _factors(self, kinds: Sequence[InputKind]) -> NDArray[np.float64]:
        """The factors for inputs of each kind, which set the size of arguments of exp."""
        factors = np.array([self._factor_borne(kind) for kind in kinds])
        wanted = np.array([kind.scores for kind in kinds])
        if not wanted.any():
            return factors
        found = [self._largest_exponent(factor) for factor in (1.0, 2.0)]
        if not (np.isfinite(found).all() and 0 < found[0] < found[1]):
            return factors
        # Scores are products of two inputs as a rule, and grow with the square of a factor.
        power = min(log2(found[1] / found[0]), MOST_FACTORS)
        with np.errstate(over="ignore"):
            factors = np.where(wanted > 0, (wanted / found[0]) ** (1 / power), factors)
        # Scores that hardly grow cannot be made large.
        return np.where(np.isfinite(factors), factors, 1.0)

    def _factor_borne(self, kind: InputKind) -> float:
        """The factor for inputs as large, or as small, as the program bears."""
        if kind.largest:
            return self._largest_factor(kind)
        return self._smallest_factor(kind) if kind.smallest else 1.0

    def _largest_factor(self, kind: InputKind) -> float:
        """
        The largest of some factors of normal inputs with which the program stays finite.

        Without f16 it is as accurate as well: of squares that overflow roots may be finite again.
        """
        if kind.scaled_data:
            return max(self._bearable(WIDE_FACTORS, SCALED))
        kinds = [NORMAL] * len(LARGE_FACTORS)
        inputs = self.drawn(kinds, np.array(LARGE_FACTORS))
        fits = np.ones(len(kinds), bool)
        for result in run(self.reference, FloatDomain(rounding=True), inputs):
            axes = tuple(range(1, result.array.ndim))
            fits &= np.isfinite(result.array).all(axis=axes)
        return max((f for f, fit in zip(LARGE_FACTORS, fits, strict=True) if fit), default=1.0)

    def _smallest_factor(self, kind: InputKind) -> float:
        """The smallest of some factors with which the program is as accurate as without."""
        if kind.scaled_data:
            return min(self._bearable([1 / factor for factor in WIDE_FACTORS], SCALED))
        return min(self._bearable(SMALL_FACTORS, NORMAL))

    def _bearable(self, some: Sequence[float], kind: InputKind) -> list[float]:
        """The factors of normal inputs with which the program is as accurate as with 1."""
        factors = (1.0, *some)
        inputs = self.drawn([kind] * len(factors), np.array(factors))
        runs = (run(self.reference, FloatDomain(rounding=each), inputs) for each in (True, False))
        fits = np.ones(len(factors), bool)
        for own, exact in zip(*runs, strict=True):
            errors = np.array(_each(relative_errors(own, exact), len(factors)))
            fits &= errors <= PROGRAM * errors[0]
        return [factor for factor, fit in zip(factors, fits, strict=True) if fit] or [1.0]

    def _largest_exponent(self, factor: float) -> float:
        """The largest argument of exp on normal inputs times a factor; 0 without exp."""
        domain = FloatDomain(rounding=False)
        inputs = self.drawn([NORMAL], np.array([factor]))
        run(self.reference, domain, inputs)
        largest = domain.largest_exponent
        return 0.0 if largest is None else float(largest.max())


class _Group:
    """Kinds of inputs that are computed together."""

    def __init__(self, gate: FloatGate, kinds: Sequence[InputKind], factors: NDArray[np.float64]):
        self._gate = gate
        self._kinds = kinds
        self._limits = [
            NEAR * LARGEST.get(element_type_of(value.type), inf)
            for value in results_of(gate.reference)
        ]
        self._inputs = gate.drawn(kinds, factors)
        self._unrounded = self._run(gate.reference, rounding=False)
        self._exact = self._unrounded
        if any(gate.of_residuals):
            wide = [each.mapped(lambda x: x.astype(np.float64)) for each in self._inputs]
            rounded = RoundedResults(gate.kept).run(gate.reference, wide)
            self._exact = [
                one if residual else other
                for residual, one, other in zip(
                    gate.of_residuals, rounded, self._unrounded, strict=True
                )
            ]
        self._own = self._run(gate.reference, rounding=True)
        self._tolerances = self._tolerated(self._errors(self._own))

    @cached_property
    def _largest_tolerances(self) -> list[list[float]]:
        """What is tolerated if the program's error is the largest of several."""
        found = self._tolerances
        for number in range(OTHER_RUNS):
            others = self._tolerated(self._errors(self._with_luck(number)))
            found = [
                [max(pair) if isfinite(pair[1]) else pair[0] for pair in zip(*each, strict=True)]
                for each in zip(found, others, strict=True)
            ]
        return found

    def _with_luck(self, number: int) -> list[Tensor[Floats]]:
        """The results of the program with other luck."""
        reference, seed = self._gate.reference, self._gate.seed
        lucky = run(reference, FloatDomain(rounding=True, luck=[seed, 8, number]), self._inputs)
        if not any(self._gate.of_residuals):
            return lucky
        # What rounding takes away is no luck, but for ties.
        noisy = NoisyResults(NOISE, [seed, 9, number]).run(reference, self._inputs)
        return [
            one if residual else other
            for residual, one, other in zip(self._gate.of_residuals, noisy, lucky, strict=True)
        ]

    def _tolerated(self, errors: list[list[float]]) -> list[list[float]]:
        """The errors that candidates may have, for those of the program."""
        values = results_of(self._gate.reference)
        return [
            [tolerated(value, error) for error in each]
            for value, each in zip(values, errors, strict=True)
        ]

    def losses(self, candidate: FuncOp) -> list[Loss]:
        """The errors of each output on inputs of each kind."""
        found = self._errors(self._run(candidate, rounding=True))
        losses = self._losses(found, self._tolerances)
        if all(loss.acceptable for loss in losses):
            return losses
        return [
            loss if loss.acceptable else other
            for loss, other in zip(
                losses, self._losses(found, self._largest_tolerances), strict=True
            )
        ]

    def _losses(self, found: list[list[float]], tolerances: list[list[float]]) -> list[Loss]:
        return [
            Loss(output, kind.name, error, tolerance)
            for output, errors in enumerate(found)
            for kind, error, tolerance in zip(self._kinds, errors, tolerances[output], strict=True)
        ]

    @property
    def defined(self) -> list[bool]:
        """Of each output whether elements are numbers in f64."""
        return [bool(np.isfinite(exact.array).any()) for exact in self._unrounded]

    def differs(self, candidate: FuncOp) -> bool:
        """
        Whether some output differs in f64.

        Where arguments are shifted or equal, what is left of a result may be nothing but rounding
        in f64.
        """
        results = self._run(candidate, rounding=False)
        return any(
            error > DISTINCT and not (kind.shift or kind.equal)
            for exact, result in zip(self._unrounded, results, strict=True)
            for kind, error in zip(
                self._kinds, _each(relative_errors(result, exact), len(self._kinds)), strict=True
            )
        )

    def _run(self, function: FuncOp, *, rounding: bool) -> list[Tensor[Floats]]:
        """What a function returns for inputs of all kinds, one run each."""
        return run(function, FloatDomain(rounding=rounding), self._inputs)

    def _errors(self, results: Sequence[Tensor[Floats]]) -> list[list[float]]:
        """The errors of results for each kind of input, where the program is finite."""
        found = [
            _each(relative_errors(result, exact, own, limit), len(self._kinds))
            for result, exact, own, limit in zip(
                results, self._exact, self._own, self._limits, strict=True
            )
        ]
        return [
            [
                0.0 if kind.equal and isfinite(error) else error
                for kind, error in zip(self._kinds, errors, strict=True)
            ]
            for errors in found
        ]


def run(
    function: FuncOp, domain: FloatDomain, inputs: Sequence[Tensor[Floats]]
) -> list[Tensor[Floats]]:
    """The results of a function for inputs in f32."""
    interpreter = KernelInterpreter(domain, sparse=True)
    return interpreter.run(function, [_as(domain, x) for x in inputs])


def _each(errors: list[float], count: int) -> list[float]:
    """One error for each kind; a value that depends on no input has the same for all."""
    return errors * count if len(errors) == 1 else errors


def _as(domain: FloatDomain, x: Tensor[Floats]) -> Tensor[Floats]:
    """An input as a domain takes it."""
    return x if domain.rounding else x.mapped(lambda array: array.astype(domain.dtype))


def relative_errors(
    result: Tensor[Floats],
    exact: Tensor[Floats],
    own: Tensor[Floats] | None = None,
    limit: float = inf,
) -> list[float]:
    """
    `||y - r||_2 / ||r||_2` for each run, where r is below a limit, and `own` finite.

    Infinite where y is no number there; zero where there are no such elements.
    """
    domain = TensorDomain(FloatDomain(rounding=False))
    arrays = [domain.expanded(x) for x in (result, exact, own or exact)]
    y, r, program = np.broadcast_arrays(*(array.astype(np.float64) for array in arrays))
    errors: list[float] = []
    for ours, theirs, other in zip(y, r, program, strict=True):
        valid = (np.abs(theirs) < limit) & np.isfinite(other)
        with np.errstate(all="ignore"):
            distance = float(np.sum((ours[valid] - theirs[valid]) ** 2)) ** 0.5
            norm = float(np.sum(theirs[valid] ** 2)) ** 0.5
        if isnan(distance):
            errors.append(inf)
        else:
            errors.append(distance / norm if norm else distance)
    return errors


def results_of(reference: FuncOp) -> Sequence[SSAValue]:
    """The values that a function returns."""
    last = reference.body.block.last_op
    assert isinstance(last, ReturnOp)
    return last.operands
