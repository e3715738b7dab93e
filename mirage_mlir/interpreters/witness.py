"""Where two functions differ, in numbers that a person can check."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.func import FuncOp

from mirage_mlir.interpreters.field_tests import Difference
from mirage_mlir.interpreters.float_domain import FloatDomain, Floats
from mirage_mlir.interpreters.kernel import KernelInterpreter
from mirage_mlir.interpreters.report import FloatWitness
from mirage_mlir.interpreters.rounding import RoundingTests, relative_errors
from mirage_mlir.interpreters.tensors import Tensor, TensorDomain

DISTINCT = 1e-9
"""Relative distance in f64 beyond which outputs are different: reordered sums stay below 1e-12."""

NUMBERS = (1, 2, 3, 5, 7)
"""What arguments are filled with, each with a number of its own, before inputs are drawn."""

LARGEST_INTEGER = 2
"""Inputs that are drawn are whole numbers up to this, which keeps products exact and readable."""


def f64_differs(runs: RoundingTests, candidate: FuncOp) -> bool:
    """Whether some output differs in f64 on inputs of some kind."""
    expected, results = runs.exact(runs.reference), runs.exact(candidate)
    return any(
        error > DISTINCT
        for exact, result in zip(expected, results, strict=True)
        for error in relative_errors(result, exact)
    )


def float_witness(
    runs: RoundingTests, candidate: FuncOp, differences: Sequence[Difference], seed: int
) -> FloatWitness | None:
    """
    The simplest inputs on which f64 shows a difference, and the first element that differs.

    Elements that differ over the fields come before others. None when there are no such inputs.
    """
    wanted = {(d.output, d.element) for d in differences}
    for words, tensors in _inputs(runs, seed):
        results = [
            KernelInterpreter(FloatDomain(rounding=False)).run(function, tensors)
            for function in (runs.reference, candidate)
        ]
        places = [
            found
            for output, (left, right) in enumerate(zip(*results, strict=True))
            for found in _places(words, output, left, right)
        ]
        if places:
            return min(places, key=lambda p: ((p.output, p.element) not in wanted, p.output))
    return None


def _inputs(runs: RoundingTests, seed: int) -> Iterator[tuple[str, list[Tensor[Floats]]]]:
    shapes = [(1, *(axis.classes for axis in axes)) for axes in runs.axes]

    def tensors(arrays: Sequence[NDArray[np.float64]]) -> list[Tensor[Floats]]:
        return [Tensor(array, axes) for array, axes in zip(arrays, runs.axes, strict=True)]

    for numbers in ([1] * len(shapes), [NUMBERS[i % len(NUMBERS)] for i in range(len(shapes))]):
        words = ", ".join(f"argument {i} = {number}" for i, number in enumerate(numbers))
        filled = [np.full(shape, float(n)) for shape, n in zip(shapes, numbers, strict=True)]
        yield f"{words} everywhere", tensors(filled)
    random = np.random.default_rng(seed)
    for low in (1, -LARGEST_INTEGER):
        drawn = [
            random.integers(low, LARGEST_INTEGER + 1, shape).astype(np.float64) for shape in shapes
        ]
        yield (
            f"whole numbers from {low} to {LARGEST_INTEGER} drawn with seed {seed}",
            tensors(drawn),
        )
    yield f"normal inputs drawn with seed {seed}", runs.inputs(0)


def _places(
    words: str, output: int, left: Tensor[Floats], right: Tensor[Floats]
) -> list[FloatWitness]:
    """The elements in which two tensors differ as numbers."""
    domain = TensorDomain(FloatDomain(rounding=False))
    left, right = domain.aligned(left, right, range(len(left.axes)))
    x, y = np.broadcast_arrays(left.array[0], right.array[0])
    with np.errstate(all="ignore"):
        distinct = np.abs(x - y) > DISTINCT * np.maximum(np.abs(x), np.abs(y))
    distinct &= np.isfinite(x) & np.isfinite(y)
    return [
        FloatWitness(
            words,
            output,
            tuple(int(axis.first[i]) for axis, i in zip(left.axes, place, strict=True)),
            float(x[tuple(place)]),
            float(y[tuple(place)]),
        )
        for place in np.argwhere(distinct)
    ]
