"""Chooses layouts of tiles in shared memory that cost all their accesses the fewest bank cycles."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import prod

from xdsl.ir import Operation, SSAValue

from mirage_mlir.decisions.schedule import MAX_BUFFER_BYTES, STAGE_COUNTS
from mirage_mlir.dialects import kernel, thread, threadblock
from mirage_mlir.dialects.common import byte_width
from mirage_mlir.dialects.layout import (
    ConvertLayoutOp,
    RegistersAttr,
    SharedAttr,
    layout_of,
    set_layout,
    shared_buffer,
)
from mirage_mlir.dialects.threadblock import Stage
from mirage_mlir.layouts.banks import (
    Access,
    Boxes,
    CopiedPieces,
    Fragments,
    Spread,
    candidates,
    traffic,
)
from mirage_mlir.layouts.layout import (
    MMA_DEPTH,
    PIECE_BYTES,
    RegisterLayout,
    SharedLayout,
    as_matrix,
    blocked,
    round_up,
)
from mirage_mlir.layouts.layout_choice import Option, Problem, choose
from mirage_mlir.passes.analysis.buffers import (
    buffer_element,
    is_staged,
    is_tensor_copy,
    shared_layout,
)
from mirage_mlir.passes.analysis.copy_shapes import copy_shape
from mirage_mlir.passes.analysis.tensor_loads import boxed_layouts
from mirage_mlir.passes.analysis.tile_attributes import (
    blocked_run,
    exchanges_sides,
    maker,
    matmul_sizes,
    reduced_sides,
    uses_wgmma,
)
from mirage_mlir.passes.layouts.row_blocks import spread_over
from mirage_mlir.passes.layouts.wgmma_operands import read_by_wgmma

PASS_COST = 8
"""The cost of a pass over the banks of shared memory: 128 bytes in one cycle. Other costs are
relative to it: of equally fast layouts the smallest is chosen, but no slower one to save memory."""

BYTES_AT_COST = 16
"""Bytes of a tile that cost 1: the size of a tile costs as much as filling it once."""

ADDRESS_COST = 2
"""The cost of a swizzled address for each access instruction of a warp: one operation more on a
quarter of the multiprocessor's lanes. In a padded tile the offset would be a constant. A loop
computes the address once."""


@dataclass(frozen=True)
class Use:
    """
    An access of a tile, with the number of times that a block makes it.

    Args:
        by: the operation that reads it, or that computed the value that is written.
        transposed: whether it is through a view with rows and columns exchanged.
    """

    access: Access
    times: int
    by: Operation
    transposed: bool = False


@dataclass
class TileLayouts:
    """
    Chooses the layouts of one graph's tiles in shared memory.

    Args:
        stages: when each tile is computed.
    """

    graph: kernel.GraphDefinedOp
    stages: dict[SSAValue, Stage]

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return self.graph.schedule.threads

    def run(self) -> None:
        """Give each tile with a choice its best layout, and each view that of its source."""
        tiles: list[Operation] = []
        options: list[list[SharedLayout]] = []
        for op in self.graph.body.block.ops:
            if self.has_choice(op) and len(found := self.options(op)) > 1:
                tiles.append(op)
                options.append(found)
        chosen = self.solve(tiles, options)
        for op, layouts, index in zip(tiles, options, chosen, strict=True):
            set_layout(op, SharedAttr.of(layouts[index]))
        for op in self.graph.body.block.ops:
            if isinstance(op, threadblock.TransposeOp):
                follow(op)

    def solve(self, tiles: list[Operation], options: list[list[SharedLayout]]) -> tuple[int, ...]:
        """The best options for which two buffers of each tile of the loop fit in memory."""
        priced = [
            tuple(self.price(op, layout, uses) for layout in layouts)
            for op, layouts in zip(tiles, options, strict=True)
            for uses in [list(self.uses(op))]
        ]
        problem = Problem(tuple(priced), limit=MAX_BUFFER_BYTES // STAGE_COUNTS[0])
        choice = choose(problem) or choose(replace(problem, limit=None))
        assert choice is not None, "without a limit every choice fits"
        return choice

    def has_choice(self, op: Operation) -> bool:
        """Whether the result of `op` is a tile in shared memory whose layout is to be chosen."""
        if not isinstance(op, threadblock.LoadOp | ConvertLayoutOp | threadblock.ConcatOp):
            return False
        shared = isinstance(layout_of(op.results[0]), SharedAttr)
        # `wgmma` determines the layout of its operands.
        return shared and not read_by_wgmma(op.results[0])

    def options(self, op: Operation) -> list[SharedLayout]:
        """The layouts that the tile of `op` may have."""
        if isinstance(op, threadblock.LoadOp) and is_tensor_copy(op):
            return boxed_layouts(op)
        present = shared_layout(op.results[0])
        item = byte_width(buffer_element(op))
        matrix = any(isinstance(user, threadblock.MatmulOp) for user, _, _ in readers(op))
        # A copied tile keeps the order of its tensor, so that copies move contiguous pieces.
        given = isinstance(op, threadblock.LoadOp) or present.copies > 1 or present.blocks > 1
        found: list[SharedLayout] = []
        for columns_first in [present.column != 1] if given else [False, True]:
            room = self.room(op, columns_first, matrix)
            unit = PIECE_BYTES if matrix or isinstance(op, threadblock.LoadOp) else item
            found += [
                replace(layout, combine=present.combine, blocks=present.blocks)
                for layout in candidates(
                    room, item, columns_first=columns_first, unit=unit, copies=present.copies
                )
            ]
        return found

    def room(self, op: Operation, columns_first: bool, matrix: bool) -> tuple[int, int]:
        """Rows and columns that the tile of `op` must have memory for."""
        rows, columns = as_matrix(threadblock.shape_of(op.results[0]))
        if isinstance(op, ConvertLayoutOp):
            # Room for all elements that threads hold, so that they write without bounds checks.
            spans = self.layout_read(op.input).spans()
            rows, columns = max(rows, spans[0]), max(columns, spans[1])
        lines, run = (columns, rows) if columns_first else (rows, columns)
        if matrix:
            # MMAs read whole fragments, also past the edge of a tile.
            run = round_up(run, MMA_DEPTH)
        if shared_buffer(op).zero_padding:
            lines = round_up(lines, MMA_DEPTH)
        return (run, lines) if columns_first else (lines, run)

    def price(self, op: Operation, layout: SharedLayout, uses: list[Use]) -> Option:
        """The cost of `op`'s tile in a layout."""
        item = byte_width(buffer_element(op))
        size = round_up(layout.size * layout.copies * item, layout.alignment)
        cost = size // BYTES_AT_COST
        cost += sum(self.access_cost(op, layout, use) for use in uses)
        return Option(cost, size if is_staged(op) else 0)

    def access_cost(self, op: Operation, layout: SharedLayout, use: Use) -> int:
        """The cost of an access of `op`'s tile in a layout."""
        item = byte_width(buffer_element(op))
        asked = traffic(use.access, layout, item, use.transposed)
        cost = asked.passes * use.times * PASS_COST
        if isinstance(use.access, Spread) and use.access.lacks is not None:
            cost += asked.instructions * use.times * PASS_COST
        if layout.swizzle and isinstance(use.access, Spread):
            cost += asked.instructions * ADDRESS_COST
        return cost

    # --- who accesses a tile

    def uses(self, op: Operation) -> Iterator[Use]:
        """All accesses of the tile of `op`."""
        times = self.times(op)
        match op:
            case threadblock.LoadOp():
                shape = copy_shape(op)
                if is_tensor_copy(op):
                    yield Use(Boxes(shape.lines, shape.run), times, op)
                else:
                    across = bool(shape.order)
                    pieces = CopiedPieces(shape.lines, shape.run, shape.piece, across)
                    yield Use(pieces, times, op)
            case threadblock.ConcatOp():
                at, dim = 0, op.dim.value.data
                for value in op.operands:
                    shape = threadblock.shape_of(value)
                    start = (0, at) if dim == len(shape) - 1 else (at, 0)
                    yield Use(
                        replace(self.plain(value), writes=True, start=start), times, maker(value)
                    )
                    at += shape[dim]
            case _:
                value = op.operands[0]
                yield Use(replace(self.plain(value), writes=True), times, maker(value))
        for user, index, transposed in readers(op):
            access = self.access_of(user, index)
            if access is not None:
                resident = isinstance(user, threadblock.MatmulOp) and user.lhs_in_registers
                yield Use(
                    access, 1 if resident and index == 0 else self.times(user), user, transposed
                )

    def times(self, op: Operation) -> int:
        """How often a block runs `op`."""
        looped = isinstance(op, threadblock.AccumulateOp) and (self.stages[op.value] == Stage.LOOP)
        looped = looped or any(self.stages[result] == Stage.LOOP for result in op.results)
        return prod(self.graph.loop_sizes) if looped else 1

    def access_of(self, user: Operation, index: int) -> Access | None:
        """How `user` reads its operand `index`; None for accesses that cost little."""
        value = user.operands[index]
        match user:
            case threadblock.MatmulOp() if uses_wgmma(user):
                return None
            case threadblock.MatmulOp():
                return Fragments(matmul_sizes(user), user.warp_counts, index == 1)
            case thread.GraphOp():
                layout = layout_of(user.results[0])
                assert isinstance(layout, RegistersAttr)
                shape = threadblock.shape_of(user.results[0])
                return spread_over(layout.layout, threadblock.shape_of(value), shape)
            case threadblock.AccumulateOp() | ConvertLayoutOp() if index > 0:
                return None
            case threadblock.ReduceSumOp() | threadblock.ReduceMaxOp():
                return None if reduced_sides(user) is None else self.plain(value)
            case _:
                return self.plain(value)

    def plain(self, value: SSAValue) -> Spread:
        """An access of the whole of `value` in the layout in which most operations read it."""
        return Spread(self.layout_read(value), as_matrix(threadblock.shape_of(value)))

    def layout_read(self, value: SSAValue) -> RegisterLayout:
        """The register layout in which `value` is read: its own, or blocked if it is in memory."""
        attribute = layout_of(value)
        if isinstance(attribute, RegistersAttr):
            return attribute.layout
        return blocked(threadblock.shape_of(value), self.threads, blocked_run(self.graph, value))


def readers(op: Operation, transposed: bool = False) -> Iterator[tuple[Operation, int, bool]]:
    """The readers of `op`'s tile, with operand number, and whether through a transposed view."""
    for use in op.results[0].uses:
        user = use.operation
        if isinstance(user, threadblock.TransposeOp):
            yield from readers(user, transposed != is_exchange(user))
        else:
            yield user, use.index, transposed


def is_exchange(op: threadblock.TransposeOp) -> bool:
    """Whether a transpose exchanges rows and columns of the matrix."""
    return bool(exchanges_sides(threadblock.shape_of(op.input), op.permutation.get_values()))


def follow(op: threadblock.TransposeOp) -> None:
    """Give a view of shared memory the layout of its source."""
    if isinstance(layout_of(op.input), RegistersAttr):
        return
    source = shared_layout(op.input)
    set_layout(op, SharedAttr.of(source.transposed() if is_exchange(op) else source))
