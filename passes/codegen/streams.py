"""Emits streams (`schedule.streams`), a few elements of a thread at a time."""

from dataclasses import dataclass, replace
from math import prod

from xdsl.ir import SSAValue

from mirage_mlir.passes.analysis.tile_attributes import resident_slots
from mirage_mlir.passes.codegen.access import fetch
from mirage_mlir.passes.codegen.context import KernelContext
from mirage_mlir.passes.codegen.elementwise import run_slot
from mirage_mlir.passes.codegen.emitter import Index
from mirage_mlir.passes.codegen.stores import store_slots
from mirage_mlir.passes.schedule.streams import Stream

WRITTEN_OUT = 2
"""Pieces that are unrolled; more are a loop."""


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
