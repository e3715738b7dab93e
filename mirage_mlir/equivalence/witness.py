"""Finds a witness: an element in which two functions differ, in numbers that a person can check."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.dialects.func import FuncOp

from mirage_mlir.equivalence.float_gate import DISTINCT
from mirage_mlir.equivalence.float_inputs import contraction
from mirage_mlir.equivalence.inputs import DrawnWords
from mirage_mlir.equivalence.random_tests import Difference, Residue
from mirage_mlir.equivalence.sample import Dims
from mirage_mlir.interpreters.domain import AnyArray
from mirage_mlir.interpreters.float_domain import FloatDomain, Floats
from mirage_mlir.interpreters.kernel import KernelInterpreter
from mirage_mlir.interpreters.operators import shape_of
from mirage_mlir.interpreters.tensors import Tensor, TensorDomain, drawn, made

NUMBERS = (1, 2, 3, 5, 7)
"""What arguments are filled with, each with a number of its own, before inputs are drawn."""

CANCELLED = 1e-13
"""What of the largest element two are apart at least that differ: `y + log(s) - log(s)` is 2e-16
in f64 where y is 0, which is no difference."""

LARGEST_INTEGER = 2
"""Inputs that are drawn are whole numbers up to this, which keeps products exact and readable."""


@dataclass(frozen=True)
class FloatWitness:
    """One element of both functions in f64."""

    inputs: str
    """The inputs, in words and small numbers."""
    output: int
    element: tuple[int, ...]
    reference: float
    candidate: float

    def __str__(self) -> str:
        return f"{self.candidate:.9g} instead of {self.reference:.9g} in f64 on {self.inputs}"


@dataclass(frozen=True)
class Witness:
    """One element in which two functions differ."""

    difference: Difference | None
    """What residues say; None where no random test was made."""
    floats: FloatWitness | None
    """What both give in f64; None where that is no number, or the same."""
    culprit: str = ""
    """The first operator of the candidate whose value no part of the reference has."""

    def __str__(self) -> str:
        parts: list[str] = []
        if self.difference is not None:
            found = self.difference
            parts.append(
                f"output {found.output} at [{_place(found.element)}] is "
                f"({_place(found.candidate)}) instead of ({_place(found.reference)}) "
                "modulo the primes"
            )
        if self.floats is not None:
            floats = self.floats
            parts.append(f"output {floats.output} at [{_place(floats.element)}] is {floats}")
        if self.culprit:
            parts.append(self.culprit)
        return "; ".join(parts)

    def fields(self) -> dict[str, object]:
        """What JSON has of it."""
        found, floats = self.difference, self.floats
        return {
            "residues": None
            if found is None
            else {
                "output": found.output,
                "element": list(found.element),
                "reference": _written(found.reference),
                "candidate": _written(found.candidate),
            },
            "f64": None
            if floats is None
            else {
                "inputs": floats.inputs,
                "output": floats.output,
                "element": list(floats.element),
                "reference": floats.reference,
                "candidate": floats.candidate,
            },
            "operator": self.culprit or None,
        }


def float_witness(
    functions: tuple[FuncOp, FuncOp], dims: Dims, differences: Sequence[Difference], seed: int
) -> FloatWitness | None:
    """
    The simplest inputs on which f64 shows a difference, and the first element that differs.

    Elements that differ over the fields come before others. None when there are no such inputs.
    """
    wanted = {(d.output, d.element) for d in differences}
    for words, inputs in _inputs(functions[0], dims, seed):
        results = [
            KernelInterpreter(FloatDomain(rounding=False)).run(function, inputs)
            for function in functions
        ]
        places = [
            found
            for output, (left, right) in enumerate(zip(*results, strict=True))
            for found in _places(words, output, left, right)
        ]
        if places:
            return min(places, key=lambda p: ((p.output, p.element) not in wanted, p.output))
    return None


@dataclass(frozen=True)
class _Numbers:
    """Integers from random words, or one number."""

    words: DrawnWords
    low: float
    high: float
    scale: float = 1.0
    whole: bool = True

    def at(self, places: Sequence[AnyArray]) -> Floats:
        """See `Source`."""
        uniform = (self.words.at(places) >> np.uint64(40)).astype(np.float64) / 2.0**24
        values = self.low + uniform * (self.high - self.low + (1 if self.whole else 0))
        return (np.floor(values) if self.whole else values) * self.scale


def _inputs(reference: FuncOp, dims: Dims, seed: int) -> Iterator[tuple[str, list[Tensor[Floats]]]]:
    arguments = reference.body.block.args
    words = [DrawnWords(shape_of(x), [seed, 4, number]) for number, x in enumerate(arguments)]

    def tensors(sources: Sequence[_Numbers]) -> list[Tensor[Floats]]:
        return [made(drawn(source, each)) for source, each in zip(sources, dims, strict=True)]

    for numbers in ([1] * len(words), [NUMBERS[i % len(NUMBERS)] for i in range(len(words))]):
        text = ", ".join(f"argument {i} = {number}" for i, number in enumerate(numbers))
        filled = [_Numbers(w, n, n, whole=False) for w, n in zip(words, numbers, strict=True)]
        yield f"{text} everywhere", tensors(filled)
    for low in (1, -LARGEST_INTEGER):
        yield (
            f"whole numbers from {low} to {LARGEST_INTEGER} drawn with seed {seed}",
            tensors([_Numbers(each, low, LARGEST_INTEGER) for each in words]),
        )
    scales = [contraction(argument) ** -0.5 for argument in arguments]
    yield (
        f"numbers from -2 to 2 drawn with seed {seed}, weights scaled",
        tensors(
            [_Numbers(w, -2, 2, scale, whole=False) for w, scale in zip(words, scales, strict=True)]
        ),
    )


def _places(
    words: str, output: int, left: Tensor[Floats], right: Tensor[Floats]
) -> list[FloatWitness]:
    """The elements in which two tensors differ as numbers."""
    domain = TensorDomain(FloatDomain(rounding=False))
    x, y = domain.expanded(left)[0], domain.expanded(right)[0]
    finite = np.isfinite(x) & np.isfinite(y)
    with np.errstate(all="ignore"):
        apart, size = np.abs(x - y), np.maximum(np.abs(x), np.abs(y))
        largest = np.max(size, where=finite, initial=0.0)
        distinct = finite & (apart > DISTINCT * size) & (apart > CANCELLED * largest)
    return [
        FloatWitness(
            words,
            output,
            tuple(int(dim.indices[i]) for dim, i in zip(left.dims, place, strict=True)),
            float(x[tuple(place)]),
            float(y[tuple(place)]),
        )
        for place in np.argwhere(distinct)[:MOST_PLACES]
    ]


MOST_PLACES = 1000
"""Places that differ that are looked at: the first one of an element of interest is shown."""


def _place(numbers: Sequence[Residue]) -> str:
    return ", ".join(map(str, numbers))


def _written(residues: Sequence[Residue]) -> list[int | str]:
    """Residues as JSON has them, which knows no infinity."""
    return [each if isinstance(each, int) else str(each) for each in residues]
