"""
Dimensions whose indices repeat.

An `Axis` of size N maps each of the N indices of a dimension to one of a few classes, and a tensor
stores one element per class. Every program of our dialects treats the indices of a dimension alike,
so what is computed on such a tensor repeats too, and a sum over the dimension is a sum over classes
weighted by how often each occurs. That is the program at its full size, on inputs that repeat:
nothing is scaled down, and a dimension in which all indices differ (`distinct`) is the ordinary,
literal case.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from math import prod
from typing import NamedTuple
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

Labels = NDArray[np.int32]
Index = NDArray[np.intp]

MANY = 1 << 18
"""Indices of an axis from which on its labels are sorted and kept as seldom as possible."""

CACHED = 1024
"""Derived axes kept; a verification makes some dozens."""


@dataclass(frozen=True, eq=False)
class Axis:
    """
    One dimension; index i holds what class `labels[i]` holds.

    Classes are numbered by first occurrence, and equal axes are one object: `make_axis` makes them.
    """

    labels: Labels
    first: Index
    """The first index of each class."""
    counts: NDArray[np.int64]
    """How many indices each class has."""

    @property
    def size(self) -> int:
        """The extent of the dimension."""
        return len(self.labels)

    @property
    def classes(self) -> int:
        """The number of different indices, which is what a tensor stores."""
        return len(self.first)

    @property
    def repeats(self) -> bool:
        """Whether some class has more than one index."""
        return self.classes != self.size


class Selection(NamedTuple):
    """An axis made from another one, and the classes of that one that it takes (None: all)."""

    axis: Axis
    classes: Index | None


class Refinement(NamedTuple):
    """The coarsest axis that tells apart what either of two does."""

    axis: Axis
    left: Index | None
    """The left axis's class for each class of the result, None when it is the same axis."""
    right: Index | None


_AXES: WeakValueDictionary[bytes, Axis] = WeakValueDictionary()


def _interned(labels: Labels, first: Index, counts: NDArray[np.int64] | None = None) -> Axis:
    labels = np.ascontiguousarray(labels)
    key = labels.tobytes() if len(labels) <= MANY else blake2b(labels.data).digest()
    if (axis := _AXES.get(key)) is None:
        if counts is None:
            counts = np.bincount(labels, minlength=len(first)).astype(np.int64)
        axis = _AXES[key] = Axis(labels, first, counts)
    return axis


@lru_cache(CACHED)
def distinct(size: int) -> Axis:
    """The axis in which no index repeats."""
    return _interned(np.arange(size, dtype=np.int32), np.arange(size, dtype=np.intp))


@lru_cache(CACHED)
def uniform(size: int) -> Axis:
    """The axis in which all indices are alike."""
    return _interned(np.zeros(size, np.int32), np.zeros(min(size, 1), np.intp))


def make_axis(labels: NDArray[np.integer]) -> Selection:
    """The axis of any labels, and the label of each of its classes."""
    if len(labels) > MANY and labels.min() >= 0 and (most := int(labels.max())) < MANY:
        return _axis_of_few(labels, most + 1)
    values, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    axis = _interned(rank[inverse].astype(np.int32), first[order])
    return Selection(axis, values[order].astype(np.intp))


def _axis_of_few(labels: NDArray[np.integer], most: int) -> Selection:
    """The same for labels below `most`, far fewer than there are: to sort those takes minutes."""
    counts, first, place = (
        np.zeros(most, np.int64),
        np.zeros(most, np.intp),
        np.zeros(most, np.intp),
    )
    for start in range(0, len(labels), MANY):
        part = labels[start : start + MANY]
        found = np.bincount(part, minlength=most)
        new = (found > 0) & (counts == 0)
        if new.any():
            # Of several values for one place the last one stays, which is the first in `part`.
            place[part[::-1]] = np.arange(start + len(part), start, -1) - 1
            first[new] = place[new]
        counts += found
    values = np.flatnonzero(counts)
    values = values[np.argsort(first[values])]
    rank = np.empty(most, np.int32)
    rank[values] = np.arange(len(values), dtype=np.int32)
    ordered = labels if (rank[values] == values).all() else rank[labels]
    axis = _interned(ordered.astype(np.int32, copy=False), first[values], counts[values])
    return Selection(axis, values.astype(np.intp))


