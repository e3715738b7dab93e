"""Places the waits for asynchronous warpgroup matmuls in the main loop and the epilogue."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir import Operation, SSAValue

from mirage_mlir.dialects import threadblock
from mirage_mlir.dialects.pipeline import AwaitMmaOp, BarrierOp, ReleaseTilesOp
from mirage_mlir.passes.analysis.dependences import leading_to
from mirage_mlir.passes.analysis.tile_attributes import adds_into, uses_wgmma
from mirage_mlir.passes.layouts.batched_matmuls import sums_with
from mirage_mlir.passes.schedule.interleaving import Interleavings, find_interleavings, total_of
from mirage_mlir.passes.schedule.order import reads, writes
from mirage_mlir.passes.schedule.pipelined_order import is_wgmma


def pipelined_mmas(
    loop: list[Operation], *, has_producer: bool, releases_last: bool
) -> tuple[list[Operation], list[Operation]]:
    """
    The main `loop` with waits for warpgroup matmuls, and the operations that start the epilogue.

    Args:
        loop: one iteration, in order.
        has_producer: whether producer warps copy its tiles.
        releases_last: whether producers wait until the tiles of the last iteration are released.
    """
    interleavings = find_interleavings(loop)
    for matmul, graphs in interleavings.items():
        matmul.interleaved_graphs = IntegerAttr(len(graphs), i64)
    if has_producer and not interleavings and may_run_ahead(loop):
        return running_ahead(loop, releases_last=releases_last)
    return list(Waits(loop, interleavings).place()), []


def may_run_ahead(loop: Sequence[Operation]) -> bool:
    """
    Whether an iteration's matmuls can run on while those of the next iteration are started.

    They can if nothing in the loop reads their sums, and warps do not synchronize in it. Matmuls of
    single warps beside them read tiles that are loaded: those of a low-rank adapter.
    """
    matmuls = [op for op in loop if isinstance(op, threadblock.MatmulOp)]
    grouped = [op for op in matmuls if uses_wgmma(op)]
    sums = [op for op in loop if isinstance(op, threadblock.AccumulateOp)]
    return (
        bool(grouped)
        and all(adds_into(op.result) for op in grouped)
        and all(op in grouped or multiplies_loaded(op) for op in matmuls)
        and all(op.rescale is None for op in sums)
        and not any(isinstance(op, BarrierOp) for op in loop)
    )


def multiplies_loaded(op: threadblock.MatmulOp) -> bool:
    """Whether both operands of a matmul are tiles that are loaded."""
    return all(isinstance(each.owner, threadblock.LoadOp) for each in (op.lhs, op.rhs))


def running_ahead(
    loop: list[Operation], *, releases_last: bool
) -> tuple[list[Operation], list[Operation]]:
    """
    The `loop` with each wait for matmuls in the next iteration, and the start of the epilogue.

    The matmuls of an iteration are awaited, and its tiles released, after those of the next one
    have been started, so that the tensor cores always have work. The buffers of the last iteration
    are not filled again; but in a cluster producers wait for their release before they exit, and in
    a persistent kernel before they copy the next tiles.
    """
    first, *rest = loop
    sums = [op for op in rest if isinstance(op, threadblock.AccumulateOp) and is_wgmma(op)]
    started = leading_to(rest, {*sums})
    (release,) = [op for op in rest if isinstance(op, ReleaseTilesOp)]
    release.behind = IntegerAttr(1, i64)
    others = [op for op in rest if op is not release and op not in started]
    totals = [op.result for op in sums]
    groups = {sums_with(op, loop)[0] for op in sums}
    ordered = [first, *started, AwaitMmaOp(len(groups), totals), release, *others]
    epilogue: list[Operation] = [AwaitMmaOp(0, totals)]
    if releases_last:
        epilogue.append(ReleaseTilesOp(release.tiles, behind=1))
    return ordered, epilogue


@dataclass
class Waits:
    """
    Waits for matmuls within the iteration that starts them.

    Args:
        loop: one iteration, in order.
        interleavings: the thread graphs that each matmul is interleaved with.
        added: sums whose matmuls have been started.
        alone: matmuls that have been started, and are added to no sum.
    """

    loop: Sequence[Operation]
    interleavings: Interleavings
    added: list[threadblock.AccumulateOp] = field(default_factory=list[threadblock.AccumulateOp])
    alone: list[threadblock.MatmulOp] = field(default_factory=list[threadblock.MatmulOp])

    def place(self) -> Iterator[Operation]:
        """The operations of the loop, with waits in front of the first users of results."""
        seen: set[Operation] = set()
        for op in self.loop:
            yield from self.needed_in_front_of(op)
            yield op
            seen.add(op)
            self.start(op, seen)
        yield from self.until_sums_are_there()

    def needed_in_front_of(self, op: Operation) -> Iterator[AwaitMmaOp]:
        """Waits for matmuls whose results `op` uses, or that must have read their operands."""
        synchronizes = isinstance(op, BarrierOp) and not self.run_through_barriers
        if isinstance(op, ReleaseTilesOp) or synchronizes:
            yield from self.until_sums_are_there()
            yield from self.until_results_are_there()
        elif needed_by(op) & {*self.alone}:
            yield from self.until_results_are_there()

    def start(self, op: Operation, seen: set[Operation]) -> None:
        """Note the matmuls that `op` starts; `seen` are the operations up to `op`."""
        if isinstance(op, threadblock.MatmulOp) and uses_wgmma(op):
            if not adds_into(op.result):
                self.alone.append(op)
            elif op in self.interleavings:
                self.added.append(total_of(op))
        elif isinstance(op, threadblock.AccumulateOp) and is_wgmma(op) and op not in self.added:
            sums = sums_with(op, self.loop)
            if seen.issuperset(sums):
                self.added += sums

    def until_sums_are_there(self) -> Iterator[AwaitMmaOp]:
        """A wait for all matmuls in flight that are added to sums."""
        if self.added:
            yield AwaitMmaOp(0, [op.result for op in self.added])
        self.added = []

    def until_results_are_there(self) -> Iterator[AwaitMmaOp]:
        """A wait for all matmuls in flight that are not added to a sum."""
        if self.alone:
            yield AwaitMmaOp(0, [op.result for op in self.alone])
        self.alone = []

    @property
    def run_through_barriers(self) -> bool:
        """Whether matmuls may be in flight at barriers: the loop writes none of their operands."""
        written = {op for op in self.loop if writes(op)}
        return not any(written & {*reads(op)} for op in self.loop if is_wgmma(op))


def needed_by(op: Operation) -> set[Operation]:
    """The operations whose results `op` uses, or the matmul that `op` adds to a sum."""
    found = makers(op.operands)
    for each in [each for each in found if is_wgmma(each)]:
        found |= makers(each.operands)
    return found


def makers(values: Sequence[SSAValue]) -> set[Operation]:
    """The operations that define `values`."""
    return {value.owner for value in values if isinstance(value.owner, Operation)}
