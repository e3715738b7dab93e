"""Orders the operations of prologue, loop and epilogue, and inserts the barriers they need."""

from dataclasses import dataclass, field

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Operation, SSAValue

from mirage_mlir.dialects import threadblock
from mirage_mlir.dialects.fetched_tiles import FetchTilesOp, StoreFetchedOp
from mirage_mlir.dialects.layout import ConvertLayoutOp, SharedAttr, layout_of
from mirage_mlir.dialects.pipeline import (
    SCHEDULE_OPS,
    AwaitTileOp,
    BarrierOp,
    IssueCopiesOp,
    is_across_blocks,
)
from mirage_mlir.dialects.split_k import (
    LAST_BLOCK,
    AwaitClusterOp,
    ContinueWithOp,
    StorePartialSumOp,
)
from mirage_mlir.passes.analysis.buffers import (
    buffer_of,
    is_delivered,
    is_invariant_load,
    is_tensor_copy,
    maxima_of,
)
from mirage_mlir.passes.analysis.dependences import leading_to
from mirage_mlir.passes.analysis.tile_attributes import adds_into
from mirage_mlir.passes.layouts.batched_matmuls import brought_together
from mirage_mlir.passes.layouts.wgmma_operands import read_by_wgmma


def in_shared(value: SSAValue) -> bool:
    """Whether a tile lives in shared memory."""
    return isinstance(layout_of(value), SharedAttr)


def reads(op: Operation) -> list[Operation]:
    """The buffers in shared memory that `op` reads."""
    if isinstance(op, (threadblock.TransposeOp, *SCHEDULE_OPS)) or is_added(op):
        return []
    operands = [op.input] if isinstance(op, ConvertLayoutOp) else [*op.operands]
    if isinstance(op, threadblock.AccumulateOp) and isinstance(op.value.owner, Operation):
        # A matmul that is added to a sum is computed there, and reads its operands there.
        operands += op.value.owner.operands if is_added(op.value.owner) else ()
    # A reader of partial sums of several row maxima reads the maxima, too.
    operands += [maxima for maxima in map(maxima_of, operands) if maxima is not None]
    return [buffer_of(v) for v in operands if layout_of(v) is not None and in_shared(v)]


def is_added(op: Operation) -> bool:
    """Whether `op` is a matmul that the tensor core adds to an accumulator."""
    return isinstance(op, threadblock.MatmulOp) and adds_into(op.result)


def writes(op: Operation) -> list[Operation]:
    """The buffer that `op` writes; asynchronous loads are excluded, since waits order them."""
    if isinstance(op, threadblock.LoadOp | threadblock.TransposeOp):
        return []
    return [op] if any(in_shared(result) for result in op.results) else []


def spreads(op: Operation) -> bool:
    """Whether other blocks of the cluster get what `op` writes to shared memory."""
    return any(
        isinstance(layout := layout_of(result), SharedAttr) and layout.layout.blocks > 1
        for result in op.results
    )


def is_lent(op: Operation) -> bool:
    """Whether other blocks of the cluster read what `op` writes to its own shared memory."""
    return spreads(op) and not is_delivered(op)


@dataclass
class Hazards:
    """Buffers that were read or written since the last barrier."""

    written: set[Operation] = field(default_factory=set[Operation])
    read: set[Operation] = field(default_factory=set[Operation])

    def conflict(self, op: Operation) -> bool:
        """Whether `op` conflicts with an access of another thread since the last barrier."""
        return any(buffer in self.written for buffer in reads(op)) or any(
            buffer in self.written or buffer in self.read for buffer in writes(op)
        )

    def add(self, op: Operation) -> None:
        """Note the buffers that `op` reads and writes."""
        self.written.update(writes(op))
        self.read.update(reads(op))

    def clear(self) -> None:
        """Forget all accesses, at a barrier."""
        self.written.clear()
        self.read.clear()


def with_barriers(
    ops: list[Operation], hazards: Hazards, *, in_loop: bool = False
) -> list[Operation]:
    """
    `ops` with a barrier in front of each operation that conflicts with an earlier access.

    `hazards` has the accesses before `ops`; afterwards it has those since the last barrier.
    """
    ordered: list[Operation] = []
    # Buffers written for other blocks: only a barrier of the cluster orders these.
    parts: set[Operation] = set()
    # Blocks write to each other only when all are known to have started.
    starts, met = any(map(is_delivered, ops)), False
    for op in ops:
        cluster = any(buffer in parts for buffer in reads(op))
        if starts and not met and (cluster or is_delivered(op)):
            ordered.append(AwaitClusterOp())
            met = True
        if cluster or hazards.conflict(op):
            barrier = BarrierOp(cluster=cluster)
            if in_loop and any(map(is_for_groups, hazards.written)):
                barrier.async_proxy_fence = UnitAttr()
            ordered.append(barrier)
            hazards.clear()
            parts = set() if cluster else parts
        hazards.add(op)
        parts.update(buffer for buffer in writes(op) if spreads(buffer))
        ordered.append(op)
    return ordered


