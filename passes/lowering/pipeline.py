"""
A warp that copies the tiles of the loop while the others compute.

Each of the loop's buffers has two barriers: `full` completes when all bytes of a turn have come,
`empty` when each of the other warps has read them. One thread of the producer waits for `empty`
and starts tensor copies that arrive at `full`; the others wait for `full`, each for itself, and no
barrier of the block is needed. Turn t uses buffer t % stages and is phase t / stages of its
barriers, of which waiting threads name the parity (PTX ISA, section "mbarrier").
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    IntegerAttr,
    StringAttr,
    i8,
    i64,
)
from xdsl.ir import SSAValue

from mirage_mlir.dialects import kernel, nvvm, nvvm_hopper, threadblock
from mirage_mlir.dialects.layout import AwaitTileOp, ReleaseTilesOp
from mirage_mlir.dialects.threadblock import Stage
from mirage_mlir.graph.layout import WARP_THREADS
from mirage_mlir.graph.multicast import PartialCopy, partial_copy
from mirage_mlir.graph.packing import Packing
from mirage_mlir.graph.schedule import MBARRIER_BYTES
from mirage_mlir.graph.tensor_map import BoxStart, TensorMap, box_starts
from mirage_mlir.passes.lowering.access import EVICT_FIRST, EVICT_LAST
from mirage_mlir.passes.lowering.context import (
    KernelContext,
    copied_stays,
    is_staged,
    shared_layout,
)
from mirage_mlir.passes.lowering.emitter import Index
from mirage_mlir.passes.lowering.loads import staged_loads, turns_of, wait_for_kernel_in_front
from mirage_mlir.passes.lowering.multicast import (
    in_block,
    is_writer,
    own_rank,
    share_of,
    writers,
)
from mirage_mlir.passes.lowering.packing import (
    PACKED,
    packed_boxes,
    packed_origin,
    packed_tile,
    packing_of,
)
from mirage_mlir.passes.lowering.tensor_loads import map_of
from mirage_mlir.passes.lowering.tiles import FENCED, MULTICAST, block_threads, shares_tiles
from mirage_mlir.passes.lowering.views import view_of
from mirage_mlir.passes.plan_memory import MBARRIER_OFFSET, int_attribute
from mirage_mlir.passes.schedule_threadblock import AHEAD, AT_START

PATIENCE = 10_000_000
"""Nanoseconds that one try of a wait takes at most; the wait itself goes on."""


@dataclass(frozen=True)
class MappedTensor:
    """
    A tensor in device memory as tensor copies see it.

    Args:
        root: the tensor.
        offset: of the first element, in bytes.
        boxes: what copies fetch.
        tile: what boxes make together, in elements.
        packing: how the tensor was rewritten, where the copies read that.
        part: what each block copies, where a cluster shares the tile.
    """

    root: SSAValue
    offset: int
    boxes: TensorMap
    tile: tuple[int, ...]
    packing: Packing | None = None
    part: PartialCopy | None = None

    def describe(self, name: str) -> DictionaryAttr:
        """What the launch must know; `name` says which tensor it is."""
        element = kernel.tensor_type(self.root).element_type
        boxes = self.boxes
        lists = {"dims": boxes.dims, "strides": boxes.strides, "box": boxes.box}
        numbers = {"offset": self.offset, "swizzle": boxes.swizzle}
        return DictionaryAttr(
            {
                "tensor": StringAttr(name),
                **{key: DenseArrayBase.from_list(i64, [*each]) for key, each in lists.items()},
                **{key: IntegerAttr(each, i64) for key, each in numbers.items()},
                "element": StringAttr(str(element)),
            }
        )


def described(tensors: Sequence[tuple[MappedTensor, str]]) -> ArrayAttr[DictionaryAttr]:
    """The tensor maps of a module, in the order of their numbers."""
    return ArrayAttr([tensor.describe(name) for tensor, name in tensors])


def mapped(op: threadblock.LoadOp) -> MappedTensor:
    """The tensor that a load by tensor copies reads."""
    view, boxes, tile = view_of(op.source), map_of(op), threadblock.shape_of(op.result)
    assert boxes is not None, "assign-layouts asks first"
    packing = packing_of(op) if PACKED in op.attributes else None
    offset = view.offset * boxes.element
    if packing is not None:
        packed = packed_boxes(packing, boxes)
        assert packed is not None, "it would not be marked"
        boxes, tile, offset = packed, packed_tile(packing), 0
    if MULTICAST not in op.attributes:
        return MappedTensor(view.root, offset, boxes, tile, packing)
    part = partial_copy(boxes, tile, int_attribute(op, MULTICAST))
    assert part is not None, "it would not be marked"
    return MappedTensor(view.root, offset, part.boxes, tile, packing, part)


def mapped_tensors(graph: kernel.GraphDefinedOp) -> list[MappedTensor]:
    """The tensor maps that a kernel with producers takes, each once."""
    stay = copied_stays(graph)
    loads = [op for op in graph.body.block.ops if is_staged(op) or op in stay]
    return list(dict.fromkeys(mapped(op) for op in loads if isinstance(op, threadblock.LoadOp)))


def full_barrier(ctx: KernelContext, slot: Index) -> SSAValue:
    """The address of the barrier that says that buffer `slot` is full."""
    at = ctx.emit.mul(slot, MBARRIER_BYTES)
    return ctx.emit.pointer(ctx.shared, at, i8, int_attribute(ctx.graph, MBARRIER_OFFSET))


def empty_barrier(ctx: KernelContext, slot: Index) -> SSAValue:
    """The address of the barrier that says that buffer `slot` is empty."""
    at = ctx.emit.mul(slot, MBARRIER_BYTES)
    start = int_attribute(ctx.graph, MBARRIER_OFFSET) + ctx.stages * MBARRIER_BYTES
    return ctx.emit.pointer(ctx.shared, at, i8, start)


def stay_barrier(ctx: KernelContext, op: threadblock.LoadOp) -> SSAValue:
    """The address of the barrier that says that a tile that stays has come."""
    number = 2 * ctx.stages + copied_stays(ctx.graph).index(op)
    start = int_attribute(ctx.graph, MBARRIER_OFFSET) + number * MBARRIER_BYTES
    return ctx.emit.pointer(ctx.shared, start, i8)


def initialise(ctx: KernelContext, barriers: Sequence[SSAValue], arrivals: int) -> None:
    """Make barriers that take so many arrivals; one thread does."""
    for barrier in barriers:
        ctx.emit.insert(nvvm_hopper.MBarrierInitOp(barrier, ctx.emit.i32(arrivals)))


def wait(ctx: KernelContext, barrier: SSAValue, parity: Index) -> None:
    """Wait until the phase of `barrier` with this parity is complete."""
    emit = ctx.emit
    ticks = emit.i32(PATIENCE)
    emit.insert(nvvm_hopper.MBarrierWaitParityOp(barrier, emit.i32(parity), ticks))


def parity_of(ctx: KernelContext, turn: Index) -> Index:
    """The parity of the phase in which `turn` fills its buffer."""
    return ctx.emit.bits(ctx.emit.div(turn, ctx.stages), 1)


def await_tiles(ctx: KernelContext, turn: Index) -> None:
    """Wait until the tiles of `turn` have arrived."""
    wait(ctx, full_barrier(ctx, ctx.slot), parity_of(ctx, turn))


def await_tile(ctx: KernelContext, op: AwaitTileOp) -> None:
    """Wait until a tile that stays has arrived."""
    load = op.tile.owner
    assert isinstance(load, threadblock.LoadOp)
    wait(ctx, stay_barrier(ctx, load), 0)


def release_tiles(ctx: KernelContext, op: ReleaseTilesOp) -> None:
    """
    Say that this warp has read the tiles of the present turn, to all blocks that write there.

    An arrival orders what threads read before what threads write, but not before what copies
    write, which go another way to shared memory: without the fence, here or in a meeting since
    then, copies overtook `ldmatrix` on an H200 where three blocks shared a multiprocessor.
    """
    emit = ctx.emit
    if FENCED in op.attributes:
        emit.insert(nvvm_hopper.FenceProxyOp())
    emit.insert(nvvm.BarWarpSyncOp(emit.i32(-1)))
    tell_producers(ctx)


def tell_producers(ctx: KernelContext) -> None:
    """Arrive, for this warp, at the barriers that say that the present buffers are empty."""
    emit = ctx.emit
    if shares_tiles(ctx.graph):
        # Each of the first lanes tells one block.
        with emit.when(is_writer(ctx, ctx.lane)):
            barrier = in_block(ctx, empty_barrier(ctx, ctx.slot), ctx.lane)
            emit.insert(nvvm_hopper.MBarrierArriveOp(barrier))
        return
    with emit.when(emit.equal(ctx.lane, 0)):
        emit.insert(nvvm_hopper.MBarrierArriveOp(empty_barrier(ctx, ctx.slot)))


class Producer:
    """
    Emits what the thread does that starts the copies.

    Args:
        maps: the address of each tensor map.
        given: the tensors that are there before the kernel in front has ended; None where this one
            starts after that.
        leads: whether the next kernel may start before this one has ended.
    """

    def __init__(
        self,
        ctx: KernelContext,
        maps: Mapping[MappedTensor, SSAValue],
        given: Collection[SSAValue] | None,
        *,
        leads: bool,
    ) -> None:
        self.ctx = ctx
        self.maps = maps
        self.given = given
        self.leads = leads
        self.loads = staged_loads(ctx)
        self.stays = copied_stays(ctx.graph)
        self.turns = prod(ctx.graph.loop_sizes)
        self.first_turns = min(ctx.stages, self.turns)
        self.early_turns = self.first_turns
        if len(self.early) < len(self.loads):
            self.early_turns = min(self.first_turns, int_attribute(ctx.graph, AT_START))

    @cached_property
    def early(self) -> list[threadblock.LoadOp]:
        """The loads of what is there when the kernel starts."""
        return [op for op in self.loads if self.is_given(op)]

    def start(self) -> None:
        """Make the barriers, and fill the buffers with what is there already."""
        ctx = self.ctx
        initialise(ctx, [full_barrier(ctx, slot) for slot in range(ctx.stages)], 1)
        initialise(ctx, [stay_barrier(ctx, op) for op in self.stays], 1)
        ctx.emit.insert(nvvm_hopper.FenceMBarrierInitOp())
        given = [op for op in self.stays if self.is_given(op)]
        self.copy_stays(given, Stage.INVARIANT)
        if self.early:
            self.fill(self.early, 0, self.early_turns, expecting=True)
        self.copy_stays(given, Stage.POST)
        # Only threads use these, once the block has met: copies need not wait for them.
        warps = block_threads(ctx.graph) // WARP_THREADS * writers(ctx.graph)
        initialise(ctx, [empty_barrier(ctx, slot) for slot in range(ctx.stages)], warps)

    def run(self) -> None:
        """
        Fill the buffers with the rest, then each anew as soon as it is empty.

        At first each block of a cluster fills its own buffers, and need not know of the others.
        """
        late = [op for op in self.loads if op not in self.early]
        wait_for_kernel_in_front(self.ctx, self.given, leads=self.leads)
        later = [op for op in self.stays if not self.is_given(op)]
        self.copy_stays(later, Stage.INVARIANT)
        if late:
            self.fill(late, 0, self.early_turns, expecting=not self.early)
        if self.early_turns < self.first_turns:
            self.fill(self.loads, self.early_turns, self.first_turns, expecting=True)
        self.copy_stays(later, Stage.POST)
        self.refill()
        if shares_tiles(self.ctx.graph):
            self.stay()

    def is_given(self, op: threadblock.LoadOp) -> bool:
        """Whether what `op` loads is there when the kernel starts."""
        return self.given is None or view_of(op.source).root in self.given

    def fill(
        self, loads: Sequence[threadblock.LoadOp], first: int, end: int, *, expecting: bool
    ) -> None:
        """Start the copies of `loads` for some turns, into buffers that are new."""

        def body(number: SSAValue, _: list[SSAValue]) -> list[SSAValue]:
            turn = self.ctx.emit.add(number, first)
            if expecting:
                self.expect(turn)
            self.copy(loads, turn, turn)
            return []

        self.ctx.emit.loop(end - first, [], body)

    def refill(self) -> None:
        """The copies of the other turns."""
        ctx, emit = self.ctx, self.ctx.emit
        ahead = int_attribute(ctx.graph, AHEAD)

        def body(number: SSAValue, _: list[SSAValue]) -> list[SSAValue]:
            turn = emit.add(number, self.first_turns)
            slot = emit.rem(turn, ctx.stages)
            if ahead < ctx.stages:
                # What was filled at first is used up, then no more is on its way than needed.
                before = emit.add(number, self.first_turns - ahead)
                come = full_barrier(ctx, emit.rem(before, ctx.stages))
                wait(ctx, come, parity_of(ctx, before))
            # The phase that ends when the turn before in this buffer has been read.
            wait(ctx, empty_barrier(ctx, slot), emit.exclusive_or(parity_of(ctx, turn), 1))
            self.expect(slot)
            self.copy(self.loads, turn, slot, shared=True)
            return []

        if self.turns > self.first_turns:
            emit.loop(self.turns - self.first_turns, [], body)

    def stay(self) -> None:
        """Wait until all blocks have read all: no block may leave while others arrive there."""
        ctx, emit = self.ctx, self.ctx.emit

        def body(number: SSAValue, _: list[SSAValue]) -> list[SSAValue]:
            turn = emit.add(number, self.turns - self.first_turns)
            barrier = empty_barrier(ctx, emit.rem(turn, ctx.stages))
            wait(ctx, barrier, parity_of(ctx, turn))
            return []

        emit.loop(self.first_turns, [], body)

    def copy_stays(self, loads: Sequence[threadblock.LoadOp], stage: Stage) -> None:
        """Start the copies of those tiles that stay which are waited for in a stage."""
        waits = [op for op in self.ctx.graph.body.block.ops if isinstance(op, AwaitTileOp)]
        waited = [op.tile.owner for op in waits if op.stage.data == stage.value]
        for op in [op for op in loads if op in waited]:
            self.ctx.emit.location = op.location
            barrier = stay_barrier(self.ctx, op)
            self.expect_bytes([op], barrier)
            self.copy_tile(op, turns_of(self.ctx, 0), 0, barrier, shared=False)

    def expect(self, slot: Index) -> None:
        """Say how many bytes make a buffer full."""
        self.expect_bytes(self.loads, full_barrier(self.ctx, slot))

    def expect_bytes(self, loads: Sequence[threadblock.LoadOp], barrier: SSAValue) -> None:
        """Say how many bytes come to a barrier."""
        emit = self.ctx.emit
        count = 0
        for op in loads:
            tensor = mapped(op)
            count += len(box_starts(tensor.boxes, tensor.tile)) * tensor.boxes.box_bytes
        emit.insert(nvvm_hopper.MBarrierArriveExpectTxOp(barrier, emit.i32(count)))

    def copy(
        self,
        loads: Sequence[threadblock.LoadOp],
        turn: Index,
        slot: Index,
        *,
        shared: bool = False,
    ) -> None:
        """Start the copies of one turn into one buffer, or into that of all blocks that share."""
        turns, barrier = turns_of(self.ctx, turn), full_barrier(self.ctx, slot)
        for op in loads:
            self.ctx.emit.location = op.location
            together = shared and MULTICAST in op.attributes
            self.copy_tile(op, turns, slot, barrier, shared=together)

    def copy_tile(
        self,
        op: threadblock.LoadOp,
        turns: list[Index],
        slot: Index,
        barrier: SSAValue,
        *,
        shared: bool,
    ) -> None:
        """Start the copies of one tile, or of the block's part of it, box by box."""
        ctx, emit = self.ctx, self.ctx.emit
        tensor = mapped(op)
        if tensor.packing is None:
            origin = ctx.origin(op, turns)
        else:
            origin = packed_origin(ctx, op, tensor.packing, turns)
        hint = cache_hint(op, ctx.graph)
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
                None if hint is None else emit.i64(hint),
                mask,
            )
            emit.insert(copy)


def box_offset(op: threadblock.LoadOp, boxes: TensorMap, start: BoxStart) -> int:
    """Bytes from the start of a tile's buffer to one of its boxes."""
    layout = shared_layout(op.result)
    assert layout.swizzle == boxes.swizzle
    panel, width = start.run // boxes.box[0], boxes.box[0]
    return (panel * layout.panel + start.line * width) * boxes.element


def cache_hint(op: threadblock.LoadOp, graph: kernel.GraphDefinedOp) -> int | None:
    """Keep in L2 what all blocks read, and let go first what only one does."""
    axes = [axis for axis, size in enumerate(graph.grid_sizes) if size > 1]
    cut = [op.grid_map.get_values()[axis] >= 0 for axis in axes]
    if cut and all(cut):
        return EVICT_FIRST
    return EVICT_LAST if cut and not any(cut) else None
