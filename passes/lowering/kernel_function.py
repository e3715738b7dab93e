"""One `kernel.graph_defined` as one `llvm.func`, emitted stage by stage."""

from collections.abc import Collection, Sequence
from itertools import chain
from math import prod

from xdsl.dialects import arith, llvm
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    IntegerAttr,
    StringAttr,
    UnitAttr,
    i8,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from mirage_mlir.dialects import kernel, nvvm, nvvm_hopper, thread, threadblock
from mirage_mlir.dialects.layout import (
    BarrierOp,
    ConvertLayoutOp,
    GlobalAttr,
    RegistersAttr,
    SharedAttr,
    layout_of,
)
from mirage_mlir.dialects.threadblock import Stage
from mirage_mlir.graph.layout import ceil_div
from mirage_mlir.passes.lowering.access import as_f32, fetch, write_global, write_shared
from mirage_mlir.passes.lowering.context import (
    KernelContext,
    buffer_bytes,
    is_staged,
    shared_layout,
)
from mirage_mlir.passes.lowering.copies import copy_to_shared
from mirage_mlir.passes.lowering.elementwise import run_thread_graph
from mirage_mlir.passes.lowering.emitter import Condition, Emitter, Index
from mirage_mlir.passes.lowering.matmul import hold, multiply
from mirage_mlir.passes.lowering.reduction import (
    NEUTRAL,
    Reduction,
    accumulate,
    layout_read_by,
    part_of_sum,
    reduce,
    rescaled,
)
from mirage_mlir.passes.lowering.rescaling import Stabiliser, StateKey, lowest, state_key
from mirage_mlir.passes.lowering.tiles import (
    CLUSTER_SHARES,
    HELD,
    STATE,
    THREADS,
    ZERO_PADDING,
    cluster_sizes,
    is_folded,
    is_running,
    reduced_sides,
    stores_apart,
)
from mirage_mlir.passes.lowering.views import view_of
from mirage_mlir.passes.plan_memory import SMEM_BYTES, int_attribute
from mirage_mlir.passes.schedule_threadblock import (
    ROTATION,
    STAGES,
    has_later_part,
    stage_of,
)

SHARED_SYMBOL = "smem"

MAX_READ_AHEAD = 48
"""Elements that a thread reads before it needs them."""

POINTER_ALIGNMENT = 16
"""Bytes to which every tensor's address is aligned; the runtime refuses others."""


def roots_of(graph: kernel.GraphDefinedOp) -> list[SSAValue]:
    """The tensors that a kernel gets a pointer to: what it reads, each once, then its results."""
    roots: list[SSAValue] = []
    for value in (*(view_of(value).root for value in graph.inputs), *graph.outputs):
        if value not in roots:
            roots.append(value)
    return roots


