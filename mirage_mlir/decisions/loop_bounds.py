"""Decides which iterations of a loop each block runs, where some would change nothing."""

from collections.abc import Iterable, Sequence
from itertools import product
from math import gcd

import numpy as np

from mirage_mlir.decisions.schedule import Mask

Terms = tuple[int, int, int]
"""s, c and d of `floor((s * b + c) / d)` for block b."""


def ranges(needed: Mask) -> tuple[list[int], list[int]]:
    """
    The first needed iteration of each block, and the end of the needed ones.

    Args:
        needed: for each block and iteration whether it changes a result.
    """
    some = needed.any(axis=1)
    count = needed.shape[1]
    first = np.where(some, needed.argmax(axis=1), 0)
    end = np.where(some, count - needed[:, ::-1].argmax(axis=1), 1)
    return [int(each) for each in first], [int(each) for each in end]


def first_terms(values: Sequence[int], steps: Iterable[int], tiles: Iterable[int]) -> Terms | None:
    """Terms that are the `values`, or below 0 where these are 0; None where there are none."""
    for step, tile in product(steps, tiles):
        lowest = [value * tile - step * block for block, value in enumerate(values) if value > 0]
        highest = [(v + 1) * tile - 1 - step * block for block, v in enumerate(values)]
        if lowest and max(lowest) <= min(highest):
            return _reduced(step, max(lowest), tile)
    return None


def end_terms(
    values: Sequence[int], count: int, steps: Iterable[int], tiles: Iterable[int]
) -> Terms | None:
    """
    Terms that are the `values`; above `count`, the iterations, where these are that, and below 1
    where they are 1. None where there are none.
    """
    for step, tile in product(steps, tiles):
        lowest = [v * tile - step * b for b, v in enumerate(values) if v > 1]
        highest = [(v + 1) * tile - 1 - step * b for b, v in enumerate(values) if v < count]
        if highest and (not lowest or max(lowest) <= min(highest)):
            return _reduced(step, max(lowest) if lowest else min(highest), tile)
    return None


def inner_terms(
    values: Sequence[int], count: int, steps: Iterable[int], tiles: Iterable[int]
) -> Terms | None:
    """
    Terms that are the `values`; above `count`, the iterations, where these are that, and below 0
    where they are 0. None where there are none.
    """
    for step, tile in product(steps, tiles):
        lowest = [v * tile - step * b for b, v in enumerate(values) if v > 0]
        highest = [(v + 1) * tile - 1 - step * b for b, v in enumerate(values) if v < count]
        if lowest and (not highest or max(lowest) <= min(highest)):
            return _reduced(step, max(lowest), tile)
    return None


def _reduced(step: int, start: int, tile: int) -> Terms:
    """The same terms in smaller numbers."""
    common = gcd(step, tile)
    return step // common, start // common, tile // common


def saves(first: Sequence[int], end: Sequence[int], count: int) -> bool:
    """Whether some block runs fewer iterations than the loop has."""
    return any(b - a < count for a, b in zip(first, end, strict=True))
