"""Graphs that the search found as `kernel.graph_defined`, with the views that they need."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue

from mirage_mlir.dialects import kernel, threadblock
from mirage_mlir.dialects.common import FloatType
from mirage_mlir.dialects.threadblock import TileType
from mirage_mlir.passes.frontend.joining import JoinedTiles
from mirage_mlir.passes.frontend.tile_positions import ArrangementError, Tile, TileBuilder
from mirage_mlir.passes.frontend.tile_writer import ELEMENT_TYPES, TileWriter
from mirage_mlir.search.cost_model.block_graph import BlockGraph, BlockOperation
from mirage_mlir.search.program.positions import (
    Positions,
    axis_order,
    padded,
    present,
    stored_axes,
)
from mirage_mlir.search.program.program import Axes, Input, Kind, Output, Program
from mirage_mlir.search.saturation.hypergraph import Stage
from mirage_mlir.shapes.tile_extents import REPLICATED


def tensor_of(program: Program, axes: Axes, element_type: str) -> TensorType[FloatType]:
    """The type of a whole tensor over `axes`; one without dimensions has one of size 1."""
    return TensorType(ELEMENT_TYPES[element_type], program.shape(axes) or (1,))


@dataclass(frozen=True)
class Kernel:
    """Operations that compute a piece's results: views, the graph, views."""

    operations: tuple[Operation, ...]
    results: tuple[SSAValue, ...]


class Dimensions(Enum):
    """In which dimensions a kernel sees the tensors that it reads."""

    ALL = "as they are"
    WIDE = "those of size 1 left out"
    UNIFORM = "one for each axis in one order, through transposes where that is needed"


