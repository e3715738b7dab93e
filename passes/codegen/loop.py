"""Emits the main loop of a kernel: loop-carried values, and the body of one iteration."""

from collections.abc import Sequence
from itertools import chain
from typing import TypeGuard

from xdsl.ir import Operation, SSAValue

from mirage_mlir.diagnostics import fail
from mirage_mlir.dialects import threadblock
from mirage_mlir.dialects.deferred_mma import ArriveOrderOp, AwaitOrderOp, StartDeferredOp
from mirage_mlir.dialects.fetched_tiles import FetchTilesOp, StoreFetchedOp
from mirage_mlir.dialects.layout import layout_of
from mirage_mlir.dialects.nvvm_wgmma import WgmmaWaitOp
from mirage_mlir.dialects.pipeline import (
    SCHEDULE_OPS,
    AwaitMmaOp,
    AwaitTilesOp,
    IssueCopiesOp,
    ReleaseTilesOp,
)
from mirage_mlir.passes.analysis.tile_attributes import (
    adds_into,
    is_online_maximum,
    registers_of,
    uses_wgmma,
)
from mirage_mlir.passes.codegen.context import KernelContext
from mirage_mlir.passes.codegen.deferred_mma import (
    DeferredMatmul,
    arrive_order,
    await_order,
    carried_for_deferred,
)
from mirage_mlir.passes.codegen.emitter import Index
from mirage_mlir.passes.codegen.fetched_tiles import (
    carried_words,
    fetch_tiles,
    store_fetched,
    take_words,
)
from mirage_mlir.passes.codegen.loads import copy_ahead, iterations_of
from mirage_mlir.passes.codegen.matmul import hold, multiply
from mirage_mlir.passes.codegen.mma_interleaving import Interleaving
from mirage_mlir.passes.codegen.online_softmax import OnlineMaximum, StateKey, lowest, state_key
from mirage_mlir.passes.codegen.operations import run_operation
from mirage_mlir.passes.codegen.reduction import accumulate, rescaled
from mirage_mlir.passes.codegen.single_elements import NEUTRAL
from mirage_mlir.passes.codegen.stage_positions import StagePosition
from mirage_mlir.passes.codegen.tile_barriers import (
    await_tiles,
    release_tiles,
)
from mirage_mlir.passes.codegen.wgmma import StartedMatmul, finished_sums, start, sums_of
from mirage_mlir.passes.layouts.batched_matmuls import (
    batched_slots,
    split_slots,
    sums_with,
    wgmma_columns,
)
from mirage_mlir.passes.schedule.interleaving import total_of


