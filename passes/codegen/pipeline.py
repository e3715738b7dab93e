"""
The producer warp, which copies the tiles of the loop while consumer warps compute.

One thread of the producer waits until a buffer is empty and starts tensor copies into it. Each
consumer warp waits until the buffer is full; no barrier of the block is needed (`tile_barriers`).
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import filterfalse
from math import prod

from xdsl.dialects.builtin import (
    i8,
)
from xdsl.ir import Operation, SSAValue

from mirage_mlir.diagnostics import fail
from mirage_mlir.dialects import kernel, nvvm_hopper, threadblock
from mirage_mlir.dialects.pipeline import (
    PRODUCER,
    AwaitReleaseOp,
    FillBuffersOp,
    IssueCopiesOp,
    RefillBuffersOp,
)
from mirage_mlir.layouts.layout import WARP_THREADS
from mirage_mlir.passes.analysis.buffers import copied_invariant_loads, shared_layout
from mirage_mlir.passes.analysis.tensor_views import view_of
from mirage_mlir.passes.codegen.access import CACHE_POLICIES
from mirage_mlir.passes.codegen.context import KernelContext
from mirage_mlir.passes.codegen.emitter import Index
from mirage_mlir.passes.codegen.loads import iterations_of, loads_of_tiles, wait_for_previous_grid
from mirage_mlir.passes.codegen.mapped_tensors import MappedTensor, mapped
from mirage_mlir.passes.codegen.multicast_copies import in_block, own_rank, share_of, writers
from mirage_mlir.passes.codegen.packing import (
    packed_origin,
)
from mirage_mlir.passes.codegen.tile_barriers import (
    await_buffer,
    early_barrier,
    empty_barrier,
    full_barrier,
    initialise,
    invariant_barrier,
    parity_of,
    wait,
)
from mirage_mlir.passes.schedule.sections import sections_of
from mirage_mlir.targets.tensor_map import BoxStart, TensorMap, box_starts

BarrierOf = Callable[[KernelContext, Index], SSAValue]
"""Returns the address of a barrier of a stage: full, empty or early."""


@dataclass(frozen=True)
class ProducerPlan:
    """
    What the schedule says that a producer does.

    Args:
        soon: loads of loop-invariant tiles that are copied before those of the loop.
        loads: of the loop's tiles.
        late: loads of loop-invariant tiles that are copied behind the first iterations.
        first_iterations: whose tiles are copied to new buffers.
        at_start: those of them that are copied before the previous grid has ended.
        ahead: iterations whose copies are in flight once buffers are filled anew; None where all
            iterations have buffers of their own.
        awaits_release: whether it waits for all readers in the end.
    """

    soon: list[threadblock.LoadOp]
    loads: list[threadblock.LoadOp]
    late: list[threadblock.LoadOp]
    first_iterations: int
    at_start: int
    ahead: int | None
    awaits_release: bool

    @staticmethod
    def of(graph: kernel.GraphDefinedOp) -> "ProducerPlan":
        """That of a `graph` with producer warps; fails where edited text has none."""
        ops = sections_of(graph)[PRODUCER]
        filled = next((op for op in ops if isinstance(op, FillBuffersOp)), None)
        if filled is None:
            fail(graph, "has producer warps, and no threadblock.fill_buffers for them")
        place = ops.index(filled)
        return ProducerPlan(
            [load for op in ops[:place] for load in loads_of_invariants(op)],
            loads_of_tiles(filled),
            [load for op in ops[place + 1 :] for load in loads_of_invariants(op)],
            filled.iterations.value.data,
            filled.at_start.value.data,
            next((op.ahead.value.data for op in ops if isinstance(op, RefillBuffersOp)), None),
            any(isinstance(op, AwaitReleaseOp) for op in ops),
        )


def loads_of_invariants(op: Operation) -> list[threadblock.LoadOp]:
    """The loads of the loop-invariant tiles that `op` copies."""
    return loads_of_tiles(op) if isinstance(op, IssueCopiesOp) else []


class Producer:
    """
    Emits the code of the producer thread, which starts all copies.

    Where only some of the loop's tiles are there before the previous grid has ended, these are
    copied at once, but no more of them are on their way than keep device memory busy: so what is
    waited for need not queue behind them, and a thread that computes copies it (`copy_after_wait`).

    Args:
        maps: the address of each tensor map.
        available: the tensors that are there before the previous grid has ended; None where this
            one starts after that.
        launches_dependents: whether the next kernel may start before this one has ended.
    """

    def __init__(
        self,
        ctx: KernelContext,
        maps: Mapping[MappedTensor, SSAValue],
        available: Collection[SSAValue] | None,
        *,
        launches_dependents: bool,
    ) -> None:
        self.ctx = ctx
        self.maps = maps
        self.available = available
        self.launches_dependents = launches_dependents
        self.plan = ProducerPlan.of(ctx.graph)
        self.loads = self.plan.loads
        self.iterations = prod(ctx.graph.loop_sizes)
        self.first_iterations = self.plan.first_iterations
        self.before_wait = [op for op in self.loads if self.is_available(op)]
        """The loads of what is there when the kernel starts."""
        self.after_wait = [op for op in self.loads if not self.is_available(op)]

    @property
    def is_paced(self) -> bool:
        """Whether some tiles are copied before the PDL wait and others after it."""
        return bool(self.before_wait and self.after_wait)

    def is_available(self, op: threadblock.LoadOp) -> bool:
        """Whether what `op` loads is there when the kernel starts."""
        return self.available is None or view_of(op.source).root in self.available

    def start(self) -> None:
        """
        Make the barriers, and fill the first buffers with what is there already.

        Barriers that nobody uses before the block has synchronized are made behind the first
        copies.
        """
        ctx = self.ctx
        slots = range(ctx.stages)
        full = [full_barrier(ctx, slot) for slot in slots]
        first = [early_barrier(ctx, slot) for slot in slots] if self.is_paced else full
        invariant = copied_invariant_loads(ctx.graph)
        initialise(ctx, [*first, *(invariant_barrier(ctx, op) for op in invariant)], 1)
        ctx.emit.insert(nvvm_hopper.FenceMBarrierInitOp())
        self.copy_invariants(filter(self.is_available, self.plan.soon))
        first_barrier = early_barrier if self.is_paced else full_barrier
        self.fill(self.before_wait, first_barrier, 0, self.at_start)
        self.copy_invariants(filter(self.is_available, self.plan.late))
        if self.is_paced:
            initialise(ctx, full, 1)
            ctx.emit.insert(nvvm_hopper.FenceMBarrierInitOp())
        warps = ctx.graph.schedule.threads // WARP_THREADS * writers(ctx.graph)
        initialise(ctx, [empty_barrier(ctx, slot) for slot in slots], warps)

    @property
    def at_start(self) -> int:
        """Iterations whose tiles are on their way before the first of them has come."""
        if not self.is_paced:
            return self.first_iterations
        return self.plan.at_start

    def run(self) -> None:
        """
        Fill the buffers with the rest, then each anew as soon as it is empty.

        At first each block of a cluster fills its own buffers, and need not know of the others.
        """
        if self.is_paced:
            self.fill_in_pace()
            wait_for_previous_grid(self.ctx, self.available, launches_dependents=False)
        else:
            self.copy_after_wait()
        if self.plan.ahead is not None:
            self.refill(self.plan.ahead)
        if self.plan.awaits_release:
            self.await_readers()

    def copy_after_wait(self) -> None:
        """Wait for the previous grid, and start the first copies of what it may have written."""
        wait_for_previous_grid(
            self.ctx, self.available, launches_dependents=self.launches_dependents
        )
        self.copy_invariants(filterfalse(self.is_available, self.plan.soon))
        self.fill(self.after_wait, full_barrier, 0, self.first_iterations)
        self.copy_invariants(filterfalse(self.is_available, self.plan.late))

    def fill_in_pace(self) -> None:
        """Fill the buffers that are left with what is there already, one when another has come."""
        ctx, emit = self.ctx, self.ctx.emit
        before = self.at_start

        def body(number: SSAValue, _: list[SSAValue]) -> list[SSAValue]:
            wait(ctx, early_barrier(ctx, number), 0)
            self.copy_iteration(self.before_wait, emit.add(number, before), early_barrier)
            return []

        if before < self.first_iterations:
            emit.loop(self.first_iterations - before, [], body)

    def fill(
        self, loads: Sequence[threadblock.LoadOp], barrier: BarrierOf, first: int, end: int
    ) -> None:
        """Start the copies of `loads` for some iterations, into buffers that are new."""

        def body(number: SSAValue, _: list[SSAValue]) -> list[SSAValue]:
            self.copy_iteration(loads, self.ctx.emit.add(number, first), barrier)
            return []

        if loads:
            self.ctx.emit.loop(end - first, [], body)

    def copy_iteration(
        self, loads: Sequence[threadblock.LoadOp], iteration: Index, barrier: BarrierOf
    ) -> None:
        """Start the copies of an iteration into the buffer of the same number."""
        self.expect_bytes(loads, barrier(self.ctx, iteration))
        self.copy(loads, iteration, iteration, barrier(self.ctx, iteration))

    def refill(self, ahead: int) -> None:
        """Copy the tiles of the remaining iterations, each once its buffer is empty."""
        ctx, emit = self.ctx, self.ctx.emit

        def body(number: SSAValue, _: list[SSAValue]) -> list[SSAValue]:
            iteration = emit.add(number, self.first_iterations)
            slot = emit.rem(iteration, ctx.stages)
            if ahead < ctx.stages:
                # What was filled at first is used up, then no more is on its way than needed.
                before = emit.add(number, self.first_iterations - ahead)
                await_buffer(ctx, emit.rem(before, ctx.stages), before)
            # The phase that ends when the iteration before in this buffer has been read.
            wait(ctx, empty_barrier(ctx, slot), emit.exclusive_or(parity_of(ctx, iteration), 1))
            self.expect_bytes(self.loads, full_barrier(ctx, slot))
            self.copy(self.loads, iteration, slot, full_barrier(ctx, slot), shared=True)
            return []

        emit.loop(self.iterations - self.first_iterations, [], body)

    def await_readers(self) -> None:
        """Wait until all blocks have read all: no block may leave while others arrive there."""
        ctx, emit = self.ctx, self.ctx.emit

        def body(number: SSAValue, _: list[SSAValue]) -> list[SSAValue]:
            iteration = emit.add(number, self.iterations - self.first_iterations)
            barrier = empty_barrier(ctx, emit.rem(iteration, ctx.stages))
            wait(ctx, barrier, parity_of(ctx, iteration))
            return []

        emit.loop(self.first_iterations, [], body)

    def copy_invariants(self, loads: Iterable[threadblock.LoadOp]) -> None:
        """Start the copies of loop-invariant tiles, each of which has a barrier of its own."""
        for op in loads:
            self.ctx.emit.location = op.location
            barrier = invariant_barrier(self.ctx, op)
            self.expect_bytes([op], barrier)
            self.copy_tile(op, iterations_of(self.ctx, 0), 0, barrier, shared=False)

    def expect_bytes(self, loads: Sequence[threadblock.LoadOp], barrier: SSAValue) -> None:
        """Arrive at a barrier and set the number of bytes that it expects."""
        emit = self.ctx.emit
        count = 0
        for op in loads:
            tensor = mapped(op)
            count += len(box_starts(tensor.boxes, tensor.tile)) * tensor.boxes.box_bytes
        emit.insert(nvvm_hopper.MBarrierArriveExpectTxOp(barrier, emit.i32(count)))

    def copy(
        self,
        loads: Sequence[threadblock.LoadOp],
        iteration: Index,
        slot: Index,
        barrier: SSAValue,
        *,
        shared: bool = False,
    ) -> None:
        """
        Start the copies of one iteration into one buffer, or into that of all blocks that share.
        """
        iterations = iterations_of(self.ctx, iteration)
        for op in loads:
            self.ctx.emit.location = op.location
            together = shared and op.multicast is not None
            self.copy_tile(op, iterations, slot, barrier, shared=together)

    def copy_tile(
        self,
        op: threadblock.LoadOp,
        iterations: list[Index],
        slot: Index,
        barrier: SSAValue,
        *,
        shared: bool,
    ) -> None:
        """Start the copies of one tile, or of the block's part of it, box by box."""
        ctx, emit = self.ctx, self.ctx.emit
        tensor = mapped(op)
        if tensor.packing is None:
            origin = ctx.origin(op, iterations)
        else:
            origin = packed_origin(ctx, op, tensor.packing, iterations)
        priority = op.eviction_priority
        starts, mask = box_starts(tensor.boxes, tensor.tile), None
        buffer = ctx.shared_pointer(op.result, slot)
        if shared and (part := tensor.part) is not None:
            share, starts = share_of(ctx, op), [*part.first]
            mask, along = share.mask, part.boxes.axes[part.axis]
            origin[along] = emit.add(origin[along], emit.mul(share.number, part.span))
            step = box_offset(op, part.boxes, BoxStart((), part.lines, part.run))
            buffer = emit.pointer(buffer, emit.mul(share.number, step), i8)
            buffer = in_block(ctx, buffer, own_rank(ctx))
        for start in starts:
            coordinates = [
                emit.i32(emit.add(origin[axis], step))
                for axis, step in zip(tensor.boxes.axes, start.coordinates, strict=True)
            ]
            copy = nvvm_hopper.CpAsyncBulkTensorLoadOp(
                emit.pointer(buffer, box_offset(op, tensor.boxes, start), i8),
                self.maps[tensor],
                coordinates,
                barrier,
                None if priority is None else emit.i64(CACHE_POLICIES[priority.data]),
                mask,
            )
            emit.insert(copy)


def box_offset(op: threadblock.LoadOp, boxes: TensorMap, start: BoxStart) -> int:
    """Bytes from the start of a tile's buffer to one of its boxes."""
    layout = shared_layout(op.result)
    assert layout.swizzle == boxes.swizzle
    panel, width = start.run // boxes.box[0], boxes.box[0]
    return (panel * layout.panel + start.line * width) * boxes.element
