"""
Labels of a dimension's indices, with which a slab is followed through a program.

Each index of a labelled dimension has a label, a place among the indices with this label, and a
history: a word for the argument and the operators, views included, from which the element came.
Elements of two labels with the same place and history are the same function of the elements of
their label. In a graph over blocks, a tile's dimension has labels for each block along the grid
axis that cuts it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np
from numpy.typing import NDArray

from mirage_mlir.field.keyed import mix

Index = NDArray[np.intp]
Words = NDArray[np.uint64]

NOTHING = -1
"""The label where a ragged tile has no element."""


MOST_FOLLOWED = 1 << 21
"""Indices of a dimension whose labels are followed: three arrays of 16 MB."""


class NoSlab(Exception):
    """
    Elements of two labels are combined, or something else depends on them; the message says where.
    """


@dataclass(frozen=True, eq=False)
class Labels:
    """The labels of one dimension; arrays have a row for each block along `axis`, or one row."""

    label: Index
    inner: Index
    """The place among the indices of one label."""
    history: Words
    axis: int | None = None
    """The grid axis that cuts the dimension into tiles."""

    @property
    def size(self) -> int:
        """The number of indices of a row."""
        return self.label.shape[1]

    def agrees(self, other: Labels) -> bool:
        """Whether each index has the same label and place."""
        return (
            self.axis == other.axis
            and np.array_equal(self.label, other.label)
            and np.array_equal(self.inner, other.inner)
        )

    def taken(self, places: Index | slice) -> Labels:
        """Some indices."""
        return Labels(
            self.label[:, places], self.inner[:, places], self.history[:, places], self.axis
        )

    def passed(self, word: int, others: Sequence[Labels] = ()) -> Labels:
        """The labels behind an operator, and behind others whose labels agree."""
        history = mix(self.history + np.uint64(word))
        for other in others:
            history = mix(history ^ other.history)
        return replace(self, history=history)

    def of_argument(self, number: int) -> Labels:
        """The labels with the history of an argument."""
        start = np.full(self.label.shape, number + 1, np.uint64)
        return replace(self, history=mix(start))


def labels_of(label: Index, inner: Index) -> Labels:
    """Labels of a dimension, without a history."""
    return Labels(label[None], inner[None], np.zeros((1, len(label)), np.uint64))


def identity(size: int) -> Labels:
    """
    Labels by which each index has a label of its own.

    Raises:
        NoSlab: there are too many.
    """
    if size > MOST_FOLLOWED:
        raise NoSlab(f"a dimension of {size} is too large to be followed")
    return labels_of(np.arange(size), np.zeros(size, np.intp))


def concatenated(parts: Sequence[Labels], word: int) -> Labels:
    """The labels of concatenated dimensions; the operator's word goes into the history."""
    if len({part.axis for part in parts}) > 1 or len({len(part.label) for part in parts}) > 1:
        raise NoSlab("parts of a concat are cut by different grid axes")
    label, inner, history = (
        np.concatenate([getattr(part, name) for part in parts], axis=1)
        for name in ("label", "inner", "history")
    )
    pairs = np.stack([label[0], inner[0]])
    if np.unique(pairs, axis=1).shape[1] < label.shape[1]:
        # Labels come more than once: parts are told apart, and places have another meaning.
        width = int(inner.max()) + 1
        numbers = np.repeat(np.arange(len(parts)), [part.size for part in parts])
        inner = inner + numbers * width
        return Labels(label, inner, history, parts[0].axis).passed(word)
    return Labels(label, inner, history, parts[0].axis)


def copied(found: Labels, times: int, *, whole: bool) -> Labels:
    """
    The labels of a repeated dimension.

    Raises:
        NoSlab: copies are too many.
    """
    if found.size * times > MOST_FOLLOWED:
        raise NoSlab("copies of a dimension are too many to be followed")
    places = (
        np.tile(np.arange(found.size), times) if whole else np.repeat(np.arange(found.size), times)
    )
    copies = np.arange(found.size * times)
    copies = copies // found.size if whole else copies % times
    taken = found.taken(places)
    width = int(found.inner.max(initial=0)) + 1
    inner = copies * width + taken.inner if whole else taken.inner * times + copies
    return replace(taken, inner=inner)


def merged(found: Labels, before: Sequence[int], after: Sequence[int]) -> Labels:
    """A labelled dimension joined with others of the given sizes around it."""
    outer, tail, width = prod(before), prod(after), int(found.inner.max(initial=0)) + 1
    shape = (outer, found.size, tail)
    i, j, k = (part.reshape(-1) for part in np.indices(shape))
    inner = (i * width + found.inner[0, j]) * tail + k
    return replace(
        labels_of(found.label[0, j], inner), history=found.history[:, j], axis=found.axis
    )


def parted(found: Labels, sizes: Sequence[int]) -> tuple[int, Labels]:
    """
    The labels of a dimension that a reshape splits.

    Returns:
        Which of them is labelled, and its labels.

    Raises:
        NoSlab: none of them, or several, have the labels.
    """
    label = found.label.reshape(sizes)
    for dim, size in enumerate(sizes):
        first = np.moveaxis(label, dim, 0).reshape(size, -1)
        if not (first == first[:, :1]).all():
            continue
        tail = prod(sizes[dim + 1 :])
        places = np.arange(size) * tail
        candidate = found.taken(places)
        candidate = replace(candidate, inner=candidate.inner // tail)
        whole = merged(candidate, sizes[:dim], sizes[dim + 1 :])
        if whole.agrees(replace(found, axis=whole.axis)) and np.array_equal(
            whole.history, found.history
        ):
            return dim, candidate
    raise NoSlab("a reshape parts the indices of a label")
