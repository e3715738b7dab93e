"""Whether two functions differ in float64, on random inputs at their true shapes."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.func import FuncOp

from oracle.dense import run
from oracle.elements import Array, shape_of

DISTINCT = 1e-9
"""Relative distance from which float64 tells results apart; reordered sums stay below 1e-12."""


def draw(function: FuncOp, seed: int) -> list[Array]:
    """Normal inputs, every element drawn on its own."""
    random = np.random.default_rng(seed)
    return [random.standard_normal(shape_of(argument)) for argument in function.body.block.args]


class Judge:
    """Compares any number of functions with one reference, which is evaluated once."""

    def __init__(self, reference: FuncOp, seed: int) -> None:
        self.inputs = draw(reference, seed)
        self.wanted = run(reference, self.inputs)

    def difference(self, candidate: FuncOp) -> float:
        """The largest relative distance of a result of `candidate` from the reference's."""
        pairs = zip(run(candidate, self.inputs), self.wanted, strict=True)
        return max(distance(value, wanted) for value, wanted in pairs)

    def differs(self, candidate: FuncOp) -> bool:
        """Whether float64 tells `candidate` from the reference."""
        return self.difference(candidate) > DISTINCT


def difference(reference: FuncOp, candidate: FuncOp, seed: int) -> float:
    """The largest relative distance of a result of `candidate` from that of `reference`."""
    return Judge(reference, seed).difference(candidate)


def differ(reference: FuncOp, candidate: FuncOp, seed: int) -> bool:
    """Whether float64 tells two functions of one signature apart."""
    return Judge(reference, seed).differs(candidate)


def distance(value: Array, wanted: Array) -> float:
    """
    `||y - r|| / ||r||` in the 2-norm.

    What is no finite number in `wanted` counts only where `value` is another one there: infinite.
    """
    finite = np.isfinite(wanted)
    if not np.array_equal(value[~finite], wanted[~finite], equal_nan=True):
        return float("inf")
    if not np.isfinite(value[finite]).all():
        return float("inf")
    error = float(np.linalg.norm(value[finite] - wanted[finite]))
    size = float(np.linalg.norm(wanted[finite]))
    return error / size if size else error