class GraphWriter:
    """Writes one found graph; `write` does all of it."""

    def __init__(
        self, program: Program, graph: BlockGraph, dims: Dimensions = Dimensions.ALL
    ) -> None:
        """
        Args:
            program: what the graph computes.
            graph: the graph.
            dims: in which dimensions tensors are seen.
        """
        self.program = program
        self.graph = graph
        self.dims = dims
        positions = Positions(axis_order(program), frozenset(graph.configuration.single))
        self.builder = TileBuilder(graph.tiles, positions)
        self._tiles = TileWriter(program, graph, self.builder)

    def write(
        self,
        arguments: Sequence[SSAValue],
        shapes: Sequence[Sequence[int] | None],
        joins: Sequence[JoinedTiles] = (),
    ) -> Kernel:
        """
        The kernel on `arguments`, its results brought to `shapes`.

        Args:
            arguments: the values of the program's arguments, in order.
            shapes: of the results; a reshape follows where dimensions were searched as one. None
                for a tensor that only other kernels read.
            joins: outputs to put together; the tensor is the result for each of them.

        Raises:
            ArrangementError: the tiles do not fit each other.
        """
        needed = self._needed()
        loads = [op for op in map(self.graph.operations.__getitem__, needed) if _reads(op)]
        read = [self._read(load) for load in loads]
        types = [tensor_of(self.program, self._read_axes(t), t.element_type) for t in read]
        block = Block(arg_types=types)
        inside = dict(zip(map(_place, loads), block.args, strict=True))
        for index in needed:
            self._tile(index, inside)
        stored: list[TensorType[FloatType]] = []
        places = [self._stored(number, joins, stored) for number in range(len(shapes))]
        block.add_ops(self.builder.operations)
        views: list[Operation] = []
        defined = kernel.GraphDefinedOp(
            [
                self._viewed(t, self._argument(load, arguments, views), views)
                for t, load in zip(read, loads, strict=True)
            ],
            self.graph.blocks or (1,),
            self.graph.trip_counts,
            stored,
            Region(block),
            cyclic=self.graph.is_cyclic,
        )
        views.append(defined)
        results = [
            reshaped(value, TensorType(kernel.tensor_type(value).element_type, shape), views)
            if shape is not None
            else value
            for value, shape in zip((defined.outputs[p] for p in places), shapes, strict=True)
        ]
        return Kernel(tuple(views), tuple(results))

    # Tensors

    def _axes(self, axes: Axes) -> Axes:
        """The dimensions in which a tensor over `axes` is read or written."""
        if self.dims is Dimensions.UNIFORM:
            return tuple(axis if axis in axes else None for axis in self.builder.positions.order)
        if self.dims is Dimensions.WIDE:
            axes = present(axes)
        return axes or (None,)

    def _read_axes(self, tensor: Input) -> Axes:
        """
        The dimensions in which a tensor is read: its neighbours lie along one of the last two.

        Dimensions along which the tile has one element go first where they are in between, as a
        head of [inputs, heads, 128] is: else the tile would be copied element by element.
        """
        axes = self._axes(tensor.axes)
        fastest = [axis for axis, _ in tensor.by_stride()[:1]]
        if self.dims is Dimensions.UNIFORM or set(fastest) <= {*axes[-2:]}:
            return axes
        sizes = dict(zip(axes, self.builder.shape(axes), strict=True))
        wide = [axis for axis in axes if sizes[axis] > 1]
        if not set(fastest) <= {*wide[-2:]}:
            return axes
        return (*(axis for axis in axes if sizes[axis] == 1), *wide)

    def _read(self, load: BlockOperation) -> Input:
        """The tensor that a load reads: an input, or its first elements along an axis."""
        tensor = self.program.inputs[load.source]
        axes = tuple(None if axis == load.first else axis for axis in tensor.axes)
        return replace(tensor, axes=axes) if load.first else tensor

    def _argument(
        self, load: BlockOperation, arguments: Sequence[SSAValue], views: list[Operation]
    ) -> SSAValue:
        """The value that a load reads, in the dimensions of the tensor of `_read`."""
        tensor = self.program.inputs[load.source]
        value = arguments[tensor.argument]
        if load.first is None:
            return value
        whole = tensor_of(self.program, tensor.axes, tensor.element_type)
        value = reshaped(value, whole, views)
        sizes = [
            1 if axis == load.first else size
            for axis, size in zip(tensor.axes, whole.get_shape(), strict=True)
        ]
        views.append(kernel.SliceOp(value, [0] * len(sizes), sizes, [1] * len(sizes)))
        return views[-1].results[0]

    def _viewed(self, tensor: Input, value: SSAValue, views: list[Operation]) -> SSAValue:
        """A tensor in the dimensions in which it is read."""
        element = tensor.element_type
        value = reshaped(value, tensor_of(self.program, tensor.axes, element), views)
        axes = self._read_axes(tensor)
        given, wanted = present(tensor.axes), present(axes)
        if given != wanted:
            value = reshaped(value, tensor_of(self.program, given, element), views)
            views.append(kernel.TransposeOp(value, [given.index(axis) for axis in wanted]))
            value = views[-1].results[0]
        return reshaped(value, tensor_of(self.program, axes, element), views)

    # Operations

    def _needed(self) -> list[int]:
        """The operations to write: all but those that are part of another one, such as `rsqrt`."""
        needed: set[int] = set()
        pending = list(self.graph.outputs)
        while pending:
            index = pending.pop()
            if index not in needed:
                needed.add(index)
                operation = self.graph.operations[index]
                pending += self._tiles.reads(index)
                pending += () if operation.rescale is None else (operation.rescale,)
        return sorted(needed)

    def _tile(self, index: int, arguments: Mapping[tuple[int, str | None], BlockArgument]) -> None:
        operation = self.graph.operations[index]
        if operation.kind is Kind.INPUT:
            self._tiles.load(index, self._load(operation, arguments[_place(operation)]))
        else:
            self._tiles.write(index)

    def _load(self, operation: BlockOperation, argument: SSAValue) -> Tile:
        tensor = self._read(operation)
        axes = self._read_axes(tensor)
        configuration = self.graph.configuration
        load = threadblock.LoadOp(
            argument,
            self._grid_map(axes),
            _map(configuration.loop, axes) if configuration.loop else (),
            TileType(self.builder.shape(axes), ELEMENT_TYPES[tensor.element_type]),
        )
        return Tile(self.builder.append(load), axes)

    def _grid_map(self, axes: Axes) -> tuple[int, ...]:
        # A grid has at least one axis.
        return _map(self.graph.grid, axes) or (REPLICATED,)

    def _stored(
        self, number: int, joins: Sequence[JoinedTiles], stored: list[TensorType[FloatType]]
    ) -> int:
        """Store output `number` unless that is done; the place of its tensor among `stored`."""
        for join in joins:
            if number in join.outputs:
                if number == join.outputs[0]:
                    stored.append(self._store_joined(join))
                # Outputs that are put together follow each other.
                return len(stored) - 1
        stored.append(self._store(self.graph.outputs[number], self.program.outputs[number]))
        return len(stored) - 1

    def _store_joined(self, join: JoinedTiles) -> TensorType[FloatType]:
        """Store tiles side by side as one; the type of the result."""
        output = self.program.outputs[join.outputs[0]]
        element = ELEMENT_TYPES[output.element_type]
        tiles = [self._tiles.result(self.graph.outputs[number]) for number in join.outputs]
        rank = max(len(join.ahead) + 1 + len(join.behind), *(len(tile.axes) for tile in tiles))
        values: list[SSAValue] = []
        for tile, part in zip(tiles, join.parts, strict=True):
            axes = padded((*join.ahead, part, *join.behind), rank)
            values.append(self.builder.cast(self.builder.broadcast(tile, axes), element).value)
        dim = rank - len(join.behind) - 1
        tile = self.builder.append(threadblock.ConcatOp(values, dim))
        whole = padded((*join.ahead, None, *join.behind), rank)
        self.builder.operations.append(threadblock.StoreOp(tile, self._grid_map(whole)))
        shape = list(self.program.shape(whole))
        shape[dim] = threadblock.shape_of(tile)[dim]
        return TensorType(element, shape)

    def _store(self, number: int, output: Output) -> TensorType[FloatType]:
        """Store an output; the type of the result: the dims of `output` but for size 1."""
        tile = self._tiles.result(number)
        axes = stored_axes(tile.axes, self._axes(output.axes))
        if present(axes) != present(output.axes):
            raise ArrangementError(f"a result over {output.axes} would not be dense")
        # Parts of a sum lie behind each other in dimensions of their own.
        tile = self.builder.broadcast(tile, (*(None for _ in output.partial), *axes))
        tile = self.builder.cast(tile, ELEMENT_TYPES[output.element_type])
        loop = self.graph.configuration.loop
        in_loop = self.graph.operations[number].stage is Stage.LOOP
        store = threadblock.StoreOp(
            tile.value,
            self._grid_map((*output.partial, *axes)),
            _map(loop, axes) if in_loop else (),
        )
        self.builder.operations.append(store)
        parts = [self.graph.counts[axis] for axis in output.partial]
        whole = tensor_of(self.program, axes, output.element_type)
        return TensorType(whole.element_type, [*parts, *whole.get_shape()])


