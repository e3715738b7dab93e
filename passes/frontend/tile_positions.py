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
from mirage_mlir.search.program.positions import Positions, aligned, arranged
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


@dataclass
class TileBuilder:
    """Appends operations and changes the positions of tiles where that is needed."""

    extents: Mapping[str, int]
    """The size of each axis in a tile."""
    positions: Positions
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
        target, transposed = arranged(tile.axes, axes)
        if (missing := len(target) - len(tile.axes)) > 0:
            if any(target[:missing]):
                tile = self._with_leading_units(tile, missing)
            else:
                # Last: a transposed tile is a view of what was loaded, with more dims it is a copy.
                inner = self._transposed(tile, target[missing:]) if transposed else tile
                return self._with_leading_units(inner, missing)
        return self._transposed(tile, target) if transposed else tile

    def _transposed(self, tile: Tile, target: Axes) -> Tile:
        units = iter([dim for dim, axis in enumerate(tile.axes) if axis is None])
        permutation = [next(units) if a is None else tile.axes.index(a) for a in target]
        if exchanges_sides(self.shape(tile.axes), permutation) is None:
            raise ArrangementError(f"a tile over {tile.axes} cannot be seen as one over {target}")
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
        axes = self.positions.together(a.axes, b.axes)
        return self.arrange(a, axes), self.arrange(b, axes), axes

    def all_together(self, tiles: Sequence[Tile]) -> tuple[list[Tile], Axes]:
        """The same of any number of tiles."""
        axes = tiles[0].axes
        for tile in tiles[1:]:
            fitting = aligned(axes, tile.axes)
            axes = self.positions.together(axes, tile.axes) if fitting is None else fitting
        arranged = [t if aligned(t.axes, axes) == axes else self.arrange(t, axes) for t in tiles]
        return arranged, axes

    def matrices(self, a: Tile, b: Tile, summed: str) -> tuple[Tile, Tile, Axes]:
        """Left and right operand of a matmul over `summed`, and its result's axes."""
        plan = self.positions.matrices(a.axes, b.axes, summed)
        left, right = (b, a) if plan.exchanged else (a, b)
        for axes in plan.left:
            left = self.arrange(left, axes)
        for axes in plan.right:
            right = self.arrange(right, axes)
        return left, right, plan.result