def invariant_part(
    ops: list[Operation], pending: int, resident: list[Operation], *, looped: bool
) -> list[Operation]:
    """The prologue, with a wait for copies that it, or an operand kept in registers, reads."""
    ordered = in_invariant_order(ops, pending, looped=looped)
    if not resident:
        return ordered
    waits = any(isinstance(op, BarrierOp) and op.pending is not None for op in ordered)
    return [*ordered, BarrierOp(None if waits else pending)]


def in_invariant_order(
    ops: list[Operation], pending: int, *, looped: bool = True
) -> list[Operation]:
    """
    The prologue, with a wait for the copies of tiles that it reads.

    Without a loop there are two groups of copies: the tiles up to the first matmul, and those that
    only later operations read, which may arrive while the matmul runs.
    """
    loads = [op for op in ops if isinstance(op, threadblock.LoadOp)]
    rest = [op for op in ops if op not in loads]
    later = [] if looped else read_after_matmul(loads, rest)
    soon = [op for op in loads if op not in later]
    groups = [[op.result for op in group if in_shared(op.result)] for group in (soon, later)]
    issued = [IssueCopiesOp(group) for group in groups if group]
    ordered: list[Operation] = [*soon, *later, *issued]
    done = 0
    for loaded, left in ((soon, pending + bool(later)), (later, pending)):
        places = range(done, len(rest))
        place = next((p for p in places if any(b in loaded for b in reads(rest[p]))), None)
        if place is not None:
            ordered += with_barriers(rest[done:place], Hazards())
            ordered.append(BarrierOp(left))
            done = place
    return [*ordered, *with_barriers(rest[done:], Hazards())]


def read_after_matmul(
    loads: list[threadblock.LoadOp], rest: list[Operation]
) -> list[threadblock.LoadOp]:
    """The loads of tiles in shared memory that nothing up to the first matmul reads."""
    matmuls = [place for place, op in enumerate(rest) if isinstance(op, threadblock.MatmulOp)]
    if not matmuls:
        return []
    before = {buffer for op in rest[: matmuls[0] + 1] for buffer in reads(op)}
    return [op for op in loads if in_shared(op.result) and op not in before]


def loop_part(
    ops: list[Operation], stages: int, fetched: list[threadblock.LoadOp], *, late: bool = False
) -> list[Operation]:
    """
    One iteration of a loop without producers.

    At its top is a barrier, at which the iteration's tiles have arrived and the oldest buffers are
    free. Then threads issue the copies of a later iteration into these buffers, and store there
    what they have `fetched`, once the tensor cores have work. With one stage
    there is one iteration, and its copies come first. Loads are left out: they stand at the
    beginning of the block. Where `late`, the copies are issued behind the loop's last barrier.
    """
    if not ops:
        return []
    loads = [op for op in ops if isinstance(op, threadblock.LoadOp)]
    tiles = [op.result for op in loads if op not in fetched]
    top: list[Operation] = [BarrierOp(max(0, stages - 2))]
    issued: list[Operation] = []
    if stages > 1 and (tiles or not fetched):
        issued.append(IssueCopiesOp(tiles, ahead=stages - 1))
    elif tiles:
        top.insert(0, IssueCopiesOp(tiles, ahead=0))
    # Matmuls of loaded tiles come first: the tensor cores work while threads do the rest.
    matmuls = [op for op in ops if of_loaded_tiles(op)]
    rest = [op for op in ops if op not in loads and op not in matmuls]
    ordered = brought_together([*matmuls, *rest])
    ordered = with_barriers(ordered, Hazards(), in_loop=True)
    place = max((ordered.index(op) + 1 for op in matmuls), default=0)
    ordered[place:place] = refetched(fetched, stages)
    barriers = [place for place, op in enumerate(ordered) if isinstance(op, BarrierOp)]
    start = barriers[-1] + 1 if late and barriers else 0
    return [*top, *ordered[:start], *issued, *ordered[start:]]


def refetched(loads: list[threadblock.LoadOp], stages: int) -> list[Operation]:
    """What an iteration does with fetched tiles: those that arrived make way for the next ones."""
    tiles = [op.result for op in loads]
    return [StoreFetchedOp(tiles, stages - 1), FetchTilesOp(tiles, stages)] if tiles else []


def is_for_groups(op: Operation) -> bool:
    """Whether warpgroup matmuls read what `op` writes to shared memory."""
    return read_by_wgmma(op.results[0])


