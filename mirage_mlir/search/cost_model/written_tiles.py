"""
Models which tiles go through shared memory because they are transposed or broadcast when written.

The writer of graphs (`passes/frontend/tile_positions.py`) calls the same functions to place the
dimensions of tiles. The answer does not depend on tile sizes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations

import numpy as np
from numpy.typing import NDArray

from mirage_mlir.search.cost_model.tiling import Tiling
from mirage_mlir.search.program.positions import (
    Positions,
    aligned,
    arranged,
    axis_order,
    present,
    stored_axes,
)
from mirage_mlir.search.program.program import Axes, Kind
from mirage_mlir.search.saturation.hypergraph import Edge

UNARY = (Kind.FUNCTION, Kind.INVERSE, Kind.ACCUMULATE_SUM, Kind.ACCUMULATE_MAX)


@dataclass
class WrittenTiles:
    """The dimensions of all tiles of a graph, and the tiles that go through shared memory."""

    positions: Positions
    axes: dict[int, Axes] = field(default_factory=dict[int, Axes])
    moved: set[int] = field(default_factory=set[int])
    """Tiles that are transposed for other than matmuls, or stretched when they are stored: threads
    have other elements of them then than they computed."""
    exchanged: set[int] = field(default_factory=set[int])
    """Matmuls whose second operand is the left one."""
    moves: int = 0
    misfits: list[tuple[Axes, Axes]] = field(default_factory=list[tuple[Axes, Axes]])
    """Tiles of which more than rows and columns would have to be exchanged: before and after."""

    def is_single(self, axes: Axes) -> bool:
        """
        Whether threads access elements of a tensor one by one: where tiles do not fit each other
        all are seen in one order of axes, and of its last one the tensor has none.
        """
        return bool(self.misfits) and self.positions.order[-1] not in axes

    def arrange(self, value: int, axes: Axes) -> Axes:
        """View a tile in other dimensions; a transpose is noted."""
        result = arranged(self.axes[value], axes)
        if result.transposed:
            self.moved.add(value)
            self._note_misfit(self.axes[value], result.axes)
        self.moves += result.transposed + (len(result.axes) > len(self.axes[value]))
        return result.axes

    def add(self, value: int, edge: Edge, edges: Mapping[int, Edge]) -> None:
        """Note the dimensions in which `value` is computed; those of its operands must be known."""
        operands = [self.axes[operand] for operand in edge.operands]
        if edge.kind is Kind.CONSTANT:
            self.axes[value] = (None,)
        elif edge.kind in UNARY and len(operands) == 1:
            self.axes[value] = operands[0]
        elif edge.kind is Kind.MATMUL:
            assert edge.axis is not None
            plan = self.positions.matrices(operands[0], operands[1], edge.axis)
            if plan.exchanged:
                self.exchanged.add(value)
                operands.reverse()
            for before, views in zip(operands, (plan.left, plan.right), strict=True):
                self._view(before, views)
            self.axes[value] = plan.result
        elif edge.kind in (Kind.REDUCE_SUM, Kind.REDUCE_MAX):
            self.axes[value] = tuple(None if a == edge.axis else a for a in operands[0])
        else:
            self._pair(value, edge, edges)

    def _view(self, before: Axes, views: Sequence[Axes]) -> None:
        """Note how an operand of a matmul is seen, in one view after the other."""
        self.moves += len(views)
        for view in views:
            after = arranged(before, view).axes
            self._note_misfit(before, after)
            before = after

    def _note_misfit(self, before: Axes, after: Axes) -> None:
        if not _is_exchange(before, after):
            self.misfits.append((before, after))

    def _pair(self, value: int, edge: Edge, edges: Mapping[int, Edge]) -> None:
        one, other = edge.operands
        kinds = [edges[operand].kind for operand in edge.operands]
        if Kind.CONSTANT in kinds:
            # A constant is written in the shape that is needed.
            self.axes[value] = self.axes[other if kinds[0] is Kind.CONSTANT else one]
            return
        axes = aligned(self.axes[one], self.axes[other])
        if axes is None:
            axes = self.positions.together(self.axes[one], self.axes[other])
            for operand in (one, other):
                self.arrange(operand, axes)
        self.axes[value] = axes

    def store(self, value: int, wanted: Axes, *, computed: bool) -> None:
        """Note that a tile is stored as a result with the axes `wanted`."""
        axes = stored_axes(self.axes[value], wanted)
        if self.arrange(value, axes) != axes:
            self.moves += 1
            if computed:
                self.moved.add(value)


def written_tiles(tiling: Tiling, edges: Mapping[int, Edge], goals: Sequence[int]) -> WrittenTiles:
    """The tiles of a graph, in the view of its tensors in which fewer tiles are moved."""
    written = [_written(tiling, edges, goals, wide=False)]
    program = tiling.program
    if any(None in tensor.axes for tensor in (*program.inputs, *program.outputs)):
        written.append(_written(tiling, edges, goals, wide=True))
    return min(written, key=lambda one: (bool(one.misfits), one.moves))


def fit_each_other(tiling: Tiling, misfits: Sequence[tuple[Axes, Axes]]) -> NDArray[np.bool_]:
    """Where tiles fit each other: dimensions that have size 1 in a tile may be anywhere."""
    fits = tiling.zero == 0
    for before, after in misfits:
        axes = present(before)
        sets = chain.from_iterable(combinations(axes, count) for count in range(len(axes)))
        long = {axis: tiling.extent([axis]) > 1 for axis in axes}
        fitting = tiling.zero != 0
        for some in sets:
            if _is_exchange(_longer(before, some), _longer(after, some)):
                alike = [long[axis] == (axis in some) for axis in axes]
                fitting = fitting | np.all(alike, axis=0)
        fits = fits & fitting
    return fits


def _longer(axes: Axes, some: Sequence[str]) -> Axes:
    """Dimensions of a tile of which only the axes `some` are longer than 1."""
    return tuple(axis if axis in some else None for axis in axes)


def _is_exchange(before: Axes, after: Axes) -> bool:
    """Whether a tile is seen as the same matrix, or as its transpose."""
    rows, columns = present(before[:-1]), present(before[-1:])
    return (present(after[:-1]), present(after[-1:])) in ((rows, columns), (columns, rows))


def _written(
    tiling: Tiling, edges: Mapping[int, Edge], goals: Sequence[int], *, wide: bool
) -> WrittenTiles:
    """The tiles of a graph, with tensors as they are, or (`wide`) without dimensions of size 1."""
    program = tiling.program

    def seen(axes: Axes) -> Axes:
        return (present(axes) if wide else axes) or (None,)

    positions = tiling.once("positions", lambda: Positions(axis_order(program), tiling.mesh.single))
    written = WrittenTiles(positions)
    for value, edge in edges.items():
        if edge.kind is Kind.INPUT:
            written.axes[value] = seen(program.inputs[edge.source].axes)
        else:
            written.add(value, edge, edges)
    for goal, output in zip(goals, program.computed, strict=True):
        computed = edges[goal].kind is not Kind.INPUT
        written.store(goal, seen(output.axes), computed=computed)
    return written