class Loop:
    """
    Emits the loop of one kernel.

    Args:
        ops: what one iteration does, in order.
    """

    def __init__(self, ctx: KernelContext, ops: Sequence[Operation]) -> None:
        self.ctx = ctx
        self.ops = ops
        self.sums = [op for op in ops if isinstance(op, threadblock.AccumulateOp)]
        ctx.iterations = iterations_of(ctx, 0)
        self.states = [op for op in self.sums if is_state(ctx, op)]
        self.accumulators = [op for op in self.sums if op not in self.states]
        self.counts = [slots_of(op) for op in self.accumulators]
        found = [Interleaving.of(op) for op in ops if isinstance(op, threadblock.MatmulOp)]
        self.interleavings = {each.matmul: each for each in found if each is not None}
        interleavings = self.interleavings.values()
        self.interleaved = {graph for each in interleavings for graph in each.graphs}
        self.totals: dict[Operation, list[SSAValue]] = {}
        self.started: dict[Operation, StartedMatmul] = {}
        self.running: dict[threadblock.MatmulOp, StartedMatmul] = {}
        self.waiting: set[Operation] = set()
        self.fetches = [op for op in ops if isinstance(op, FetchTilesOp)]
        self.carried: dict[threadblock.AccumulateOp, list[SSAValue]] = {}
        self.deferred = {op: DeferredMatmul(op) for op in ops if is_deferred(op)}
        self.is_first = False

    def run(self) -> None:
        """Emit the loop, which carries accumulators and row maxima."""
        ctx, emit = self.ctx, self.ctx.emit
        keys = list(dict.fromkeys(state_key(op) for op in self.accumulators if op.rescale))
        carried: list[SSAValue] = []
        for op, slots in zip(self.accumulators, self.counts, strict=True):
            carried += [emit.f32(NEUTRAL[op.kind.data])] * slots
        maxima = [lowest(emit, layout) for _, layout in keys]
        for op in self.ops:
            if isinstance(op, threadblock.MatmulOp) and op.lhs_in_registers:
                hold(ctx, op)
        words = carried_words(ctx, self.fetches)

        def body(iteration: Index, values: list[SSAValue]) -> list[SSAValue]:
            values = self.take_stage(emit.add(ctx.before, iteration), values)
            self.take_words(self.take_maxima(keys, values[len(carried) :]))
            totals = self.run_iteration(iteration, self.split(values))
            kept = chain.from_iterable(ctx.row_maxima[k].maxima for k in keys)
            left = carried_for_deferred(self.deferred.values())
            following = ctx.stage.moved(emit, 1).carried(emit)
            return [*following, *totals, *kept, *left, *carried_words(ctx, self.fetches)]

        ctx.stage = StagePosition.of(emit, ctx.before, ctx.stages)
        values = [*ctx.stage.carried(emit), *carried, *chain.from_iterable(maxima), *words]
        peeled = int(bool(self.deferred))
        if peeled:
            self.is_first = True
            values = body(0, values)
            self.is_first = False
        results = emit.loop(
            emit.sub(ctx.count, peeled), values, lambda n, values: body(emit.add(n, peeled), values)
        )
        ctx.iterations = iterations_of(ctx, 0)
        results = self.take_stage(emit.add(ctx.before, ctx.count), results)
        for op, values in self.split(results).items():
            ctx.registers[op.result] = values
        self.take_words(self.take_maxima(keys, results[len(carried) :]))
        for op in self.states:
            state = ctx.row_maxima[op.value, registers_of(op.result)]
            ctx.registers[op.result] = state.maxima

    def take_stage(self, number: Index, values: list[SSAValue]) -> list[SSAValue]:
        """Go to the buffers of iteration `number`; returns the other carried values."""
        self.ctx.stage, others = self.ctx.stage.taken(self.ctx.emit, values, number)
        return others

    def take_maxima(self, keys: Sequence[StateKey], values: list[SSAValue]) -> list[SSAValue]:
        """Take the online row maxima out of the carried `values`; returns the other values."""
        for key in keys:
            count = len(key[1].offsets)
            self.ctx.row_maxima[key] = OnlineMaximum(key[1], values[:count])
            values = values[count:]
        return values

    def take_words(self, values: list[SSAValue]) -> None:
        """Take what the iteration before has kept for deferred matmuls, and fetched."""
        if not self.is_first:
            for each in self.deferred.values():
                values = each.take(values)
        take_words(self.ctx, self.fetches, values)

    def split(self, values: list[SSAValue]) -> dict[threadblock.AccumulateOp, list[SSAValue]]:
        """Split the carried values into the registers of each accumulator."""
        rest = iter(values)
        return {
            op: [next(rest) for _ in range(count)]
            for op, count in zip(self.accumulators, self.counts, strict=True)
        }

    def run_iteration(
        self, iteration: Index, carried: dict[threadblock.AccumulateOp, list[SSAValue]]
    ) -> list[SSAValue]:
        """One iteration; the accumulators after it."""
        ctx = self.ctx
        ctx.iterations = iterations_of(ctx, iteration)
        ctx.parity = ctx.emit.bits(iteration, 1)
        self.carried = carried
        self.totals, self.started = {}, {}
        for op in self.ops:
            if isinstance(op, SCHEDULE_OPS):
                self.run_schedule_op(op, iteration)
            elif is_deferred(op):
                self.deferred[op].compute(ctx)
            elif isinstance(op, threadblock.AccumulateOp):
                if op in carried and op not in self.started and op not in self.totals:
                    self.add_up(op, carried)
            elif is_alone(op):
                self.running[op] = start(ctx, op, None)
            elif isinstance(op, threadblock.MatmulOp) and op in self.interleavings:
                total = total_of(op)
                started = self.start_with(self.interleavings[op], total, carried[total])
                self.started[total] = started
            elif op not in self.interleaved:
                run_operation(ctx, op)
        if missing := [op for op in self.accumulators if op not in self.totals]:
            fail(missing[0], "is of matmuls that the loop does not wait for")
        return list(chain.from_iterable(self.totals[op] for op in self.accumulators))

    def run_schedule_op(self, op: Operation, iteration: Index) -> None:
        """Issue copies, wait for them or for matmuls, release tiles, or synchronize."""
        ctx = self.ctx
        match op:
            case StartDeferredOp():
                self.start_deferred()
            case AwaitOrderOp():
                await_order(ctx)
            case ArriveOrderOp():
                arrive_order(ctx)
            case IssueCopiesOp():
                copy_ahead(ctx, op, iteration)
            case StoreFetchedOp():
                store_fetched(ctx, op, iteration)
            case FetchTilesOp():
                fetch_tiles(ctx, op, iteration)
            case AwaitTilesOp():
                await_tiles(ctx, ctx.stage)
            case ReleaseTilesOp():
                release_tiles(ctx, op, iteration)
            case AwaitMmaOp():
                self.await_mma(op)
            case _:
                run_operation(ctx, op)

    def start_deferred(self) -> None:
        """Start the deferred matmuls of the iteration before; before the first there is none."""
        ctx, present = self.ctx, self.ctx.stage
        if self.is_first:
            self.totals |= {each.total: self.carried[each.total] for each in self.deferred.values()}
            return
        ctx.stage = present.moved(ctx.emit, -1)
        for each in self.deferred.values():
            self.started[each.total] = each.start(ctx, self.carried[each.total])
        ctx.stage = present

    def start_last_deferred(self) -> None:
        """Behind the loop, start the deferred matmuls of its last iteration."""
        self.carried = {op: self.ctx.registers[op.result] for op in self.accumulators}
        self.start_deferred()
        for op, started in self.started.items():
            assert isinstance(op, threadblock.AccumulateOp)
            self.ctx.registers[op.result] = sums_of(self.ctx.emit, started)

    def await_mma(self, op: AwaitMmaOp) -> None:
        """Wait for warpgroup matmuls, and take the sums or results that this completes."""
        emit, makers = self.ctx.emit, [value.owner for value in op.tiles]
        pending = 0 if self.is_first else op.pending.value.data
        later = [each for each in self.started if each not in makers]
        runs_on = pending > len(later)
        if runs_on:
            emit.insert(WgmmaWaitOp(pending))

        def take(started: StartedMatmul) -> list[SSAValue]:
            slots = sums_of(emit, started)
            return slots if runs_on else finished_sums(emit, slots, pending)

        for maker in makers:
            if isinstance(maker, threadblock.AccumulateOp) and maker in self.started:
                self.totals |= self.total(maker, take(self.started.pop(maker)))
            elif isinstance(maker, threadblock.MatmulOp) and maker in self.running:
                self.ctx.registers[maker.result] = take(self.running.pop(maker))

    def add_up(
        self,
        op: threadblock.AccumulateOp,
        carried: dict[threadblock.AccumulateOp, list[SSAValue]],
    ) -> None:
        """Add the iteration's value to the accumulator `op`, or start the MMA that adds it."""
        sums = sums_with(op, self.ops)
        if len(sums) > 1:
            # The sums of a batch stand side by side; the last of them starts the matmul.
            if all(each is op or each in self.waiting for each in sums):
                self.waiting.clear()
                self.started[sums[0]] = self.start_joined(sums, carried)
            else:
                self.waiting.add(op)
            return
        total = self.run_accumulate(op, carried[op])
        if isinstance(total, StartedMatmul):
            self.started[op] = total
        else:
            self.totals[op] = total

    def start_joined(
        self,
        sums: list[threadblock.AccumulateOp],
        carried: dict[threadblock.AccumulateOp, list[SSAValue]],
    ) -> StartedMatmul:
        """Start the matmul that is added to several accumulators at once."""
        first = sums[0].value.owner
        assert isinstance(first, threadblock.MatmulOp)
        slots = batched_slots(sums, [carried[op] for op in sums])
        return start(self.ctx, first, slots, columns=wgmma_columns(sums))

    def start_with(
        self, interleaving: Interleaving, op: threadblock.AccumulateOp, carried: list[SSAValue]
    ) -> StartedMatmul:
        """Start a matmul that is added to `op`, interleaved with code for its left operand."""
        self.ctx.emit.location = op.location
        if op.rescale is not None:
            carried, _ = rescaled(self.ctx, op, carried, [])
        return start(self.ctx, interleaving.matmul, carried, interleaving.begin(self.ctx).compute)

    def total(
        self, op: threadblock.AccumulateOp, slots: list[SSAValue]
    ) -> dict[Operation, list[SSAValue]]:
        """The slots of `op`, or of all sums batched with it, from those of their matmul."""
        sums = sums_with(op, self.ops)
        return split_slots(sums, slots) if len(sums) > 1 else {op: slots}

    def run_accumulate(
        self, op: threadblock.AccumulateOp, carried: list[SSAValue]
    ) -> list[SSAValue] | StartedMatmul:
        """
        The accumulator after this iteration; a matmul adds into it.

        A warpgroup matmul is only started: threads go on until a wait.
        """
        ctx = self.ctx
        ctx.emit.location = op.location
        if adds_into(op.value):
            assert isinstance(op.value.owner, threadblock.MatmulOp)
            if op.rescale is not None:
                carried, _ = rescaled(ctx, op, carried, [])
            matmul = op.value.owner
            run = start if uses_wgmma(matmul) else multiply
            return run(ctx, matmul, carried)
        return accumulate(ctx, op, carried)


