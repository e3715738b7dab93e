"""The `assign-layouts` pass."""

from dataclasses import dataclass, field, replace
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, ModuleOp, UnitAttr, i64
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.transforms.dead_code_elimination import dce

from mirage_mlir.diagnostics import fail
from mirage_mlir.dialects import kernel, thread, threadblock
from mirage_mlir.dialects.layout import (
    ConvertLayoutOp,
    GlobalAttr,
    RegistersAttr,
    SharedAttr,
    layout_of,
    set_layout,
)
from mirage_mlir.dialects.threadblock import Stage
from mirage_mlir.graph.layout import (
    MMA_DEPTH,
    WARP_THREADS,
    RegisterLayout,
    SharedLayout,
    as_matrix,
    blocked,
    largest_power_of_two_divisor,
    mma_result,
    round_up,
    shared_tile,
)
from mirage_mlir.graph.schedule import choose_warps, elementwise_threads, matrix_threads
from mirage_mlir.passes.lowering.context import buffer_of
from mirage_mlir.passes.lowering.tiles import (
    CLUSTER_SHARES,
    THREADS,
    WARPS,
    ZERO_PADDING,
    blocks_across,
    cluster_sizes,
    ends_in_stores,
    exchanges_sides,
    folding_sides,
    is_folded,
    item_bytes,
    matmul_sizes,
    reduced_sides,
    split_warp_bits,
    uses_matrix_unit,
)
from mirage_mlir.passes.lowering.views import row_major_columns


def choose_threads(graph: kernel.GraphDefinedOp) -> int:
    """Threads of the block: by accumulators where there are matrix products, else by elements."""
    matmuls = [op for op in graph.body.block.ops if isinstance(op, threadblock.MatmulOp)]
    if matmuls:
        return matrix_threads([matmul_sizes(op)[:2] for op in matmuls])
    return elementwise_threads(
        max(
            prod(threadblock.shape_of(value))
            for op in graph.body.block.ops
            for value in (*op.operands, *op.results)
            if isinstance(value.type, threadblock.TileType)
        )
    )


def shared_for(value: SSAValue, *, columns_first: bool = False) -> SharedLayout:
    """The layout of a tile in shared memory; columns are neighbours unless told so."""
    rows, columns = as_matrix(threadblock.shape_of(value))
    return shared_tile(rows, columns, item_bytes(value), columns_first=columns_first)


def shared_from(value: SSAValue, layout: RegisterLayout) -> SharedLayout:
    """Room for all that `layout` addresses, so that threads write without asking for the edge."""
    rows, columns = layout.spans()
    return shared_tile(rows, columns, item_bytes(value), copies=layout.partial)