class KernelFunction:
    """
    Emits the function of one kernel.

    Args:
        given: the tensors that are there when the kernel starts, which may be before the kernel in
            front has ended; None where it starts after that.
        leads: whether the next kernel may start before this one has ended.
    """

    def __init__(
        self,
        graph: kernel.GraphDefinedOp,
        given: Collection[SSAValue] | None = None,
        *,
        leads: bool = False,
    ) -> None:
        self.graph = graph
        self.given = given
        self.leads = leads
        self.roots = roots_of(graph)
        self.entry = Block(arg_types=[nvvm.GLOBAL] * len(self.roots))
        self.emit = Emitter(self.entry)
        self.emit.location = graph.location
        self.stages = int_attribute(graph, STAGES)
        self.turns = prod(graph.loop_sizes)
        self.block_threads = threads = int_attribute(graph, THREADS)
        thread_index = self.emit.result(nvvm.ThreadIdXOp())
        block_ids = (nvvm.BlockIdXOp, nvvm.BlockIdYOp, nvvm.BlockIdZOp)
        blocks: list[Index] = [
            self.emit.result(block()) if size > 1 else 0
            for block, size in zip(block_ids, graph.grid_sizes, strict=False)
        ]
        self.ctx = KernelContext(
            graph,
            self.emit,
            dict(zip(self.roots, self.entry.args, strict=True)),
            threads,
            thread_index,
            blocks,
            self.emit.result(llvm.AddressOfOp(SHARED_SYMBOL, nvvm.SHARED)),
            self.stages,
            self.turns_of(0),
        )
        self.in_loop: list[Operation] = []
        self.before: list[Operation] = []
        self.after: list[Operation] = []
        self.sort_operations()

    def sort_operations(self) -> None:
        """Split the scheduled block where the loop starts and where it ends."""
        stages = threadblock.stages(self.graph)
        parts = {
            Stage.INVARIANT: self.before,
            Stage.LOOP: self.in_loop,
            Stage.POST: self.after,
        }
        for op in self.graph.body.block.ops:
            parts[stage_of(op, stages, looped=has_later_part(self.graph))].append(op)

    def turns_of(self, turn: Index) -> list[Index]:
        """The index of each loop in the turn with the given number; the last loop is fastest."""
        sizes = self.graph.loop_sizes
        if len(sizes) < 2:
            return [self.rotated(turn)] * len(sizes)
        return [self.emit.div(turn, sizes[1]), self.emit.rem(turn, sizes[1])]

    def rotated(self, turn: Index) -> Index:
        """The loop's index in a turn: blocks start apart where `schedule-threadblock` says so."""
        rotation = self.graph.attributes.get(ROTATION)
        if not isinstance(rotation, DenseArrayBase):
            return turn
        blocks, step = (int(value) for value in rotation.get_values())
        group = self.emit.div(self.emit.result(nvvm.BlockIdXOp()), blocks)
        start = self.emit.rem(self.emit.mul(group, step), self.turns)
        return self.emit.rem(self.emit.add(turn, start), self.turns)

    def run(self, name: str, arguments: Sequence[str]) -> llvm.FuncOp:
        """Emit everything; `arguments` says what each pointer is."""
        self.clear_padding()
        self.start_loads()
        self.read_ahead()
        self.run_all(self.before)
        if self.in_loop:
            self.run_loop()
        meet = [op for op in self.after if isinstance(op, BarrierOp) and op.cluster is not None]
        if not meet:
            self.run_all(self.after)
        else:
            self.run_in_cluster(self.after.index(meet[-1]) + 1)
        self.emit.insert(llvm.ReturnOp())
        return self.function(name, arguments)

    def run_all(self, ops: Sequence[Operation]) -> None:
        """Emit `ops` one after the other."""
        for op in ops:
            self.run_operation(op)

    def run_in_cluster(self, apart: int) -> None:
        """
        Emit what follows the loop where blocks add up their parts: the first `apart` operations
        in each block, the rest by all threads of the cluster together, or by its first block; or
        in each block where they store tiles of their own.
        """
        self.run_all(self.after[:apart])
        if stores_apart(self.graph):
            self.run_all(self.after[apart:])
            self.meet_cluster()
            return
        rank = self.emit.result(nvvm_hopper.ClusterBlockRankOp())
        if CLUSTER_SHARES in self.graph.attributes:
            before = self.emit.mul(rank, self.ctx.threads)
            self.ctx.thread = self.emit.i32(self.emit.add(self.ctx.thread, before))
            self.ctx.threads *= prod(cluster_sizes(self.graph))
            self.run_all(self.after[apart:])
        else:
            with self.emit.when(self.emit.equal(rank, 0)):
                self.run_all(self.after[apart:])
        # No block ends while another may read its shared memory.
        self.meet_cluster()

    def meet_cluster(self) -> None:
        """Wait for all threads of the cluster."""
        self.emit.insert(nvvm_hopper.ClusterArriveOp())
        self.emit.insert(nvvm_hopper.ClusterWaitOp())

    def clear_padding(self) -> None:
        """Zero the buffers whose padding a matrix product reads."""
        padded = [op for op in self.graph.body.block.ops if ZERO_PADDING in op.attributes]
        for op in padded:
            self.clear(op)
        if padded:
            self.emit.insert(nvvm.BarrierOp())

    def clear(self, op: Operation) -> None:
        """Zero all buffers of one tile, a word for each thread and turn."""
        emit, ctx = self.emit, self.ctx
        count = self.stages if is_staged(op, self.graph) else 1
        words = count * buffer_bytes(op) // 4

        def turn(number: SSAValue, _: list[SSAValue]) -> list[SSAValue]:
            word = emit.add(emit.mul(number, ctx.threads), ctx.thread)
            with emit.when(emit.less(word, words)):
                pointer = ctx.shared_pointer(op.results[0], 0)
                emit.store(emit.pointer(pointer, word, i32), [emit.i32(0)])
            return []

        emit.loop(ceil_div(words, ctx.threads), [], turn)

    def start_loads(self) -> None:
        """
        Start the loads of the tiles that stay, then those of the loop's first turns.

        What is there before the kernel in front has ended comes first.
        """
        loads = [op for op in self.graph.body.block.ops if isinstance(op, threadblock.LoadOp)]
        stay = [
            op
            for op in loads
            if isinstance(layout_of(op.result), SharedAttr) and not is_staged(op, self.graph)
        ]
        staged = [op for op in loads if is_staged(op, self.graph) and self.in_loop]
        turns = range(self.stages - 1)
        early: list[threadblock.LoadOp] = []
        if self.given is not None:
            early = [op for op in (*stay, *staged) if view_of(op.source).root in self.given]
        late = len(early) < len(stay) + len(staged)
        if late:
            self.copy([op for op in stay if op in early], 0, 0)
            for turn in turns:
                self.copy([op for op in staged if op in early], turn, turn)
            self.wait_for_kernel_in_front()
            stay_late = [op for op in stay if op not in early]
            staged = [op for op in staged if op not in early]
        else:
            stay_late = stay
        self.copy(stay_late, 0, 0)
        if stay:
            self.emit.insert(nvvm.CpAsyncCommitGroupOp())
        for turn in turns if self.in_loop else ():
            self.copy(staged, turn, turn)
            self.emit.insert(nvvm.CpAsyncCommitGroupOp())
        if not late:
            self.wait_for_kernel_in_front()

    def wait_for_kernel_in_front(self) -> None:
        """Wait until it has ended, then let the next one start: what it finds is there by now."""
        if self.given is not None:
            self.emit.insert(nvvm_hopper.GridDependencyOp("wait"))
        if self.leads:
            self.emit.insert(nvvm_hopper.GridDependencyOp("launch_dependents"))

    def copy(self, loads: Sequence[threadblock.LoadOp], turn: Index, slot: Index) -> None:
        """Start the loads of one turn into one slot."""
        turns = self.turns_of(turn)
        for op in loads:
            copy_to_shared(self.ctx, op, turns, slot)

    def read_ahead(self) -> None:
        """
        Read what stays in device memory at once, before anyone waits for the first of it.

        Only into few registers, and only for what each thread needs in one place.
        """
        left = MAX_READ_AHEAD
        for op in self.before:
            if isinstance(op, thread.GraphOp):
                shape = threadblock.shape_of(op.results[0])
            elif isinstance(op, Reduction) and reduced_sides(op) is not None:
                shape = threadblock.shape_of(op.input)
            else:
                continue
            for value in op.operands:
                if not isinstance(layout_of(value), GlobalAttr):
                    continue
                of_graph = isinstance(op, thread.GraphOp)
                layout = layout_read_by(self.ctx, op.results[0] if of_graph else value)
                if (left := left - len(layout.offsets)) < 0:
                    return
                self.emit.location = op.location
                self.ctx.fetched[value, layout, shape] = fetch(self.ctx, value, layout, shape)

    def load_turn(self, turn: Index, slot: Index) -> None:
        """Start the loads of one turn into one slot, as one group."""
        staged = [op for op in self.in_loop if isinstance(op, threadblock.LoadOp)]
        self.copy([op for op in staged if is_staged(op, self.graph)], turn, slot)
        self.emit.insert(nvvm.CpAsyncCommitGroupOp())

    def run_loop(self) -> None:
        """Emit the loop; accumulators, and the maxima that they are relative to, are carried."""
        sums = [op for op in self.in_loop if isinstance(op, threadblock.AccumulateOp)]
        accumulators = [op for op in sums if STATE not in op.attributes]
        keys = list(dict.fromkeys(state_key(op) for op in accumulators if op.rescale))
        carried: list[SSAValue] = []
        counts: list[int] = []
        for op in accumulators:
            slots = self.slots_of(op)
            counts.append(slots)
            carried += [self.emit.f32(NEUTRAL[op.kind.data])] * slots
        maxima = [lowest(self.emit, layout) for _, layout in keys]
        for op in self.in_loop:
            if isinstance(op, threadblock.MatmulOp) and HELD in op.attributes:
                hold(self.ctx, op)

        def body(turn: SSAValue, values: list[SSAValue]) -> list[SSAValue]:
            rest = self.take_maxima(keys, values[len(carried) :])
            assert not rest
            totals = self.run_turn(turn, self.split(accumulators, counts, values))
            return [*totals, *chain.from_iterable(self.ctx.stabilisers[k].maxima for k in keys)]

        results = self.emit.loop(self.turns, [*carried, *chain.from_iterable(maxima)], body)
        self.ctx.turns = self.turns_of(0)
        for op, values in self.split(accumulators, counts, results).items():
            self.ctx.registers[op.result] = values
        self.take_maxima(keys, results[len(carried) :])
        for op in sums:
            if STATE in op.attributes:
                attribute = layout_of(op.result)
                assert isinstance(attribute, RegistersAttr)
                state = self.ctx.stabilisers[op.value, attribute.layout]
                self.ctx.registers[op.result] = state.maxima

    def take_maxima(self, keys: Sequence[StateKey], values: list[SSAValue]) -> list[SSAValue]:
        """Give the stabilisers of sums the maxima so far; what is left of `values`."""
        for key in keys:
            count = len(key[1].offsets)
            self.ctx.stabilisers[key] = Stabiliser(key[1], values[:count])
            values = values[count:]
        return values

    @staticmethod
    def slots_of(op: threadblock.AccumulateOp) -> int:
        """Registers of an accumulator."""
        attribute = layout_of(op.result)
        assert isinstance(attribute, RegistersAttr)
        return len(attribute.layout.offsets)

    @staticmethod
    def split(
        accumulators: list[threadblock.AccumulateOp], counts: list[int], values: list[SSAValue]
    ) -> dict[threadblock.AccumulateOp, list[SSAValue]]:
        """The registers of each accumulator out of all that the loop carries."""
        rest = iter(values)
        return {
            op: [next(rest) for _ in range(count)]
            for op, count in zip(accumulators, counts, strict=True)
        }

    def run_turn(
        self, turn: SSAValue, carried: dict[threadblock.AccumulateOp, list[SSAValue]]
    ) -> list[SSAValue]:
        """One turn: wait, start the loads of a later turn, then compute."""
        emit, ctx = self.emit, self.ctx
        ctx.turns = self.turns_of(turn)
        ctx.slot = emit.rem(turn, self.stages)
        staged = any(is_staged(op, self.graph) for op in self.in_loop)
        if self.stages == 1 and staged:
            self.load_turn(turn, 0)
        first, *rest = self.in_loop
        self.run_operation(first)
        if self.stages > 1:
            later = emit.add(turn, self.stages - 1)
            turns, slot = self.turns_of(later), emit.rem(later, self.stages)
            with emit.when(emit.less(later, self.turns)):
                for op in self.in_loop:
                    if isinstance(op, threadblock.LoadOp) and is_staged(op, self.graph):
                        copy_to_shared(ctx, op, turns, slot)
            emit.insert(nvvm.CpAsyncCommitGroupOp())
        totals: list[SSAValue] = []
        for op in rest:
            if op in carried:
                assert isinstance(op, threadblock.AccumulateOp)
                totals += self.run_accumulate(op, carried[op])
            elif not isinstance(op, threadblock.AccumulateOp):
                self.run_operation(op)
        return totals

    def run_accumulate(
        self, op: threadblock.AccumulateOp, carried: list[SSAValue]
    ) -> list[SSAValue]:
        """The accumulator after this turn; a product is added by the matrix unit itself."""
        self.emit.location = op.location
        if self.adds_into(op.value):
            assert isinstance(op.value.owner, threadblock.MatmulOp)
            if op.rescale is not None:
                carried, _ = rescaled(self.ctx, op, carried, [])
            return multiply(self.ctx, op.value.owner, carried)
        return accumulate(self.ctx, op, carried)

    def adds_into(self, value: SSAValue) -> bool:
        """Whether a product goes nowhere but into one accumulator."""
        users = [use.operation for use in value.uses]
        return (
            isinstance(value.owner, threadblock.MatmulOp)
            and len(users) == 1
            and isinstance(users[0], threadblock.AccumulateOp)
            and users[0].kind.data == "sum"
            and not is_folded(users[0].result)
            and (users[0].rescale is None or is_running(users[0].rescale))
        )

    def run_operation(self, op: Operation) -> None:
        """Emit one operation of a graph."""
        self.emit.location = op.location
        match op:
            case BarrierOp():
                self.run_barrier(op)
            case threadblock.MatmulOp():
                if not self.adds_into(op.result):
                    self.ctx.registers[op.result] = multiply(self.ctx, op, None)
            case threadblock.AccumulateOp():
                self.ctx.registers[op.result] = part_of_sum(self.ctx, op)
            case thread.GraphOp():
                run_thread_graph(self.ctx, op)
            case threadblock.ReduceSumOp() | threadblock.ReduceMaxOp():
                reduce(self.ctx, op)
            case ConvertLayoutOp():
                self.run_convert(op)
            case threadblock.ConcatOp():
                self.run_concat(op)
            case threadblock.StoreOp():
                self.run_store(op)
            case _:
                # Loads are started ahead; a transpose is another view of the same memory.
                assert isinstance(op, threadblock.LoadOp | threadblock.TransposeOp)

    def run_barrier(self, op: BarrierOp) -> None:
        """Wait for asynchronous loads where asked, then for all threads."""
        if op.pending is not None:
            self.emit.insert(nvvm.CpAsyncWaitGroupOp(op.pending.value.data))
        if op.cluster is not None:
            self.meet_cluster()
        else:
            self.emit.insert(nvvm.BarrierOp())

    def run_convert(self, op: ConvertLayoutOp) -> None:
        """Move a tile to shared memory; what does not exist becomes zero, or changes no sum."""
        ctx, target = self.ctx, shared_layout(op.result)
        layout = layout_read_by(ctx, op.input)
        shape = threadblock.shape_of(op.input)
        slots = fetch(ctx, op.input, layout, shape)
        if layout.partial == 1:
            extents = ctx.extents(op.input)
            spread = target.blocks > 1
            slots = [
                self.emit.select(
                    ctx.inside(layout, shape, extents, place),
                    value,
                    self.emit.f32(NEUTRAL[target.combine])
                    if spread
                    else self.emit.zero(value.type),
                )
                for place, value in zip(layout.offsets, slots, strict=True)
            ]
        write_shared(ctx, slots, layout, shape, op.result)

    def run_concat(self, op: threadblock.ConcatOp) -> None:
        """Write the parts side by side."""
        at, dim = 0, op.dim.value.data
        for value in op.operands:
            shape = threadblock.shape_of(value)
            layout = layout_read_by(self.ctx, value)
            slots = fetch(self.ctx, value, layout, shape)
            write_shared(self.ctx, slots, layout, shape, op.results[0], (dim, at))
            at += shape[dim]

    def run_store(self, op: threadblock.StoreOp) -> None:
        """Write a tile to its tensor, rounded to the tensor's element type."""
        layout = layout_read_by(self.ctx, op.tile)
        shape = threadblock.shape_of(op.tile)
        slots = fetch(self.ctx, op.tile, layout, shape)
        element = threadblock.tile_type(op.tile).element_type
        if slots[0].type != element:
            slots = [
                self.emit.result(arith.TruncFOp(as_f32(self.ctx, value), element))
                for value in slots
            ]
        with self.emit.when(self.stores_for_all(op)):
            write_global(self.ctx, op, slots, layout)

    def stores_for_all(self, op: threadblock.StoreOp) -> Condition:
        """Whether the block is the first of those that hold the same tile: the others need not."""
        replicated = [
            block
            for axis, block in enumerate(self.ctx.blocks)
            if op.grid_map.get_values()[axis] < 0 and cluster_sizes(self.graph)[axis] == 1
        ]
        return self.emit.all([self.emit.equal(block, 0) for block in replicated])

    def function(self, name: str, arguments: Sequence[str]) -> llvm.FuncOp:
        """The finished function, with what a launch must know in its attributes."""
        graph = self.graph
        grid = [*graph.grid_sizes, 1, 1][:3]
        attributes: dict[str, Attribute] = {
            "nvvm.kernel": UnitAttr(),
            "nvvm.maxntid": DenseArrayBase.from_list(i32, [self.block_threads]),
            "mirage.grid": DenseArrayBase.from_list(i64, grid),
            "mirage.threads": IntegerAttr(self.block_threads, i64),
            "mirage.smem_bytes": IntegerAttr(int_attribute(graph, SMEM_BYTES), i64),
            "mirage.arguments": ArrayAttr([StringAttr(argument) for argument in arguments]),
        }
        if self.given is not None:
            attributes["mirage.follows"] = UnitAttr()
        cluster = [*cluster_sizes(graph), 1, 1][:3]
        if prod(cluster) > 1:
            attributes["nvvm.cluster_dim"] = DenseArrayBase.from_list(i32, cluster)
        inputs = {view_of(value).root for value in graph.inputs}
        notes = [argument_attributes(root in inputs) for root in self.roots]
        function = llvm.FuncOp(
            name,
            llvm.LLVMFunctionType([nvvm.GLOBAL] * len(self.roots)),
            linkage=llvm.LinkageAttr("external"),
            body=Region(self.entry),
            other_props={"arg_attrs": ArrayAttr(notes)},
            extra_attrs=attributes,
        )
        function.location = graph.location
        return function


def argument_attributes(is_input: bool) -> DictionaryAttr:
    """What LLVM may assume of a tensor's pointer."""
    known: dict[str, Attribute] = {
        "llvm.noalias": UnitAttr(),
        "llvm.align": IntegerAttr(POINTER_ALIGNMENT, i64),
    }
    if is_input:
        known["llvm.readonly"] = UnitAttr()
    return DictionaryAttr(known)


def shared_memory_symbol() -> llvm.GlobalOp:
    """The block's shared memory, whose size the launch gives."""
    kind = llvm.LLVMArrayType(0, i8)
    return llvm.GlobalOp(
        kind, SHARED_SYMBOL, "external", addr_space=3, alignment=1024, body=Region()
    )
