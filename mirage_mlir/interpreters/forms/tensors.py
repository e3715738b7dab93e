"""Tensors and tiles in normal form, and the operators of both dialects on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate, pairwise
from math import prod

from mirage_mlir.interpreters.forms.functions import Functions
from mirage_mlir.interpreters.forms.ranges import bracket
from mirage_mlir.interpreters.forms.terms import Form, Place, Undecided, Variable, place

ReadAt = Callable[[Form, Sequence[Variable], Place], Form]
"""What gives a form whose digits of one dimension make the number at a place."""


@dataclass(frozen=True)
class Dim:
    """
    One dimension: its index has `digits`, none where all elements are alike.

    In a tile only elements at which `valid` is below its limit are there; None: all.
    """

    size: int
    digits: tuple[Variable, ...] = ()
    valid: Place | None = None


@dataclass(frozen=True)
class Symbolic:
    """A tensor or tile: the form of the element at the dimensions' digits."""

    form: Form
    dims: tuple[Dim, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents."""
        return tuple(dim.size for dim in self.dims)


class Tensors:
    """Operators on tensors and on tiles."""

    def __init__(self, forms: Functions):
        self.forms = forms

    def dim(self, size: int) -> Dim:
        """A dimension with an index of its own."""
        return Dim(size, (self.forms.variable(size),) if size > 1 else ())

    def constant(self, value: Fraction, shape: Sequence[int]) -> Symbolic:
        """A tensor of equal elements."""
        return Symbolic(self.forms.constant(value), tuple(map(Dim, shape)))

    def each(self, operation: Callable[[Form], Form], x: Symbolic) -> Symbolic:
        """An operation on each element."""
        return replace(x, form=operation(x.form))

    def scale(self, x: Symbolic, factor: Fraction) -> Symbolic:
        """Each element times one number."""
        return replace(x, form=self.forms.scale(x.form, factor))

    def with_rank(self, x: Symbolic, rank: int) -> Symbolic:
        """`x` with dimensions of size 1 in front."""
        return replace(x, dims=(*(Dim(1),) * (rank - len(x.dims)), *x.dims))

    # Digits

    def inserted(self, x: Symbolic, values: dict[Variable, Place]) -> Symbolic:
        """`x` with digits replaced, in its dimensions too."""

        def digits(old: Sequence[Variable]) -> tuple[Variable, ...]:
            return tuple(d for v in old for d in (values[v].digits if v in values else (v,)))

        def moved(dim: Dim) -> Dim:
            valid = dim.valid and place(digits(dim.valid.digits), dim.valid.limit)
            return Dim(dim.size, digits(dim.digits), valid)

        return Symbolic(self.forms.insert(x.form, values), tuple(map(moved, x.dims)))

    def _moved_to(self, form: Form, digits: Sequence[Variable], number: Place) -> Form:
        """A form with the only digit of a dimension replaced by the number at a place."""
        if len(digits) > 1:
            raise Undecided("a dimension that is made of several is part of another one")
        return self.forms.insert(form, {digit: number for digit in digits})

    def read_at(self, form: Form, digits: Sequence[Variable], number: Place) -> Form:
        """A form with the digits of a dimension making the number at a place."""
        try:
            return self._moved_to(form, digits, number)
        except Undecided:
            return self.forms.flattened(form, digits, number)

    def split(self, x: Symbolic, dim: int, sizes: Sequence[int]) -> Symbolic:
        """
        `x` with the digits of a dimension of the given sizes at the least.

        Raises:
            Undecided: digits overlap.
        """
        old = x.dims[dim].digits
        if tuple(v.size for v in old) == tuple(sizes):
            return x
        values: dict[Variable, Place] = {}
        ends = sorted(
            {*accumulate(reversed(sizes), int.__mul__, initial=1)}
            | {*accumulate((v.size for v in reversed(old)), int.__mul__, initial=1)}
        )
        if any(high % low for low, high in pairwise(ends)):
            raise Undecided("dimensions are cut or reshaped in two ways that do not fit together")
        low = 1
        for variable in reversed(old):
            high = low * variable.size
            inner = [end for end in ends if low <= end <= high]
            parts = [self.forms.variable(b // a) for a, b in pairwise(inner)]
            if len(parts) > 1:
                values[variable] = Place(tuple(reversed(parts)))
            low = high
        return self.inserted(x, values) if values else x

    def _fitted(self, x: Symbolic, y: Symbolic, left: int, right: int) -> tuple[Symbolic, Symbolic]:
        """Both with digits of the same sizes in dimensions that are as long."""
        a, b = x.dims[left].digits, y.dims[right].digits
        if a and b:
            x = self.split(x, left, [v.size for v in b])
            y = self.split(y, right, [v.size for v in x.dims[left].digits])
        return x, y

    def aligned(
        self, x: Symbolic, y: Symbolic, pairs: Sequence[tuple[int, int]]
    ) -> tuple[Symbolic, Symbolic]:
        """
        Both with common digits in corresponding dimensions, and in no others.

        Raises:
            Undecided: tiles are cut from ragged dimensions in different ways.
        """
        for left, right in pairs:
            x, y = self._fitted(x, y, left, right)
        targets: dict[Variable, Place] = {}
        facing = {right: left for left, right in pairs}
        taken = {v for dim in x.dims for v in dim.digits}
        for number, dim in enumerate(y.dims):
            other = x.dims[facing[number]].digits if number in facing else ()
            if other:
                targets |= {v: Place((w,)) for v, w in zip(dim.digits, other, strict=False)}
            else:
                targets |= {
                    v: Place((self.forms.variable(v.size),)) for v in dim.digits if v in taken
                }
        targets = {v: p for v, p in targets.items() if p.digits != (v,)}
        return x, self.inserted(y, targets) if targets else y

    def _joined(self, a: Dim, b: Dim) -> Dim:
        """The dimension of what is computed from two; a size of 1 stretches."""
        valid = a.valid or b.valid
        if a.valid is not None and b.valid is not None and a.valid != b.valid:
            if a.valid.digits != b.valid.digits:
                raise Undecided("tiles that are cut in different ways are combined")
            valid = min(a.valid, b.valid, key=lambda p: p.limit)
        return Dim(max(a.size, b.size), a.digits or b.digits, valid)

    # Arithmetic

    def pairwise(
        self, operation: Callable[[Form, Form], Form], x: Symbolic, y: Symbolic
    ) -> Symbolic:
        """An operation on corresponding elements, broadcast as numpy does."""
        rank = max(len(x.dims), len(y.dims))
        x, y = self.with_rank(x, rank), self.with_rank(y, rank)
        x, y = self.aligned(x, y, [(dim, dim) for dim in range(rank)])
        dims = tuple(self._joined(a, b) for a, b in zip(x.dims, y.dims, strict=True))
        return Symbolic(operation(x.form, y.form), dims)

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

    def total(self, x: Symbolic, dims: Sequence[int]) -> Symbolic:
        """The sum over dimensions, which stay with size 1."""
        form = x.form
        for dim in dims:
            form = self._summed(form, x.dims[dim])
        return Symbolic(form, _reduced(x.dims, dims))

    def _summed(self, form: Form, dim: Dim) -> Form:
        valid = dim.valid
        if not dim.digits:
            if valid is None:
                return self.forms.scale(form, dim.size)
            if dim.size > 1:
                raise Undecided("equal elements of a ragged tile are added up")
            # One element or none: a variable of one value that counts where it is valid.
            return self.forms.bind(form, self.forms.variable(1), valid)
        for variable in reversed(dim.digits):
            form = self.forms.bind(form, variable, valid)
            # What was valid is now part of the form.
            valid = None
        return form

    def mean(self, x: Symbolic, dims: Sequence[int]) -> Symbolic:
        """The sum over dimensions, divided by how many elements it has."""
        count = prod(x.dims[dim].size for dim in dims)
        return self.scale(self.total(x, dims), Fraction(1, count))

    def largest(self, x: Symbolic, dims: Sequence[int]) -> Symbolic:
        """The maximum over dimensions, which stay with size 1."""
        form = x.form
        for dim in dims:
            for variable in x.dims[dim].digits:
                form = self.forms.largest(form, variable)
        return Symbolic(form, _reduced(x.dims, dims))

    def matmul(self, x: Symbolic, y: Symbolic) -> Symbolic:
        """The product of the last two dimensions; the others broadcast."""
        rank = max(len(x.dims), len(y.dims))
        x, y = self.with_rank(x, rank), self.with_rank(y, rank)
        pairs = [(dim, dim) for dim in range(rank - 2)]
        x, y = self.aligned(x, y, [*pairs, (rank - 1, rank - 2)])
        contracted = self._joined(x.dims[-1], y.dims[-2])
        form = self._summed(self.forms.mul(x.form, y.form), contracted)
        batch = (self._joined(a, b) for a, b in zip(x.dims[:-2], y.dims[:-2], strict=True))
        return Symbolic(form, (*batch, x.dims[-2], y.dims[-1]))

    # Views

    def transpose(self, x: Symbolic, permutation: Sequence[int]) -> Symbolic:
        """Dimension d of the result is dimension `permutation[d]` of x."""
        return replace(x, dims=tuple(x.dims[dim] for dim in permutation))

    def broadcast(self, x: Symbolic, shape: Sequence[int]) -> Symbolic:
        """`x` repeated along its dimensions of size 1 and along new ones in front."""
        x = self.with_rank(x, len(shape))
        dims = tuple(
            dim if dim.size == size else Dim(size, (), dim.valid)
            for dim, size in zip(x.dims, shape, strict=True)
        )
        return replace(x, dims=dims)

    def reshape(self, x: Symbolic, shape: Sequence[int]) -> Symbolic:
        """The same elements in row-major order in another shape."""
        flat = tuple(v for dim in x.dims for v in self._digits(dim))
        whole = Symbolic(x.form, (Dim(prod(x.shape), flat),))
        sizes = [size for size in shape if size > 1]
        try:
            whole = self.split(whole, 0, sizes)
        except Undecided:
            made = Dim(prod(x.shape), tuple(map(self.forms.variable, sizes)))
            whole = Symbolic(self.forms.flattened(x.form, flat, Place(made.digits)), (made,))
        digits = list(whole.dims[0].digits)
        dims: list[Dim] = []
        for size in reversed(shape):
            taken: list[Variable] = []
            while prod(v.size for v in taken) < size:
                taken.insert(0, digits.pop())
            dims.insert(0, Dim(size, tuple(taken)))
        return Symbolic(whole.form, tuple(dims))

    def _digits(self, dim: Dim) -> tuple[Variable, ...]:
        """The digits of a dimension, which it needs where it becomes a part of another one."""
        return dim.digits or ((self.forms.variable(dim.size),) if dim.size > 1 else ())

    def repeat(self, x: Symbolic, dim: int, times: int, *, inner: bool) -> Symbolic:
        """A dimension repeated as a whole or, with `inner`, each element in place."""
        old = x.dims[dim]
        new = Dim(old.size * times)
        if old.digits:
            turn = self._digits(Dim(times))
            new = Dim(new.size, (*old.digits, *turn) if inner else (*turn, *old.digits))
        return replace(x, dims=(*x.dims[:dim], new, *x.dims[dim + 1 :]))

    def concat(self, parts: Sequence[Symbolic], dim: int) -> Symbolic:
        """
        Tensors one after the other along a dimension.

        Raises:
            Undecided: one of them is ragged.
        """
        if len({x.dims[dim].size for x in parts}) == 1:
            try:
                return self._concat_by_ranges(parts, dim, self._moved_to)
            except Undecided:
                return self._concat_by_digits(parts, dim)
        return self._concat_by_ranges(parts, dim, self.read_at)

    def _concat_by_ranges(self, parts: Sequence[Symbolic], dim: int, read_at: ReadAt) -> Symbolic:
        """The parts are ranges of one index."""
        first = parts[0]
        dims = list(first.dims)
        new = dims[dim] = self.dim(sum(x.dims[dim].size for x in parts))
        form, start = self.forms.constant(0), 0
        others = [(number, number) for number in range(len(dims)) if number != dim]
        for x in parts:
            _, x = self.aligned(first, x, others)
            old = x.dims[dim]
            if old.valid is not None:
                raise Undecided("a ragged dimension is part of a longer one")
            where = self.forms.factor(bracket(start, start + old.size), (Place(new.digits),))
            moved = read_at(x.form, old.digits, Place(new.digits, 0, -start))
            form = self.forms.add(form, self.forms.mul(where, moved))
            for number, _ in others:
                dims[number] = self._joined(dims[number], x.dims[number])
            start += old.size
        return Symbolic(form, tuple(dims))

    def _concat_by_digits(self, parts: Sequence[Symbolic], dim: int) -> Symbolic:
        """A first digit says which of the parts, which are of one size."""
        first, size = parts[0], parts[0].dims[dim].size
        pairs = [(number, number) for number in range(len(first.dims))]
        for x in parts[1:]:
            first, _ = self.aligned(first, x, pairs)
        number = self.forms.variable(len(parts))
        inner = first.dims[dim].digits or self._digits(Dim(size))
        form, dims = self.forms.constant(0), first.dims
        for position, x in enumerate(parts):
            _, x = self.aligned(first, x, pairs)
            if x.dims[dim].valid is not None or x.dims[dim].digits not in ((), inner):
                raise Undecided("a dimension that is made of several is part of a longer one")
            where = self.forms.factor(bracket(position, position + 1), (Place((number,)),))
            form = self.forms.add(form, self.forms.mul(where, x.form))
            dims = tuple(self._joined(a, b) for a, b in zip(dims, x.dims, strict=True))
        new = Dim(size * len(parts), (number, *inner))
        return Symbolic(form, (*dims[:dim], new, *dims[dim + 1 :]))

    def part(self, x: Symbolic, dim: int, offset: int, size: int, stride: int) -> Symbolic:
        """Every `stride`-th index of a dimension from `offset` on, `size` in all."""
        old = x.dims[dim]
        if not old.digits or (offset, size, stride) == (0, old.size, 1):
            new = replace(old, size=size)
            return replace(x, dims=(*x.dims[:dim], new, *x.dims[dim + 1 :]))
        first, *others = old.digits
        low = prod(v.size for v in others)
        taken, digits = self.dim(size), old.digits
        where = Place(taken.digits, 0, offset, stride if taken.digits else 1)
        if not (offset % low or size % low) and stride == 1:
            taken, digits = self.dim(size // low), (first,)
            where = Place(taken.digits, 0, offset // low)
        form = self.read_at(x.form, digits, where)
        left = others if len(digits) == 1 else []
        new = Dim(size, (*taken.digits, *left))
        return Symbolic(form, (*x.dims[:dim], new, *x.dims[dim + 1 :]))


def _reduced(dims: Sequence[Dim], reduced: Sequence[int]) -> tuple[Dim, ...]:
    return tuple(Dim(1) if number in reduced else dim for number, dim in enumerate(dims))
