"""One `kernel.graph_defined` as one `llvm.func`, emitted stage by stage."""

from collections.abc import Callable, Sequence
from math import prod

from xdsl.dialects import llvm
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    IntegerAttr,
    UnitAttr,
    i8,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from mirage_mlir.decisions.registers import (
    FEW_REGISTERS,
    PRODUCER_WARPS,
    SOME_REGISTERS,
    fewest_blocks,
    registers_of_consumers,
)
from mirage_mlir.diagnostics import fail
from mirage_mlir.dialects import kernel, nvvm, nvvm_hopper
from mirage_mlir.dialects.deferred_mma import StartDeferredOp
from mirage_mlir.dialects.launch import KernelLaunch
from mirage_mlir.dialects.nvvm_device import kept_in_place
from mirage_mlir.dialects.overlap import OVERLAP_OPS, AwaitPreviousGridOp, OneThreadOp
from mirage_mlir.dialects.pipeline import (
    EPILOGUE,
    MAIN_LOOP,
    PROLOGUE,
    AwaitMmaOp,
    ClearPaddingOp,
    IssueCopiesOp,
    ReleaseTilesOp,
    is_across_blocks,
)
from mirage_mlir.dialects.split_k import CLUSTER, LAST_BLOCK, ContinueWithOp
from mirage_mlir.layouts.layout import WARP_THREADS
from mirage_mlir.passes.analysis.buffers import LARGEST_ALIGNMENT
from mirage_mlir.passes.analysis.row_sums import finds_rows_together
from mirage_mlir.passes.analysis.tensor_views import view_of
from mirage_mlir.passes.analysis.tile_attributes import (
    cluster_sizes,
    shares_tiles,
)
from mirage_mlir.passes.codegen.context import KernelContext
from mirage_mlir.passes.codegen.cta_rasterization import (
    launched_cluster,
    launched_grid,
    launched_ids,
    place_in_grid,
)
from mirage_mlir.passes.codegen.deferred_mma import open_order
from mirage_mlir.passes.codegen.emitter import Emitter
from mirage_mlir.passes.codegen.loads import (
    await_previous_grid,
    iterations_of,
    prepare_copies,
    read_ahead,
)
from mirage_mlir.passes.codegen.loop import Loop, take_sums
from mirage_mlir.passes.codegen.mapped_tensors import mapped_tensors
from mirage_mlir.passes.codegen.operations import (
    block_barrier,
    cluster_barrier,
    run_all,
    run_operation,
)
from mirage_mlir.passes.codegen.persistent_tiles import PersistentTiles
from mirage_mlir.passes.codegen.pipeline import Producer
from mirage_mlir.passes.codegen.split_k import arrive
from mirage_mlir.passes.codegen.tile_barriers import release_last_tiles
from mirage_mlir.passes.schedule.order import is_lent
from mirage_mlir.passes.schedule.sections import sections_of

SHARED_SYMBOL = "smem"

POINTER_ALIGNMENT = 16
"""Bytes to which every tensor's address is aligned; the runtime refuses others."""

GENERIC = llvm.LLVMPointerType()

BEGINNING = (IssueCopiesOp, ClearPaddingOp, *OVERLAP_OPS)
"""What stands at the beginning of the prologue, in front of all that computes."""

TENSOR_MAP_BYTES = (128, 64)
"""Size and alignment of a `CUtensorMap` (CUDA driver API)."""


def roots_of(graph: kernel.GraphDefinedOp) -> list[SSAValue]:
    """The tensors that a kernel gets a pointer to: what it reads, each once, then its results."""
    roots: list[SSAValue] = []
    for value in (*(view_of(value).root for value in graph.inputs), *graph.outputs):
        if value not in roots:
            roots.append(value)
    return roots


