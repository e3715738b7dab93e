"""Assigns a layout (registers, shared or global memory) to each tile, in program order."""

from dataclasses import dataclass, field, replace
from math import prod

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Operation, SSAValue

from mirage_mlir.decisions.registers import GROUP_WARPS
from mirage_mlir.diagnostics import fail
from mirage_mlir.dialects import thread, threadblock
from mirage_mlir.dialects.layout import (
    ConvertLayoutOp,
    GlobalAttr,
    IndicesAttr,
    RegistersAttr,
    SharedAttr,
    layout_of,
    set_layout,
)
from mirage_mlir.dialects.split_k import StorePartialSumOp
from mirage_mlir.dialects.threadblock import Stage
from mirage_mlir.layouts.layout import (
    MMA_DEPTH,
    WARP_THREADS,
    RegisterLayout,
    SharedLayout,
    blocked,
    largest_power_of_two_divisor,
)
from mirage_mlir.passes.analysis.accumulators import accumulators, left_fragments
from mirage_mlir.passes.analysis.buffers import has_rows_along
from mirage_mlir.passes.analysis.row_maxima import check_rows, is_free, rescaled_with, state_layout
from mirage_mlir.passes.analysis.tile_attributes import (
    WIDEST_RUN_BYTES,
    accumulator_of,
    blocks_across,
    broadcast_sides,
    exchanges_sides,
    folding_sides,
    is_folded,
    is_online_maximum,
    matmul_sizes,
    reduced_sides,
    registers_of,
    resident_slots,
    split_warp_bits,
    stored_run,
    uses_wgmma,
    widest_run,
)
from mirage_mlir.passes.layouts.deliveries import is_to_deliver
from mirage_mlir.passes.layouts.places import (
    TilePlaces,
    is_partial,
    leading,
    merging_graph,
    pad_depth,
    scalars_from,
    shared_for,
    shared_from,
)
from mirage_mlir.passes.layouts.reduced_digits import is_over_digit, layout_over_part

Maxima = tuple[SSAValue, SSAValue | None, SSAValue | None]
"""Row maxima of a sum: those of a thread, in registers; those of all warps, in shared memory, if
each warp has its own; those of each block of a cluster, in shared memory, if it has several."""