def before_pipeline(ops: list[Operation]) -> list[Operation]:
    """The prologue of a loop with producers, which starts without a barrier."""
    copied = [op for op in ops if is_invariant_load(op) and is_tensor_copy(op)]
    rest = [op for op in ops if op not in copied]
    ordered = [*copied, *in_invariant_order(rest, 0)]
    barriers = [op for op in ordered if isinstance(op, BarrierOp)]
    loads = any(isinstance(op, threadblock.LoadOp) and in_shared(op.result) for op in rest)
    if loads and all(op.pending is None for op in barriers):
        return [*ordered, BarrierOp(0)]
    behind = ordered[ordered.index(barriers[-1]) + 1 :] if barriers else ordered
    return [*ordered, BarrierOp()] if any(map(writes, behind)) else ordered


def with_awaits(
    invariant: list[Operation], loop: list[Operation], post: list[Operation]
) -> tuple[list[Operation], list[Operation]]:
    """
    The prologue and epilogue of a loop with producers, with waits for loop-invariant tiles.

    A wait stands in front of the first reader, or of the loop if that contains it. Where only one
    block of a cluster runs all of the epilogue, all blocks wait at its beginning: no block may exit
    while a copy to its shared memory is in flight.
    """
    copied = [op for op in invariant if is_invariant_load(op) and is_tensor_copy(op)]
    found = awaiting(invariant, copied)
    waited = {op.tile.owner for op in found if isinstance(op, AwaitTileOp)}
    copied = [op for op in copied if op not in waited]
    looped = [op for op in copied if any(op in reads(user) for user in loop)]
    found += [AwaitTileOp(op.result) for op in looped]
    later = [op for op in copied if op not in looped]
    if any(map(is_across_blocks, post)):
        return found, [*(AwaitTileOp(op.result) for op in later), *post]
    return found, awaiting(post, later)


def awaiting(ops: list[Operation], copied: list[threadblock.LoadOp]) -> list[Operation]:
    """`ops` with a wait in front of the first reader of each tile that was `copied`."""
    ordered: list[Operation] = []
    left = list(copied)
    for op in ops:
        needed = [load for load in left if load in reads(op)]
        left = [load for load in left if load not in needed]
        ordered += [AwaitTileOp(load.result) for load in needed]
        ordered.append(op)
    return ordered


def of_loaded_tiles(op: Operation) -> bool:
    """Whether `op` is a matmul, or a sum of one, whose operands are loaded tiles."""
    if isinstance(op, threadblock.AccumulateOp):
        # A row maximum that the iteration computes comes later.
        if op.rescale is not None and not isinstance(op.rescale.owner, threadblock.LoadOp):
            return False
        return isinstance(op.value.owner, threadblock.MatmulOp) and of_loaded_tiles(op.value.owner)
    if not isinstance(op, threadblock.MatmulOp | threadblock.TransposeOp):
        return False
    sources = [value.owner for value in op.operands]
    return all(
        isinstance(source, threadblock.LoadOp)
        or (isinstance(source, threadblock.TransposeOp) and of_loaded_tiles(source))
        for source in sources
    )


def by_barriers(ops: list[Operation]) -> list[Operation]:
    """
    `ops` sorted by the number of barriers that must precede each, so that independent sums share
    barriers. Stores keep their order, which says which result each writes.
    """
    waits: dict[Operation, int] = {}
    stored = 0
    for op in ops:
        buffers = reads(op)
        before = [waits[buffer] + 1 for buffer in buffers if buffer in waits]
        owners = [value.owner for value in op.operands]
        before += [waits[each] for each in owners if isinstance(each, Operation) and each in waits]
        if isinstance(op, threadblock.StoreOp):
            before.append(stored)
        waits[op] = max(before, default=0)
        if isinstance(op, threadblock.StoreOp):
            stored = waits[op]
    return sorted(ops, key=waits.__getitem__)


def post_part(ops: list[Operation], after_loop: bool) -> list[Operation]:
    """The epilogue, or without a loop all that leads to sums across blocks and follows them."""
    if any(isinstance(op, StorePartialSumOp) for op in ops):
        return through_scratch(ops)
    # Partial sums for other blocks come first, so that the cluster synchronizes once.
    parts = {op for op in ops if isinstance(op, threadblock.AccumulateOp) or spreads(op)}
    sums = leading_to(ops, parts)
    ops = [*by_barriers(sums), *by_barriers([op for op in ops if op not in sums])]
    first: list[Operation] = []
    if after_loop and any(writes(op) and not is_delivered(op) for op in ops):
        first = [BarrierOp()]
    elif not after_loop and any(isinstance(op, threadblock.AccumulateOp) for op in ops):
        first = [BarrierOp(0)]
    return [*first, *with_barriers(ops, Hazards())]


def through_scratch(ops: list[Operation]) -> list[Operation]:
    """The epilogue of split-K: each block stores its partial sums, the last block continues."""
    leading = leading_to(ops, {op for op in ops if isinstance(op, StorePartialSumOp)})
    return [
        BarrierOp(0),
        *with_barriers(leading, Hazards()),
        ContinueWithOp(LAST_BLOCK),
        *with_barriers([op for op in ops if op not in leading], Hazards()),
    ]
