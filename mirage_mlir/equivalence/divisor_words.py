"""Words that identify the divisors of residues; the degrees of sums of quotients depend on them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mirage_mlir.equivalence.residues import Residues, Words
from mirage_mlir.field.lanes import Lane


def spread_words(words: Words | None, lane_like: Sequence[Lane]) -> Words | None:
    return None if words is None else np.broadcast_to(words, lane_like[0].shape)


def divisors_of(x: Residues) -> Words:
    """The words of divisors; zero where there is none."""
    return np.zeros(x.shape, np.uint64) if x.divisors is None else x.divisors


def common_divisors(x: Residues, y: Residues) -> tuple[Words | None, bool]:
    """The divisors of a sum, and whether both operands have the same."""
    if x.divisors is None and y.divisors is None:
        return None, True
    left, right = divisors_of(x), divisors_of(y)
    equal = left == right
    if equal.all():
        return left, True
    return np.where(equal, left, left + right), False


def summed_divisors(x: Residues, axis: int) -> tuple[Words | None, int]:
    """
    The divisors of sums along an axis, and the number of different ones among the terms of a sum.
    """
    if x.divisors is None or not x.divisors.size:
        return None, 1
    if (x.divisors == np.take(x.divisors, [0], axis)).all():
        return np.take(x.divisors, [0], axis), 1
    ordered = np.sort(x.divisors, axis=axis)
    first = np.take(ordered, [0], axis)
    new = np.concatenate([first != 0, np.diff(ordered.astype(np.int64), axis=axis) != 0], axis=axis)
    chosen: Words = np.where(new, ordered, np.uint64(0))
    words: Words = np.add.reduce(chosen, axis=axis, keepdims=True)
    return words, int(np.add.reduce(new, axis=axis, dtype=np.int64).max())
