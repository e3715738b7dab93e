"""Places each tile in registers or shared memory, and inserts layout conversions for its users."""

from dataclasses import dataclass, field, replace
from typing import NoReturn

from xdsl.builder import Builder
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import UnitAttr, f32
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint

from mirage_mlir.dialects import kernel, thread, threadblock
from mirage_mlir.dialects.layout import (
    ConvertLayoutOp,
    GlobalAttr,
    RegistersAttr,
    SharedAttr,
    layout_of,
    set_layout,
    set_shared_buffer,
    shared_buffer,
)
from mirage_mlir.dialects.threadblock import Stage
from mirage_mlir.layouts.layout import (
    MMA_DEPTH,
    RegisterLayout,
    SharedLayout,
    as_matrix,
    blocked,
    round_up,
)
from mirage_mlir.layouts.padding import shared_tile
from mirage_mlir.passes.analysis.buffers import buffer_of
from mirage_mlir.passes.analysis.tile_attributes import (
    blocked_run,
    broadcast_sides,
    item_bytes,
    matmul_sizes,
)
from mirage_mlir.passes.layouts.permuted_reads import is_read_apart


def shared_for(value: SSAValue, *, columns_first: bool = False) -> SharedLayout:
    """The layout of a tile in shared memory; row-major unless `columns_first`."""
    rows, columns = as_matrix(threadblock.shape_of(value))
    return shared_tile(rows, columns, item_bytes(value), columns_first=columns_first)


def shared_from(value: SSAValue, layout: RegisterLayout) -> SharedLayout:
    """The layout padded to whole accesses, so that threads store without bounds checks."""
    rows, columns = layout.spans()
    return shared_tile(rows, columns, item_bytes(value), copies=layout.partial)


def scalars_from(layout: RegisterLayout) -> SharedLayout:
    """The unpadded layout in shared memory, for tiles that no tensor core reads."""
    rows, columns = layout.spans()
    return SharedLayout(columns, 1, rows * columns, layout.partial)


def is_partial(value: SSAValue) -> bool:
    """Whether the registers of each warp hold only a partial sum of `value`."""
    attribute = layout_of(value)
    return isinstance(attribute, RegistersAttr) and attribute.layout.partial > 1


def pad_depth(value: SSAValue) -> None:
    """Pad an MMA operand to whole fragments along its depth; the kernel zeroes the padding."""
    op = buffer_of(value)
    attribute = layout_of(op.results[0])
    assert isinstance(attribute, SharedAttr)
    layout = attribute.layout
    pitch = max(layout.row, layout.column)
    size = round_up(layout.size, pitch * MMA_DEPTH)
    set_layout(op, SharedAttr.of(replace(layout, size=size)))
    set_shared_buffer(op, replace(shared_buffer(op), zero_padding=True))


def leading(op: thread.GraphOp) -> SSAValue | None:
    """The operand in registers whose layout a thread graph takes; None where there is none."""
    shape = threadblock.shape_of(op.results[0])
    for value in op.operands:
        attribute = layout_of(value)
        same = broadcast_sides(threadblock.shape_of(value), shape) == (False, False)
        if same and isinstance(attribute, RegistersAttr) and attribute.layout.partial == 1:
            return value
    return None


def reads_apart(op: thread.GraphOp) -> bool:
    """Whether the operand whose layout a thread graph takes is read apart: it may have another."""
    value = leading(op)
    return value is not None and is_read_apart(value)


def merging_graph(value: SSAValue, own: SSAValue, top: SSAValue) -> thread.GraphOp:
    """A thread graph of `value * exp(own - top)`."""
    block = Block(arg_types=[f32] * 3)
    builder = Builder(InsertPoint.at_end(block))
    difference = builder.insert(arith.SubfOp(block.args[1], block.args[2])).result
    factor = builder.insert(math.ExpOp(difference)).result
    builder.insert(thread.StoreOp(builder.insert(arith.MulfOp(block.args[0], factor)).result))
    graph = thread.GraphOp([value, own, top], [value.type], Region(block))
    graph.merges = UnitAttr()
    return graph


