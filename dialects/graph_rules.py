"""
The rules of a threadblock graph as a whole, which no operation can check alone.

One walk over the graph finds three properties of every tile: when it is computed
(`threadblock.Stage`), along which grid axes the blocks hold different tiles (`Variation`), and
which of its elements are valid (`Extent`). They decide which operations are allowed and which
stores fill their result.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from xdsl.ir import Operation, SSAValue

from mirage_mlir.diagnostics import invalid
from mirage_mlir.dialects import kernel, thread, threadblock
from mirage_mlir.dialects.kernel import GraphDefinedOp
from mirage_mlir.dialects.layout import verify_buffer, verify_layout, verify_room
from mirage_mlir.dialects.overlap_rules import verify_overlap
from mirage_mlir.dialects.schedule_rules import verify_schedule
from mirage_mlir.dialects.threadblock import AccumulateOp, IotaOp, LoadOp, Stage, StoreOp, stages
from mirage_mlir.shapes.shapes import Shape, ShapeError, broadcast_to
from mirage_mlir.shapes.tile_extents import (
    REPLICATED,
    Axis,
    Extent,
    PartitionError,
    axes_of,
    cut,
)

MAX_GRID_AXES = 3
"""CUDA's grids have x, y and z."""

MAX_LOOPS = 2

MAX_CLUSTER = 16
"""Blocks of a cluster: the most that sm_90 has, and only where a kernel asks for it."""


class Variation(IntEnum):
    """How a tile varies over the blocks along one grid axis; a result takes the greatest value."""

    SAME = 0
    """All blocks hold the same tile, because no tile on which it depends is cut by the axis."""
    SUMMED = 1
    """All blocks hold the same tile, because it was accumulated across the axis."""
    DIFFERENT = 2
    """Each block holds a tile of its own."""


Extents = tuple[frozenset[Extent], ...]
"""For each dimension of a tile the limits of its valid elements; empty if it is never ragged."""


@dataclass(frozen=True)
class Knowledge:
    """What is known of one tile, besides its stage."""

    variation: tuple[Variation, ...]
    """For each grid axis."""
    extents: Extents


def verify_graph(graph: GraphDefinedOp) -> None:
    """Raise `InvalidOperation` at the first operation that breaks a rule."""
    _verify_counts(graph)
    verify_schedule(graph)
    _verify_arguments(graph)
    verify_overlap(graph)
    for op in graph.body.block.ops:
        if not isinstance(op, thread.GraphOp) and op.dialect_name() != "threadblock":
            raise invalid(op, "is not an operation of a threadblock graph")
    stores = _verify_number_of_stores(graph)
    walk = _Walk(graph)
    for op in graph.body.block.ops:
        walk.visit(op)
    walk.verify_axes_are_used(stores)


def _verify_counts(graph: GraphDefinedOp) -> None:
    """The grid, cluster and loops."""
    grid, cluster, loop = graph.grid_sizes, graph.cluster_sizes, graph.loop_sizes
    if not 1 <= len(grid) <= MAX_GRID_AXES:
        raise invalid(graph, f"has a grid of {len(grid)} axes, not 1 to {MAX_GRID_AXES}")
    if len(loop) > MAX_LOOPS:
        raise invalid(graph, f"has {len(loop)} loops, not up to {MAX_LOOPS}")
    for axis in (*axes_of(grid, ())[0], *axes_of((), loop)[1]):
        if axis.count < 1:
            unit = "iterations" if axis.is_loop else "blocks"
            raise invalid(graph, f"{axis} has {axis.count} {unit}")
    if not cluster:
        return
    if len(cluster) != len(grid):
        raise invalid(graph, f"has a cluster of {len(cluster)} axes on a grid of {len(grid)}")
    total = 1
    for number, (part, blocks) in enumerate(zip(cluster, grid, strict=True)):
        if part < 1 or blocks % part:
            raise invalid(
                graph, f"grid axis {number} ({blocks} blocks) is no multiple of a cluster's {part}"
            )
        total *= part
    if total > MAX_CLUSTER:
        raise invalid(graph, f"has clusters of {total} blocks, more than {MAX_CLUSTER}")


