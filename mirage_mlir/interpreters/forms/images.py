"""
Images: what sums and maxima read, element by element.

Two sums of products of the same atoms are equal if they read the same elements equally often, and
two maxima if they read the same elements, however they are cut into ranges, strides and groups.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from fractions import Fraction
from hashlib import blake2b
from math import lcm, prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mirage_mlir.interpreters.forms import guards as guards_
from mirage_mlir.interpreters.forms.guards import Guards
from mirage_mlir.interpreters.forms.indices import (
    Index,
    Span,
    Variable,
    all_variables,
    nested,
    of,
    span,
    variables,
)

MOST_POINTS = 1 << 17
"""Elements that are looked at for one image, which takes 0.02 s and 5 MB for each column."""

LARGEST = 1 << 62
"""Sums of weights up to which they are exact in 64 bits."""

FARTHEST = 1 << 61
"""Indices up to which sums of two parts are exact in 64 bits."""

Numbers = NDArray[np.int64]

Blocks = list[list[int]]
"""Columns of indices whose order does not matter."""


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


# Rows


class Reads(NamedTuple):
    """What is read: one row of indices for each value of some variables where guards hold."""

    indices: tuple[Index, ...]
    guards: Guards
    over: tuple[Variable, ...]
    interchangeable: tuple[Blocks, ...] = ()

    def rows(self, columns: AbstractSet[int]) -> Numbers | None:
        """The rows of some columns that no others depend on; None where they are too many."""
        chosen = sorted(columns)
        names = tied(all_variables(self.indices[n] for n in chosen), self.guards)
        guards = guards_.reading(self.guards, names)
        found = _rows([self.indices[n] for n in chosen], guards, sorted(names))
        for blocks in self.interchangeable:
            if found is not None and columns >= {*blocks[0]}:
                found = _sorted_blocks(found, [[chosen.index(n) for n in b] for b in blocks])
        return found

    def connected(self) -> list[set[int]]:
        """Columns that depend on each other."""
        found = [
            {n for n, i in enumerate(self.indices) if not names.isdisjoint(variables(i))}
            for names in (tied({variable}, self.guards) for variable in self.over)
        ]
        return found + [{n for block in blocks for n in block} for blocks in self.interchangeable]


def tied(names: set[Variable], guards: Guards) -> set[Variable]:
    """Variables, and those that guards tie to them."""
    found = names | all_variables(each.value for each in guards_.reading(guards, names))
    return found if found == names else tied(found, guards)


def _rows(indices: Sequence[Index], guards: Guards, over: Sequence[Variable]) -> Numbers | None:
    shape = tuple(variable.size for variable in over)
    inner = [
        part for index in (*indices, *(each.value for each in guards)) for part in nested(index)
    ]
    if prod(shape) > MOST_POINTS or 0 in shape or not all(map(_fits, inner)):
        return None
    values: dict[Variable, Numbers] = {}
    for axis, variable in enumerate(over):
        values[variable] = np.arange(variable.size).reshape(-1, *(1,) * (len(over) - axis - 1))
    there = np.ones(shape, dtype=np.bool_)
    for index, low, high in guards:
        value = _evaluated(index, values)
        there &= (low <= value) & (value < high)
    columns = [np.broadcast_to(_evaluated(index, values), shape)[there] for index in indices]
    return np.stack(columns, axis=1)


def _fits(index: Index) -> bool:
    """Whether an index, and what is computed on the way to it, is exact in 64 bits."""
    sizes = [abs(c) * max(map(abs, span(of(v)))) for v, c in index.linear]
    sizes += [abs(c) * max(map(abs, span(Index((), ((f, 1),))))) for f, c in index.floors]
    return abs(index.constant) + sum(sizes) < FARTHEST


def _evaluated(index: Index, values: Mapping[Variable, Numbers]) -> Numbers:
    result = np.full((), index.constant, dtype=np.int64)
    for variable, coefficient in index.linear:
        result = result + coefficient * values[variable]
    for floor, coefficient in index.floors:
        result = result + coefficient * (_evaluated(floor.dividend, values) // floor.divisor)
    return result


def _sorted_blocks(table: Numbers, blocks: Blocks) -> Numbers:
    """Rows whose blocks of columns, all of one width, are put in order in each row."""
    columns = np.array(blocks)
    parts = table[:, columns]
    # The last column is the least important key.
    order = np.lexsort(tuple(parts[:, :, n] for n in reversed(range(columns.shape[1]))), axis=1)
    result = table.copy()
    result[:, columns] = np.take_along_axis(parts, order[:, :, None], axis=1)
    return result


def _distinct(table: Numbers) -> tuple[Numbers, Numbers]:
    """Different rows in order, and the number of the row that each one is."""
    low = table.min(axis=0)
    sizes = [int(size) for size in table.max(axis=0) - low + 1]
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


# What several read


class Image(NamedTuple):
    """A digest of rows with weights, and a number that these were divided by."""

    content: bytes
    scale: Fraction


NOTHING = Image(b"", Fraction(0))
"""Of rows whose weights are zero."""


class Weighted(NamedTuple):
    """What is read, and how often it counts."""

    reads: Reads
    weight: Fraction


def image(parts: Sequence[Weighted], columns: AbstractSet[int]) -> Image | None:
    """What some columns are together; None where they are too many, or weights too large."""
    drawn = [part.reads.rows(columns) for part in parts]
    tables = [table for table in drawn if table is not None]
    denominator = lcm(*(part.weight.denominator for part in parts))
    numerators = [int(part.weight * denominator) for part in parts]
    if len(tables) < len(parts):
        return None
    if sum(abs(n) * len(table) for n, table in zip(numerators, tables, strict=True)) > LARGEST:
        return None
    everything = np.concatenate(tables)
    if not len(everything):
        return NOTHING
    weights = np.repeat(np.array(numerators, dtype=np.int64), [len(table) for table in tables])
    rows, where = _distinct(everything)
    totals = np.zeros(len(rows), dtype=np.int64)
    np.add.at(totals, where, weights)
    rows, totals = rows[totals != 0], totals[totals != 0]
    if not len(totals):
        return NOTHING
    common = int(np.gcd.reduce(totals)) * (1 if totals[0] > 0 else -1)
    content = _digest(np.column_stack([rows, totals // common]))
    return Image(content, Fraction(common, denominator))


def values(parts: Sequence[Reads], columns: AbstractSet[int]) -> bytes | None:
    """A digest of what some columns are, however often; None where rows are too many."""
    drawn = [part.rows(columns) for part in parts]
    tables = [table for table in drawn if table is not None]
    if len(tables) < len(parts):
        return None
    everything = np.concatenate(tables)
    return _digest(_distinct(everything)[0] if len(everything) else everything)


def differing(parts: Sequence[Reads]) -> set[int] | None:
    """
    The columns in which some read other rows than others do; None where that is unknown.

    The rows of all columns are all combinations of those of these and of the other ones.
    """
    found: set[int] = set()
    for columns in _groups(parts):
        images = [image([Weighted(part, Fraction(1))], columns) for part in parts]
        if None in images:
            return None
        if any(each != images[0] for each in images):
            found |= columns
    return found


def _groups(parts: Sequence[Reads]) -> list[set[int]]:
    """Groups of columns that depend on no others in any part."""
    groups = [{n} for n in range(len(parts[0].indices))]
    for together in (columns for part in parts for columns in part.connected()):
        joined = [group for group in groups if not group.isdisjoint(together)]
        if len(joined) > 1:
            groups = [group for group in groups if group.isdisjoint(together)]
            groups.append({n for group in joined for n in group})
    return groups


def may_be_same(a: Sequence[Reads], b: Sequence[Reads]) -> bool:
    """Whether ranges of indices allow that the same is read."""
    if any(part.guards for part in (*a, *b)):
        return True
    left, right = ([_bounds(parts, n) for n in range(len(a[0].indices))] for parts in (a, b))
    return left == right


def _bounds(parts: Sequence[Reads], column: int) -> Span:
    spans = [span(part.indices[column]) for part in parts]
    return min(low for low, _ in spans), max(high for _, high in spans)


def ratio(a: Sequence[Weighted], b: Sequence[Weighted]) -> Fraction | None:
    """How many times b is a, where they read the same; None where that is unknown or not so."""
    columns = differing([part.reads for part in (*a, *b)])
    if columns is None:
        return None
    if not columns:
        total = sum((part.weight for part in b), Fraction(0))
        return sum((part.weight for part in a), Fraction(0)) / total if total else None
    left, right = image(a, columns), image(b, columns)
    if left is None or right is None or NOTHING in (left, right) or left.content != right.content:
        return None
    return left.scale / right.scale


def is_nothing(parts: Sequence[Weighted]) -> bool:
    """Whether what is read surely counts as often negatively as it does positively."""
    columns = differing([part.reads for part in parts])
    if columns is None:
        return False
    if not columns:
        return not sum((part.weight for part in parts), Fraction(0))
    return image(parts, columns) == NOTHING


def is_same(a: Sequence[Reads], b: Sequence[Reads]) -> bool:
    """Whether the same is surely read, however often."""
    columns = differing([*a, *b])
    if columns is None:
        return False
    if not columns:
        return True
    left = values(a, columns)
    return left is not None and left == values(b, columns)
