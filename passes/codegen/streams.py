"""
Streams: elementwise work from device memory to device memory, a few elements of a thread at a time.

A thread that reads all its elements before it computes any needs registers for all of them. Many
registers lower occupancy, and spill.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod

from xdsl.ir import Operation, SSAValue

from mirage_mlir.dialects import thread, threadblock
from mirage_mlir.dialects.layout import GlobalAttr, RegistersAttr, layout_of
from mirage_mlir.layouts.layout import RegisterLayout
from mirage_mlir.passes.analysis.tile_attributes import item_bytes, registers_of, resident_slots
from mirage_mlir.passes.codegen.access import fetch
from mirage_mlir.passes.codegen.context import KernelContext
from mirage_mlir.passes.codegen.elementwise import run_slot
from mirage_mlir.passes.codegen.emitter import Index
from mirage_mlir.passes.codegen.stores import store_slots

BYTES_AT_ONCE = 64
"""Bytes that a thread reads before it computes. With 2,048 threads on a multiprocessor four times
as many bytes are in flight as saturate device memory, and registers suffice for 2,048 threads."""

WRITTEN_OUT = 2
"""Pieces that are unrolled; more are a loop."""


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
    stores = dict.fromkeys(user for user in users if isinstance(user, threadblock.StoreOp))
    stream = Stream(tuple(graphs), tuple(stores), 0)
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
    run = max(layout.vector, layout.down)
    slots = max(run, BYTES_AT_ONCE // max(width, 1) // run * run)
    if width and layout.partial == 1 and len(layout.offsets) > slots:
        yield replace(stream, slots=slots)


@dataclass(frozen=True)
class StreamPieces:
    """Emits a stream piece by piece."""

    ctx: KernelContext
    stream: Stream

    def run(self) -> None:
        """Emit all pieces."""
        # The thread's position is computed once, before all pieces.
        self.ctx.position(self.stream.layout)
        self.along(0, 0)
        self.ctx.ahead, self.ctx.whole = (0, 0), None

    @property
    def cut(self) -> int:
        """The dimension of slots that is cut into pieces: all inner dimensions fit in one piece."""
        counts = [count for count, _, _ in self.stream.layout.slots]
        return next(
            dim for dim in range(len(counts)) if prod(counts[dim + 1 :]) <= self.stream.slots
        )

    def along(self, dim: int, first: int) -> None:
        """Emit the pieces along dimension `dim` of the slots, from slot `first` on."""
        slots = self.stream.layout.slots
        count, row, column = slots[dim]
        inside = prod(each for each, _, _ in slots[dim + 1 :])
        together = 1
        if last := dim >= self.cut:
            together = min(count, max(1, self.stream.slots // inside))
        iterations, rest = divmod(count, together)

        def piece(iteration: Index, taken: int, start: int) -> None:
            emit, before = self.ctx.emit, self.ctx.ahead
            step = emit.mul(iteration, together)
            here = [
                emit.add(at, emit.mul(step, by))
                for at, by in zip(before, (row, column), strict=True)
            ]
            self.ctx.ahead = (here[0], here[1])
            if last:
                self.compute(dim, taken, start)
            else:
                self.along(dim + 1, start)
            self.ctx.ahead = before

        def body(iteration: SSAValue, _: list[SSAValue]) -> list[SSAValue]:
            piece(iteration, together, first)
            return []

        if iterations > WRITTEN_OUT and self.repeats(dim):
            self.ctx.emit.loop(iterations, [], body)
        else:
            for iteration in range(iterations):
                piece(iteration, together, first + iteration * together * inside)
        if rest:
            piece(iterations, rest, first + iterations * together * inside)

    def repeats(self, dim: int) -> bool:
        """Whether operands in registers are the same for all pieces along dimension `dim`."""
        count = self.stream.layout.slots[dim][0]
        inside = prod(each for each, _, _ in self.stream.layout.slots[dim + 1 :])
        for value in self.stream.outside:
            held = resident_slots(value, self.stream.layout, self.stream.shape) or []
            for slot, register in enumerate(held):
                along = slot // inside % count
                if held[slot - along * inside] != register:
                    return False
        return True

    def compute(self, dim: int, taken: int, start: int) -> None:
        """Read, compute and store a piece: `taken` places along `dim`, from slot `start` on."""
        ctx, stream = self.ctx, self.stream
        _, row, column = stream.layout.slots[dim]
        layout = replace(
            stream.layout, slots=((taken, row, column), *stream.layout.slots[dim + 1 :])
        )
        count = len(layout.offsets)
        ctx.whole = stream.layout
        read: dict[SSAValue, list[SSAValue]] = {}
        for value in stream.outside:
            ctx.emit.location = stream.graphs[0].location
            held = resident_slots(value, stream.layout, stream.shape)
            if held is None:
                read[value] = fetch(ctx, value, layout, stream.shape)
            else:
                read[value] = [ctx.registers[value][slot] for slot in held[start : start + count]]
        for graph in stream.graphs:
            ctx.emit.location = graph.location
            columns = [read[value] for value in graph.operands]
            rows = [run_slot(ctx, graph, columns, slot) for slot in range(count)]
            for value, slots in zip(graph.results, zip(*rows, strict=True), strict=True):
                read[value] = list(slots)
        for store in stream.stores:
            ctx.emit.location = store.location
            store_slots(ctx, store, read[store.tile], layout)
        ctx.whole = None
