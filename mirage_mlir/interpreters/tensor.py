"""Tensors of any domain's numbers, of which some indices are computed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Generic, Protocol, TypeVar

import numpy as np

from mirage_mlir.interpreters.dims import Dim, Index
from mirage_mlir.interpreters.domain import A, AnyArray

A_co = TypeVar("A_co", covariant=True)

PANEL = 1 << 19
"""Elements of a drawn operand of a matmul that are made at a time: some MB in each lane."""


class Tensor(Generic[A]):
    """
    A tensor: the elements at the computed indices of its dimensions.

    An axis of the array has as many elements as its dimension has computed indices, or one where
    the elements along it are all alike.
    """

    def __init__(self, array: A, dims: tuple[Dim, ...]):
        self._array = array
        self.dims = dims

    @property
    def array(self) -> A:
        """The elements; the axes before the dimensions are those of `TensorDomain`."""
        return self._array

    def mapped(self, change: Callable[[A], A]) -> Tensor[A]:
        """With each array that is read changed."""
        return Tensor(change(self.array), self.dims)

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents of the dimensions."""
        return tuple(dim.size for dim in self.dims)

    @property
    def elements(self) -> int:
        """How many elements are computed."""
        return prod(dim.count for dim in self.dims)


class Source(Protocol[A_co]):
    """Makes the elements of an argument when they are read."""

    def at(self, places: Sequence[AnyArray]) -> A_co:
        """The elements at arrays of indices, one for each dimension, behind an axis of runs."""
        ...


class DrawnTensor(Tensor[A]):
    """An argument, or a view of one, whose elements are made each time that they are read."""

    def __init__(
        self,
        source: Source[A],
        dims: tuple[Dim, ...],
        indices: tuple[Index, ...],
        order: tuple[int, ...],
    ):
        """`indices[d]` are those that dimension d reads, in dimension `order[d]` of the source."""
        self.dims = dims
        self.source = source
        self.indices = indices
        self.order = order

    @cached_property
    def _made(self) -> A:
        rank = len(self.dims)
        places = [
            index.reshape(*(len(index) if dim == other else 1 for other in range(rank)))
            for dim, index in enumerate(self.indices)
        ]
        return self.at(places)

    @property
    def array(self) -> A:
        return self._made

    def at(self, places: Sequence[AnyArray]) -> A:
        """The elements at arrays of indices of the source, given in the order of `dims`."""
        ordered: list[AnyArray] = [np.zeros(())] * len(places)
        for dim, place in zip(self.order, places, strict=True):
            ordered[dim] = place
        return self.source.at(ordered)

    def mapped(self, change: Callable[[A], A]) -> DrawnTensor[A]:
        """With each array that is read changed."""
        return DrawnTensor(_Changed(self.source, change), self.dims, self.indices, self.order)

    def transposed(self, permutation: Sequence[int]) -> DrawnTensor[A]:
        """Dimension d of the result is dimension `permutation[d]`."""
        return DrawnTensor(
            self.source,
            tuple(self.dims[dim] for dim in permutation),
            tuple(self.indices[dim] for dim in permutation),
            tuple(self.order[dim] for dim in permutation),
        )

    def taken(self, dim: int, new: Dim, places: Index | slice) -> DrawnTensor[A]:
        """With a dimension replaced by one that is made of some of its indices."""
        indices = list(self.indices)
        indices[dim] = indices[dim][places]
        dims = (*self.dims[:dim], new, *self.dims[dim + 1 :])
        return DrawnTensor(self.source, dims, tuple(indices), self.order)


@dataclass(frozen=True)
class _Changed(Generic[A]):
    """A source whose elements are changed when they are read."""

    source: Source[A]
    change: Callable[[A], A]

    def at(self, places: Sequence[AnyArray]) -> A:
        """See `Source`."""
        return self.change(self.source.at(places))


def made(x: DrawnTensor[A], most: int = PANEL) -> Tensor[A]:
    """`x`, its elements made once if they are few."""
    return Tensor(x.array, x.dims) if x.elements <= most else x


def drawn(source: Source[A], dims: tuple[Dim, ...]) -> DrawnTensor[A]:
    """An argument of these dimensions."""
    return DrawnTensor(source, dims, tuple(dim.indices for dim in dims), tuple(range(len(dims))))
