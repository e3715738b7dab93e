"""
Orders one iteration of a warp-specialized loop, whose tiles producer warps copy, and places its
barriers.

Threads do elementwise work while warpgroup matmuls run. Tiles that they write are double-buffered
where that saves barriers.
"""

from collections.abc import Sequence
from dataclasses import replace

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Operation, SSAValue

from mirage_mlir.dialects import threadblock
from mirage_mlir.dialects.layout import set_shared_buffer, shared_buffer
from mirage_mlir.dialects.pipeline import AwaitTilesOp, BarrierOp, ReleaseTilesOp
from mirage_mlir.passes.analysis.buffers import is_staged
from mirage_mlir.passes.analysis.dependences import leading_to
from mirage_mlir.passes.analysis.tile_attributes import (
    adds_into,
    maker,
    uses_wgmma,
)
from mirage_mlir.passes.layouts.batched_matmuls import brought_together
from mirage_mlir.passes.schedule.order import (
    Hazards,
    is_added,
    of_loaded_tiles,
    reads,
    spreads,
    with_barriers,
    writes,
)


def pipelined_loop(ops: list[Operation]) -> list[Operation]:
    """
    One iteration where producers copy its tiles: each warp waits for the tiles itself.

    Loads are left out: they stand at the beginning of the block.
    """
    tiles = [op.result for op in ops if isinstance(op, threadblock.LoadOp)]
    return [AwaitTilesOp(tiles), *released(early_barriers(with_few_barriers(ops)), tiles)]


def with_few_barriers(ops: list[Operation]) -> list[Operation]:
    """
    The operations of consumer warps in one iteration, in order, with barriers.

    A barrier stands only in front of an operation that conflicts with an access of another warp in
    this iteration or in the one before.
    """
    loads = [op for op in ops if isinstance(op, threadblock.LoadOp)]
    matmuls = [op for op in ops if of_loaded_tiles(op)]
    rest = [op for op in ops if op not in loads and op not in matmuls]
    rest = brought_together(beside_matmuls([*matmuls, *rest]))
    carried = Hazards()
    while True:
        behind = Hazards(set(carried.written), set(carried.read))
        body = with_barriers(rest, behind, in_loop=True)
        # Of double-buffered tiles the next iteration uses the other buffer, and a barrier in it
        # precedes the iteration after that.
        written = {op for op in behind.written if not shared_buffer(op).double_buffered}
        read = {op for op in behind.read if not shared_buffer(op).double_buffered}
        if written <= carried.written and read <= carried.read:
            return body
        carried.written |= written
        carried.read |= read


def beside_matmuls(ops: list[Operation]) -> list[Operation]:
    """
    One iteration's `ops`, ordered so that threads have work while warpgroup matmuls run.

    A matmul whose result threads use comes first, with what it depends on; then all operations
    that do not depend on it. Sums of values in registers come last: nothing waits for them.
    """
    sums = [op for op in ops if is_plain_sum(op)]
    first = next((op for op in ops if uses_wgmma(op) and not is_added(op)), None)
    if first is None:
        return [*(op for op in ops if op not in sums), *sums]
    leading = leading_to(ops, {first})
    waiting = {first}
    for op in ops:
        if any(value.owner in waiting for value in op.operands):
            waiting.add(op)
    rest = [op for op in ops if op not in waiting and op not in leading and op not in sums]
    behind = [op for op in ops if op in waiting and op is not first and op not in sums]
    return [*leading, *rest, *behind, *sums]


def early_barriers(body: list[Operation]) -> list[Operation]:
    """
    An iteration's `body`, with barriers moved up in front of waits for matmuls.

    The result of such a matmul becomes the left operand of another one, whose MMAs are interleaved
    with the elementwise code: a barrier in between would prevent that.
    """
    if not any(uses_wgmma(op) and not is_added(op) for op in body):
        return body
    ordered: list[Operation] = []
    for op in body:
        place = len(ordered)
        if isinstance(op, BarrierOp):
            while place and not touches_shared(ordered[place - 1]):
                place -= 1
        ordered.insert(place, op)
    return ordered


def touches_shared(op: Operation) -> bool:
    """Whether `op` reads or writes shared memory, or is a barrier."""
    return isinstance(op, BarrierOp) or bool(reads(op) or writes(op))


def is_plain_sum(op: Operation) -> bool:
    """Whether `op` adds up values in registers."""
    plain = isinstance(op, threadblock.AccumulateOp) and not adds_into(op.value)
    return plain and not reads(op)


def released(body: list[Operation], tiles: Sequence[SSAValue]) -> list[Operation]:
    """
    An iteration's `body`, with the release of its `tiles` after their last reader.

    With warpgroup matmuls in the iteration the release moves down to the next barrier or the end,
    so that threads work while these run. The fence between reads of threads and the next copies is
    in the first barrier after the reads, or else in the release.
    """
    reading = [place for place, op in enumerate(body) if any(map(is_staged, reads(op)))]
    last = max(reading, default=-1)
    if any(map(is_wgmma, body)):
        barriers = (place for place, op in enumerate(body) if isinstance(op, BarrierOp))
        last = next((place for place in barriers if place > last), len(body)) - 1
    release = ReleaseTilesOp(tiles)
    plain = [place for place in reading if not is_wgmma(body[place])]
    since = range(max(plain, default=-1) + 1, last + 1)
    barriers_since = (body[place] for place in since)
    fencing = next((op for op in barriers_since if isinstance(op, BarrierOp)), release)
    if plain:
        fencing.async_proxy_fence = UnitAttr()
    return [*body[: last + 1], release, *body[last + 1 :]]


def is_wgmma(op: Operation) -> bool:
    """Whether `op` is a warpgroup matmul, or a sum to which one is added."""
    if isinstance(op, threadblock.AccumulateOp) and adds_into(op.value):
        op = maker(op.value)
    return uses_wgmma(op)


def alternating(ops: list[Operation]) -> list[Operation]:
    """
    The operations of a pipelined loop whose results should be double-buffered: it saves barriers.

    With one buffer there is a barrier before it is written again, and another before it is read.
    """
    found = [
        op for op in ops if writes(op) and not spreads(op) and not shared_buffer(op).zero_padding
    ]
    before = count_barriers(ops)
    set_double_buffered(found, True)
    fewer = count_barriers(ops) < before
    set_double_buffered(found, False)
    return found if fewer else []


def set_double_buffered(ops: Sequence[Operation], double_buffered: bool) -> None:
    """Set whether the tiles that `ops` write in the loop are double-buffered."""
    for op in ops:
        set_shared_buffer(op, replace(shared_buffer(op), double_buffered=double_buffered))


def count_barriers(ops: list[Operation]) -> int:
    """The number of barriers in one iteration of a pipelined loop of `ops`."""
    return sum(isinstance(op, BarrierOp) for op in with_few_barriers(ops))
