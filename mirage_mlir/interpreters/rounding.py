"""
How much accuracy a function loses: the floating-point gate.

A function runs with the rounding of its element types and f32 sums, and is compared with the
reference in f64 without rounding, on inputs of several kinds: normal ones, ones far from zero
against their spread (which a difference of large sums does not survive), and ones that make
arguments of exp as large as attention scores get. Sums have their full length; other dimensions
are cut to a few indices.

The error of an output is ||y - r||_2 / ||r||_2. It may reach

    4 u + (n + 2 e) u32

for the largest unit roundoff u of the reference's element types (and of tf32, where it asks for
products in that), sums of n terms and arguments of
exp up to e: each stored operand and the result are rounded once, which is up to u each; a sum of n
terms in f32 has an error of about sqrt(n) u32 times the sum of their magnitudes, which for terms of
random sign is sqrt(n) times larger than the sum itself; and exp makes a relative error of the
error of its argument, which is a sum of two numbers at least. Or four times the error of the
reference when that is run with the same rounding: a program that is ill-conditioned as its author
wrote it is not the candidate's fault, and rounding errors of two orders of the same operations
differ by less. Inputs on which even a kernel that rounds nothing but results and operands of matrix
units leaves the range of its types are halved until it does not: they would say nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isnan

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from mirage_mlir.interpreters.dimensions import DimensionClasses
from mirage_mlir.interpreters.domain import ElementType
from mirage_mlir.interpreters.float_domain import FloatDomain, Floats, round_to
from mirage_mlir.interpreters.kernel import KernelInterpreter
from mirage_mlir.interpreters.operators import element_type_of, in_tf32, mnemonic, shape_of
from mirage_mlir.interpreters.representatives import Axes
from mirage_mlir.interpreters.tensors import Tensor, TensorDomain

Doubles = NDArray[np.float64]

ROUNDOFF: dict[ElementType, float] = {
    "f16": 2.0**-11,
    "bf16": 2.0**-8,
    "tf32": 2.0**-11,
    "f32": 2.0**-24,
    "f64": 2.0**-53,
}
"""Unit roundoff: half the distance from 1 to the next number."""

DISTANCE: dict[ElementType, float] = {"f16": 256.0, "bf16": 32.0, "f32": 1024.0, "f64": 1024.0}
"""Mean over spread of inputs far from zero; a type still tells a few steps within the spread."""

USUAL_EXPONENT = 10.0
"""Arguments of exp are at most this large on normal inputs."""

LARGE_EXPONENT = 60.0
"""Arguments of exp on hard inputs: attention scores reach this, and e^60 overflows f16 by far."""


CALIBRATIONS = 6
"""Steps to the wanted arguments of exp: two when they are products of two inputs."""

MOST_FACTORS = 16.0
"""Inputs that are multiplied before exp, at most: queries and keys with weights and rotations have
eight."""

CALIBRATED = 0.1
"""Inputs that a factor this close to 1 would correct stay."""

HALVINGS = 8
"""Of inputs that overflow: those far from zero are at most 2^8, and squared in products of two."""

LARGEST: dict[ElementType, float] = {"f16": 65504.0, "bf16": 3.38e38, "f32": 3.40e38, "f64": 1e308}
"""The largest finite number of a type."""


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


@dataclass(frozen=True)
class Kind:
    """One kind of input, on which all functions run once."""

    name: str
    far: int | None = None
    """The argument whose mean is far from zero."""
    exponent: float = USUAL_EXPONENT
    """The largest argument of exp, about."""


class RoundingTests:
    """Inputs, f64 results and tolerances of a reference, for any number of candidates."""

    def __init__(
        self,
        reference: FuncOp,
        terms: int,
        axes: Axes,
        seed: int,
    ):
        """`terms` is how many terms the longest sum has: `longest_sum`."""
        self.reference = reference
        self.axes = axes
        self._arguments = list(reference.body.block.args)
        exponential = _has_exponentials(reference)
        self.kinds = [Kind("normal inputs")]
        self.kinds += [
            Kind(f"argument {number} far from zero", far=number)
            for number, argument in enumerate(self._arguments)
            if max(shape_of(argument), default=1) > 1
        ]
        if exponential:
            self.kinds.append(Kind("arguments of exp up to 60", exponent=LARGE_EXPONENT))
        base = 4 * _roundoff(reference) + terms * ROUNDOFF["f32"]
        bases = [
            base + (2 * kind.exponent * ROUNDOFF["f32"] if exponential else 0.0)
            for kind in self.kinds
        ]
        self._draws = self._drawn(np.random.default_rng([seed, len(self.kinds)]))
        self._largest = [LARGEST[_element_type(value)] for value in _results(reference)]
        factors = self._calibrated()
        own = self._own_errors(factors)
        for _ in range(HALVINGS):
            finite = [bool(np.isfinite(errors).all()) for errors in zip(*own, strict=True)]
            # Where the program as written is in range, the most careful kernel is, too.
            if all(finite):
                break
            overflown = [
                not within and (careful or (exponential and kind.exponent == USUAL_EXPONENT))
                for kind, within, careful in zip(self.kinds, finite, self._overflown(), strict=True)
            ]
            if not any(overflown):
                break
            factors = np.where(overflown, factors / 2, factors)
            own = self._own_errors(factors)
        self._tolerances = [
            [
                max(base, 4 * error) if np.isfinite(error) else base
                for base, error in zip(bases, errors, strict=True)
            ]
            for errors in own
        ]

    def losses(self, candidate: FuncOp) -> list[Loss]:
        """The errors of each output on inputs of each kind."""
        return [
            Loss(output, kind.name, error, tolerance)
            for output, errors in enumerate(self._errors(candidate))
            for kind, error, tolerance in zip(
                self.kinds, errors, self._tolerances[output], strict=True
            )
        ]

    def exact(self, function: FuncOp) -> list[Tensor[Floats]]:
        """What a function returns in f64 for inputs of all kinds, one run each."""
        return self._run(function, FloatDomain(rounding=False))

    def inputs(self, kind: int) -> list[Tensor[Floats]]:
        """The inputs of one kind, in f64."""
        return [
            Tensor(array[kind : kind + 1].astype(np.float64), axes)
            for array, axes in zip(self._inputs, self.axes, strict=True)
        ]

    # Inputs

    def _drawn(self, random: np.random.Generator) -> list[Floats]:
        """Inputs of each kind before calibration, one run each."""
        draws: list[Floats] = []
        for number, (argument, axes) in enumerate(zip(self._arguments, self.axes, strict=True)):
            draw = random.standard_normal((1, *(axis.classes for axis in axes)))
            draw = np.repeat(draw, len(self.kinds), axis=0)
            for run, kind in enumerate(self.kinds):
                if kind.far == number:
                    draw[run] += DISTANCE[_element_type(argument)]
            draws.append(draw / _contraction(self.reference, argument) ** 0.5)
        return draws

    def _own_errors(self, factors: Doubles) -> list[list[float]]:
        """The errors of the reference itself on the draws times `factors`, which become inputs."""
        self._inputs = self._scaled(factors)
        self._exact = self._run(self.reference, FloatDomain(rounding=False))
        return self._errors(self.reference)

    def _overflown(self) -> list[bool]:
        """For each kind of input whether the most careful kernel leaves the range of a type."""
        results = self._run(self.reference, FloatDomain(rounding=True), wide=True)
        errors = self._compared(results)
        return [not np.isfinite(each).all() for each in zip(*errors, strict=True)]

    def _calibrated(self) -> Doubles:
        """Factors with which arguments of exp are as large as their kind says."""
        wanted = np.array([kind.exponent for kind in self.kinds])
        factors = np.ones(len(self.kinds))
        # Scores are products of two inputs as a rule; of which power they are otherwise, steps say.
        powers = np.full(len(self.kinds), 2.0)
        step = np.ones(len(self.kinds))
        last: Doubles | None = None
        for _ in range(CALIBRATIONS):
            inputs = self._scaled(factors)
            domain = FloatDomain(rounding=False)
            self._run(self.reference, domain, inputs)
            found = domain.largest_exponent
            if found is None:
                return factors
            found = np.where(np.isfinite(found) & (found > 0), found, 16 * wanted)
            if last is not None:
                with np.errstate(all="ignore"):
                    power = np.log(found / last) / np.log(step)
                powers = np.where(np.isfinite(power), np.clip(power, 1.0, MOST_FACTORS), powers)
            last = found
            step = (wanted / found) ** (1 / powers)
            # Usual inputs stay as drawn where that is small enough; a step too far is taken back.
            step = np.where(wanted > USUAL_EXPONENT, step, np.minimum(step, 1.0 / factors))
            if (np.abs(step - 1) < CALIBRATED).all():
                return factors
            factors = factors * step
        return factors

    def _scaled(self, factors: Doubles) -> list[Floats]:
        with np.errstate(over="ignore"):
            return [
                round_to(draw * factors.reshape(-1, *(1,) * (draw.ndim - 1)), _element_type(value))
                for draw, value in zip(self._draws, self._arguments, strict=True)
            ]

    # Runs

    def _run(
        self,
        function: FuncOp,
        domain: FloatDomain,
        inputs: Sequence[Floats] | None = None,
        *,
        wide: bool = False,
    ) -> list[Tensor[Floats]]:
        arrays = self._inputs if inputs is None else inputs
        tensors: list[Tensor[Floats]] = [
            Tensor(array.astype(domain.dtype), axes)
            for array, axes in zip(arrays, self.axes, strict=True)
        ]
        return KernelInterpreter(domain, wide=wide).run(function, tensors)

    def _errors(self, function: FuncOp) -> list[list[float]]:
        """The error of each output for each kind of input, rounding included."""
        return self._compared(self._run(function, FloatDomain(rounding=True)))

    def _compared(self, results: Sequence[Tensor[Floats]]) -> list[list[float]]:
        """The error of each result for each kind of input."""
        errors = [
            relative_errors(result, exact, largest)
            for result, exact, largest in zip(results, self._exact, self._largest, strict=True)
        ]
        # What depends on no input is the same in all runs.
        return [each * len(self.kinds) if len(each) == 1 else each for each in errors]


def longest_sum(reference: FuncOp, classes: DimensionClasses) -> int:
    """The terms of the longest sum over a dimension of an argument."""
    terms = [
        size
        for argument in reference.body.block.args
        for dim, size in enumerate(shape_of(argument))
        if classes.of((argument, dim)).reduced
    ]
    return max(terms, default=0)


def relative_errors(
    result: Tensor[Floats], exact: Tensor[Floats], largest: float = inf
) -> list[float]:
    """
    `||y - r||_2 / ||r||_2` for each run, over the elements where |r| is at most `largest`.

    Infinite where y is no number there; zero where r is nowhere in range.
    """
    domain = TensorDomain(FloatDomain(rounding=False))
    result, exact = domain.aligned(result, exact, range(len(exact.axes)))
    y, r = np.broadcast_arrays(result.array.astype(np.float64), exact.array)
    errors: list[float] = []
    for ours, theirs in zip(y, r, strict=True):
        valid = np.isfinite(theirs) & (np.abs(theirs) <= largest)
        with np.errstate(all="ignore"):
            distance = float(np.sum((ours[valid] - theirs[valid]) ** 2)) ** 0.5
            norm = float(np.sum(theirs[valid] ** 2)) ** 0.5
        if isnan(distance):
            errors.append(inf)
        else:
            errors.append(distance / norm if norm else distance)
    return errors


def _element_type(value: SSAValue) -> ElementType:
    return element_type_of(value.type)


def _results(reference: FuncOp) -> Sequence[SSAValue]:
    last = reference.body.block.last_op
    assert last is not None
    return last.operands


def _roundoff(reference: FuncOp) -> float:
    """The largest unit roundoff of any tensor that the reference names, or product rounds to."""
    values = [*reference.body.block.args]
    values += [result for op in reference.body.block.ops for result in op.results]
    found = [ROUNDOFF[_element_type(value)] for value in values]
    found += [ROUNDOFF["tf32"] for op in reference.walk() if in_tf32(op)]
    return max(found)


def _has_exponentials(reference: FuncOp) -> bool:
    return any(mnemonic(op) in ("exp", "softmax") for op in reference.walk())


def _contraction(reference: FuncOp, argument: SSAValue) -> int:
    """
    The length of the sums in which an argument is a weight.

    Weights are drawn as networks initialise them, with a variance of one over this length.
    """
    for use in argument.uses:
        if mnemonic(use.operation) == "matmul" and use.index == 1:
            return shape_of(argument)[-2]
    return 1
