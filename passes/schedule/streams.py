"""
Streams: elementwise work from device memory to device memory, a few elements of a thread at a time.

A thread that reads all its elements before it computes any needs registers for all of them. Many
registers lower occupancy, and spill.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from xdsl.ir import Operation, SSAValue

from mirage_mlir.dialects import kernel, thread, threadblock
from mirage_mlir.dialects.common import i64_array
from mirage_mlir.dialects.layout import GlobalAttr, RegistersAttr, layout_of
from mirage_mlir.dialects.pipeline import EPILOGUE, PROLOGUE
from mirage_mlir.layouts.layout import RegisterLayout
from mirage_mlir.passes.analysis.access_widths import in_order_of_access
from mirage_mlir.passes.analysis.tensor_views import stored_view, view_of
from mirage_mlir.passes.analysis.tile_attributes import item_bytes, registers_of
from mirage_mlir.passes.schedule.sections import sections_of

BYTES_AT_ONCE = 128
"""Bytes that a thread reads before it computes. Registers suffice for as many threads as keep eight
times as many bytes in flight as saturate device memory. With half as many pixels that are shuffled
in f32 took 1.16 times as long on an H200; of 43 other kernels none changed by more than 1 %."""


@dataclass(frozen=True)
class Stream:
    """
    Thread graphs in one layout whose results are stored, or used by other graphs of the stream.

    Args:
        slots: the slots of a piece, at most.
    """

    graphs: tuple[thread.GraphOp, ...]
    stores: tuple[threadblock.StoreOp, ...]
    slots: int

    @property
    def layout(self) -> RegisterLayout:
        """The layout of all results."""
        return layout_of_graph(self.graphs[0])

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of all results."""
        return threadblock.shape_of(self.graphs[0].results[0])

    @property
    def outside(self) -> list[SSAValue]:
        """The operands of the graphs that come from outside the stream."""
        operands = [value for graph in self.graphs for value in graph.operands]
        return [v for v in dict.fromkeys(operands) if v.owner not in self.graphs]


def layout_of_graph(graph: thread.GraphOp) -> RegisterLayout:
    """The layout of a thread graph's results."""
    return registers_of(graph.results[0])


def find_streams(ops: Sequence[Operation]) -> list[Stream]:
    """The streams among `ops`, which are in order and in one stage."""
    ending = ending_in_stores(ops)
    found: list[Stream] = []
    group: list[thread.GraphOp] = []
    for op in [*ops, None]:
        if isinstance(op, thread.GraphOp) and op in ending:
            if group and not alike(group[0], op):
                found += streams_of(group)
                group = []
            group.append(op)
        elif not isinstance(op, threadblock.StoreOp):
            found += streams_of(group)
            group = []
    return found


def ending_in_stores(ops: Sequence[Operation]) -> set[Operation]:
    """The thread graphs whose results only stores use, and other such graphs in their layout."""
    ending: set[Operation] = set()
    for op in reversed(ops):
        if not isinstance(op, thread.GraphOp):
            continue
        users = [use.operation for result in op.results for use in result.uses]
        if all(
            user in ops
            and (
                isinstance(user, threadblock.StoreOp)
                or (isinstance(user, thread.GraphOp) and user in ending and alike(op, user))
            )
            for user in users
        ):
            ending.add(op)
    return ending


def alike(one: thread.GraphOp, other: thread.GraphOp) -> bool:
    """Whether two graphs compute tiles of one shape and register layout."""
    shapes = [threadblock.shape_of(graph.results[0]) for graph in (one, other)]
    return shapes[0] == shapes[1] and layout_of_graph(one) == layout_of_graph(other)


def streams_of(graphs: Sequence[thread.GraphOp]) -> Iterator[Stream]:
    """The stream of `graphs`, if they read enough, and only tiles that are not in registers yet."""
    users = [use.operation for graph in graphs for result in graph.results for use in result.uses]
    if not graphs or any(
        not isinstance(user, threadblock.StoreOp) and user not in graphs for user in users
    ):
        return
    stream = Stream(tuple(graphs), stores_of(graphs), 0)
    layout, width = stream.layout, 0
    for value in stream.outside:
        whole = threadblock.shape_of(value) == stream.shape
        if isinstance(layout_of(value), RegistersAttr) and whole:
            return
        if not isinstance(layout_of(value), GlobalAttr):
            continue
        if any(use.operation not in graphs for use in value.uses):
            return
        if threadblock.shape_of(value)[-1:] == stream.shape[-1:]:
            width += item_bytes(value)
    run = layout.run if accessed_in_blocks(stream) else max(layout.vector, layout.down)
    slots = max(run, BYTES_AT_ONCE // max(width, 1) // run * run)
    if width and layout.partial == 1 and len(layout.offsets) > slots:
        yield replace(stream, slots=slots)


def accessed_in_blocks(stream: Stream) -> bool:
    """Whether some tensors are accessed along the rows, and others along the columns."""
    layout, shape = stream.layout, stream.shape
    views = [
        (view_of(value.owner.source), threadblock.shape_of(value))
        for value in stream.outside
        if isinstance(value.owner, threadblock.LoadOp)
    ]
    views += [(stored_view(op), shape) for op in stream.stores]
    return any(in_order_of_access(layout, view, own, shape) != layout for view, own in views)


def mark_streams(graph: kernel.GraphDefinedOp) -> None:
    """
    Write the streams of a scheduled graph on their thread graphs.

    L2 evicts what they read as usual: a stream stores soon after it loads, and took 3 % longer on
    an H200 where its loads had a priority.
    """
    sections = sections_of(graph)
    found = [*find_streams(sections[PROLOGUE]), *find_streams(sections[EPILOGUE])]
    for number, stream in enumerate(found):
        for op in stream.graphs:
            op.stream = i64_array([number, stream.slots])
        for value in stream.outside:
            if isinstance(value.owner, threadblock.LoadOp) and value.owner.copy is None:
                value.owner.eviction_priority = None


def stream_of(op: Operation) -> Stream | None:
    """The stream of a thread graph, or of a store of its results; None if it is in none."""
    maker = op.tile.owner if isinstance(op, threadblock.StoreOp) else op
    block = op.parent_block()
    if not isinstance(maker, thread.GraphOp) or maker.stream is None or block is None:
        return None
    graphs = [
        each
        for each in block.ops
        if isinstance(each, thread.GraphOp) and each.stream == maker.stream
    ]
    return Stream(tuple(graphs), stores_of(graphs), maker.stream.get_values()[1])


def stores_of(graphs: Sequence[thread.GraphOp]) -> tuple[threadblock.StoreOp, ...]:
    """The stores of the results of `graphs`."""
    users = [use.operation for graph in graphs for result in graph.results for use in result.uses]
    return tuple(dict.fromkeys(user for user in users if isinstance(user, threadblock.StoreOp)))