def _verify_arguments(graph: GraphDefinedOp) -> None:
    """The block arguments are the inputs."""
    args = graph.body.block.args
    if len(args) != len(graph.inputs):
        raise invalid(graph, f"has {len(graph.inputs)} inputs but {len(args)} block arguments")
    for number, (arg, value) in enumerate(zip(args, graph.inputs, strict=True)):
        if arg.type != value.type:
            raise invalid(
                graph, f"block argument {number} is {arg.type} but input {number} {value.type}"
            )


def _verify_number_of_stores(graph: GraphDefinedOp) -> list[StoreOp]:
    stores = [op for op in graph.body.block.ops if isinstance(op, StoreOp)]
    if not graph.outputs:
        raise invalid(graph, "has no result")
    if len(stores) != len(graph.outputs):
        raise invalid(graph, f"has {len(graph.outputs)} results but {len(stores)} stores")
    return stores


class _Walk:
    """One pass over the operations of a graph, in order."""

    def __init__(self, graph: GraphDefinedOp):
        self.graph = graph
        self.grid_axes, self.loop_axes = axes_of(graph.grid_sizes, graph.loop_sizes)
        self.stages = stages(graph)
        self.known: dict[SSAValue, Knowledge] = {}
        self.across: set[int] = set()
        self.used_loops: set[int] = set()
        self.shares_a_dim = False
        """Whether a grid axis and a loop cut the same dimension of some tensor."""
        self.number_of_stores = 0
        self.stored_after_loop = False

    def visit(self, op: Operation) -> None:
        """Check `op` and note what is known of its result."""
        verify_layout(op)
        verify_buffer(op)
        if isinstance(op, LoadOp):
            self.known[op.result] = self._load(op)
        elif isinstance(op, IotaOp):
            self.known[op.result] = self._tiles(op, op.whole)
        elif isinstance(op, AccumulateOp):
            self.known[op.result] = self._accumulate(op)
        elif isinstance(op, StoreOp):
            self._store(op)
        else:
            variation = self._joined_variation(op)
            for result in op.results:
                self.known[result] = Knowledge(variation, self._extents(op, result))

    def verify_axes_are_used(self, stores: Sequence[StoreOp]) -> None:
        """The blocks along an axis and the iterations of a loop share work; none repeats it."""
        if self.graph.is_cyclic and not self.shares_a_dim:
            raise invalid(
                self.graph, "is cyclic, but no grid axis and loop cut the same dim of a tensor"
            )
        for axis in self.loop_axes:
            if axis.count > 1 and axis.number not in self.used_loops:
                raise invalid(self.graph, f"{axis} ({axis.count} iterations) cuts no tensor")
        for axis in self.grid_axes:
            mapped = any(store.grid_map.get_values()[axis.number] != REPLICATED for store in stores)
            if axis.count > 1 and not mapped and axis.number not in self.across:
                raise invalid(
                    self.graph,
                    f"all {axis.count} blocks of {axis} compute the same: no store maps it to a "
                    "dim and nothing is accumulated across it",
                )

    # Loads

    def _load(self, op: LoadOp) -> Knowledge:
        source, tile = kernel.tensor_type(op.source), threadblock.tile_type(op.result)
        if tile.element_type != source.element_type:
            raise invalid(
                op, f"loads {source.element_type} elements into a tile of {tile.element_type}"
            )
        verify_room(op, tuple(tile.get_shape()))
        return self._tiles(op, source.get_shape())

    def _tiles(self, op: LoadOp | IotaOp, shape: Shape) -> Knowledge:
        """What is known of the tiles of a tensor of `shape`."""
        tile = threadblock.shape_of(op.result)
        extents = self._cut(op, shape, tile, self.graph.loop_sizes)
        loop_map = op.loop_map.get_values()
        self.used_loops.update(n for n, dim in enumerate(loop_map) if dim != REPLICATED)
        variation = (
            Variation.SAME if dim == REPLICATED else Variation.DIFFERENT
            for dim in op.grid_map.get_values()
        )
        return Knowledge(tuple(variation), tuple(map(_limits, extents)))

    def _cut(
        self,
        op: LoadOp | IotaOp | StoreOp,
        shape: Shape,
        tile: Shape,
        loop: Sequence[int],
        what: str = "",
    ) -> tuple[Extent, ...]:
        """How a load or store cuts its tensor of `shape`, which an error calls `what`."""
        grid_map, loop_map = op.grid_map.get_values(), op.loop_map.get_values()
        self.shares_a_dim |= threadblock.is_cut_twice(op)
        grid, cyclic = self.graph.grid_sizes, self.graph.is_cyclic
        try:
            return cut(shape, tile, grid, grid_map, loop, loop_map, cyclic=cyclic)
        except PartitionError as error:
            raise invalid(op, f"{what}{error}") from error

    # Accumulators

    def _accumulate(self, op: AccumulateOp) -> Knowledge:
        across = op.across.get_values()
        variation = list(self._joined_variation(op))
        self._verify_across(op, across)
        self._verify_accumulated(op, across)
        if op.rescale is not None:
            self._verify_rescale(op, op.rescale)
        self.across.update(across)
        summed = [self.grid_axes[number] for number in across]
        if self.stages[op.value] == Stage.LOOP:
            summed += self.loop_axes
        for number in across:
            variation[number] = Variation.SUMMED
        return Knowledge(tuple(variation), _first(self.known[op.value].extents, summed))

    def _verify_across(self, op: AccumulateOp, across: Sequence[int]) -> None:
        for position, number in enumerate(across):
            if not 0 <= number < len(self.grid_axes):
                count = len(self.grid_axes)
                raise invalid(op, f"is across grid axis {number} of a grid of {count} axes")
            if number in across[:position]:
                raise invalid(op, f"is across grid axis {number} twice")
            if self.known[op.value].variation[number] != Variation.DIFFERENT:
                raise invalid(op, f"is across grid axis {number}, whose blocks hold the same value")

    def _verify_accumulated(self, op: AccumulateOp, across: Sequence[int]) -> None:
        stage = self.stages[op.value]
        if stage != Stage.LOOP and not across:
            raise invalid(op, "has a value that is not computed in a loop, and no grid axis across")
        if stage == Stage.INVARIANT and self.loop_axes:
            raise invalid(op, "has a value that is the same in every iteration of the loop")

    def _verify_rescale(self, op: AccumulateOp, row_maximum: SSAValue) -> None:
        if op.kind.data != "sum":
            raise invalid(op, f'rescales, but has kind "{op.kind.data}" and not "sum"')
        if self.stages[row_maximum] != self.stages[op.value]:
            stages_ = f"{self.stages[row_maximum].value}, the value {self.stages[op.value].value}"
            raise invalid(op, f"needs both at the same time: the row maximum is {stages_}")
        try:
            broadcast_to(threadblock.shape_of(row_maximum), threadblock.shape_of(op.value))
        except ShapeError as error:
            raise invalid(op, f"row maximum: {error}") from error

    # Stores

    def _store(self, op: StoreOp) -> None:
        number = self.number_of_stores
        self.number_of_stores += 1
        variation = self._joined_variation(op)
        result = kernel.tensor_type(self.graph.outputs[number])
        tile = threadblock.tile_type(op.tile)
        if tile.element_type != result.element_type:
            raise invalid(
                op,
                f"stores {tile.element_type} elements to result {number} of {result.element_type}",
            )
        self._verify_stored_stage(op)
        loop = self.graph.loop_sizes if op.in_loop else ()
        shape, what = result.get_shape(), f"result {number}: "
        extents = self._cut(op, shape, tile.get_shape(), loop, what)
        self._verify_stored_axes(op, op.grid_map.get_values(), variation)
        self._verify_stored_extents(op, number, extents)

    def _verify_stored_stage(self, op: StoreOp) -> None:
        """A tile of the loop is stored in each iteration, at a different place each time."""
        looped = self.stages[op.tile] == Stage.LOOP
        if looped and not op.in_loop:
            raise invalid(op, "stores a value of the loop, and has no loop_map")
        if op.in_loop and not looped:
            raise invalid(op, "has a loop_map, and stores what no iteration computes anew")
        for axis, dim in zip(self.loop_axes, op.loop_map.get_values(), strict=False):
            if dim == REPLICATED and axis.count > 1:
                raise invalid(
                    op,
                    f"maps {axis} to no dim: its {axis.count} iterations would overwrite each "
                    "other",
                )
        if len({*op.loop_map.get_values()} - {REPLICATED}) > 1:
            raise invalid(op, "maps its loops to several dims; all place tiles along one")
        if looped and self.stored_after_loop:
            raise invalid(op, "stores a value of the loop behind a store of what is there after it")
        self.stored_after_loop = not looped

    def _verify_stored_axes(
        self, op: StoreOp, grid_map: Sequence[int], variation: Sequence[Variation]
    ) -> None:
        for axis, dim, varies in zip(self.grid_axes, grid_map, variation, strict=True):
            if varies == Variation.SUMMED and dim != REPLICATED:
                raise invalid(
                    op,
                    f"maps {axis} to dim {dim}, but the tile was accumulated across it: "
                    "its entry must be _",
                )
            if varies == Variation.DIFFERENT and dim == REPLICATED and axis.count > 1:
                raise invalid(
                    op,
                    f"maps {axis} to no dim, but its {axis.count} blocks hold different tiles: "
                    "they would overwrite each other",
                )

    def _verify_stored_extents(self, op: StoreOp, number: int, extents: Sequence[Extent]) -> None:
        """Every element of the result must come from a valid element of a tile."""
        for dim, (needed, limits) in enumerate(
            zip(extents, self.known[op.tile].extents, strict=True)
        ):
            for limit in sorted(limits, key=str):
                if limit != needed:
                    raise invalid(
                        op,
                        f"dim {dim} of result {number} needs tiles of {needed}, but the tile "
                        f"is ragged there as tiles of {limit}",
                    )

    # Everything else

    def _operand(self, op: Operation, value: SSAValue) -> Knowledge:
        if value not in self.known:
            raise invalid(op, "uses a value that its graph does not compute before it")
        return self.known[value]

    def _joined_variation(self, op: Operation) -> tuple[Variation, ...]:
        operands = [self._operand(op, value).variation for value in op.operands]
        same = (Variation.SAME,) * len(self.grid_axes)
        return tuple(max(column) for column in zip(same, *operands, strict=True))

    def _extents(self, op: Operation, result: SSAValue) -> Extents:
        """The extents of a result: an operator ranges over what is valid in all operands."""
        operands = [self.known[value].extents for value in op.operands]
        rank = len(threadblock.shape_of(result))
        if isinstance(op, threadblock.MatmulOp):
            lhs, rhs = operands
            return (*_aligned([lhs[:-2], rhs[:-2]], rank - 2), lhs[-2], rhs[-1])
        if isinstance(op, threadblock.ReductionOp):
            dims = op.dims.get_values()
            return tuple(
                frozenset[Extent]() if dim in dims else limits
                for dim, limits in enumerate(operands[0])
            )
        if isinstance(op, threadblock.TransposeOp):
            return tuple(operands[0][dim] for dim in op.permutation.get_values())
        if isinstance(op, threadblock.ConcatOp):
            self._verify_concat(op, operands)
        return _aligned(operands, rank)

    def _verify_concat(self, op: threadblock.ConcatOp, operands: Sequence[Extents]) -> None:
        dim = op.dim.value.data
        for number, extents in enumerate(operands):
            for limit in sorted(extents[dim], key=str):
                raise invalid(
                    op, f"concatenates along dim {dim}, where operand {number} is ragged: {limit}"
                )


def _limits(extent: Extent) -> frozenset[Extent]:
    return frozenset() if extent.is_full else frozenset({extent})


def _first(extents: Extents, axes: Sequence[Axis]) -> Extents:
    """The extents without limits along `axes`: an accumulator skips invalid elements."""
    return tuple(
        frozenset[Extent]().union(*(_limits(limit.first(axes)) for limit in limits))
        for limits in extents
    )


def _aligned(operands: Sequence[Extents], rank: int) -> Extents:
    """The extents of `operands` together, their last dimensions aligned (numpy)."""
    padded = [(frozenset[Extent](),) * (rank - len(extents)) + extents for extents in operands]
    return tuple(
        frozenset[Extent]().union(*(extents[dim] for extents in padded)) for dim in range(rank)
    )
