"""
Emits matmuls that start one iteration later, and the order in which warpgroups start them.

Source: Shah et al., "FlashAttention-3" (2024), sections 3.1 and 3.2.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain

from xdsl.ir import Operation, SSAValue

from mirage_mlir.decisions.registers import GROUP_WARPS
from mirage_mlir.dialects import nvvm, threadblock
from mirage_mlir.dialects.deferred_mma import AwaitOrderOp
from mirage_mlir.dialects.layout import RegistersAttr, layout_of
from mirage_mlir.layouts.layout import WARP_THREADS
from mirage_mlir.passes.codegen.context import KernelContext
from mirage_mlir.passes.codegen.emitter import Index
from mirage_mlir.passes.codegen.online_softmax import scaled, state_key
from mirage_mlir.passes.codegen.reduction import row_maximum_of
from mirage_mlir.passes.codegen.wgmma import StartedMatmul, left_words, start, warpgroup
from mirage_mlir.passes.schedule.interleaving import total_of

FIRST_ORDER = 2
"""The barrier (`bar.sync`) of the first warpgroup: 0 is for all threads, 1 for consumers."""


@dataclass
class DeferredMatmul:
    """
    A matmul that is deferred, and what the iteration before has computed for it.

    Args:
        op: the matmul.
        words: its left operand: the registers of each step, 16-bit numbers in pairs.
        factors: those by which the sum so far is rescaled first, a number for each place of the
            online maximum; empty where it is not rescaled.
    """

    op: threadblock.MatmulOp
    words: list[SSAValue] = field(default_factory=list[SSAValue])
    factors: list[SSAValue] = field(default_factory=list[SSAValue])

    @property
    def total(self) -> threadblock.AccumulateOp:
        """The sum to which it is added."""
        return total_of(self.op)

    def compute(self, ctx: KernelContext) -> None:
        """Take what this iteration has computed, for the next one."""
        self.words = left_words(ctx, self.op)
        if self.total.rescale is not None:
            self.factors = row_maximum_of(ctx, self.total).factors

    def take(self, values: list[SSAValue]) -> list[SSAValue]:
        """Take what the iteration before has computed from carried values; returns the others."""
        words, factors = len(self.words), len(self.words) + len(self.factors)
        self.words, self.factors = values[:words], values[words:factors]
        return values[factors:]

    def start(self, ctx: KernelContext, carried: list[SSAValue]) -> StartedMatmul:
        """Start the matmul of the iteration before, which is added to the slots `carried`."""
        ctx.emit.location = self.op.location
        if self.total.rescale is not None:
            attribute = layout_of(self.total.result)
            assert isinstance(attribute, RegistersAttr)
            state = ctx.row_maxima[state_key(self.total)]
            carried = scaled(ctx.emit, carried, state.at(self.factors, attribute.layout))
        return start(ctx, self.op, carried, words=self.words)


def carried_for_deferred(matmuls: Iterable[DeferredMatmul]) -> list[SSAValue]:
    """What an iteration computes for the next one's deferred matmuls."""
    return [*chain.from_iterable([*each.words, *each.factors] for each in matmuls)]


def open_order(ctx: KernelContext, ops: Sequence[Operation]) -> None:
    """Let the first warpgroup start, if `ops` order them; once for each block."""
    if not any(isinstance(op, AwaitOrderOp) for op in ops):
        return
    last = warpgroups(ctx) - 1
    with ctx.emit.when(ctx.emit.equal(warpgroup(ctx), last)):
        arrive_at_order(ctx, 0)


def await_order(ctx: KernelContext) -> None:
    """Wait until the warpgroup before this one has started its matmuls."""
    emit = ctx.emit
    barrier = emit.i32(emit.add(warpgroup(ctx), FIRST_ORDER))
    emit.insert(nvvm.BarrierOp(barrier, emit.i32(order_threads())))


def arrive_order(ctx: KernelContext) -> None:
    """Let the next warpgroup go on, or, from the last one, the first."""
    following = ctx.emit.add(warpgroup(ctx), 1)
    arrive_at_order(ctx, ctx.emit.rem(following, warpgroups(ctx)))


def arrive_at_order(ctx: KernelContext, group: Index) -> None:
    """Arrive at the barrier at which a warpgroup waits."""
    emit = ctx.emit
    barrier = emit.i32(emit.add(group, FIRST_ORDER))
    emit.insert(nvvm.BarrierArriveOp(barrier, emit.i32(order_threads())))


def order_threads() -> int:
    """Threads of such a barrier: a warpgroup that waits, and the one before it."""
    return 2 * GROUP_WARPS * WARP_THREADS


def warpgroups(ctx: KernelContext) -> int:
    """Warpgroups that compute."""
    return ctx.threads // (GROUP_WARPS * WARP_THREADS)
