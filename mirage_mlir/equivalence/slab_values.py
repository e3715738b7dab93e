"""Operators on values with at most one labelled dimension."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from zlib import crc32

import numpy as np
from xdsl.ir import Operation

from mirage_mlir.dialects.elementwise import row_of
from mirage_mlir.equivalence.labels import (
    MOST_FOLLOWED,
    Labels,
    NoSlab,
    concatenated,
    copied,
    identity,
    labels_of,
    merged,
    parted,
)
from mirage_mlir.interpreters.operators import (
    integer,
    integers,
    mnemonic,
    runs_over,
    shape_of,
    structure_of,
)
from mirage_mlir.operators.structured import Effect
from mirage_mlir.shapes.shapes import groups

INDEX_BY_INDEX = ("threadblock.convert_layout",)
"""What has no row and still takes its operands index by index, as elementwise operators do."""

RESHAPING = ("broadcast", "repeat", "repeat_interleave", "reshape", "transpose")
"""Mnemonics of views that number the indices of a label, or of other dimensions, anew."""

MOST_INDICES = 1 << 20
"""Indices of a dimension that a reshape makes, up to which labels are followed: some ms."""

Origin = tuple[int, int]
"""An argument of the functions and one of its dimensions."""


@dataclass(frozen=True)
class Plain:
    """A dimension without labels; if its indices are those of an argument it may get some."""

    size: int
    origin: Origin | None = None
    """The argument's dimension that it is."""
    made_of: Callable[[Labels], tuple[Plain, Labels]] | None = None
    """For labels that it may get, the dimension that it is made of and the labels of that one."""
    copies: Labels | None = None
    """Labels that it may have, as some of its elements are copies of others: of the copies."""
    alike: bool = False
    """Whether all elements are copies of one: it may have any labels."""


@dataclass(frozen=True)
class Value:
    """A tensor or a tile: its dimensions, of which at most one is labelled."""

    dims: tuple[Plain, ...]
    at: int | None = None
    """The dimension that is labelled."""
    labels: Labels | None = None
    varies: frozenset[int] = frozenset()
    """Grid axes along which blocks hold different elements, besides those of other labels."""

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.dims)


class Wanted(Exception):
    """Raised where an argument's dimension must be labelled, too."""

    def __init__(self, origin: Origin, labels: Labels):
        super().__init__(f"dimension {origin[1]} of argument {origin[0]} needs labels")
        self.origin = origin
        self.labels = labels


def require(dim: Plain, wanted: Labels) -> None:
    """
    Check that a dimension without labels may be combined with a labelled one.

    Raises:
        Wanted: labels of an argument would make it one.
        NoSlab: it cannot.
    """
    if dim.size == 1 or dim.alike or (dim.copies is not None and wanted.agrees(dim.copies)):
        return
    while dim.made_of is not None:
        dim, wanted = dim.made_of(wanted)
    if dim.origin is None or wanted.axis is not None or wanted.size != dim.size:
        raise NoSlab("a labelled dimension meets another one")
    raise Wanted(dim.origin, labels_of(wanted.label[0], wanted.inner[0]))


