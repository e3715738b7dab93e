"""
Orders one iteration of a warp-specialized loop, whose tiles producer warps copy, and places its
barriers.

Threads work while warpgroup matmuls run, and synchronize as seldom as two buffers of what they
compute allow.
"""

from collections.abc import Sequence
from dataclasses import replace

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Operation, SSAValue

from mirage_mlir.dialects import threadblock
from mirage_mlir.dialects.layout import set_shared_buffer, shared_buffer
from mirage_mlir.dialects.pipeline import AwaitTilesOp, BarrierOp, ReleaseTilesOp
from mirage_mlir.passes.analysis.buffers import is_staged
from mirage_mlir.passes.analysis.tile_attributes import (
    adds_into,
    maker,
    uses_wgmma,
)
from mirage_mlir.passes.layouts.batched_matmuls import brought_together
from mirage_mlir.passes.schedule.order import (
    Hazards,
    is_added,
    leading_to,
    of_loaded_tiles,
    reads,
    spreads,
    with_barriers,
    writes,
)


def pipelined_loop(ops: list[Operation]) -> list[Operation]:
    """
    One iteration where producers copy its tiles: warps wait for those, not for each other.

    The loads themselves stay out: they are the prologue's.
    """
    tiles = [op.result for op in ops if isinstance(op, threadblock.LoadOp)]
    return [AwaitTilesOp(tiles), *released(early_barriers(with_few_barriers(ops)), tiles)]


def with_few_barriers(ops: list[Operation]) -> list[Operation]:
    """
    What consumer warps do in one iteration of `ops`, in order, with barriers.

    They synchronize only where one reads or overwrites what others of them touched, in this
    iteration or in the one before.
    """
    loads = [op for op in ops if isinstance(op, threadblock.LoadOp)]
    matmuls = [op for op in ops if of_loaded_tiles(op)]
    rest = [op for op in ops if op not in loads and op not in matmuls]
    rest = brought_together(beside_matmuls([*matmuls, *rest]))
    carried = Hazards()
    while True:
        behind = Hazards(set(carried.written), set(carried.read))
        body = with_barriers(rest, behind, in_loop=True)
        # The next iteration has other buffers, and the one after that comes behind a barrier of
        # all.
        written = {op for op in behind.written if not shared_buffer(op).double_buffered}
        read = {op for op in behind.read if not shared_buffer(op).double_buffered}
        if written <= carried.written and read <= carried.read:
            return body
        carried.written |= written
        carried.read |= read


def beside_matmuls(ops: list[Operation]) -> list[Operation]:
    """
    One iteration's `ops` in the order in which threads work while warpgroup matmuls run.

    Behind a matmul whose result threads use comes all that does not wait for it. Sums of what is
    in registers come last: nobody waits for them.
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
    An iteration's `body`, where threads synchronize before they wait for a matmul whose result
    they use.

    What they make of that is the left side of another matmul, piece by piece while it runs: a
    barrier in between would have them make all of it first.
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
    """Whether `op` reads or writes shared memory, or all synchronize in it."""
    return isinstance(op, BarrierOp) or bool(reads(op) or writes(op))


def is_plain_sum(op: Operation) -> bool:
    """Whether `op` adds up what threads have in registers."""
    plain = isinstance(op, threadblock.AccumulateOp) and not adds_into(op.value)
    return plain and not reads(op)


def released(body: list[Operation], tiles: Sequence[SSAValue]) -> list[Operation]:
    """
    An iteration's `body`, with the release of its `tiles` behind the last reading of them.

    What threads do without barrier comes in front of it where warpgroup matmuls run
    meanwhile. Where all have synchronized since threads read tiles, the fence is there already.
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
    """Whether warpgroups compute a matmul in `op`, alone or added to a sum."""
    if isinstance(op, threadblock.AccumulateOp) and adds_into(op.value):
        op = maker(op.value)
    return uses_wgmma(op)


def alternating(ops: list[Operation]) -> list[Operation]:
    """
    What a pipelined loop of `ops` should keep two buffers of, for iterations to synchronize less
    often.

    With one buffer all threads synchronize before it is written anew, and again before it is read.
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
    """Say whether what `ops` write in the loop has two buffers."""
    for op in ops:
        set_shared_buffer(op, replace(shared_buffer(op), double_buffered=double_buffered))


def count_barriers(ops: list[Operation]) -> int:
    """How often all threads synchronize in one iteration of a pipelined loop of `ops`."""
    return sum(isinstance(op, BarrierOp) for op in with_few_barriers(ops))
