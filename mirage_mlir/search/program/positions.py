"""
Decides the order of the dimensions of tiles.

The search knows axes, not positions. A graph that is written gets positions: those of the tensors
that it loads. Where an operation combines tiles whose axes are in different orders, transposes are
inserted. The writer of graphs and the cost model both call these functions.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from mirage_mlir.search.program.program import Axes, Program


def axis_order(program: Program) -> tuple[str, ...]:
    """The axes as the outputs have them, then the others in order of appearance."""
    outputs = [axis for output in program.outputs for axis in output.axes if axis is not None]
    return tuple(dict.fromkeys((*outputs, *program.sizes)))


def present(axes: Axes) -> tuple[str, ...]:
    """`axes` without dimensions of size 1."""
    return tuple(axis for axis in axes if axis is not None)


def padded(axes: Axes, rank: int) -> Axes:
    """`axes` with dimensions of size 1 in front, up to `rank`."""
    return (None,) * (rank - len(axes)) + axes


def aligned(a: Axes, b: Axes) -> Axes | None:
    """The axes of an elementwise result, where numpy's rules pair equal axes; else None."""
    rank = max(len(a), len(b))
    pairs = list(zip(padded(a, rank), padded(b, rank), strict=True))
    if any(x is not None and y is not None and x != y for x, y in pairs):
        return None
    result = tuple(y if x is None else x for x, y in pairs)
    # An axis may not be at one place in one operand and at another in the other.
    some = present(result)
    return result if len(set(some)) == len(some) else None


class Arranged(NamedTuple):
    """A tile seen in other dimensions."""

    axes: Axes
    transposed: bool


def arranged(axes: Axes, wanted: Axes) -> Arranged:
    """A tile over `axes` in the dimensions `wanted`, of size 1 where it lacks the axis."""
    target = tuple(axis if axis in axes else None for axis in wanted)
    assert all(axis in target for axis in present(axes))
    assert len(target) >= len(axes), f"{axes} has more dimensions than {wanted}"
    return Arranged(target, padded(axes, len(target)) != target)


def stored_axes(axes: Axes, wanted: Axes) -> Axes:
    """The dimensions in which a tile over `axes` is stored as a tensor over `wanted`."""
    return axes if present(axes) == present(wanted) else padded(wanted, len(axes))


class Matrices(NamedTuple):
    """The operands of a matmul of tiles: in which dimensions, one after the other, each is seen."""

    exchanged: bool
    """Whether the second operand is the left one."""
    left: tuple[Axes, ...]
    right: tuple[Axes, ...]
    result: Axes


@dataclass(frozen=True)
class Positions:
    """
    How the axes of tiles are ordered where operations bring several together.

    Args:
        order: axes in the order in which new results have them.
        batch: axes of which matmuls take one index.
    """

    order: Sequence[str]
    batch: frozenset[str]

    def together(self, a: Axes, b: Axes) -> Axes:
        """The axes of both tiles in the order of results, where they are not `aligned`."""
        some = {*present(a), *present(b)}
        inner: Axes = tuple(axis for axis in self.order if axis in some)
        return padded(inner, max(len(a), len(b), len(inner)))

    def matrices(self, a: Axes, b: Axes, summed: str) -> Matrices:
        """Left and right operand of a matmul over `summed`, and its result's axes."""
        kept, swapped = self._naturalness(a, b, summed), self._naturalness(b, a, summed)
        exchanged = swapped > kept or (swapped == kept and self._goes_first(b, a, summed))
        if exchanged:
            a, b = b, a
        some = {*a, *b}
        carried: Axes = tuple(axis for axis in self.order if axis in self.batch & some)
        left: list[Axes] = []
        right: list[Axes] = []
        if not self._is_left(a, summed):
            left.append(_as_matrix(a, carried, (self._free(a, summed), summed)))
            a = arranged(a, left[-1]).axes
        if not self._is_right(b, summed):
            right.append(_as_matrix(b, carried, (summed, self._free(b, summed))))
            b = arranged(b, right[-1]).axes
        if aligned(a[:-2], b[:-2]) is None:
            left.append(_as_matrix(a, carried, a[-2:]))
            right.append(_as_matrix(b, carried, b[-2:]))
            a, b = arranged(a, left[-1]).axes, arranged(b, right[-1]).axes
        leading = aligned(a[:-2], b[:-2])
        assert leading is not None
        return Matrices(exchanged, tuple(left), tuple(right), (*leading, a[-2], b[-1]))

    def _naturalness(self, left: Axes, right: Axes, summed: str) -> int:
        """How many of the operands need no transpose in these roles."""
        return self._is_left(left, summed) + self._is_right(right, summed)

    def _is_left(self, axes: Axes, summed: str) -> bool:
        last = len(axes) >= 2 and axes[-1] == summed and axes[-2] not in self.batch
        return last and self._carried(axes[:-2])

    def _is_right(self, axes: Axes, summed: str) -> bool:
        last = len(axes) >= 2 and axes[-2] == summed and axes[-1] not in self.batch
        return last and self._carried(axes[:-2])

    def _carried(self, axes: Axes) -> bool:
        return all(axis is None or axis in self.batch for axis in axes)

    def _free(self, axes: Axes, summed: str) -> str | None:
        """The axis that a matmul keeps as row or column."""
        kept = [a for a in present(axes) if a != summed and a not in self.batch]
        assert len(kept) <= 1, f"a matmul's tile has axes {axes}"
        return kept[0] if kept else None

    def _goes_first(self, a: Axes, b: Axes, summed: str) -> bool:
        """Whether the free axis of `a` comes before that of `b` in results."""
        places = [
            -1 if (axis := self._free(axes, summed)) is None else self.order.index(axis)
            for axes in (a, b)
        ]
        return places[0] < places[1]


def _as_matrix(axes: Axes, carried: Axes, last: Axes) -> Axes:
    wanted = (*carried, *last)
    return padded(wanted, max(len(wanted), len(axes)))
