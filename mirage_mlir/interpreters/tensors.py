"""Tensors of any domain's numbers whose dimensions may repeat, and arithmetic on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Generic

import numpy as np

from mirage_mlir.interpreters.axes import Axis, Index, Selection, distinct, part, refine, uniform
from mirage_mlir.interpreters.domain import A, AnyArray, Counts, Domain, ElementType, FunctionName


@dataclass(frozen=True)
class Tensor(Generic[A]):
    """
    A tensor of any size, stored as one element per class of each dimension.

    Element (i, j) of run r is `array[r, axes[0].labels[i], axes[1].labels[j]]`.
    """

    array: A
    axes: tuple[Axis, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents of the dimensions."""
        return tuple(axis.size for axis in self.axes)


class TensorDomain(Generic[A]):
    """
    A domain's operations on tensors.

    Dimensions are the last axes of arrays. Before them are `lead` axes along which tensors of one
    shape lie side by side, the first one being the domain's runs; each broadcasts as numpy's do.
    """

    def __init__(self, numbers: Domain[A], lead: int = 1):
        self.numbers = numbers
        self.lead = lead

    # Making tensors

    def constant(self, value: Fraction, shape: Sequence[int]) -> Tensor[A]:
        """A tensor whose elements are all one number."""
        return Tensor(self.numbers.constant(value, self._rank(shape)), tuple(map(uniform, shape)))

    def lowest(self, shape: Sequence[int]) -> Tensor[A]:
        """A tensor of maxima over nothing."""
        return Tensor(self.numbers.lowest(self._rank(shape)), tuple(map(uniform, shape)))

    def literal(self, array: A) -> Tensor[A]:
        """A tensor in which no index repeats."""
        return Tensor(array, tuple(map(distinct, self.numbers.shape(array)[self.lead :])))

    def expanded(self, x: Tensor[A]) -> A:
        """All elements of a tensor."""
        array = x.array
        for dim, axis in enumerate(x.axes):
            if axis.repeats:
                array = self.take(array, dim, axis.labels.astype(np.intp))
        return array

    def _rank(self, shape: Sequence[int]) -> int:
        """The axes of an array but for the runs."""
        return self.lead - 1 + len(shape)

    # Moving elements

    def rearrange(self, array: A, change: Callable[[AnyArray], AnyArray]) -> A:
        """Move elements of an array; see `Domain.rearrange`."""
        return self.numbers.rearrange(array, change)

    def take(self, array: A, dim: int, classes: Index) -> A:
        """The given classes of one dimension of a tensor's array."""
        return self.rearrange(array, lambda x: np.take(x, classes, self.lead + dim))

    def select(self, x: Tensor[A], dim: int, selection: Selection) -> Tensor[A]:
        """`x` with one dimension replaced by an axis made from it."""
        axes = (*x.axes[:dim], selection.axis, *x.axes[dim + 1 :])
        if selection.classes is None:
            return Tensor(x.array, axes)
        return Tensor(self.take(x.array, dim, selection.classes), axes)

    def part(self, x: Tensor[A], dim: int, start: int, stop: int, stride: int = 1) -> Tensor[A]:
        """The indices start, start + stride, ... below stop of one dimension."""
        axis = x.axes[dim]
        if start == 0 and stop >= axis.size and stride == 1:
            return x
        if axis.repeats:
            return self.select(x, dim, part(axis, start, stop, stride))
        taken = (slice(None),) * (self.lead + dim) + (slice(start, stop, stride),)
        array = self.rearrange(x.array, lambda elements: elements[taken])
        size = self.numbers.shape(array)[self.lead + dim]
        return Tensor(array, (*x.axes[:dim], distinct(size), *x.axes[dim + 1 :]))

    def with_rank(self, x: Tensor[A], rank: int) -> Tensor[A]:
        """`x` with dimensions of size 1 in front, as numpy's broadcasting puts them."""
        missing = rank - len(x.axes)
        if missing == 0:
            return x
        array = self.rearrange(
            x.array,
            lambda a: a.reshape(*a.shape[: self.lead], *(1,) * missing, *a.shape[self.lead :]),
        )
        return Tensor(array, (distinct(1),) * missing + x.axes)

    def aligned(self, x: Tensor[A], y: Tensor[A], dims: Sequence[int]) -> tuple[Tensor[A], ...]:
        """Both with the same axis in each of `dims` in which both or neither have size 1."""
        for dim in dims:
            left, right = x.axes[dim], y.axes[dim]
            if left is right or 1 in (left.size, right.size):
                continue
            axis, left_classes, right_classes = refine(left, right)
            x = self.select(x, dim, Selection(axis, left_classes))
            y = self.select(y, dim, Selection(axis, right_classes))
        return x, y

    # Arithmetic

    def each(self, operation: Callable[[A], A], x: Tensor[A]) -> Tensor[A]:
        """An operation on each element."""
        return Tensor(operation(x.array), x.axes)

    def pairwise(self, operation: Callable[[A, A], A], x: Tensor[A], y: Tensor[A]) -> Tensor[A]:
        """An operation on corresponding elements, broadcast as numpy does."""
        rank = max(len(x.axes), len(y.axes))
        x, y = self.with_rank(x, rank), self.with_rank(y, rank)
        x, y = self.aligned(x, y, range(rank))
        axes = (b if a.size == 1 else a for a, b in zip(x.axes, y.axes, strict=True))
        return Tensor(operation(x.array, y.array), tuple(axes))

    def add(self, x: Tensor[A], y: Tensor[A]) -> Tensor[A]:
        """`x + y`."""
        return self.pairwise(self.numbers.add, x, y)

    def multiply(self, x: Tensor[A], y: Tensor[A]) -> Tensor[A]:
        """`x * y`."""
        return self.pairwise(self.numbers.multiply, x, y)

    def subtract(self, x: Tensor[A], y: Tensor[A]) -> Tensor[A]:
        """`x - y`."""
        return self.pairwise(self.numbers.subtract, x, y)

    def divide(self, x: Tensor[A], y: Tensor[A]) -> Tensor[A]:
        """`x / y`."""
        return self.pairwise(self.numbers.divide, x, y)

    def maximum(self, x: Tensor[A], y: Tensor[A]) -> Tensor[A]:
        """The larger of corresponding elements."""
        return self.pairwise(self.numbers.maximum, x, y)

    def function(self, name: FunctionName, x: Tensor[A]) -> Tensor[A]:
        """A function of each element."""
        return self.each(lambda array: self.numbers.function(name, array), x)

    def scale(self, x: Tensor[A], factor: Fraction) -> Tensor[A]:
        """Each element times one number."""
        return self.multiply(x, self.constant(factor, (1,) * len(x.axes)))

    def rounded(self, x: Tensor[A], element_type: ElementType) -> Tensor[A]:
        """Each element as memory of this type holds it."""
        return self.each(lambda array: self.numbers.rounded(array, element_type), x)

    def total(self, x: Tensor[A], dims: Sequence[int]) -> Tensor[A]:
        """The sum over dimensions, which stay with size 1; zero over none."""
        for dim in dims:
            axis = x.axes[dim]
            array = self.numbers.total(x.array, self.lead + dim, _counts(axis))
            x = Tensor(array, (*x.axes[:dim], distinct(1), *x.axes[dim + 1 :]))
        return x

    def mean(self, x: Tensor[A], dims: Sequence[int]) -> Tensor[A]:
        """The sum over dimensions, divided by how many elements it has."""
        count = 1
        for dim in dims:
            count *= x.axes[dim].size
        return self.scale(self.total(x, dims), Fraction(1, count))

    def largest(self, x: Tensor[A], dims: Sequence[int]) -> Tensor[A] | None:
        """The maximum over dimensions, which stay with size 1; None where there is no element."""
        if 0 in x.shape:
            return None
        for dim in dims:
            array = self.numbers.largest(x.array, self.lead + dim)
            x = Tensor(array, (*x.axes[:dim], distinct(1), *x.axes[dim + 1 :]))
        return x

    def matmul(self, x: Tensor[A], y: Tensor[A]) -> Tensor[A]:
        """The product of the last two dimensions; the others broadcast."""
        rank = max(len(x.axes), len(y.axes))
        x, y = self.with_rank(x, rank), self.with_rank(y, rank)
        x, y = self.aligned(x, y, range(rank - 2))
        contracted, left, right = refine(x.axes[-1], y.axes[-2])
        x = self.select(x, rank - 1, Selection(contracted, left))
        y = self.select(y, rank - 2, Selection(contracted, right))
        array = self.numbers.matmul(x.array, y.array, _counts(contracted))
        batch = (b if a.size == 1 else a for a, b in zip(x.axes[:-2], y.axes[:-2], strict=True))
        return Tensor(array, (*batch, x.axes[-2], y.axes[-1]))

    def scaled(self, x: Tensor[A], count: int) -> Tensor[A]:
        """The sum of `count` tensors equal to x."""
        return x if count == 1 else self.each(lambda array: self.numbers.scaled(array, count), x)


def _counts(axis: Axis) -> Counts | None:
    """The weights of a sum over an axis, None when all are 1."""
    return axis.counts if axis.repeats else None