@dataclass
class LayoutAssignment(TilePlaces):
    """
    Gives each operation of one graph its layout, in program order.

    Args:
        sharing: blocks of a cluster that share the work after their sums.
        common: operations whose row maxima must be the same in all warps, and exact.
        given: layouts of free thread graphs, by their numbers.
        free: the free thread graphs that were visited: those that may have any layout.
        states: the row maxima with which sums are rescaled after the loop.
        maxima_of_blocks: the row maxima of the blocks' partial sums, by the sum.
    """

    sharing: int
    common: set[Operation]
    given: dict[int, RegisterLayout]
    free: list[thread.GraphOp] = field(default_factory=list[thread.GraphOp])
    states: dict[tuple[SSAValue, RegisterLayout, tuple[int, ...]], Maxima] = field(
        default_factory=dict[tuple[SSAValue, RegisterLayout, tuple[int, ...]], Maxima]
    )
    maxima_of_blocks: dict[Operation, SSAValue] = field(default_factory=dict[Operation, SSAValue])

    def run(self) -> None:
        """Visit every operation; conversions are inserted in front of their users."""
        ops = list(self.graph.body.block.ops)
        self.numbers = {op: number for number, op in enumerate(ops)}
        # What is delivered depends on the bytes of all tiles, of those that are loaded later, too.
        for op in ops:
            if isinstance(op, threadblock.LoadOp):
                self.load(op)
        for op in ops:
            if not isinstance(op, threadblock.LoadOp):
                self.lay_out(op)

    def lay_out(self, op: Operation) -> None:
        """Give an operation on tiles its layout."""
        match op:
            case threadblock.MatmulOp():
                self.matmul(op)
            case threadblock.AccumulateOp():
                self.accumulate(op)
            case threadblock.ReduceSumOp() | threadblock.ReduceMaxOp():
                self.reduce(op)
            case thread.GraphOp():
                self.thread_graph(op)
            case threadblock.TransposeOp():
                self.transpose(op)
            case threadblock.ConcatOp():
                self.concat(op)
            case threadblock.StoreOp() | StorePartialSumOp():
                self.whole(op, 0)
            case threadblock.IotaOp():
                set_layout(op, IndicesAttr())
            case _:
                fail(op, "has no lowering; run fuse-thread-graphs and select-mma first")

    def load(self, op: threadblock.LoadOp) -> None:
        """A tile that is copied lies in shared memory; any other is read in place."""
        if op.copy is None and self.stages[op.result] == Stage.LOOP:
            fail(op, "has no copy; run select-copies first")
        if op.copy is None:
            return set_layout(op, GlobalAttr())
        set_layout(op, SharedAttr.of(shared_for(op.result, columns_first=has_rows_along(op))))

    def matmul(self, op: threadblock.MatmulOp) -> None:
        """Operands lie in shared memory, except chained ones; the result where MMAs leave it."""
        warps = prod(op.warp_counts) * (GROUP_WARPS if uses_wgmma(op) else 1)
        if warps * WARP_THREADS > self.threads:
            fail(op, f"is for {warps} warps, and its block has {self.threads // WARP_THREADS}")
        for index in (0, 1):
            if index == 0 and op.chained is not None:
                self.chained_operand(op)
                continue
            self.in_shared(op, index)
            if matmul_sizes(op)[2] % MMA_DEPTH:
                pad_depth(op.operands[index])
        set_layout(op, RegistersAttr.of(accumulators(op)))

    def chained_operand(self, op: threadblock.MatmulOp) -> None:
        """Check that the left operand lies in registers as the instruction takes it."""
        attribute = layout_of(op.lhs)
        if not isinstance(attribute, RegistersAttr) or attribute.layout != left_fragments(op):
            fail(op, "is chained, but its left operand does not lie as the instruction takes it")
        self.follow(op.lhs, op.result)

    def accumulate(self, op: threadblock.AccumulateOp) -> None:
        """The sum has the layout of the value that is added."""
        if layout_of(op.result) is not None:
            return
        if op.partial_sum is not None:
            return self.total_of_partial_sums(op)
        if op.rescale is None and op.value in self.relative:
            assert op.kind.data == "max", "what else uses a row maximum makes it common"
        layout = self.registers_for(op, 0, partial=True)
        folded = self.folded(op, layout)
        set_layout(op, RegistersAttr.of(folded or layout))
        result, after = op.result, op
        if op.rescale is not None:
            result = self.merged(op, folded or layout)
            assert isinstance(result.owner, Operation)
            after = result.owner
        if layout.partial > 1 or (blocks_across(op) > 1 and folded is None):
            shared = replace(shared_from(op.result, layout), combine=op.kind.data)
            maxima = self.maxima_of_blocks.get(op)
            found = self.spread(result, shared, blocks_across(op), after, maxima)
            if blocks_across(op) > 1 and maxima is None:
                self.deliver(found)

    def total_of_partial_sums(self, op: threadblock.AccumulateOp) -> None:
        """The total, in the last block, has the layout of the block's partial sum."""
        layout = self.registers_for(op, 0)
        layout = self.folded(op, layout) or layout
        set_layout(op, RegistersAttr.of(layout))
        if op.rescale is not None:
            self.state_of(op, op.rescale, layout)
        # Both read the same operands, whose conversions stand in front of both.
        store = next(
            each
            for each in self.graph.body.block.ops
            if isinstance(each, StorePartialSumOp) and each.number == op.partial_sum
        )
        store.operands = op.operands
        store.detach()
        self.graph.body.block.insert_op_before(store, op)

    def merged(self, op: threadblock.AccumulateOp, layout: RegisterLayout) -> SSAValue:
        """
        The sum `op` in `layout`, rescaled to the row maximum of all warps of the block.

        Readers of partial sums of several blocks rescale those themselves.
        """
        assert op.rescale is not None
        computed = op.rescale
        state = self.state_of(op, computed, layout)
        across = tuple(int(axis) for axis in op.across.get_values())
        if state.partial == 1 and not across:
            return op.result
        check_rows(op)
        key = (op.rescale, state, across)
        if key not in self.states:
            self.states[key] = self.maxima(op, computed, state)
        own, top, of_blocks = self.states[key]
        if of_blocks is not None:
            self.maxima_of_blocks[op] = of_blocks
        if top is None:
            return op.result
        graph = merging_graph(op.result, own, top)
        graph.location = op.location
        set_layout(graph, RegistersAttr.of(layout))
        last = top.owner
        assert isinstance(last, Operation)
        self.graph.body.block.insert_op_after(graph, op if last.is_before_in_block(op) else last)
        result = graph.results[0]
        op.result.replace_uses_with_if(result, lambda use: use.operation is not graph)
        self.stages[result] = Stage.POST
        return result

    def state_of(
        self, op: threadblock.AccumulateOp, row_maximum: SSAValue, layout: RegisterLayout
    ) -> RegisterLayout:
        """The layout in which the threads of `op` have its row maxima."""
        state = state_layout(row_maximum, op.value, layout)
        sides = broadcast_sides(threadblock.shape_of(row_maximum), threadblock.shape_of(op.value))
        if is_online_maximum(row_maximum):
            if sides is None or layout.slots_in(state, *sides) is None:
                self.want_common(row_maximum)
            return state
        shape = threadblock.shape_of(row_maximum if sides else op.value)
        if isinstance(layout_of(row_maximum), RegistersAttr) and (
            resident_slots(row_maximum, state, shape) is None
        ):
            self.in_shared(op, 1)
        return state

    def maxima(
        self, op: threadblock.AccumulateOp, computed: SSAValue, state: RegisterLayout
    ) -> Maxima:
        """Insert the row maxima of threads, warps and blocks for the sum `op`."""
        row_maximum, across = op.rescale, list(op.across.get_values())
        assert row_maximum is not None
        own = next(
            (
                use.operation
                for use in computed.uses
                if isinstance(use.operation, threadblock.AccumulateOp)
                and use.operation.value is computed
                and use.operation.kind.data == "max"
                and list(use.operation.across.get_values()) == across
                and layout_of(use.operation.result) is None
            ),
            None,
        )
        if own is None:
            own = threadblock.AccumulateOp(row_maximum, "max", across)
            own.location = op.location
        else:
            own.detach()
            own.operands[0] = row_maximum
        self.graph.body.block.insert_op_before(own, op)
        self.stages[own.result] = Stage.POST
        own.state = UnitAttr()
        set_layout(own, RegistersAttr.of(state))
        shared = replace(scalars_from(state), combine="max")
        found, after, top, of_blocks = own.result, own, None, None
        if state.partial > 1:
            found = top = self.convert(found, shared, after=after)
            assert isinstance(top.owner, Operation)
            after = top.owner
        if (blocks := blocks_across(own)) > 1:
            layout = replace(shared, copies=1, blocks=blocks)
            of_blocks = self.convert(found, layout, after=after)
        return own.result, top, of_blocks

    def folded(self, op: threadblock.AccumulateOp, layout: RegisterLayout) -> RegisterLayout | None:
        """The layout of `op` reduced in each thread, if its only user is a reduction."""
        users = [use.operation for use in op.result.uses]
        if len(users) != 1 or layout.partial > 1:
            return None
        sides = folding_sides(op)
        return layout.folded(*sides) if sides else None

    def reduce(self, op: threadblock.ReduceSumOp | threadblock.ReduceMaxOp) -> None:
        """
        The result lies in registers if each warp holds all that it reduces.

        Else each warp writes its partial result to shared memory, as a copy of its own.
        """
        sides = reduced_sides(op)
        if sides is None:
            if self.sharing > 1 or op.input in self.relative or not is_over_digit(op):
                self.in_shared(op, 0)
            return set_layout(op, layout_over_part(op))
        rows, columns = sides
        layout = self.registers_for(op, 0)
        split = split_warp_bits(layout, rows, columns)
        if isinstance(op, threadblock.ReduceMaxOp) and self.can_run(op):
            op.online_maximum = UnitAttr()
            parts = sum(1 << bit for bit in split)
            if parts:
                self.relative[op.result] = op.result
            return set_layout(op, RegistersAttr.of(layout.reduced(rows, columns, parts)))
        total = accumulator_of(op.input)
        blocks = blocks_across(total) if is_folded(op.input) else 1
        maxima = self.maxima_of_blocks.get(total) if isinstance(total, Operation) else None
        shared_after = self.sharing > 1 and self.stages[op.result] == Stage.POST
        if not split and blocks > 1 and maxima is not None:
            reduced = layout.reduced(rows, columns)
            set_layout(op, RegistersAttr.of(reduced))
            self.spread(op.result, scalars_from(reduced), blocks, op, maxima)
            return None
        if not split and blocks == 1 and not shared_after:
            self.follow(op.input, op.result)
            return set_layout(op, RegistersAttr.of(layout.reduced(rows, columns)))
        if op.input in self.relative:
            self.want_common(op.input)
        kind = "sum" if isinstance(op, threadblock.ReduceSumOp) else "max"
        down, across = layout.spans()
        down, across = 1 if rows else down, 1 if columns else across
        layout = SharedLayout(across, 1, down * across, 1 << len(split), kind)
        if blocks > 1 and split:
            set_layout(op, SharedAttr.of(layout))
            layout = replace(layout, copies=1, blocks=blocks)
            total = self.convert(op.result, layout, after=op, maxima=maxima)
            if maxima is None:
                self.deliver(total)
        else:
            set_layout(op, SharedAttr.of(replace(layout, blocks=blocks)))

    def deliver(self, part: SSAValue) -> None:
        """Let each block deliver its `part` of a sum to all of the cluster, if that is better."""
        assert isinstance(part.owner, ConvertLayoutOp)
        if is_to_deliver(self.graph, part.owner):
            part.owner.delivered = UnitAttr()

    def can_run(self, op: Operation) -> bool:
        """Whether `op` may compute the online maximum of each warp instead of the iteration's."""
        result = op.results[0]
        looped = self.stages[result] == Stage.LOOP
        return looped and op not in self.common and bool(rescaled_with(result)) and is_free(result)

    def thread_graph(self, op: thread.GraphOp) -> None:
        """The result has the layout of an operand of its shape in registers, if there is one."""
        shape = threadblock.shape_of(op.results[0])
        threads = self.threads * self.shared_by(op)
        # A run of two accesses to the result would store halves of sectors.
        run = stored_run(op) or widest_run(self.graph)
        widest = run
        if threads > self.threads:
            # A cluster has many threads: short runs give work to all of them. Partial sums are f32,
            # so that 16 bytes are one access.
            widest = max(2, min(run, WIDEST_RUN_BYTES // 4, prod(shape) // threads))
        layout = blocked(shape, threads, largest_power_of_two_divisor(widest, run))
        if (value := leading(op)) is not None:
            layout = self.given.get(self.numbers[op], registers_of(value))
        elif threads == self.threads:
            self.free.append(op)
            layout = self.given.get(self.numbers[op], layout)
        for index, value in enumerate(op.operands):
            if isinstance(layout_of(value), RegistersAttr):
                partial = is_partial(value) and value not in self.relative
                if partial or resident_slots(value, layout, shape) is None:
                    self.in_shared(op, index)
            self.follow(value, op.results[0])
        set_layout(op, RegistersAttr.of(layout))

    def shared_by(self, op: Operation) -> int:
        """The number of blocks of a cluster that share the work of `op`."""
        return self.sharing if self.stages[op.results[0]] == Stage.POST else 1

    def transpose(self, op: threadblock.TransposeOp) -> None:
        """Another view of the same registers, or shared memory with rows and columns exchanged."""
        permutation = tuple(op.permutation.get_values())
        exchanged = exchanges_sides(threadblock.shape_of(op.input), permutation)
        if exchanged is None:
            fail(op, f"permutes dims as {permutation}; only rows and columns can be exchanged")
        if exchanged or not isinstance(layout_of(op.input), RegistersAttr):
            self.in_shared(op, 0)
        self.whole(op, 0)
        attribute = layout_of(op.input)
        if isinstance(attribute, SharedAttr) and exchanged:
            attribute = SharedAttr.of(attribute.layout.transposed())
        self.follow(op.input, op.result)
        assert isinstance(attribute, RegistersAttr | SharedAttr)
        set_layout(op, attribute)

    def concat(self, op: threadblock.ConcatOp) -> None:
        """The inputs lie side by side in shared memory."""
        for index in range(len(op.operands)):
            self.whole(op, index)
        set_layout(op, SharedAttr.of(shared_for(op.results[0])))