class KernelFunction:
    """Emits the function of one kernel."""

    def __init__(self, graph: kernel.GraphDefinedOp) -> None:
        sections = sections_of(graph)
        self.graph = graph
        self.roots = roots_of(graph)
        self.is_pipelined = graph.schedule.producer_warps > 0
        self.producers = graph.schedule.producer_warps
        self.mapped = mapped_tensors(graph) if self.is_pipelined else []
        self.shared_sums = 2 if graph.schedule.sums_in_workspace else 0
        plain = len(self.roots) + self.shared_sums
        self.kinds = [nvvm.GLOBAL] * plain + [GENERIC] * len(self.mapped)
        self.entry = Block(arg_types=self.kinds)
        self.emit = Emitter(self.entry)
        self.emit.location = graph.location
        self.block_threads = threads = graph.schedule.threads
        self.grid = launched_grid(graph)
        thread_index = self.emit.result(nvvm.ThreadIdXOp())
        self.tiles = PersistentTiles(self.emit, graph) if graph.schedule.persistent_blocks else None
        if self.tiles is None:
            self.first_tile = place_in_grid(self.emit, graph, launched_ids(self.emit, graph))
        else:
            self.first_tile = self.tiles.place(0)
        self.ctx = KernelContext(
            graph,
            self.emit,
            dict(zip(self.roots, self.entry.args, strict=False)),
            threads,
            thread_index,
            self.first_tile,
            self.emit.result(llvm.AddressOfOp(SHARED_SYMBOL, nvvm.SHARED)),
            graph.schedule.stages,
        )
        self.ctx.iterations = iterations_of(self.ctx, 0)
        if self.shared_sums:
            self.ctx.partial_sums, self.ctx.counters = self.entry.args[len(self.roots) : plain]
        self.before, self.in_loop = sections[PROLOGUE], sections[MAIN_LOOP]
        self.after = sections[EPILOGUE]

    def run(self, name: str) -> llvm.FuncOp:
        """Emit everything."""
        if self.is_pipelined:
            self.run_with_producer()
        else:
            self.run_sections()
        self.emit.insert(llvm.ReturnOp())
        return self.function(name)

    def run_sections(self, producer: Producer | None = None) -> None:
        """Emit what comes before the loop, the loop, and what follows it."""
        self.ctx.go_to_tile(0, self.first_tile)
        places = [place for place, op in enumerate(self.before) if isinstance(op, BEGINNING)]
        start = max(places, default=-1) + 1
        open_order(self.ctx, self.in_loop)
        if not self.graph.overlap.starts_early:
            prepare_copies(self.ctx, self.before[:start])
        for op in self.before[:start]:
            self.begin(op, producer)
        if self.tiles is None:
            self.run_tile(self.before[start:])
            return

        thread = self.ctx.thread

        def tile(number: SSAValue, _: list[SSAValue]) -> list[SSAValue]:
            def locate() -> None:
                self.go_to_tile(number, thread)

            locate()
            self.run_tile(self.before[start:], locate)
            return []

        self.emit.loop(self.tiles.count(), [], tile)

    def go_to_tile(self, number: SSAValue, thread: SSAValue) -> None:
        """
        Go on with tile `number` of a persistent block.

        LLVM does not know these numbers: else it computes addresses of all elements before the
        first tile, and keeps what the epilogue needs in registers while the loop runs.
        """
        assert self.tiles is not None
        number, self.ctx.thread = (
            self.emit.result(kept_in_place(each)) for each in (number, thread)
        )
        self.ctx.go_to_tile(number, self.tiles.place(number))

    def run_tile(
        self, before: Sequence[Operation], locate: Callable[[], None] = lambda: None
    ) -> None:
        """
        Emit what computes one tile of the grid: what comes `before` the loop, it, the rest.

        `locate` says once more, behind the loop, which tile that is.
        """
        # Without a loop, what the epilogue reads in place is asked for at once, too.
        read_ahead(self.ctx, [*before, *([] if self.in_loop else self.after)])
        run_all(self.ctx, before)
        loop = Loop(self.ctx, self.in_loop)
        if self.in_loop:
            loop.run()
            locate()
        self.run_ending(loop)
        self.run_after()

    def begin(self, op: Operation, producer: Producer | None) -> None:
        """Emit an operation up to the copies of the prologue; one thread copies like a producer."""
        if not isinstance(op, OneThreadOp):
            run_operation(self.ctx, op)
        elif producer is None:
            fail(op, "copies tiles as a producer does, and the kernel has none")
        else:
            with self.emit.when(self.emit.equal(self.ctx.thread, 0)):
                producer.run_all([*op.body.block.ops])

    def run_ending(self, loop: Loop) -> None:
        """Emit what ends the loop: the waits of its last iteration, and for the previous grid."""
        while self.after:
            match self.after[0]:
                case StartDeferredOp():
                    loop.start_last_deferred()
                case AwaitMmaOp() as op:
                    take_sums(self.ctx, op)
                case ReleaseTilesOp() as op:
                    release_last_tiles(self.ctx, op)
                case AwaitPreviousGridOp():
                    await_previous_grid(self.ctx)
                case _:
                    return
            self.after.pop(0)

    def run_with_producer(self) -> None:
        """Emit a warp that copies the loop's tiles, and what all the others do."""
        ctx, emit = self.ctx, self.emit
        consumers = ctx.threads // WARP_THREADS
        maps = dict(
            zip(self.mapped, self.entry.args[len(self.kinds) - len(self.mapped) :], strict=True)
        )
        producer = Producer(ctx, maps, self.tiles)
        ctx.paced = producer.paced is not None
        # The first copies start before the other warps even know of the barriers.
        first = emit.equal(ctx.warp, consumers)
        with emit.when(first), emit.when(emit.equal(ctx.lane, 0)):
            producer.start()
        if shares_tiles(self.graph):
            cluster_barrier(ctx)
        else:
            emit.insert(nvvm.BarrierOp())
        several = self.producers > PRODUCER_WARPS
        kept = FEW_REGISTERS if self.tiles is None else SOME_REGISTERS
        with emit.when(emit.negate(emit.less(ctx.warp, consumers))):
            if several:
                emit.insert(nvvm_hopper.SetMaxRegisterOp(kept, "decrease"))
            with emit.when(emit.both(first, emit.equal(ctx.lane, 0))):
                producer.run()
        with emit.when(emit.less(ctx.warp, consumers)):
            if several:
                count = int(registers_of_consumers(self.block_threads, kept))
                emit.insert(nvvm_hopper.SetMaxRegisterOp(count, "increase"))
            self.run_sections(producer)

    def run_after(self) -> None:
        """Emit what follows the loop, behind a sum across blocks perhaps in some of them only."""
        places = [n for n, op in enumerate(self.after) if isinstance(op, ContinueWithOp)]
        first = places[0] if places else len(self.after)
        run_all(self.ctx, self.after[:first])
        for op in self.after[first : first + 1]:
            assert isinstance(op, ContinueWithOp)
            self.continue_with(op, self.after[first + 1 :])

    def continue_with(self, op: ContinueWithOp, rest: Sequence[Operation]) -> None:
        """Emit `rest` in the blocks that `op` says."""
        ctx, emit = self.ctx, self.emit
        if op.blocks.data == LAST_BLOCK:
            if not self.shared_sums:
                fail(op, "adds up partial sums, but the schedule says of none (sums_in_workspace)")
            with emit.when(arrive(ctx, block_barrier)):
                run_all(ctx, rest)
            return
        rank = emit.result(nvvm_hopper.ClusterBlockRankOp())
        if op.blocks.data == CLUSTER:
            ctx.thread = emit.i32(emit.add(ctx.thread, emit.mul(rank, ctx.threads)))
            ctx.threads *= prod(cluster_sizes(self.graph))
            run_all(ctx, rest)
            return
        ending = [each for each in rest[-1:] if is_across_blocks(each)]
        if not ending and any(map(is_lent, self.graph.body.block.ops)):
            fail(op, "has no barrier of the cluster behind what the first block does")
        with emit.when(emit.equal(rank, 0)):
            run_all(ctx, rest[: len(rest) - len(ending)])
        run_all(ctx, ending)

    @property
    def launched_threads(self) -> int:
        """Threads of a block, with those of producer warps."""
        return self.block_threads + self.producers * WARP_THREADS

    def launch(self, arguments: Sequence[str]) -> KernelLaunch:
        """What a launch must know; `arguments` says what each pointer is, then each tensor map."""
        return KernelLaunch(
            grid=tuple(self.grid),
            threads=self.launched_threads,
            shared_bytes=self.graph.memory.shared_bytes,
            occupancy_limit_bytes=self.graph.overlap.occupancy_limit_bytes,
            starts_early=self.graph.overlap.starts_early,
            arguments=tuple(arguments),
        )

    def function(self, name: str) -> llvm.FuncOp:
        """The finished function."""
        graph = self.graph
        attributes: dict[str, Attribute] = {
            "nvvm.kernel": UnitAttr(),
            "nvvm.maxntid": DenseArrayBase.from_list(i32, [self.launched_threads]),
        }
        if limit := graph.schedule.max_registers:
            attributes["nvvm.maxnreg"] = IntegerAttr(limit, i32)
        elif self.is_pipelined:
            # Without it ptxas takes 96 registers for 288 threads, and spills.
            attributes["nvvm.minctasm"] = IntegerAttr(1, i32)
        cluster = launched_cluster(graph)
        meets_others = finds_rows_together(graph)
        if least := fewest_blocks(self.launched_threads, meets_others=meets_others):
            attributes["nvvm.minctasm"] = IntegerAttr(least, i32)
        if prod(cluster) > 1:
            attributes["nvvm.cluster_dim"] = DenseArrayBase.from_list(i32, cluster)
        notes = [self.argument_attributes(root) for root in self.roots]
        notes += [shared_memory_of_blocks()] * self.shared_sums
        notes += [tensor_map_attributes()] * len(self.mapped)
        function = llvm.FuncOp(
            name,
            llvm.LLVMFunctionType(self.kinds),
            linkage=llvm.LinkageAttr("external"),
            body=Region(self.entry),
            other_props={"arg_attrs": ArrayAttr(notes)},
            extra_attrs=attributes,
        )
        function.location = graph.location
        return function

    def argument_attributes(self, root: SSAValue) -> DictionaryAttr:
        """
        What LLVM may assume of a tensor's pointer.

        Of tensors that are read it makes loads of read-only memory (`ld.global.nc`) where nothing
        else has the pointer. What the previous grid writes changes under a kernel that starts
        early, and ptxas moves such loads to before the wait for that grid. So there only what is
        available may be read like this.
        """
        known: dict[str, Attribute] = {"llvm.align": IntegerAttr(POINTER_ALIGNMENT, i64)}
        overlap, inputs = self.graph.overlap, [view_of(value).root for value in self.graph.inputs]
        is_read = root in inputs
        available = root in [inputs[number] for number in overlap.available]
        if not is_read or not overlap.starts_early or available:
            known["llvm.noalias"] = UnitAttr()
            if is_read:
                known["llvm.readonly"] = UnitAttr()
        return DictionaryAttr(known)


def shared_memory_of_blocks() -> DictionaryAttr:
    """What LLVM may assume of a pointer to what other blocks write while this one runs."""
    return DictionaryAttr({"llvm.align": IntegerAttr(POINTER_ALIGNMENT, i64)})


def tensor_map_attributes() -> DictionaryAttr:
    """A tensor map is 128 bytes among the parameters, read there by the copy engine."""
    size, alignment = TENSOR_MAP_BYTES
    return DictionaryAttr(
        {
            "llvm.byval": llvm.LLVMArrayType(size, i8),
            "llvm.align": IntegerAttr(alignment, i64),
            "nvvm.grid_constant": UnitAttr(),
        }
    )


def shared_memory_symbol() -> llvm.GlobalOp:
    """The block's shared memory, whose size the launch gives."""
    kind = llvm.LLVMArrayType(0, i8)
    return llvm.GlobalOp(
        kind, SHARED_SYMBOL, "external", addr_space=3, alignment=LARGEST_ALIGNMENT, body=Region()
    )
