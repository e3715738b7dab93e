"""Emits the main loop of a kernel: loop-carried values, and the body of one iteration."""

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import chain
from math import prod
from typing import TypeGuard

from xdsl.ir import Operation, SSAValue

from mirage_mlir.dialects import nvvm, threadblock
from mirage_mlir.dialects.layout import (
    AwaitTilesOp,
    BarrierOp,
    ReleaseTilesOp,
    layout_of,
)
from mirage_mlir.dialects.nvvm_wgmma import WgmmaWaitOp
from mirage_mlir.passes.analysis.tile_attributes import (
    adds_into,
    is_online_maximum,
    registers_of,
    shares_tiles,
    uses_wgmma,
)
from mirage_mlir.passes.codegen.context import KernelContext
from mirage_mlir.passes.codegen.emitter import Emitter
from mirage_mlir.passes.codegen.loads import copy, copy_iteration, iterations_of, staged_loads
from mirage_mlir.passes.codegen.matmul import hold, multiply
from mirage_mlir.passes.codegen.mma_interleaving import Interleaving, find_interleavings, total_of
from mirage_mlir.passes.codegen.online_softmax import OnlineMaximum, StateKey, lowest, state_key
from mirage_mlir.passes.codegen.operations import run_operation
from mirage_mlir.passes.codegen.reduction import NEUTRAL, accumulate, rescaled
from mirage_mlir.passes.codegen.tile_barriers import (
    arrive_at_empty_barriers,
    await_tiles,
    release_tiles,
)
from mirage_mlir.passes.codegen.wgmma import StartedMatmul, finish, finished_sums, start, sums_of
from mirage_mlir.passes.layouts.batched_matmuls import (
    batched_slots,
    split_slots,
    sums_with,
    wgmma_columns,
)
from mirage_mlir.passes.schedule.order import reads, writes
from mirage_mlir.passes.schedule.pipelined_order import is_wgmma


