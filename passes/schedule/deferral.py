"""Chooses loops whose second matmul starts one iteration later, beside what threads compute."""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import IntegerAttr, UnitAttr, i64
from xdsl.ir import Operation

from mirage_mlir.decisions.registers import may_defer
from mirage_mlir.dialects import kernel, threadblock
from mirage_mlir.dialects.deferred_mma import ArriveOrderOp, AwaitOrderOp, StartDeferredOp
from mirage_mlir.dialects.pipeline import AwaitMmaOp, BarrierOp, ReleaseTilesOp
from mirage_mlir.passes.analysis.tile_attributes import adds_into
from mirage_mlir.passes.schedule.block_resources import (
    deferred_words,
    producers_of,
    sums_of,
)
from mirage_mlir.passes.schedule.interleaving import find_interleavings, total_of

FEWEST_STAGES = 3
"""Two iterations' tiles are multiplied at the same time, and those of another one arrive."""


@dataclass(frozen=True)
class Deferral:
    """
    Two matmuls of a loop, of which the second multiplies what threads compute from the first.

    Args:
        first: its result is no sum.
        second: its left operand is in registers; it is added to `total`.
    """

    first: threadblock.MatmulOp
    second: threadblock.MatmulOp
    total: threadblock.AccumulateOp

    def place(
        self, loop: Sequence[Operation], *, releases_last: bool
    ) -> tuple[list[Operation], list[Operation]]:
        """
        The main `loop` with the second matmul one iteration late, and the start of the epilogue.

        Warpgroups take turns: each has rows of its own, so that there are several.

        Args:
            loop: one iteration, in order.
            releases_last: whether producers wait for the release of the last iteration's tiles.
        """
        self.second.deferred = UnitAttr()
        (release,) = [op for op in loop if isinstance(op, ReleaseTilesOp)]
        release.behind = IntegerAttr(1, i64)
        at = loop.index(self.first)
        rest = [op for op in loop[at + 1 :] if op is not release]
        start = [AwaitOrderOp(), self.first, StartDeferredOp(), ArriveOrderOp()]
        body = [*loop[:at], *start, AwaitMmaOp(1, [self.first.result]), *rest]
        body += [AwaitMmaOp(0, [self.total.result]), release]
        ending: list[Operation] = [StartDeferredOp(), AwaitMmaOp(0, [self.total.result])]
        if releases_last:
            ending.append(ReleaseTilesOp(release.tiles, behind=1))
        return body, ending


def find_deferral(
    graph: kernel.GraphDefinedOp, loop: Sequence[Operation], stages: int, limit: int
) -> Deferral | None:
    """
    The matmuls of a `loop` with producers of which the second may start one iteration later.

    Args:
        graph: the kernel.
        loop: one iteration, in order.
        stages: buffers of each tile that the loop loads.
        limit: the most registers of a thread, or 0.
    """
    words = deferred_words(graph)
    threads, producers = graph.schedule.threads, producers_of(graph)
    if not words or not may_defer(threads, producers, sums_of(graph), words, limit):
        return None
    if stages < FEWEST_STAGES or any(isinstance(op, BarrierOp) for op in loop):
        return None
    first, second = [op for op in loop if isinstance(op, threadblock.MatmulOp)]
    if second not in find_interleavings(loop) or adds_into(first.result):
        return None
    return Deferral(first, second, total_of(second))
