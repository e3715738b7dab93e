"""
Tiles with positions for values over named axes.

The search knows axes, not positions. Here each value gets dimensions in some order, and where an
operation needs another order or more dimensions, transposes and broadcasts are put in.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.ir import Operation, SSAValue

from mirage_mlir.dialects import threadblock
from mirage_mlir.dialects.common import FloatType
from mirage_mlir.dialects.threadblock import TileType
from mirage_mlir.passes.analysis.tile_attributes import exchanges_sides
from mirage_mlir.search.program.program import Axes


class ArrangementError(Exception):
    """Tiles would have to be transposed in a way that no kernel can."""


@dataclass(frozen=True)
class Tile:
    """A tile and the axis of each of its dimensions, None for one of size 1."""

    value: SSAValue
    axes: Axes

    @property
    def element_type(self) -> FloatType:
        """The type of its elements."""
        return threadblock.tile_type(self.value).element_type


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
    present = [axis for axis in result if axis is not None]
    return result if len(set(present)) == len(present) else None


@dataclass
class TileBuilder:
    """Appends operations and changes the positions of tiles where that is needed."""

    extents: Mapping[str, int]
    """The size of each axis in a tile."""
    order: Sequence[str]
    """Axes in the order in which new results have them."""
    batch: frozenset[str]
    """Axes that matmuls carry along."""
    operations: list[Operation] = field(default_factory=list[Operation])

    def append(self, op: Operation) -> SSAValue:
        """Append `op`, which has one result."""
        self.operations.append(op)
        return op.results[0]

    def shape(self, axes: Axes) -> tuple[int, ...]:
        """The shape of a tile over `axes`."""
        return tuple(1 if axis is None else self.extents[axis] for axis in axes)

    def cast(self, tile: Tile, element_type: FloatType) -> Tile:
        """The tile in another element type; itself when it has it."""
        if tile.element_type == element_type:
            return tile
        result_type = TileType(self.shape(tile.axes), element_type)
        return Tile(self.append(threadblock.CastOp(tile.value, result_type)), tile.axes)

    def arrange(self, tile: Tile, axes: Axes) -> Tile:
        """
        The tile with exactly the dimensions `axes`, some of size 1 where it lacks the axis.

        Raises:
            ArrangementError: more than rows and columns would have to be exchanged.
        """
        target = tuple(axis if axis in tile.axes else None for axis in axes)
        assert all(axis in target for axis in tile.axes if axis is not None)
        if (missing := len(target) - len(tile.axes)) > 0:
            tile = self._with_leading_units(tile, missing)
        assert len(target) == len(tile.axes), f"{tile.axes} has more dimensions than {axes}"
        if tile.axes == target:
            return tile
        units = iter([dim for dim, axis in enumerate(tile.axes) if axis is None])
        permutation = [next(units) if a is None else tile.axes.index(a) for a in target]
        if exchanges_sides(self.shape(tile.axes), permutation) is None:
            raise ArrangementError(f"a tile over {tile.axes} cannot be seen as one over {axes}")
        return Tile(self.append(threadblock.TransposeOp(tile.value, permutation)), target)

    def _with_leading_units(self, tile: Tile, count: int) -> Tile:
        axes: Axes = (None,) * count + tile.axes
        result_type = TileType(self.shape(axes), tile.element_type)
        return Tile(self.append(threadblock.BroadcastOp(tile.value, result_type)), axes)

    def broadcast(self, tile: Tile, axes: Axes) -> Tile:
        """The tile stretched over all of `axes`."""
        tile = self.arrange(tile, axes)
        if tile.axes == axes:
            return tile
        result_type = TileType(self.shape(axes), tile.element_type)
        return Tile(self.append(threadblock.BroadcastOp(tile.value, result_type)), axes)

    def together(self, a: Tile, b: Tile) -> tuple[Tile, Tile, Axes]:
        """Both tiles so that an elementwise operation pairs their axes, and its result's axes."""
        if (axes := aligned(a.axes, b.axes)) is not None:
            return a, b, axes
        present = {axis for axis in (*a.axes, *b.axes) if axis is not None}
        inner: Axes = tuple(axis for axis in self.order if axis in present)
        axes = padded(inner, max(len(a.axes), len(b.axes), len(inner)))
        return self.arrange(a, axes), self.arrange(b, axes), axes

    def matrices(self, a: Tile, b: Tile, summed: str) -> tuple[Tile, Tile, Axes]:
        """Left and right operand of a matmul over `summed`, and its result's axes."""
        kept, swapped = self._naturalness(a, b, summed), self._naturalness(b, a, summed)
        if swapped > kept or (swapped == kept and self._goes_first(b, a, summed)):
            a, b = b, a
        present = {*a.axes, *b.axes}
        carried: Axes = tuple(axis for axis in self.order if axis in self.batch & present)
        if not self._is_left(a.axes, summed):
            a = self._as_matrix(a, carried, (self._free(a, summed), summed))
        if not self._is_right(b.axes, summed):
            b = self._as_matrix(b, carried, (summed, self._free(b, summed)))
        if aligned(a.axes[:-2], b.axes[:-2]) is None:
            a = self._as_matrix(a, carried, a.axes[-2:])
            b = self._as_matrix(b, carried, b.axes[-2:])
        leading = aligned(a.axes[:-2], b.axes[:-2])
        assert leading is not None
        return a, b, (*leading, a.axes[-2], b.axes[-1])

    def _as_matrix(self, tile: Tile, carried: Axes, last: Axes) -> Tile:
        axes = (*carried, *last)
        return self.arrange(tile, padded(axes, max(len(axes), len(tile.axes))))

    def _naturalness(self, left: Tile, right: Tile, summed: str) -> int:
        """How many of the operands need no transpose in these roles."""
        return self._is_left(left.axes, summed) + self._is_right(right.axes, summed)

    def _is_left(self, axes: Axes, summed: str) -> bool:
        last = len(axes) >= 2 and axes[-1] == summed and axes[-2] not in self.batch
        return last and self._carried(axes[:-2])

    def _is_right(self, axes: Axes, summed: str) -> bool:
        last = len(axes) >= 2 and axes[-2] == summed and axes[-1] not in self.batch
        return last and self._carried(axes[:-2])

    def _carried(self, axes: Axes) -> bool:
        return all(axis is None or axis in self.batch for axis in axes)

    def _free(self, tile: Tile, summed: str) -> str | None:
        """The axis that a matmul keeps as row or column."""
        kept = [a for a in tile.axes if a is not None and a != summed and a not in self.batch]
        assert len(kept) <= 1, f"a matmul's tile has axes {tile.axes}"
        return kept[0] if kept else None

    def _goes_first(self, a: Tile, b: Tile, summed: str) -> bool:
        """Whether the free axis of `a` comes before that of `b` in results."""
        places = [
            -1 if (axis := self._free(tile, summed)) is None else self.order.index(axis)
            for tile in (a, b)
        ]
        return places[0] < places[1]