class Loop:
    """
    Emits the loop of one kernel.

    Args:
        ops: what one iteration does, in order.
    """

    def __init__(self, ctx: KernelContext, ops: Sequence[Operation]) -> None:
        self.ctx = ctx
        self.ops = ops
        self.iterations = prod(ctx.graph.loop_sizes)
        self.sums = [op for op in ops if isinstance(op, threadblock.AccumulateOp)]
        ctx.iterations = iterations_of(ctx, 0)
        self.states = [op for op in self.sums if is_state(ctx, op)]
        self.accumulators = [op for op in self.sums if op not in self.states]
        self.counts = [slots_of(op) for op in self.accumulators]
        self.running: dict[threadblock.MatmulOp, StartedMatmul] = {}
        self.waiting: set[Operation] = set()

    def run(self) -> None:
        """Emit it; accumulators, and the maxima that they are relative to, are carried."""
        ctx, emit = self.ctx, self.ctx.emit
        keys = list(dict.fromkeys(state_key(op) for op in self.accumulators if op.rescale))
        carried: list[SSAValue] = []
        for op, slots in zip(self.accumulators, self.counts, strict=True):
            carried += [emit.f32(NEUTRAL[op.kind.data])] * slots
        maxima = [lowest(emit, layout) for _, layout in keys]
        for op in self.ops:
            if isinstance(op, threadblock.MatmulOp) and op.lhs_in_registers:
                hold(ctx, op)

        def body(iteration: SSAValue, values: list[SSAValue]) -> list[SSAValue]:
            rest = self.take_maxima(keys, values[len(carried) :])
            assert not rest
            run_iteration = self.run_iteration_ahead if self.is_ahead else self.run_iteration
            totals = run_iteration(iteration, self.split(values))
            return [*totals, *chain.from_iterable(ctx.row_maxima[k].maxima for k in keys)]

        results = emit.loop(self.iterations, [*carried, *chain.from_iterable(maxima)], body)
        ctx.iterations = iterations_of(ctx, 0)
        for op, values in self.split(results).items():
            ahead = self.is_ahead and is_wgmma(op)
            ctx.registers[op.result] = finished_sums(emit, values) if ahead else values
        if self.is_ahead and shares_tiles(ctx.graph):
            # Nobody fills them again, but producers of other blocks wait before they leave.
            ctx.slot = (self.iterations - 1) % ctx.stages
            arrive_at_empty_barriers(ctx)
        self.take_maxima(keys, results[len(carried) :])
        for op in self.states:
            state = ctx.row_maxima[op.value, registers_of(op.result)]
            ctx.registers[op.result] = state.maxima

    def take_maxima(self, keys: Sequence[StateKey], values: list[SSAValue]) -> list[SSAValue]:
        """Give the row maxima of sums the maxima so far; what is left of `values`."""
        for key in keys:
            count = len(key[1].offsets)
            self.ctx.row_maxima[key] = OnlineMaximum(key[1], values[:count])
            values = values[count:]
        return values

    def split(self, values: list[SSAValue]) -> dict[threadblock.AccumulateOp, list[SSAValue]]:
        """The registers of each accumulator out of all that the loop carries."""
        rest = iter(values)
        return {
            op: [next(rest) for _ in range(count)]
            for op, count in zip(self.accumulators, self.counts, strict=True)
        }

    def run_iteration(
        self, iteration: SSAValue, carried: dict[threadblock.AccumulateOp, list[SSAValue]]
    ) -> list[SSAValue]:
        """One iteration; the accumulators after it."""
        ctx = self.ctx
        ctx.iterations = iterations_of(ctx, iteration)
        ctx.slot = ctx.emit.rem(iteration, ctx.stages)
        ctx.parity = ctx.emit.bits(iteration, 1)
        ops = self.ops if ctx.graph.schedule.producer_warps > 0 else self.start_iteration(iteration)
        totals: dict[Operation, list[SSAValue]] = {}
        started: dict[Operation, StartedMatmul] = {}
        interleavings = find_interleavings(ops)
        later = {graph for interleaving in interleavings.values() for graph in interleaving.graphs}
        for op in ops:
            self.wait_for_matmuls(op, totals, started)
            if isinstance(op, AwaitTilesOp):
                await_tiles(ctx, iteration)
            elif isinstance(op, ReleaseTilesOp):
                release_tiles(ctx, op)
            elif is_alone(op):
                self.running[op] = start(ctx, op, None)
            elif isinstance(op, threadblock.MatmulOp) and op in interleavings:
                total = total_of(op)
                started[total] = self.start_with(interleavings[op], total, carried[total])
            elif isinstance(op, threadblock.AccumulateOp):
                if op in carried and op not in started and op not in totals:
                    self.add_up(op, carried, totals, started)
            elif op not in later:
                run_operation(ctx, op)
        totals |= self.finished(started)
        return list(chain.from_iterable(totals[op] for op in self.accumulators))

    @cached_property
    def is_ahead(self) -> bool:
        """
        Whether an iteration's matmuls run on while those of the next iteration are started.

        So it is where nothing in the loop asks for their sums, and warps do not synchronize in it.
        """
        matmuls = [op for op in self.ops if isinstance(op, threadblock.MatmulOp)]
        return (
            self.ctx.graph.schedule.producer_warps > 0
            and bool(matmuls)
            and all(uses_wgmma(op) and adds_into(op.result) for op in matmuls)
            and all(op.rescale is None for op in self.accumulators)
            and not any(isinstance(op, BarrierOp) for op in self.ops)
            and not find_interleavings(self.ops)
        )

    def run_iteration_ahead(
        self, iteration: SSAValue, carried: dict[threadblock.AccumulateOp, list[SSAValue]]
    ) -> list[SSAValue]:
        """
        One iteration whose matmuls are not waited for; the accumulators after it.

        Those of the iteration before are, once this iteration's are started: the tensor cores
        always have work. Then the tiles of that iteration are released.
        """
        ctx, emit = self.ctx, self.ctx.emit
        ctx.iterations = iterations_of(ctx, iteration)
        ctx.slot = slot = emit.rem(iteration, ctx.stages)
        ctx.parity = emit.bits(iteration, 1)
        await_tiles(ctx, iteration)
        totals: dict[Operation, list[SSAValue]] = {}
        started: dict[Operation, StartedMatmul] = {}
        for op in filter(is_wgmma, self.accumulators):
            self.add_up(op, carried, totals, started)
        emit.insert(WgmmaWaitOp(len(started)))
        totals |= self.totals_of(started, sums_of)
        with emit.when(emit.less(0, iteration)):
            ctx.slot = emit.rem(emit.add(iteration, ctx.stages - 1), ctx.stages)
            self.release()
        ctx.slot = slot
        for op in self.ops:
            if isinstance(op, threadblock.AccumulateOp):
                if op in carried and op not in totals:
                    self.add_up(op, carried, totals, {})
            elif not isinstance(op, AwaitTilesOp | ReleaseTilesOp):
                run_operation(ctx, op)
        return list(chain.from_iterable(totals[op] for op in self.accumulators))

    def release(self) -> None:
        """Release the tiles of the iteration whose buffers are the present ones."""
        for op in self.ops:
            if isinstance(op, ReleaseTilesOp):
                release_tiles(self.ctx, op)

    def wait_for_matmuls(
        self,
        op: Operation,
        totals: dict[Operation, list[SSAValue]],
        started: dict[Operation, StartedMatmul],
    ) -> None:
        """Wait for the warpgroup matmuls that `op` needs, or must not run beside."""
        is_barrier = isinstance(op, BarrierOp) and not self.run_through_barriers
        if isinstance(op, ReleaseTilesOp) or is_barrier:
            totals |= self.finished(started)
            self.take()
        elif self.running.keys() & needed_by(op):
            self.take()

    def add_up(
        self,
        op: threadblock.AccumulateOp,
        carried: dict[threadblock.AccumulateOp, list[SSAValue]],
        totals: dict[Operation, list[SSAValue]],
        started: dict[Operation, StartedMatmul],
    ) -> None:
        """Add what an iteration has for the accumulator `op`, or start to."""
        sums = sums_with(op, self.ops)
        if len(sums) > 1:
            # They stand side by side.
            if all(each is op or each in self.waiting for each in sums):
                self.waiting.clear()
                started[sums[0]] = self.start_joined(sums, carried)
            else:
                self.waiting.add(op)
            return
        total = self.run_accumulate(op, carried[op])
        if isinstance(total, StartedMatmul):
            started[op] = total
        else:
            totals[op] = total

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
        """Start a matmul that is added to `op`, piece by piece as its left side is computed."""
        self.ctx.emit.location = op.location
        if op.rescale is not None:
            carried, _ = rescaled(self.ctx, op, carried, [])
        return start(self.ctx, interleaving.matmul, carried, interleaving.begin(self.ctx).compute)

    def finished(self, started: dict[Operation, StartedMatmul]) -> dict[Operation, list[SSAValue]]:
        """The accumulators whose matmuls were `started`, which are waited for: none are left."""
        done = self.totals_of(started, finish)
        started.clear()
        return done

    def totals_of(
        self,
        started: dict[Operation, StartedMatmul],
        take: Callable[[Emitter, StartedMatmul], list[SSAValue]],
    ) -> dict[Operation, list[SSAValue]]:
        """The accumulators to which matmuls were `started`, by what `take` makes of these."""
        found: dict[Operation, list[SSAValue]] = {}
        for op, matmul in started.items():
            assert isinstance(op, threadblock.AccumulateOp)
            slots, sums = take(self.ctx.emit, matmul), sums_with(op, self.ops)
            found |= split_slots(sums, slots) if len(sums) > 1 else {op: slots}
        return found

    def take(self) -> None:
        """Wait for the matmuls whose results threads use: none are left."""
        for op, matmul in self.running.items():
            self.ctx.registers[op.result] = finish(self.ctx.emit, matmul)
        self.running.clear()

    @cached_property
    def run_through_barriers(self) -> bool:
        """
        Whether matmuls run on while all threads synchronize: nothing that they read is rewritten.
        """
        written = {op for op in self.ops if writes(op)}
        return not any(written & set(reads(op)) for op in self.ops if is_wgmma(op))

    def start_iteration(self, iteration: SSAValue) -> Sequence[Operation]:
        """
        Wait for the iteration's tiles, and start the loads of a later iteration; what is left to
        do.
        """
        ctx, emit = self.ctx, self.ctx.emit
        staged = staged_loads(ctx)
        if ctx.stages == 1 and staged:
            copy_iteration(ctx, iteration, 0)
        first, *rest = self.ops
        run_operation(ctx, first)
        if ctx.stages > 1:
            later = emit.add(iteration, ctx.stages - 1)
            with emit.when(emit.less(later, self.iterations)):
                copy(ctx, staged, later, emit.rem(later, ctx.stages))
            emit.insert(nvvm.CpAsyncCommitGroupOp())
        return rest

    def run_accumulate(
        self, op: threadblock.AccumulateOp, carried: list[SSAValue]
    ) -> list[SSAValue] | StartedMatmul:
        """
        The accumulator after this iteration; a matmul is added by the tensor core itself.

        Threads go on with the iteration while warpgroup matmuls run, until the tiles are
        released.
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
    """Whether `op` is the maximum of all iterations that is kept for other sums in any case."""
    if op.state is not None:
        return True
    running = op.kind.data == "max" and is_online_maximum(op.value) and not op.across.get_values()
    if not running or layout_of(op.result) != layout_of(op.value):
        return False
    # Of no iterations at all it would be -inf.
    return ctx.exists(op.value) is True


def is_alone(op: Operation) -> TypeGuard[threadblock.MatmulOp]:
    """Whether `op` is a warpgroup matmul that is not added to a sum."""
    return uses_wgmma(op) and not adds_into(op.results[0])


def needed_by(op: Operation) -> set[Operation]:
    """What `op`, or the matmul that it adds to a sum, takes."""
    found = {value.owner for value in op.operands if isinstance(value.owner, Operation)}
    for each in [each for each in found if is_wgmma(each)]:
        found.update(value.owner for value in each.operands if isinstance(value.owner, Operation))
    return found


def slots_of(op: threadblock.AccumulateOp) -> int:
    """Registers of an accumulator."""
    return len(registers_of(op.result).offsets)