@dataclass
class LayoutAssignment:
    """Gives each operation of one graph its layout, in program order."""

    graph: kernel.GraphDefinedOp
    threads: int
    stages: dict[SSAValue, Stage]
    sharing: int
    converted: dict[tuple[SSAValue, str], SSAValue] = field(
        default_factory=dict[tuple[SSAValue, str], SSAValue]
    )

    def run(self) -> None:
        """Visit every operation; new conversions are placed in front of the one that asks."""
        for op in list(self.graph.body.block.ops):
            match op:
                case threadblock.LoadOp():
                    self.load(op)
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
                case threadblock.StoreOp():
                    self.whole(op, 0)
                case _:
                    fail(op, "has no lowering; run fuse-thread-graphs first")

    def load(self, op: threadblock.LoadOp) -> None:
        """In shared memory for matrix units, loops and several readings, else read in place."""
        users = [use.operation for use in op.result.uses]
        staged = self.stages[op.result] == Stage.LOOP
        in_loop = any(
            self.stages[result] == Stage.LOOP for user in users for result in user.results
        )
        moved = (threadblock.MatmulOp, threadblock.TransposeOp)
        if not (staged or in_loop or any(isinstance(user, moved) for user in users)):
            return set_layout(op, GlobalAttr())
        # Of several matrices no column is one run of neighbours.
        single = prod(threadblock.shape_of(op.result)[:-2]) == 1
        columns_first = single and not row_major_columns(op.source)
        set_layout(op, SharedAttr.of(shared_for(op.result, columns_first=columns_first)))

    def matmul(self, op: threadblock.MatmulOp) -> None:
        """Operands in shared memory; accumulators where `mma.sync` has them."""
        for index in (0, 1):
            self.in_shared(op, index)
        rows, columns, depth = sizes = matmul_sizes(op)
        if depth % MMA_DEPTH:
            for value in op.operands:
                pad_depth(value)
        if not uses_matrix_unit(op):
            return set_layout(op, RegistersAttr.of(blocked((rows, columns), self.threads)))
        users = [use.operation for use in op.result.uses]
        summed = all(
            isinstance(user, threadblock.AccumulateOp) and user.kind.data == "sum" for user in users
        )
        warps = choose_warps(sizes, self.threads // WARP_THREADS, summed)
        op.attributes[WARPS] = DenseArrayBase.from_list(i64, list(warps))
        set_layout(op, RegistersAttr.of(mma_result(rows, columns, warps)))

    def accumulate(self, op: threadblock.AccumulateOp) -> None:
        """In the registers of the value that is added."""
        if op.rescale is not None:
            fail(op, "rescales its sum, which has no lowering yet")
        if self.stages[op.value] != Stage.LOOP:
            fail(op, "sums a value from outside the loop, which has no lowering yet")
        layout = self.registers_for(op, 0, partial=True)
        folded = self.folded(op, layout)
        set_layout(op, RegistersAttr.of(folded or layout))
        if layout.partial > 1 or (blocks_across(op) > 1 and folded is None):
            shared = shared_from(op.result, layout)
            shared = replace(shared, combine=op.kind.data, blocks=blocks_across(op))
            self.convert(op.result, shared, after=op)

    def folded(self, op: threadblock.AccumulateOp, layout: RegisterLayout) -> RegisterLayout | None:
        """What a thread must keep when all that follows is a reduction over rows or columns."""
        users = [use.operation for use in op.result.uses]
        if len(users) != 1 or layout.partial > 1:
            return None
        sides = folding_sides(op)
        return layout.folded(*sides) if sides else None

    def reduce(self, op: threadblock.ReduceSumOp | threadblock.ReduceMaxOp) -> None:
        """Row or column scalars in shared memory, a copy from each warp that has a part."""
        sides = reduced_sides(op)
        if sides is None:
            self.in_shared(op, 0)
            rows, columns = as_matrix(threadblock.shape_of(op.result))
            return set_layout(op, SharedAttr.of(SharedLayout(columns, 1, rows * columns)))
        rows, columns = sides
        layout = self.registers_for(op, 0)
        copies = 1 << len(split_warp_bits(layout, rows, columns))
        kind = "sum" if isinstance(op, threadblock.ReduceSumOp) else "max"
        down, across = layout.spans()
        down, across = 1 if rows else down, 1 if columns else across
        blocks = blocks_across(op.input.owner) if is_folded(op.input) else 1
        size = down * across
        set_layout(op, SharedAttr.of(SharedLayout(across, 1, size, copies, kind, blocks)))

    def thread_graph(self, op: thread.GraphOp) -> None:
        """In the layout of an operand of the same shape that is in registers, if there is one."""
        shape = threadblock.shape_of(op.results[0])
        threads = self.threads * self.shared_by(op)
        # A cluster has many threads: give each of them something rather than few a wide piece.
        widest = 8 if threads == self.threads else max(2, min(8, prod(shape) // threads))
        layout = blocked(shape, threads, largest_power_of_two_divisor(widest, 8))
        for value in op.operands:
            attribute = layout_of(value)
            same = threadblock.shape_of(value) == shape
            if same and isinstance(attribute, RegistersAttr) and attribute.layout.partial == 1:
                layout = attribute.layout
                break
        for index, value in enumerate(op.operands):
            attribute = layout_of(value)
            same = threadblock.shape_of(value) == shape
            fits = isinstance(attribute, RegistersAttr) and same and attribute.layout == layout
            if isinstance(attribute, RegistersAttr) and not fits:
                self.in_shared(op, index)
        set_layout(op, RegistersAttr.of(layout))

    def shared_by(self, op: Operation) -> int:
        """Blocks of a cluster that each compute a part of `op`'s result."""
        return self.sharing if self.stages[op.results[0]] == Stage.POST else 1

    def transpose(self, op: threadblock.TransposeOp) -> None:
        """The same shared memory, seen from the other side where rows and columns change places."""
        permutation = tuple(op.permutation.get_values())
        exchanged = exchanges_sides(threadblock.shape_of(op.input), permutation)
        if exchanged is None:
            fail(op, f"permutes dims as {permutation}; only rows and columns can be exchanged")
        self.in_shared(op, 0)
        attribute = layout_of(op.input)
        assert isinstance(attribute, SharedAttr)
        layout = attribute.layout.transposed() if exchanged else attribute.layout
        set_layout(op, SharedAttr.of(layout))

    def concat(self, op: threadblock.ConcatOp) -> None:
        """Side by side in shared memory."""
        for index in range(len(op.operands)):
            self.whole(op, index)
        set_layout(op, SharedAttr.of(shared_for(op.results[0])))

    def registers_for(self, op: Operation, index: int, partial: bool = False) -> RegisterLayout:
        """The layout in which operand `index` is read: its own, or blocked from memory."""
        if not partial:
            self.whole(op, index)
        value = op.operands[index]
        attribute = layout_of(value)
        if isinstance(attribute, RegistersAttr):
            return attribute.layout
        return blocked(threadblock.shape_of(value), self.threads)

    def whole(self, op: Operation, index: int) -> None:
        """Make sure that operand `index` is no partial sum."""
        attribute = layout_of(op.operands[index])
        if isinstance(attribute, RegistersAttr) and attribute.layout.partial > 1:
            self.in_shared(op, index)

    def in_shared(self, op: Operation, index: int) -> None:
        """Make operand `index` one that any thread can read anywhere: one whole copy."""
        value = op.operands[index]
        attribute = layout_of(value)
        if isinstance(attribute, SharedAttr) and attribute.layout.whole:
            return
        if isinstance(attribute, GlobalAttr) and not isinstance(
            op, threadblock.MatmulOp | threadblock.TransposeOp
        ):
            return
        if isinstance(attribute, RegistersAttr):
            shared = shared_from(value, attribute.layout)
        else:
            shared = shared_for(value)
        op.operands[index] = self.convert(value, shared, before=op)

    def convert(
        self,
        value: SSAValue,
        layout: SharedLayout,
        *,
        before: Operation | None = None,
        after: Operation | None = None,
    ) -> SSAValue:
        """`value` in shared memory, written once however often it is asked for."""
        key = (value, str(layout))
        if key not in self.converted:
            op = ConvertLayoutOp(value)
            source = value.owner
            assert isinstance(source, Operation)
            op.location = source.location
            set_layout(op, SharedAttr.of(layout))
            if after is not None:
                self.graph.body.block.insert_op_after(op, after)
                value.replace_uses_with_if(op.result, lambda use: use.operation is not op)
            elif before is not None:
                self.graph.body.block.insert_op_before(op, before)
            self.stages[op.result] = self.stages[value]
            self.converted[key] = op.result
        return self.converted[key]


def pad_depth(value: SSAValue) -> None:
    """Give a matrix unit's operand room for a whole last fragment, which the kernel zeroes."""
    op = buffer_of(value)
    attribute = layout_of(op.results[0])
    assert isinstance(attribute, SharedAttr)
    layout = attribute.layout
    pitch = max(layout.row, layout.column)
    size = round_up(layout.size, pitch * MMA_DEPTH)
    set_layout(op, SharedAttr.of(replace(layout, size=size)))
    op.attributes[ZERO_PADDING] = UnitAttr()


def assign(graph: kernel.GraphDefinedOp) -> None:
    """Give `graph` its threads and each of its operations a layout."""
    given = graph.attributes.get(THREADS)
    threads = given.value.data if isinstance(given, IntegerAttr) else choose_threads(graph)
    graph.attributes[THREADS] = IntegerAttr(threads, i64)
    stages = threadblock.stages(graph)
    cluster = prod(cluster_sizes(graph))
    shares = cluster > 1 and ends_in_stores(graph, stages)
    if shares:
        graph.attributes[CLUSTER_SHARES] = UnitAttr()
    LayoutAssignment(graph, threads, stages, cluster if shares else 1).run()


@dataclass(frozen=True)
class AssignLayoutsPass(ModulePass):
    """
    Say where each tile lives, and insert the conversions that this takes.

    Input:
        %p = threadblock.matmul %x, %w : (...) -> !threadblock.tile<16x48xf32>
        %a = threadblock.accumulate %p : (...) -> !threadblock.tile<16x48xf32>

    Output (the layouts of the tiles, shortened):
        %p = threadblock.matmul %x, %w {layout = registers, warps = array<i64: 1, 1, 4>}
        %a = threadblock.accumulate %p {layout = registers}
        %s = threadblock.convert_layout %a {layout = shared, 4 copies}

    Choices that are fixed here: rows in shared memory are padded, not swizzled; threads run along
    columns first; warps share a product by least instructions, split along its depth only where
    the sum is accumulated.

    Fails on an operation that has no place in a kernel: sums across blocks, rescaled sums.
    """

    name = "assign-layouts"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Visit every `kernel.graph_defined` of the module."""
        for graph in [g for g in op.walk() if isinstance(g, kernel.GraphDefinedOp)]:
            assign(graph)
        dce(op)