class NoCommonMaximum(Exception):
    """
    Row maxima were assigned to single warps, but one of all warps is needed.

    Args:
        row_maximum: the number of the operation in the graph that computes them.
    """

    def __init__(self, row_maximum: int) -> None:
        super().__init__(f"operation {row_maximum} must be the same in all warps")
        self.row_maximum = row_maximum


@dataclass
class TilePlaces:
    """
    The tiles of one graph, and their copies in shared memory.

    Args:
        threads: threads of a block.
        stages: when each tile is computed.
        relative: tiles that depend on row maxima of single warps, and on which.
        numbers: the numbers of the operations in program order, before any was inserted.
        converted: the copies, by tile and layout.
    """

    graph: kernel.GraphDefinedOp
    threads: int
    stages: dict[SSAValue, Stage]
    relative: dict[SSAValue, SSAValue] = field(
        default_factory=dict[SSAValue, SSAValue], kw_only=True
    )
    numbers: dict[Operation, int] = field(default_factory=dict[Operation, int], kw_only=True)
    converted: dict[tuple[SSAValue, str], SSAValue] = field(
        default_factory=dict[tuple[SSAValue, str], SSAValue], kw_only=True
    )

    def follow(self, value: SSAValue, result: SSAValue) -> None:
        """Note that `result` depends on the row maximum of a warp that `value` depends on."""
        if value in self.relative:
            self.relative[result] = self.relative[value]

    def registers_for(self, op: Operation, index: int, partial: bool = False) -> RegisterLayout:
        """The layout in which operand `index` is read: its own, or blocked from memory."""
        if not partial:
            self.whole(op, index)
        value = op.operands[index]
        attribute = layout_of(value)
        if isinstance(attribute, RegistersAttr):
            return attribute.layout
        return blocked(threadblock.shape_of(value), self.threads, blocked_run(self.graph, value))

    def whole(self, op: Operation, index: int) -> None:
        """Replace operand `index`, if it is a partial sum, by the whole sum in shared memory."""
        if is_partial(op.operands[index]):
            self.in_shared(op, index)

    def in_shared(self, op: Operation, index: int) -> None:
        """Replace operand `index` by a copy in shared memory that any thread can read."""
        value = op.operands[index]
        if value in self.relative:
            self.want_common(value)
        attribute = layout_of(value)
        if isinstance(attribute, SharedAttr) and attribute.layout.whole:
            # A depth of one is padded with zeros, for which scalars side by side leave no room.
            scalars = attribute.layout.row == attribute.layout.column
            if not (scalars and isinstance(op, threadblock.MatmulOp) and matmul_sizes(op)[2] == 1):
                return
        if isinstance(attribute, GlobalAttr) and not isinstance(
            op, threadblock.MatmulOp | threadblock.TransposeOp
        ):
            return
        if isinstance(attribute, RegistersAttr):
            matrix = isinstance(op, threadblock.MatmulOp | threadblock.TransposeOp)
            narrow = not matrix and 1 in as_matrix(threadblock.shape_of(value))
            layout = attribute.layout
            shared = scalars_from(layout) if narrow else shared_from(value, layout)
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
        maxima: SSAValue | None = None,
    ) -> SSAValue:
        """`value` in shared memory; one conversion serves all users."""
        key = (value, str(layout))
        if key not in self.converted:
            op = ConvertLayoutOp(value, maxima)
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

    def spread(
        self,
        value: SSAValue,
        layout: SharedLayout,
        blocks: int,
        after: Operation,
        maxima: SSAValue | None = None,
    ) -> SSAValue:
        """
        `value` in shared memory, where the blocks of a cluster read each other's partial sums.

        Partial sums of warps are combined within the block first, because reading another block's
        memory is slow. `maxima` are the row maxima of each block's rescaled partial sum.
        """
        if blocks > 1 and layout.copies > 1:
            value = self.convert(value, layout, after=after)
            assert isinstance(value.owner, Operation)
            layout, after = replace(layout, copies=1), value.owner
        return self.convert(value, replace(layout, blocks=blocks), after=after, maxima=maxima)

    def want_common(self, value: SSAValue) -> NoReturn:
        """Restart the assignment with an exact row maximum that is the same in all warps."""
        owner = self.relative.get(value, value).owner
        assert isinstance(owner, Operation)
        raise NoCommonMaximum(self.numbers[owner])
