"""The operators of both dialects on tensors and tiles of forms; `views` has those that move."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from math import prod

from mirage_mlir.equivalence.symbolic import guards as guards_
from mirage_mlir.equivalence.symbolic.guards import Guards
from mirage_mlir.equivalence.symbolic.indices import ZERO, Variable, of
from mirage_mlir.equivalence.symbolic.symbolic import (
    Dim,
    Piece,
    PieceAlgebra,
    Symbolic,
    conjunction,
    joined,
)
from mirage_mlir.equivalence.symbolic.terms import Form


class Tensors(PieceAlgebra):
    """Arithmetic on tensors and on tiles."""

    def constant(self, value: Fraction, shape: Sequence[int]) -> Symbolic:
        """A tensor of equal elements."""
        return Symbolic((Piece((), self.forms.constant(value)),), tuple(map(self.dim, shape)))

    def lowest(self, shape: Sequence[int]) -> Symbolic:
        """A tensor of -inf."""
        return Symbolic((Piece((), self.forms.lowest),), tuple(map(self.dim, shape)))

    def iota(self, shape: Sequence[int], dim: int) -> Symbolic:
        """A tensor of the indices along a dimension."""
        dims = tuple(map(self.dim, shape))
        variable = dims[dim].variable
        index = ZERO if variable is None else of(variable)
        return Symbolic((Piece((), self.forms.index(index)),), dims)

    def scale(self, x: Symbolic, factor: Fraction) -> Symbolic:
        """Each element times one number."""
        return self.each(lambda form: self.forms.scale(form, factor), x)

    def with_rank(self, x: Symbolic, rank: int) -> Symbolic:
        """`x` with dimensions of size 1 in front."""
        return replace(x, dims=(*(Dim(1),) * (rank - len(x.dims)), *x.dims))

    def pairwise(
        self, operation: Callable[[Form, Form], Form], x: Symbolic, y: Symbolic
    ) -> Symbolic:
        """An operation on corresponding elements, broadcast as numpy does."""
        rank = max(len(x.dims), len(y.dims))
        x, y = self.with_rank(x, rank), self.with_rank(y, rank)
        y = self.aligned(x, y, [(dim, dim) for dim in range(rank)])
        dims = tuple(joined(a, b) for a, b in zip(x.dims, y.dims, strict=True))
        result = Symbolic((), dims, conjunction(x.exists, y.exists))
        return self.combined(operation, x, y, result)

    def subtract(self, x: Symbolic, y: Symbolic) -> Symbolic:
        """`x - y`."""
        return self.pairwise(lambda a, b: self.forms.add(a, b, -1), x, y)

    def add(self, x: Symbolic, y: Symbolic) -> Symbolic:
        """`x + y`."""
        return self.pairwise(self.forms.add, x, y)

    def multiply(self, x: Symbolic, y: Symbolic) -> Symbolic:
        """`x * y`."""
        return self.pairwise(self.forms.mul, x, y)

    def divide(self, x: Symbolic, y: Symbolic) -> Symbolic:
        """`x / y`."""
        return self.pairwise(self.forms.div, x, y)

    def function(self, name: str, x: Symbolic) -> Symbolic:
        """A function of each element."""
        return self.each(lambda form: self.forms.function(name, form), x)

    def rounded(self, x: Symbolic, element_type: str) -> Symbolic:
        """Each element as a number of an element type."""
        if not self.forms.roundings or element_type == "f32":
            return x
        return self.function(f"rounded to {element_type}", x)

    # Reductions

    def sum_over(self, x: Symbolic, over: Sequence[Variable], guards: Guards) -> tuple[Piece, ...]:
        """The sum of the elements at which guards hold, over variables."""

        def total(parts: Sequence[Piece], names: set[Variable]) -> Form:
            sums = (self.forms.total(part.form, names, part.guards) for part in parts)
            return reduce(self.forms.add, sums, self.forms.constant(0))

        return self.reduced(x, over, guards, total)

    def maximum_over(
        self, x: Symbolic, over: Sequence[Variable], guards: Guards, result: Symbolic
    ) -> Symbolic:
        """A result with the maximum of the elements at which guards hold, over variables."""

        def largest(parts: Sequence[Piece], names: set[Variable]) -> Form:
            return self.forms.largest(((part.form, part.guards) for part in parts), names)

        there = conjunction(result.exists, *(dim.valid for dim in result.dims))
        pieces = self.reduced(x, over, guards, largest, there)
        return replace(result, pieces=pieces, demands=self.of_all(x, over, guards))

    def total(self, x: Symbolic, dims: Sequence[int]) -> Symbolic:
        """The sum over dimensions, which stay with size 1."""
        over, guards = _reduced(x, dims)
        pieces, demands = self.sum_over(x, over, guards), self.of_all(x, over, guards)
        return Symbolic(pieces, _without(x.dims, dims), x.exists, demands)

    def mean(self, x: Symbolic, dims: Sequence[int]) -> Symbolic:
        """The sum over dimensions, divided by how many elements it has."""
        count = prod(x.dims[dim].size for dim in dims)
        return self.scale(self.total(x, dims), Fraction(1, count))

    def largest(self, x: Symbolic, dims: Sequence[int]) -> Symbolic:
        """The maximum over dimensions, which stay with size 1; of no element there is none."""
        over, guards = _reduced(x, dims)
        # Elements are there from the first one on.
        first = guards_.moved(guards, dict.fromkeys(over, ZERO))
        exists = conjunction(x.exists, (False,) if first is None else first)
        return self.maximum_over(x, over, guards, Symbolic((), _without(x.dims, dims), exists))

    def matmul(self, x: Symbolic, y: Symbolic) -> Symbolic:
        """The product of the last two dimensions; the others broadcast."""
        rank = max(len(x.dims), len(y.dims))
        x, y = self.with_rank(x, rank), self.with_rank(y, rank)
        pairs = [(dim, dim) for dim in range(rank - 2)]
        y = self.aligned(x, y, [*pairs, (rank - 1, rank - 2)])
        batch = tuple(joined(a, b) for a, b in zip(x.dims[:-2], y.dims[:-2], strict=True))
        contracted = joined(x.dims[-1], y.dims[-2])
        dims = (*batch, x.dims[-2], contracted, y.dims[-1])
        product = Symbolic((), dims, conjunction(x.exists, y.exists))
        result = self.total(self.combined(self.forms.mul, x, y, product), [rank - 1])
        return replace(result, dims=(*result.dims[:-2], result.dims[-1]))


def _reduced(x: Symbolic, dims: Sequence[int]) -> tuple[list[Variable], Guards]:
    """The indices of dimensions, and the conditions that elements are there."""
    chosen = [x.dims[dim] for dim in dims]
    over = [dim.variable for dim in chosen if dim.variable is not None]
    return over, conjunction(*(dim.valid for dim in chosen))


def _without(dims: Sequence[Dim], reduced_: Sequence[int]) -> tuple[Dim, ...]:
    return tuple(Dim(1) if number in reduced_ else dim for number, dim in enumerate(dims))
