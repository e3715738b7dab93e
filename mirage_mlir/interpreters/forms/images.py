"""
Images: what sums and maxima read, element by element.

Two sums of products of the same atoms are equal if they read the same elements equally often, and
two maxima if they read the same elements. Where a form reads what an earlier one read, but in other
ranges, strides or groups, the earlier one takes its place, so that what is equal has one form.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from fractions import Fraction
from hashlib import blake2b
from math import lcm, prod
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from mirage_mlir.interpreters.forms.guards import Guards
from mirage_mlir.interpreters.forms.indices import Index, Variable, variables

MOST_POINTS = 1 << 17
"""Elements that are looked at for one image, which takes 0.02 s and 5 MB for each column."""

LARGEST = 1 << 40
"""Weights up to which sums of them are exact in 64 bits."""

Numbers = NDArray[np.int64]

T = TypeVar("T")


class Split(NamedTuple):
    """Indices as sums of what does not depend on some variables, and of what does."""

    outer: tuple[Index, ...]
    inner: tuple[Index, ...]


def split(indices: Iterable[Index], over: AbstractSet[Variable]) -> Split | None:
    """Indices in two parts, constants in the inner one; None where a floor depends on both."""
    outer: list[Index] = []
    inner: list[Index] = []
    for index in indices:
        own = [(f, c) for f, c in index.floors if not over.isdisjoint(variables(f.dividend))]
        if not all(over >= {*variables(floor.dividend)} for floor, _ in own):
            return None
        others = tuple((f, c) for f, c in index.floors if (f, c) not in own)
        outer.append(Index(tuple((v, c) for v, c in index.linear if v not in over), others))
        linear = tuple((v, c) for v, c in index.linear if v in over)
        inner.append(Index(linear, tuple(own), index.constant))
    return Split(tuple(outer), tuple(inner))


def rows(indices: Sequence[Index], guards: Guards, over: Sequence[Variable]) -> Numbers | None:
    """
    The values of indices, one column for each, where guards hold.

    Args:
        indices: they read no other variables, nor do the guards.
        guards: what must hold.
        over: the variables, all values of which are taken; None where they are too many.
    """
    shape = tuple(variable.size for variable in over)
    if prod(shape) > MOST_POINTS or 0 in shape:
        return None
    values: dict[Variable, Numbers] = {}
    for axis, variable in enumerate(over):
        values[variable] = np.arange(variable.size).reshape(-1, *(1,) * (len(over) - axis - 1))
    there = np.ones(shape, dtype=np.bool_)
    for index, low, high in guards:
        value = _evaluated(index, values)
        there &= (low <= value) & (value < high)
    columns = [np.broadcast_to(_evaluated(index, values), shape)[there] for index in indices]
    if not columns:
        return np.empty((int(there.sum()), 0), dtype=np.int64)
    return np.stack(columns, axis=1)


def _evaluated(index: Index, values: Mapping[Variable, Numbers]) -> Numbers:
    result = np.full((), index.constant, dtype=np.int64)
    for variable, coefficient in index.linear:
        result = result + coefficient * values[variable]
    for floor, coefficient in index.floors:
        result = result + coefficient * (_evaluated(floor.dividend, values) // floor.divisor)
    return result


def sorted_blocks(table: Numbers, blocks: Sequence[Sequence[int]]) -> Numbers:
    """Rows whose blocks of columns, all of one width, are put in order in each row."""
    columns = np.array([list(block) for block in blocks])
    parts = table[:, columns]
    # The last column is the least important key.
    order = np.lexsort(tuple(parts[:, :, n] for n in reversed(range(columns.shape[1]))), axis=1)
    result = table.copy()
    result[:, columns] = np.take_along_axis(parts, order[:, :, None], axis=1)
    return result


class Image(NamedTuple):
    """What rows are together, and a number that their weights were divided by."""

    content: Hashable
    scale: Fraction = Fraction(1)


NOTHING = Image(None, Fraction(0))
"""Of rows whose weights are zero."""


def weighted(parts: Sequence[tuple[Numbers, Fraction]]) -> Image | None:
    """The image of rows with weights; None where numbers are too large."""
    denominator = lcm(*(weight.denominator for _, weight in parts))
    numerators = [int(weight * denominator) for _, weight in parts]
    if any(abs(n) > LARGEST for n in numerators):
        return None
    sizes = [len(table) for table, _ in parts]
    weights = np.repeat(np.array(numerators, dtype=np.int64), sizes)
    table, where = _distinct(np.concatenate([table for table, _ in parts]))
    totals = np.zeros(len(table), dtype=np.int64)
    np.add.at(totals, where, weights)
    table, totals = table[totals != 0], totals[totals != 0]
    if not len(totals):
        return NOTHING
    common = int(np.gcd.reduce(totals)) * (1 if totals[0] > 0 else -1)
    content = _digest(np.column_stack([table, totals // common]))
    return Image(content, Fraction(common, denominator))


def covered(parts: Iterable[Numbers]) -> bytes:
    """A digest of rows that count once, however often they are there."""
    table, _ = _distinct(np.concatenate(list(parts)))
    return _digest(table)


def _distinct(table: Numbers) -> tuple[Numbers, Numbers]:
    """Different rows in order, and the number of the row that each one is."""
    low = table.min(axis=0, initial=0)
    sizes = [int(size) for size in table.max(axis=0, initial=0) - low + 1]
    if prod(sizes) >= 1 << 62:
        found, where = np.unique(table, axis=0, return_inverse=True)
        return found, where.ravel()
    keys = np.zeros(len(table), dtype=np.int64)
    for column, size in enumerate(sizes):
        keys = keys * size + (table[:, column] - low[column])
    _, first, where = np.unique(keys, return_index=True, return_inverse=True)
    return table[first], where


def _digest(table: Numbers) -> bytes:
    """The rows as 32 bytes."""
    return blake2b(np.ascontiguousarray(table).tobytes(), digest_size=32).digest()


@dataclass
class _Known(Generic[T]):
    """A value, how to make its image, and that once it is made."""

    name: Hashable
    value: T
    draw: Callable[[], Image | None]
    drawn: bool = False
    made: Image | None = None
    like: tuple[T, Fraction] | None = None

    def image(self) -> Image | None:
        """The image; None where it cannot be made."""
        if not self.drawn:
            self.drawn, self.made = True, self.draw()
        return self.made


class Firsts(Generic[T]):
    """The first value of each image."""

    def __init__(self) -> None:
        self._known: dict[Hashable, list[_Known[T]]] = {}

    def like(
        self, key: Hashable, name: Hashable, value: T, draw: Callable[[], Image | None]
    ) -> tuple[T, Fraction]:
        """
        The first value with the image of this one, and how often it makes this one.

        Args:
            key: only values with equal keys can have the same image.
            name: equal for equal values.
            value: what it is.
            draw: makes the image.
        """
        known = self._known.setdefault(key, [])
        for each in known:
            if each.name == name:
                return each.like or (each.value, Fraction(1))
        new = _Known(name, value, draw)
        for each in known:
            if each.like is None and (mine := new.image()) and (theirs := each.image()):
                if mine.content == theirs.content:
                    new.like = each.value, mine.scale / theirs.scale
                    break
        known.append(new)
        return new.like or (value, Fraction(1))
