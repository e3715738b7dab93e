"""Operators that move elements: substitutions of indices, and pieces where tensors are joined."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

from mirage_mlir.equivalence.symbolic import demands as demands_
from mirage_mlir.equivalence.symbolic.demands import Demands
from mirage_mlir.equivalence.symbolic.guards import both, guard
from mirage_mlir.equivalence.symbolic.indices import (
    ZERO,
    Index,
    Variable,
    floor_div,
    number,
    of,
    plus,
    remainder,
    scaled,
)
from mirage_mlir.equivalence.symbolic.symbolic import (
    Dim,
    Piece,
    Symbolic,
    conjunction,
    joined,
    together,
)
from mirage_mlir.equivalence.symbolic.tensors import Tensors
from mirage_mlir.equivalence.symbolic.terms import Form, Undecided


class Views:
    """Views of tensors."""

    def __init__(self, tensors: Tensors) -> None:
        self.tensors = tensors

    def transpose(self, x: Symbolic, permutation: Sequence[int]) -> Symbolic:
        """Dimension d of the result is dimension `permutation[d]` of x."""
        return replace(x, dims=tuple(x.dims[dim] for dim in permutation))

    def broadcast(self, x: Symbolic, shape: Sequence[int]) -> Symbolic:
        """`x` repeated along its dimensions of size 1 and along new ones in front."""
        x = self.tensors.with_rank(x, len(shape))
        dims = tuple(
            dim if dim.size == size else replace(self.tensors.dim(size), valid=dim.valid)
            for dim, size in zip(x.dims, shape, strict=True)
        )
        return replace(x, dims=dims)

    def read_at(self, x: Symbolic, dim: int, new: Dim, index: Index) -> Symbolic:
        """`x` with another dimension, at whose elements it is read at an index of the old one."""
        dims = (*x.dims[:dim], new, *x.dims[dim + 1 :])
        variable = x.dims[dim].variable
        if variable is None:
            return replace(x, dims=dims)
        return self._read(x, {variable: index}, dims)

    def _read(self, x: Symbolic, values: Mapping[Variable, Index], dims: Sequence[Dim]) -> Symbolic:
        """`x` with other dimensions, and indices of these in the place of its own."""
        pieces, demands = (
            self.tensors.moved(x.pieces, values),
            self.tensors.moved_demands(x, values),
        )
        return Symbolic(pieces, tuple(dims), x.exists, demands)

    def slice(self, x: Symbolic, dim: int, offset: int, size: int, stride: int) -> Symbolic:
        """Every `stride`-th index of a dimension from `offset` on, `size` in all."""
        new = self.tensors.dim(size)
        return self.read_at(x, dim, new, plus(scaled(_index(new), stride), number(offset)))

    def repeat(self, x: Symbolic, dim: int, times: int) -> Symbolic:
        """A dimension repeated as a whole."""
        size = x.dims[dim].size
        new = self.tensors.dim(size * times)
        return self.read_at(x, dim, new, remainder(_index(new), size))

    def repeat_interleave(self, x: Symbolic, dim: int, times: int) -> Symbolic:
        """Each element of a dimension repeated in place."""
        new = self.tensors.dim(x.dims[dim].size * times)
        return self.read_at(x, dim, new, floor_div(_index(new), times))

    def reshape(self, x: Symbolic, shape: Sequence[int]) -> Symbolic:
        """The same elements in row-major order in another shape."""
        dims = tuple(map(self.tensors.dim, shape))
        values: dict[Variable, Index] = {}
        for sources, targets in _groups(x.shape, shape):
            flat = ZERO
            for target in targets:
                flat = plus(scaled(flat, shape[target]), _index(dims[target]))
            for source in reversed(sources):
                size, variable = x.shape[source], x.dims[source].variable
                last = source == sources[0]
                if variable is not None:
                    values[variable] = flat if last else remainder(flat, size)
                flat = flat if last else floor_div(flat, size)
        return self._read(x, values, dims)

    def concat(self, parts: Sequence[Symbolic], dim: int) -> Symbolic:
        """
        Tensors one after the other along a dimension.

        Raises:
            Undecided: one of them is ragged there.
        """
        first = parts[0]
        dims = list(first.dims)
        new = dims[dim] = self.tensors.dim(sum(x.shape[dim] for x in parts))
        others = [(n, n) for n in range(len(dims)) if n != dim]
        pieces: list[Piece] = []
        forms: list[Form | None] = []
        demands: Demands = ()
        start, exists = 0, first.exists
        for x in parts:
            x = self.tensors.aligned(replace(first, dims=tuple(dims)), x, others)
            if x.dims[dim].valid:
                raise Undecided("a ragged dimension is part of a longer one")
            stop = start + x.shape[dim]
            forms.append(_only_form(x, dim))
            moved = self.read_at(x, dim, new, plus(_index(new), number(-start)))
            here = [guard(_index(new), start, stop)]
            demands = demands_.together(demands, demands_.where(moved.demands, here))
            for piece in moved.pieces:
                guards = both(piece.guards, here)
                if guards is not None:
                    pieces.append(Piece(guards, piece.form))
            for n, _ in others:
                dims[n] = joined(dims[n], x.dims[n])
            exists = conjunction(exists, x.exists)
            start = stop
        found = self._progression(forms, _index(new)) or together(pieces)
        return Symbolic(found, tuple(dims), exists, demands)

    def _progression(self, forms: Sequence[Form | None], index: Index) -> tuple[Piece, ...]:
        """Elements that are linear in their index as such a form; none where they are not."""
        algebra = self.tensors.forms
        steps: set[Fraction | None] = set()
        for before, after in pairwise(forms):
            if before is None or after is None or algebra.lowest in (before, after):
                return ()
            steps.add(algebra.value_of(algebra.add(after, before, -1)))
        step = steps.pop() if len(steps) == 1 else None
        first = forms[0]
        if step is None or first is None:
            return ()
        return (Piece((), algebra.add(first, algebra.scale(algebra.index(index), step))),)


def _only_form(x: Symbolic, dim: int) -> Form | None:
    """The form of all elements, where a dimension has one index; None where they have several."""
    if len(x.pieces) != 1 or x.pieces[0].guards or x.shape[dim] != 1:
        return None
    return x.pieces[0].form


def _index(dim: Dim) -> Index:
    return ZERO if dim.variable is None else of(dim.variable)


def _groups(old: Sequence[int], new: Sequence[int]) -> Iterator[tuple[list[int], list[int]]]:
    """Dimensions that a reshape turns into each other, in groups as small as can be."""
    left, right = list(range(len(old))), list(range(len(new)))
    while left or right:
        sources, targets = left[:1], right[:1]
        del left[:1], right[:1]
        a = old[sources[0]] if sources else 1
        b = new[targets[0]] if targets else 1
        while a != b:
            if a < b:
                a *= old[left[0]]
                sources.append(left.pop(0))
            else:
                b *= new[right[0]]
                targets.append(right.pop(0))
        yield sources, targets