def special(size: int, positions: Sequence[int]) -> Axis:
    """The axis in which the given indices differ from all others and from each other."""
    labels = np.zeros(size, np.int32)
    for number, position in enumerate(sorted(set(positions)), 1):
        if 0 <= position < size:
            labels[position] = number
    return make_axis(labels).axis


@lru_cache(CACHED)
def part(axis: Axis, start: int, stop: int, stride: int = 1) -> Selection:
    """The indices start, start + stride, ... below stop; beyond the end there are none."""
    if not axis.repeats:
        taken = np.arange(start, min(stop, axis.size), stride, dtype=np.intp)
        return Selection(distinct(len(taken)), taken)
    return make_axis(axis.labels[start:stop:stride])


@lru_cache(CACHED)
def refine(left: Axis, right: Axis) -> Refinement:
    """The common refinement of two axes of one size."""
    assert left.size == right.size
    if left is right:
        return Refinement(left, None, None)
    pairs = left.labels.astype(np.int64) * right.classes + right.labels
    axis = make_axis(pairs).axis
    taken = axis.first
    return Refinement(
        axis,
        None if axis is left else left.labels[taken].astype(np.intp),
        None if axis is right else right.labels[taken].astype(np.intp),
    )


@lru_cache(CACHED)
def merge(axes: tuple[Axis, ...]) -> Selection:
    """
    One axis for several, the last one running fastest.

    The classes taken number the combinations of classes, the last one running fastest.
    """
    few = prod(axis.classes for axis in axes) < 1 << 31
    labels = np.zeros(1, np.int32 if few else np.int64)
    for axis in axes:
        labels = (labels[:, None] * labels.dtype.type(axis.classes) + axis.labels).reshape(-1)
    return make_axis(labels)


@lru_cache(CACHED)
def split(axis: Axis, sizes: tuple[int, ...]) -> tuple[tuple[Axis, ...], Index]:
    """
    Several axes for one, the last one running fastest.

    Returns:
        The axes, and for each combination of their classes the class of `axis`, as an array with
        one dimension per axis.
    """
    labels = axis.labels.reshape(sizes)
    axes: list[Axis] = []
    for dim, size in enumerate(sizes):
        rows = np.moveaxis(labels, dim, 0).reshape(size, -1)
        if rows.shape[1] == 1:
            axes.append(make_axis(rows[:, 0]).axis)
            continue
        numbers: dict[bytes, int] = {}
        rank = [numbers.setdefault(row.tobytes(), len(numbers)) for row in rows]
        axes.append(make_axis(np.array(rank, np.int32)).axis)
    classes = labels[np.ix_(*(each.first for each in axes))].astype(np.intp)
    return tuple(axes), classes


@lru_cache(CACHED)
def tile(axis: Axis, times: int) -> Axis:
    """The axis repeated as a whole: index i is index i mod size."""
    return make_axis(np.tile(axis.labels, times)).axis


@lru_cache(CACHED)
def interleave(axis: Axis, times: int) -> Axis:
    """Each index repeated in place: index i is index i div times."""
    return make_axis(np.repeat(axis.labels, times)).axis


@lru_cache(CACHED)
def join(axes: tuple[Axis, ...]) -> Axis:
    """The axes one after the other, no class in common."""
    offsets = np.cumsum([0, *(axis.classes for axis in axes[:-1])])
    labels = [axis.labels + offset for axis, offset in zip(axes, offsets, strict=True)]
    return make_axis(np.concatenate(labels)).axis
