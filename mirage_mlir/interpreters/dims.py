"""
Dimensions of which some indices are computed.

A tensor of the interpreters has all indices of a dimension, or only those that its `Dim` keeps: of
a program in which the indices of a dimension do not meet, a few of them can be computed alone
(a slab). What would need an index that is not there raises `NotClosed`; nothing is ever guessed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from mirage_mlir.interpreters.domain import NotInterpretable

Index = NDArray[np.intp]

CACHED = 4096
"""Derived dimensions kept; a verification makes some hundred."""


class NotClosed(NotInterpretable):
    """The indices that are computed need others; the message says where."""


@dataclass(frozen=True, eq=False)
class Kept:
    """Indices of a dimension in ascending order; equal ones are one object."""

    indices: Index


_KEPT: WeakValueDictionary[bytes, Kept] = WeakValueDictionary()


@dataclass(frozen=True)
class Dim:
    """One dimension: its size, and the indices that are computed (None: all)."""

    size: int
    kept: Kept | None = None

    @property
    def count(self) -> int:
        """How many indices are computed."""
        return self.size if self.kept is None else len(self.kept.indices)

    @property
    def indices(self) -> Index:
        """The indices that are computed."""
        return np.arange(self.size) if self.kept is None else self.kept.indices


def dim_of(size: int, indices: Index) -> Dim:
    """A dimension of which these ascending indices are computed."""
    if len(indices) == size:
        return Dim(size)
    key = indices.astype(np.intp).tobytes()
    if (kept := _KEPT.get(key)) is None:
        kept = _KEPT[key] = Kept(indices.astype(np.intp))
    return Dim(size, kept)


@lru_cache(CACHED)
def part(dim: Dim, start: int, stop: int, stride: int = 1) -> tuple[Dim, Index | slice]:
    """
    The indices start, start + stride, ... below stop; beyond the end there are none.

    Returns:
        The dimension of the part, and the places of its indices among those of `dim`.
    """
    size = len(range(start, min(stop, dim.size), stride))
    if dim.kept is None:
        return Dim(size), slice(start, start + size * stride, stride)
    indices = dim.kept.indices
    inside = (indices >= start) & (indices < stop) & ((indices - start) % stride == 0)
    places = np.flatnonzero(inside)
    return dim_of(size, (indices[places] - start) // stride), places


@lru_cache(CACHED)
def join(dims: tuple[Dim, ...]) -> Dim:
    """The dimensions one after the other."""
    if all(dim.kept is None for dim in dims):
        return Dim(sum(dim.size for dim in dims))
    starts = np.cumsum([0, *(dim.size for dim in dims[:-1])])
    indices = [dim.indices + start for dim, start in zip(dims, starts, strict=True)]
    return dim_of(sum(dim.size for dim in dims), np.concatenate(indices))


@lru_cache(CACHED)
def repeat(dim: Dim, times: int) -> Dim:
    """The dimension repeated as a whole: index i is index i mod size."""
    return join((dim,) * times)


@lru_cache(CACHED)
def interleave(dim: Dim, times: int) -> Dim:
    """Each index repeated in place: index i is index i div times."""
    if dim.kept is None:
        return Dim(dim.size * times)
    copies = dim.kept.indices[:, None] * times + np.arange(times)
    return dim_of(dim.size * times, copies.reshape(-1))


@lru_cache(CACHED)
def regroup(dims: tuple[Dim, ...], sizes: tuple[int, ...]) -> tuple[Dim, ...]:
    """
    The dimensions of a row-major reshape.

    Raises:
        NotClosed: the elements that are there are no block of the new shape.
    """
    if all(dim.kept is None for dim in dims):
        return tuple(map(Dim, sizes))
    flat = np.zeros(1, np.intp)
    for dim in dims:
        flat = (flat[:, None] * dim.size + dim.indices).reshape(-1)
    found = [np.unique(indices) for indices in np.unravel_index(flat, sizes)]
    if prod(map(len, found)) != len(flat):
        raise NotClosed(f"a reshape to {'x'.join(map(str, sizes))} needs other indices")
    return tuple(dim_of(size, indices) for size, indices in zip(sizes, found, strict=True))


def common(left: Dim, right: Dim) -> tuple[Dim, Index | None, Index | None]:
    """
    The indices that are computed of both of two dimensions of one size.

    Returns:
        The dimension, and the places of its indices among those of both (None: all of them).

    Raises:
        NotInterpretable: tiles meet of which one is ragged, so that the other has more indices.
    """
    if left == right:
        return left, None, None
    if left.size != right.size:
        raise NotInterpretable(f"tiles of {left.size} and {right.size} indices meet at an edge")
    indices = np.intersect1d(left.indices, right.indices, assume_unique=True)
    found = dim_of(left.size, indices)
    places = [
        None if found == dim else np.searchsorted(dim.indices, indices) for dim in (left, right)
    ]
    return found, places[0], places[1]


def complete(dim: Dim, what: str) -> None:
    """
    Check that all indices are there.

    Raises:
        NotClosed: some are not; `what` says what needs them.
    """
    if dim.kept is not None:
        raise NotClosed(f"{what} needs all {dim.size} indices of a dimension")


def dims_of(shape: Sequence[int]) -> tuple[Dim, ...]:
    """Dimensions of which all indices are computed."""
    return tuple(map(Dim, shape))
