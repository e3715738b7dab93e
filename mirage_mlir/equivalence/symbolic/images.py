"""
Images: the sets of elements that sums and maxima read.

Two sums of products of the same atoms are equal if they read the same elements equally often, and
two maxima if they read the same elements, however both are cut into ranges, strides and groups.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from fractions import Fraction
from hashlib import blake2b
from math import lcm, prod
from typing import NamedTuple

import numpy as np

from mirage_mlir.equivalence.symbolic.indices import Span, span
from mirage_mlir.equivalence.symbolic.rows import Numbers, Reads

LARGEST = 1 << 62
"""Sums of weights up to which they are exact in 64 bits."""


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


COMPARED_IN_A_STEP = 64
"""Bounds that are compared with others in the time of a factor that is made."""


def steps_of(parts: Sequence[Reads]) -> int:
    """The proof steps to enumerate all rows, counted in factors."""
    return sum(part.steps for part in parts)


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


Bounds = tuple[Span, ...] | None
"""The least and the greatest number in each column; None where guards hide them."""


def bounds_of(parts: Sequence[Reads]) -> Bounds:
    """The bounds of what is read."""
    if any(part.guards for part in parts):
        return None
    columns = zip(*(map(span, part.indices) for part in parts), strict=True)
    return tuple((min(low for low, _ in each), max(high for _, high in each)) for each in columns)


def may_be_same(a: Bounds, b: Bounds) -> bool:
    """Whether bounds allow that the same is read."""
    return a is None or b is None or a == b


def ratio(a: Sequence[Weighted], b: Sequence[Weighted]) -> Fraction | None:
    """How many times b is a, if both read the same; None if that is unknown or they do not."""
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
    """Whether both surely read the same elements, however often."""
    columns = differing([*a, *b])
    if columns is None:
        return False
    if not columns:
        return True
    left = values(a, columns)
    return left is not None and left == values(b, columns)
