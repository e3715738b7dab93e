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


def terms_of(
    values: Sequence[int], least: int, most: int, steps: Iterable[int], tiles: Iterable[int]
) -> Terms | None:
    """
    Terms that are the `values`, or below `least` where these are that, and above `most` where they
    are that; None where there are none.
    """
    for step, tile in product(steps, tiles):
        lowest = [v * tile - step * b for b, v in enumerate(values) if v > least]
        highest = [(v + 1) * tile - 1 - step * b for b, v in enumerate(values) if v < most]
        if not lowest or not highest or max(lowest) <= min(highest):
            start = max(lowest) if lowest else min(highest)
            return _reduced(step, start, tile)
    return None


def _reduced(step: int, start: int, tile: int) -> Terms:
    """The same terms in smaller numbers."""
    common = gcd(step, tile)
    return step // common, start // common, tile // common


def saves(first: Sequence[int], end: Sequence[int], count: int) -> bool:
    """Whether some block runs fewer iterations than the loop has."""
    return any(b - a < count for a, b in zip(first, end, strict=True))