def write_graph(
    program: Program,
    graph: BlockGraph,
    arguments: Sequence[SSAValue],
    shapes: Sequence[Sequence[int] | None],
    joins: Sequence[JoinedTiles] = (),
) -> Kernel:
    """
    A found graph on `arguments`, its results brought to `shapes`.

    Tensors are read as they lie, or without dimensions of size 1 where that saves transposes. Only
    where their tiles do not fit each other, and no matmul says otherwise, are all seen in one order
    of axes.

    Raises:
        ArrangementError: the tiles do not fit each other.
    """
    found: list[Kernel] = []
    for dims in (Dimensions.ALL, Dimensions.WIDE):
        try:
            found.append(GraphWriter(program, graph, dims).write(arguments, shapes, joins))
        except ArrangementError:
            if dims is Dimensions.WIDE and not found:
                if any(operation.kind is Kind.MATMUL for operation in graph.operations):
                    raise
                writer = GraphWriter(program, graph, Dimensions.UNIFORM)
                return writer.write(arguments, shapes, joins)
    return min(found, key=_inner_operations)


def _inner_operations(written: Kernel) -> int:
    graphs = [op for op in written.operations if isinstance(op, kernel.GraphDefinedOp)]
    return sum(1 for graph in graphs for _ in graph.walk())


def _reads(operation: BlockOperation) -> bool:
    return operation.kind is Kind.INPUT


def _place(load: BlockOperation) -> tuple[int, str | None]:
    """What tells tensors that loads read apart."""
    return load.source, load.first


def _map(cut: Sequence[str], axes: Axes) -> tuple[int, ...]:
    """The dimension that each of the axes `cut` is in a tensor over `axes`."""
    return tuple(axes.index(axis) if axis in axes else REPLICATED for axis in cut)


def reshaped(
    value: SSAValue, wanted: TensorType[FloatType], operations: list[Operation]
) -> SSAValue:
    """`value` in the shape `wanted`; a view of it is appended where the shapes differ."""
    if value.type == wanted:
        return value
    operations.append(kernel.ReshapeOp(value, wanted))
    return operations[-1].results[0]
