"""Arithmetic on tensors of any domain's numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import prod
from typing import Generic

import numpy as np

from mirage_mlir.interpreters.dims import Dim, Index, common, complete, dim_of, dims_of, part
from mirage_mlir.interpreters.domain import A, AnyArray, Domain, ElementType
from mirage_mlir.interpreters.tensor import PANEL, DrawnTensor, Tensor
from mirage_mlir.interpreters.tensor import drawn as drawn
from mirage_mlir.interpreters.tensor import made as made
from mirage_mlir.operators.elementwise import FunctionName


class TensorDomain(Generic[A]):
    """
    A domain's operations on tensors.

    Dimensions are the last axes of arrays. Before them are `lead` axes along which tensors of one
    shape lie side by side, the first one being the domain's runs; each broadcasts as numpy's do.
    """

    def __init__(self, numbers: Domain[A], lead: int = 1, *, sparse: bool = False):
        """With `sparse` sums run over the indices that are computed: the others add zero."""
        self.numbers = numbers
        self.lead = lead
        self.sparse = sparse

    # Making tensors

    def constant(self, value: Fraction, shape: Sequence[int]) -> Tensor[A]:
        """A tensor whose elements are all one number."""
        return Tensor(self.numbers.constant(value, self._rank(shape)), dims_of(shape))

    def iota(self, shape: Sequence[int], dim: int) -> Tensor[A]:
        """A tensor whose elements are their indices along a dimension."""
        extents = [1] * self._rank(shape)
        extents[self.lead - 1 + dim] = shape[dim]
        indices = np.arange(shape[dim], dtype=np.int64)
        return Tensor(self.numbers.integers(indices.reshape(extents)), dims_of(shape))

    def lowest(self, shape: Sequence[int]) -> Tensor[A]:
        """A tensor of maxima over nothing."""
        return Tensor(self.numbers.lowest(self._rank(shape)), dims_of(shape))

    def literal(self, array: A) -> Tensor[A]:
        """A tensor of which all indices are computed."""
        return Tensor(array, dims_of(self.numbers.shape(array)[self.lead :]))

    def expanded(self, x: Tensor[A]) -> A:
        """All computed elements of a tensor, also where they are alike."""
        return self.spread(x, range(len(x.dims)))

    def spread(self, x: Tensor[A], dims: Sequence[int]) -> A:
        """The array of a tensor with alike elements written out along some dimensions."""
        counts = {self.lead + dim: x.dims[dim].count for dim in dims}

        def written_out(array: AnyArray) -> AnyArray:
            extents: list[int] = list(array.shape)
            for axis, count in counts.items():
                extents[axis] = count
            return np.broadcast_to(array, tuple(extents))

        return self.rearrange(x.array, written_out)

    def _rank(self, shape: Sequence[int]) -> int:
        """The axes of an array but for the runs."""
        return self.lead - 1 + len(shape)

    # Moving elements

    def rearrange(self, array: A, change: Callable[[AnyArray], AnyArray]) -> A:
        """Move elements of an array; see `Domain.rearrange`."""
        return self.numbers.rearrange(array, change)

    def take(self, x: Tensor[A], dim: int, new: Dim, places: Index | slice) -> Tensor[A]:
        """`x` with a dimension replaced by one that is made of some of its indices."""
        if isinstance(x, DrawnTensor):
            return x.taken(dim, new, places)
        axis = self.lead + dim
        dims = (*x.dims[:dim], new, *x.dims[dim + 1 :])
        if self.extent(x, dim) != x.dims[dim].count:
            # All alike; what has no element left is empty all the same.
            places = slice(0, min(1, new.count))

        def taken(array: AnyArray) -> AnyArray:
            if isinstance(places, slice):
                return array[(slice(None),) * axis + (places,)]
            return np.take(array, places, axis)

        return Tensor(self.rearrange(x.array, taken), dims)

    def extent(self, x: Tensor[A], dim: int) -> int:
        """How many elements are stored along a dimension: all that are computed, or one."""
        return self.numbers.shape(x.array)[self.lead + dim]

    def part(self, x: Tensor[A], dim: int, start: int, stop: int, stride: int = 1) -> Tensor[A]:
        """The indices start, start + stride, ... below stop of one dimension."""
        if (start, stop, stride) == (0, x.dims[dim].size, 1):
            return x
        return self.take(x, dim, *part(x.dims[dim], start, stop, stride))

    def with_rank(self, x: Tensor[A], rank: int) -> Tensor[A]:
        """`x` with dimensions of size 1 in front, as numpy's broadcasting puts them."""
        missing = rank - len(x.dims)
        if missing == 0:
            return x
        array = self.rearrange(
            x.array,
            lambda a: a.reshape(*a.shape[: self.lead], *(1,) * missing, *a.shape[self.lead :]),
        )
        return Tensor(array, (Dim(1),) * missing + x.dims)

    def _synchronized(
        self, x: Tensor[A], y: Tensor[A], dim: int
    ) -> tuple[Tensor[A], Tensor[A], Dim]:
        """Both with the indices of a dimension that both have; alike elements are everywhere."""
        a, b = x.dims[dim], y.dims[dim]
        if self._alike(x, dim):
            return x, y, a if b.size == 1 and self._alike(y, dim) else b
        if self._alike(y, dim):
            return x, y, a
        found, left, right = common(a, b)
        x = x if left is None else self.take(x, dim, found, left)
        y = y if right is None else self.take(y, dim, found, right)
        return x, y, found

    def united(self, x: Tensor[A], y: Tensor[A]) -> tuple[Tensor[A], Tensor[A]]:
        """
        Two terms of a sum of which other indices are computed, each with those of both.

        As in sums with `sparse`, what is not computed adds zero; nor has a ragged tile its end.
        """
        for dim, (a, b) in enumerate(zip(x.dims, y.dims, strict=True)):
            if self.sparse and a != b and (a.kept or b.kept):
                whole = dim_of(max(a.size, b.size), np.union1d(a.indices, b.indices))
                x, y = self._with_zeros(x, dim, whole), self._with_zeros(y, dim, whole)
        return x, y

    def _with_zeros(self, x: Tensor[A], dim: int, whole: Dim) -> Tensor[A]:
        """`x` with more indices of a dimension, where it is zero; alike elements are everywhere."""
        if self._alike(x, dim):
            return x
        axis, places = self.lead + dim, np.searchsorted(whole.indices, x.dims[dim].indices)

        def put(array: AnyArray) -> AnyArray:
            shape = (*array.shape[:axis], whole.count, *array.shape[axis + 1 :])
            zeros = np.zeros(shape, array.dtype)
            zeros[(slice(None),) * axis + (places,)] = array
            return zeros

        dims = (*x.dims[:dim], whole, *x.dims[dim + 1 :])
        return Tensor(self.rearrange(x.array, put), dims)

    def _alike(self, x: Tensor[A], dim: int) -> bool:
        """Whether one element is stored for all indices of a dimension."""
        return x.dims[dim].kept is None and self.extent(x, dim) == 1

    # Arithmetic

    def each(self, operation: Callable[[A], A], x: Tensor[A]) -> Tensor[A]:
        """An operation on each element."""
        return Tensor(operation(x.array), x.dims)

    def pairwise(self, operation: Callable[[A, A], A], x: Tensor[A], y: Tensor[A]) -> Tensor[A]:
        """An operation on corresponding elements, broadcast as numpy does."""
        rank = max(len(x.dims), len(y.dims))
        x, y = self.with_rank(x, rank), self.with_rank(y, rank)
        dims: list[Dim] = []
        for dim in range(rank):
            x, y, found = self._synchronized(x, y, dim)
            dims.append(found)
        return Tensor(operation(x.array, y.array), tuple(dims))

    def select(self, condition: Tensor[A], x: Tensor[A], y: Tensor[A]) -> Tensor[A]:
        """`x` where a condition is 1 and `y` where it is 0, broadcast as numpy does."""
        rank = max(len(each.dims) for each in (condition, x, y))
        condition, x, y = (self.with_rank(each, rank) for each in (condition, x, y))
        dims: list[Dim] = []
        for dim in range(rank):
            x, y, _ = self._synchronized(x, y, dim)
            condition, x, _ = self._synchronized(condition, x, dim)
            condition, y, _ = self._synchronized(condition, y, dim)
            found = [each for each in (condition, x, y) if not self._alike(each, dim)]
            # One that is alike may be broadcast, or have size 1.
            largest = max((each.dims[dim] for each in (condition, x, y)), key=lambda d: d.size)
            dims.append(found[0].dims[dim] if found else largest)
        array = self.numbers.select(condition.array, x.array, y.array)
        return Tensor(array, tuple(dims))

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
        return self.each(lambda array: self.numbers.scale(array, factor), x)

    def rounded(self, x: Tensor[A], element_type: ElementType) -> Tensor[A]:
        """Each element as memory of this type holds it."""
        return self.each(lambda array: self.numbers.rounded(array, element_type), x)

    def total(self, x: Tensor[A], dims: Sequence[int]) -> Tensor[A]:
        """The sum over dimensions, which stay with size 1; zero over none."""
        for dim in dims:
            size = x.dims[dim].size
            if not self.sparse:
                complete(x.dims[dim], "a sum")
            if x.dims[dim].count == 0:
                # Zero everywhere, stored once.
                first = self.rearrange(x.array, lambda a: a[:, *(slice(1),) * (a.ndim - 1)])
                array = self.numbers.total(first, self.lead + dim)
            elif not self._alike(x, dim) or size == 1:
                array = self.numbers.total(x.array, self.lead + dim)
            else:
                array = self.numbers.scale(x.array, Fraction(size))
            x = Tensor(array, (*x.dims[:dim], Dim(1), *x.dims[dim + 1 :]))
        return x

    def as_sums(self, x: Tensor[A]) -> Tensor[A]:
        """`x`, each element as a sum of one term, which some domains round otherwise."""
        array = self.rearrange(x.array, lambda a: a[..., np.newaxis])
        array = self.numbers.total(array, self.lead + len(x.dims))
        return Tensor(self.rearrange(array, lambda a: a[..., 0]), x.dims)

    def mean(self, x: Tensor[A], dims: Sequence[int]) -> Tensor[A]:
        """The sum over dimensions, divided by how many elements it has."""
        count = prod(x.dims[dim].size for dim in dims)
        return self.scale(self.total(x, dims), Fraction(1, count))

    def largest(self, x: Tensor[A], dims: Sequence[int]) -> Tensor[A] | None:
        """The maximum over dimensions, which stay with size 1; None where there is no element."""
        if any(x.dims[dim].size == 0 for dim in dims):
            return None
        for dim in dims:
            complete(x.dims[dim], "a maximum")
            array = self.numbers.largest(x.array, self.lead + dim)
            x = Tensor(array, (*x.dims[:dim], Dim(1), *x.dims[dim + 1 :]))
        return x

    def matmul(self, x: Tensor[A], y: Tensor[A]) -> Tensor[A]:
        """The product of the last two dimensions; the others broadcast."""
        assert x.dims[-1].size == y.dims[-2].size
        if not (self.sparse and x.dims[-1] == y.dims[-2]):
            for summed in (x.dims[-1], y.dims[-2]):
                complete(summed, "a matmul")
        for operand, other in ((y, x), (x, y)):
            if isinstance(operand, DrawnTensor) and operand.elements > PANEL:
                return self._matmul_in_panels(operand, other, right=operand is y)
        rank = max(len(x.dims), len(y.dims))
        left, right = (
            Tensor(self.spread(operand, [len(operand.dims) - back]), operand.dims)
            for operand, back in ((x, 1), (y, 2))
        )
        left, right = self.with_rank(left, rank), self.with_rank(right, rank)
        batch: list[Dim] = []
        for dim in range(rank - 2):
            left, right, found = self._synchronized(left, right, dim)
            batch.append(found)
        array = self.numbers.matmul(left.array, right.array)
        return Tensor(array, (*batch, left.dims[-2], right.dims[-1]))

    def _matmul_in_panels(
        self, large: DrawnTensor[A], other: Tensor[A], *, right: bool
    ) -> Tensor[A]:
        """The product with an operand that is made in panels of columns (rows, if it is left)."""
        dim = len(large.dims) - (1 if right else 2)
        count = large.dims[dim].count
        step = max(1, PANEL // (large.elements // count))
        parts: list[Tensor[A]] = []
        for start in range(0, count, step):
            places = np.arange(start, min(start + step, count))
            panel = large.taken(dim, Dim(len(places)), places)
            made = Tensor(panel.array, panel.dims)
            parts.append(self.matmul(other, made) if right else self.matmul(made, other))
        axis = len(parts[0].dims) - (1 if right else 2)
        dims = parts[0].dims
        array = self.numbers.concatenate([each.array for each in parts], self.lead + axis)
        return Tensor(array, (*dims[:axis], large.dims[dim], *dims[axis + 1 :]))
