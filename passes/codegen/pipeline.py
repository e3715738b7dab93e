"""
The producer warp, which copies the tiles of the loop while consumer warps compute.

One thread of the producer waits until a buffer is empty and starts tensor copies into it. Each
consumer warp waits until the buffer is full; no barrier of the block is needed (`tile_barriers`).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import takewhile

from xdsl.dialects.builtin import i8
from xdsl.ir import Operation, SSAValue

from mirage_mlir.diagnostics import fail
from mirage_mlir.dialects import nvvm_hopper, threadblock
from mirage_mlir.dialects.overlap import AwaitPreviousGridOp, LaunchDependentsOp
from mirage_mlir.dialects.pipeline import (
    PRODUCER,
    AwaitReleaseOp,
    FillBuffersOp,
    IssueCopiesOp,
    RefillBuffersOp,
)
from mirage_mlir.layouts.layout import WARP_THREADS
from mirage_mlir.passes.analysis.buffers import (
    copied_invariant_loads,
    loads_of_tiles,
    shared_layout,
    staged_loads,
)
from mirage_mlir.passes.codegen.access import CACHE_POLICIES
from mirage_mlir.passes.codegen.context import KernelContext
from mirage_mlir.passes.codegen.emitter import Index
from mirage_mlir.passes.codegen.loads import (
    await_previous_grid,
    iterations_of,
    launch_dependents,
)
from mirage_mlir.passes.codegen.mapped_tensors import MappedTensor, mapped
from mirage_mlir.passes.codegen.multicast_copies import in_block, own_rank, share_of, writers
from mirage_mlir.passes.codegen.packing import packed_origin
from mirage_mlir.passes.codegen.persistent_tiles import PersistentTiles
from mirage_mlir.passes.codegen.stage_positions import StagePosition
from mirage_mlir.passes.codegen.tile_barriers import (
    await_tiles,
    early_barrier,
    empty_barrier,
    full_barrier,
    initialise,
    invariant_barrier,
    wait,
)
from mirage_mlir.passes.codegen.tile_origins import origin_of
from mirage_mlir.passes.schedule.sections import sections_of
from mirage_mlir.targets.tensor_map import BoxStart, TensorMap, box_starts

BarrierOf = Callable[[KernelContext, Index], SSAValue]
"""Returns the address of a barrier of a stage: full, empty or early."""


class Producer:
    """
    Emits the code of the producer thread, which starts all copies.

    Args:
        maps: the address of each tensor map.
        tiles: those of the grid that a persistent block computes.
    """

    def __init__(
        self,
        ctx: KernelContext,
        maps: Mapping[MappedTensor, SSAValue],
        tiles: PersistentTiles | None = None,
    ) -> None:
        self.ctx = ctx
        self.tiles = tiles
        self.maps = maps
        ops = sections_of(ctx.graph)[PRODUCER]
        fills = fills_of(ops)
        copies = len([*takewhile(lambda op: isinstance(op, IssueCopiesOp | FillBuffersOp), ops)])
        self.at_first, self.later = ops[:copies], ops[copies:]
        if not fills:
            fail(ctx.graph, "has producer warps, and no threadblock.fill_buffers for them")
        self.first_iterations = fills[0].iterations.value.data
        refills = [op.ahead.value.data for op in ops if isinstance(op, RefillBuffersOp)]
        self.ahead = min(refills, default=ctx.stages)
        self.paced = next((op for op in fills if op.at_start is not None), None)

    def start(self) -> None:
        """
        Make the barriers, and start the first copies.

        Barriers that nobody uses before the block has synchronized are made behind these.
        """
        ctx = self.ctx
        slots = range(ctx.stages)
        full = [full_barrier(ctx, slot) for slot in slots]
        first = [early_barrier(ctx, slot) for slot in slots] if self.paced else full
        invariant = copied_invariant_loads(ctx.graph)
        initialise(ctx, [*first, *(invariant_barrier(ctx, op) for op in invariant)], 1)
        ctx.emit.insert(nvvm_hopper.FenceMBarrierInitOp())
        self.run_all(self.at_first)
        if self.paced:
            initialise(ctx, full, 1)
            ctx.emit.insert(nvvm_hopper.FenceMBarrierInitOp())
        warps = ctx.graph.schedule.threads // WARP_THREADS * writers(ctx.graph)
        initialise(ctx, [empty_barrier(ctx, slot) for slot in slots], warps)

    def run(self) -> None:
        """Do what is left, when all warps know of the barriers."""
        if self.paced is not None:
            self.fill_in_pace(self.paced)
        ending = [op for op in self.later if isinstance(op, AwaitReleaseOp)]
        self.run_all([op for op in self.later if op not in ending])
        if self.tiles is not None:
            self.copy_next_tiles(self.tiles)
        self.run_all(ending)

    def copy_next_tiles(self, tiles: PersistentTiles) -> None:
        """Copy what a persistent block needs for the tiles of the grid behind its first one."""
        ctx, emit = self.ctx, self.ctx.emit
        loads = staged_loads(ctx.graph)
        invariant, count = copied_invariant_loads(ctx.graph), tiles.count()

        def tile(number: SSAValue, _: list[SSAValue]) -> list[SSAValue]:
            following = emit.add(number, 1)
            ctx.go_to_tile(following, tiles.place(following))
            if invariant:
                # The last iteration of the tile before has read them.
                self.await_release(emit.sub(ctx.before, 1))
                self.copy_invariants(invariant)
            self.copy_all(loads, 0)
            return []

        emit.loop(emit.sub(count, 1), [], tile)
        last = emit.sub(count, 1)
        ctx.go_to_tile(last, tiles.place(last))

    def run_all(self, ops: Sequence[Operation]) -> None:
        """Emit `ops` of a single thread: copies, and waits between them."""
        for op in ops:
            match op:
                case IssueCopiesOp():
                    self.copy_invariants(loads_of_tiles(op))
                case FillBuffersOp():
                    self.fill(op)
                case RefillBuffersOp():
                    self.refill(op)
                case AwaitReleaseOp():
                    self.await_readers()
                case AwaitPreviousGridOp():
                    await_previous_grid(self.ctx)
                case LaunchDependentsOp():
                    launch_dependents(self.ctx)
                case _:
                    fail(op, "is nothing that a thread that copies tiles does")

    def fill_in_pace(self, op: FillBuffersOp) -> None:
        """Fill the buffers that are left, one when another has come."""
        ctx, emit = self.ctx, self.ctx.emit
        loads, before = loads_of_tiles(op), count_at_start(op)

        def body(number: SSAValue, _: list[SSAValue]) -> list[SSAValue]:
            wait(ctx, early_barrier(ctx, number), 0)
            self.copy_iteration(loads, emit.add(number, before), early_barrier)
            return []

        if before < self.first_iterations:
            emit.loop(emit.sub(self.filled(self.first_iterations), before), [], body)

    def fill(self, op: FillBuffersOp) -> None:
        """Start the copies of the first iterations, into buffers that are new."""
        loads, barrier = loads_of_tiles(op), full_barrier if op.at_start is None else early_barrier

        def body(number: SSAValue, _: list[SSAValue]) -> list[SSAValue]:
            self.copy_iteration(loads, number, barrier)
            return []

        self.ctx.emit.loop(self.filled(count_at_start(op)), [], body)

    def filled(self, count: int) -> Index:
        """So many iterations, or as many as the block has."""
        return self.ctx.emit.least(count, self.ctx.count) if self.ctx.graph.bounds else count

    def copy_iteration(
        self, loads: Sequence[threadblock.LoadOp], iteration: Index, barrier: BarrierOf
    ) -> None:
        """Start the copies of an iteration into the buffer of the same number."""
        self.expect_bytes(loads, barrier(self.ctx, iteration))
        self.copy(loads, iteration, iteration, barrier(self.ctx, iteration))

    def refill(self, op: RefillBuffersOp) -> None:
        """Copy the tiles of the remaining iterations, each once its buffer is empty."""
        self.copy_all(loads_of_tiles(op), self.first_iterations)

    def copy_all(self, loads: Sequence[threadblock.LoadOp], first: int) -> None:
        """Copy the tiles of all iterations of a tile of the grid from the `first` one on."""
        ctx, emit = self.ctx, self.ctx.emit

        def body(number: SSAValue, values: list[SSAValue]) -> list[SSAValue]:
            iteration = emit.add(number, first)
            stage, _ = start.taken(emit, values, emit.add(ctx.before, iteration))
            self.copy_later(loads, iteration, stage)
            return stage.moved(emit, 1).carried(emit)

        start = StagePosition.of(emit, emit.add(ctx.before, first), ctx.stages)
        emit.loop(emit.sub(ctx.count, first), start.carried(emit), body)

    def copy_later(
        self, loads: Sequence[threadblock.LoadOp], iteration: Index, stage: StagePosition
    ) -> None:
        """Copy the tiles of an iteration once its buffers are empty."""
        ctx, emit = self.ctx, self.ctx.emit
        if self.ahead < ctx.stages:
            # What was filled at first is used up, then no more is on its way than needed.
            await_tiles(ctx, stage.moved(emit, -self.ahead))
        barrier = full_barrier(ctx, stage.slot)
        # The phase that ends when the iteration before in this buffer has been read.
        wait(ctx, empty_barrier(ctx, stage.slot), emit.exclusive_or(stage.parity(emit), 1))
        self.expect_bytes(loads, barrier)
        self.copy(loads, iteration, stage.slot, barrier, shared=True)

    def await_release(self, number: Index) -> None:
        """Wait until all have read the tiles of an iteration, of all that the block does."""
        stage = StagePosition.of(self.ctx.emit, number, self.ctx.stages)
        wait(self.ctx, empty_barrier(self.ctx, stage.slot), stage.parity(self.ctx.emit))

    def await_readers(self) -> None:
        """Wait until all blocks have read all: no block may leave while others arrive there."""
        ctx, emit = self.ctx, self.ctx.emit
        waited = self.filled(self.first_iterations)

        def body(number: SSAValue, _: list[SSAValue]) -> list[SSAValue]:
            iteration = emit.add(number, emit.sub(ctx.count, waited))
            self.await_release(emit.add(ctx.before, iteration))
            return []

        emit.loop(waited, [], body)

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
            origin = origin_of(ctx, op, iterations)
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


def fills_of(ops: Sequence[Operation]) -> list[FillBuffersOp]:
    """The operations among `ops` that fill new buffers."""
    return [op for op in ops if isinstance(op, FillBuffersOp)]


def count_at_start(op: FillBuffersOp) -> int:
    """The iterations whose copies `op` starts at once."""
    return (op.iterations if op.at_start is None else op.at_start).value.data


def box_offset(op: threadblock.LoadOp, boxes: TensorMap, start: BoxStart) -> int:
    """Bytes from the start of a tile's buffer to one of its boxes."""
    layout = shared_layout(op.result)
    assert layout.swizzle == boxes.swizzle
    panel, width = start.run // boxes.box[0], boxes.box[0]
    return (panel * layout.panel + start.line * width) * boxes.element