@dataclass
class Operators:
    """The results of operators of both dialects; each application has a word of its own."""

    sums: bool = False
    """Whether labels may meet in matmuls: of a sample, where other labels are weighted by zero."""
    seeds: list[tuple[Origin, Labels]] = field(default_factory=list[tuple[Origin, Labels]])
    """Labels of arguments that reshapes suggest."""
    applied: int = 0

    def result(self, op: Operation, operands: Sequence[Value]) -> Value:
        """
        The value of an operator of one result that is no load or store.

        Raises:
            NoSlab, Wanted: labels meet.
        """
        self.applied += 1
        name = mnemonic(op)
        shape = shape_of(op.results[0])
        views: dict[str, Callable[[], Value]] = {
            "broadcast": lambda: self._broadcast(operands[0], shape),
            "concat": lambda: self._concat(operands, integer(op, "dim")),
            "constant": lambda: Value(tuple(Plain(size, alike=True) for size in shape)),
            # Not alike along `dim`, nor like any other: no label may meet an index itself.
            "iota": lambda: Value(
                tuple(
                    Plain(size, alike=dim != integer(op, "dim")) for dim, size in enumerate(shape)
                )
            ),
            "matmul": lambda: self._matmul(operands),
            "repeat": lambda: self._copied(operands[0], op, whole=True),
            "repeat_interleave": lambda: self._copied(operands[0], op, whole=False),
            "reshape": lambda: self._reshape(operands[0], shape),
            "slice": lambda: self._slice(operands[0], op),
            "transpose": lambda: self._transpose(operands[0], integers(op, "permutation")),
        }
        if name in views:
            return self.passed(views[name]()) if name in RESHAPING else views[name]()
        found = self.together(operands, self._reduced(op))
        return shaped(found, shape)

    def word(self, result: int = 0) -> int:
        """The word of this application and one of its results."""
        return crc32(b"%d %d" % (self.applied, result)) << 20

    def passed(self, x: Value, result: int = 0) -> Value:
        """`x` as a result of this application."""
        if x.labels is None:
            return x
        return replace(x, labels=x.labels.passed(self.word(result)))

    def _reduced(self, op: Operation) -> tuple[int, ...]:
        """
        The dimensions that an operator reduces or mixes; along others it works index by index.

        Raises:
            NoSlab: it is not known which these are.
        """
        if (row := structure_of(op)) is not None and row.effect is not Effect.MOVES:
            return runs_over(op, row)
        if row_of(op) is None and op.name not in INDEX_BY_INDEX:
            raise NoSlab(f"nothing is known of the indices that {op.name} reads")
        return ()

    def together(self, operands: Sequence[Value], reduced: Sequence[int] = ()) -> Value:
        """Operands met index by index as numpy broadcasts; `reduced` dimensions have no labels."""
        rank = max((value.rank for value in operands), default=0)
        ranked = [_with_rank(value, rank) for value in operands]
        dims = [_met([value.dims[dim] for value in ranked]) for dim in range(rank)]
        self._suggest_copies(ranked, rank)
        varies = frozenset[int]().union(*(value.varies for value in ranked))
        labelled = [value for value in ranked if value.labels is not None]
        if not labelled:
            return Value(tuple(dims), varies=varies)
        at, found = self._agreed(ranked, labelled)
        if at in reduced:
            raise NoSlab("an operator runs over a labelled dimension")
        if found.axis in varies:
            raise NoSlab("blocks with different labels use different parts of something else")
        others = [value.labels for value in labelled[1:] if value.labels is not None]
        dims[at] = Plain(found.size)
        return Value(tuple(dims), at, found.passed(self.word(), others), varies)

    def _suggest_copies(self, ranked: Sequence[Value], rank: int) -> None:
        """Note that what meets copies of a dimension may have their labels."""
        for dim in range(rank):
            met = [value.dims[dim] for value in ranked]
            for copies in (each.copies for each in met if each.copies is not None):
                self.seeds += [
                    (each.origin, copies)
                    for each in met
                    if each.origin is not None and each.size == copies.size
                ]

    def _agreed(self, ranked: Sequence[Value], labelled: Sequence[Value]) -> tuple[int, Labels]:
        """The labelled dimension of all operands, and its labels."""
        at, found = labelled[0].at, labelled[0].labels
        assert at is not None
        assert found is not None
        if any(value.dims[at].size not in (1, found.size) for value in ranked):
            raise NoSlab("an index with a label stretches")
        for value in ranked:
            if value.labels is None:
                require(value.dims[at], found)
            elif value.at != at or not found.agrees(value.labels):
                raise NoSlab("different labels meet")
        return at, found

    def _matmul(self, operands: Sequence[Value]) -> Value:
        """
        The product, as if both operands had all four kinds of dimensions.

        Batch dimensions meet index by index; rows and columns pass; the others are summed over.
        """
        rank = max(value.rank for value in operands)
        left, right = (_with_rank(value, rank) for value in operands)
        if left.at == rank - 1 or right.at == rank - 2:
            left, right = self._summed(left, right)
        # The left operand has rows and no columns, the right one columns and no rows.
        left = replace(left, dims=(*left.dims[:-1], Plain(1)))
        right = replace(right, dims=(*right.dims[:-2], Plain(1), right.dims[-1]))
        return self.together([left, right])

    def _summed(self, left: Value, right: Value) -> tuple[Value, Value]:
        """Operands of a matmul that sums over a labelled dimension, without its labels."""
        if not self.sums:
            raise NoSlab("a matmul sums over a labelled dimension")
        if left.labels is None and right.labels is not None:
            require(left.dims[-1], right.labels)
        if right.labels is None and left.labels is not None:
            require(right.dims[-2], left.labels)
        if left.at != left.rank - 1 or right.at != right.rank - 2:
            raise NoSlab("a matmul sums over one of two labelled dimensions")
        return replace(left, at=None, labels=None), replace(right, at=None, labels=None)

    # Views

    def _broadcast(self, x: Value, shape: Sequence[int]) -> Value:
        x = _with_rank(x, len(shape))
        dims = list(x.dims)
        for dim, size in enumerate(shape):
            if dims[dim].size != size:
                if dim == x.at:
                    raise NoSlab("an index with a label stretches")
                dims[dim] = Plain(size, alike=True)
        return replace(x, dims=tuple(dims))

    def _transpose(self, x: Value, permutation: Sequence[int]) -> Value:
        at = None if x.at is None else list(permutation).index(x.at)
        return replace(x, dims=tuple(x.dims[dim] for dim in permutation), at=at)

    def _slice(self, x: Value, op: Operation) -> Value:
        bounds = zip(*(integers(op, name) for name in ("offsets", "sizes", "strides")), strict=True)
        for dim, (offset, size, stride) in enumerate(bounds):
            if (offset, size, stride) == (0, x.dims[dim].size, 1):
                continue
            dims = (*x.dims[:dim], Plain(size), *x.dims[dim + 1 :])
            labels = x.labels
            if x.at == dim and labels is not None:
                labels = labels.taken(slice(offset, offset + size * stride, stride))
                x = replace(x, dims=dims, labels=labels)
            else:
                x = self.passed(replace(x, dims=dims))
        return x

    def _concat(self, parts: Sequence[Value], dim: int) -> Value:
        size = sum(part.dims[dim].size for part in parts)
        labelled = next((part for part in parts if part.labels is not None), None)
        around = [replace(part, dims=_replaced(part.dims, dim, Plain(1))) for part in parts]
        if labelled is None or labelled.at != dim:
            result = self.together(around)
            return replace(result, dims=_replaced(result.dims, dim, Plain(size)))
        for part in parts:
            if part.at != dim:
                raise NoSlab("a concat has parts without labels")
        every = [part.labels for part in parts if part.labels is not None]
        found = concatenated(every, self.word())
        dims = [_met([part.dims[other] for part in parts]) for other in range(parts[0].rank)]
        varies = frozenset[int]().union(*(part.varies for part in parts))
        return Value(_replaced(dims, dim, Plain(size)), dim, found, varies)

    def _copied(self, x: Value, op: Operation, *, whole: bool) -> Value:
        dim, times = integer(op, "dim"), integer(op, "times")
        size = x.dims[dim].size
        if x.at == dim and x.labels is not None:
            found = copied(x.labels, times, whole=whole)
            return replace(x, dims=_replaced(x.dims, dim, Plain(size * times)), labels=found)
        if size * times > MOST_FOLLOWED:
            return replace(x, dims=_replaced(x.dims, dim, Plain(size * times)))
        places = np.arange(size * times)
        label, inner = (
            (places // size, places % size) if whole else (places % times, places // times)
        )
        source = x.dims[dim]

        def made_of(wanted: Labels) -> tuple[Plain, Labels]:
            first = np.arange(size) * (1 if whole else times)
            width = int(wanted.inner.max(initial=0)) // times + 1 if whole else times
            inner = wanted.inner[:, first]
            labels = replace(wanted.taken(first), inner=inner % width if whole else inner // width)
            if not copied(labels, times, whole=whole).agrees(wanted):
                raise NoSlab("a labelled dimension meets copies of another one")
            return source, labels

        new = Plain(size * times, made_of=made_of, copies=labels_of(label, inner))
        return replace(x, dims=_replaced(x.dims, dim, new))

    def _reshape(self, x: Value, shape: Sequence[int]) -> Value:
        dims: list[Plain] = []
        at, labels = None, x.labels
        for sources, targets in groups([dim.size for dim in x.dims], shape):
            old = [x.dims[dim] for dim in sources]
            if x.at in sources and labels is not None:
                if not targets:
                    raise NoSlab("a reshape leaves out a labelled dimension")
                place = sources.index(x.at)
                sizes = [dim.size for dim in old]
                if prod(sizes) > MOST_INDICES:
                    raise NoSlab("a reshape joins a labelled dimension to a very large one")
                if not targets:
                    raise NoSlab("a reshape removes a labelled dimension")
                whole = merged(labels, sizes[:place], sizes[place + 1 :])
                number, labels = parted(whole, targets)
                at = len(dims) + number
                dims += [Plain(size) for size in targets]
            else:
                self._suggest(old, targets)
                dims += [_regrouped(old, targets, dim) for dim in range(len(targets))]
        return replace(x, dims=tuple(dims), at=at, labels=labels)

    def _suggest(self, old: Sequence[Plain], targets: Sequence[int]) -> None:
        """Note that parts of an argument's dimension may have labels."""
        if len(old) == 1 and old[0].origin is not None and len(targets) > 1:
            for dim, size in enumerate(targets):
                if 1 < size < old[0].size <= MOST_INDICES:
                    whole = merged(identity(size), targets[:dim], targets[dim + 1 :])
                    self.seeds.append((old[0].origin, whole))


def _regrouped(old: Sequence[Plain], targets: Sequence[int], dim: int) -> Plain:
    """A dimension that a reshape makes of others."""
    if [each.size for each in old] == [targets[dim]]:
        return old[0]

    def made_of(wanted: Labels) -> tuple[Plain, Labels]:
        if wanted.axis is not None or prod(targets) > MOST_INDICES:
            raise NoSlab("tiles, or very large dimensions, are no dimensions of a reshape")
        whole = merged(wanted, targets[:dim], targets[dim + 1 :])
        number, labels = parted(whole, [each.size for each in old])
        return old[number], labels

    return Plain(targets[dim], made_of=made_of, alike=all(each.alike for each in old))


def shaped(x: Value, shape: Sequence[int]) -> Value:
    """`x` as a result of this shape: sums leave 1, and what is computed from constants spreads."""
    dims = zip(_with_rank(x, len(shape)).dims, shape, strict=True)
    sizes = tuple(
        dim if dim.size == size else Plain(size, alike=dim.size == 1) for dim, size in dims
    )
    return replace(_with_rank(x, len(shape)), dims=sizes)


def _replaced(dims: Sequence[Plain], dim: int, new: Plain) -> tuple[Plain, ...]:
    return (*dims[:dim], new, *dims[dim + 1 :])


def _with_rank(x: Value, rank: int) -> Value:
    missing = rank - x.rank
    at = None if x.at is None else x.at + missing
    return replace(x, dims=(*(Plain(1),) * missing, *x.dims), at=at)


def _met(dims: Sequence[Plain]) -> Plain:
    """
    The dimension of an elementwise result; dimensions of size 1, and constant ones, are broadcast.
    """
    wide = [dim for dim in dims if dim.size != 1]
    different = [dim for dim in wide if not dim.alike]
    if len(different) < 2:
        return (different or wide or list(dims))[0]
    known = [dim for dim in different if dim.origin is not None or dim.made_of is not None]
    # What meets copies is none.
    return replace((known or different)[0], copies=None)