def is_state(ctx: KernelContext, op: threadblock.AccumulateOp) -> bool:
    """Whether `op` is a maximum over iterations that is carried as an online row maximum anyway."""
    if op.state is not None:
        return True
    running = op.kind.data == "max" and is_online_maximum(op.value) and not op.across.get_values()
    if not running or layout_of(op.result) != layout_of(op.value):
        return False
    # With empty tiles the two would differ: this maximum would be -inf, and the online one LOWEST.
    return ctx.exists(op.value) is True


def is_deferred(op: Operation) -> TypeGuard[threadblock.MatmulOp]:
    """Whether `op` is a matmul that starts one iteration later."""
    return isinstance(op, threadblock.MatmulOp) and op.deferred is not None


def is_alone(op: Operation) -> TypeGuard[threadblock.MatmulOp]:
    """Whether `op` is a warpgroup matmul that is not added to a sum."""
    return uses_wgmma(op) and not adds_into(op.results[0])


def take_sums(ctx: KernelContext, op: AwaitMmaOp) -> None:
    """After the loop, wait for the matmuls of its last iteration, and take their sums."""
    for value in op.tiles:
        if value not in ctx.registers:
            fail(op, "waits for a matmul that the loop does not start")
        ctx.registers[value] = finished_sums(ctx.emit, ctx.registers[value])


def slots_of(op: threadblock.AccumulateOp) -> int:
    """Registers of an accumulator."""
    return len(registers_of(op.result).offsets)
