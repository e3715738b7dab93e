"""
Operations that `overlap-launches` adds to the threadblock dialect: programmatic dependent launch.

    kernel.graph_defined ins(%y, %w) grid [2] loop [20] schedule <...> memory <...>
        overlap <starts_early, available = [1]> {
      %x = threadblock.load %ya grid_map [_] loop_map [1] {layout = #x} : ...
      %w = threadblock.load %wa grid_map [1] loop_map [0] {layout = #w} : ...
      threadblock.section "prologue"
      threadblock.prefetch_tiles lines 16 %w : ...
      threadblock.issue_copies iteration 0 uncommitted %w : ...
      threadblock.issue_copies iteration 1 uncommitted %w : ...
      threadblock.await_previous_grid
      threadblock.launch_dependents
      threadblock.issue_copies iteration 0 %x : ...
      threadblock.issue_copies iteration 1 %x : ...

What stands in front of `threadblock.await_previous_grid` runs beside the previous grid, which may
still write all tensors that are not available.
"""

from collections.abc import Sequence

from xdsl.dialects.builtin import I64, IntegerAttr
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import NoTerminator

from mirage_mlir.diagnostics import invalid
from mirage_mlir.dialects.common import i64_attr
from mirage_mlir.dialects.threadblock_bases import TileConstr


@irdl_op_definition
class AwaitPreviousGridOp(IRDLOperation):
    """
    Each thread waits until the previous grid has ended, and all that it wrote can be read.

    (Programmatic dependent launch; `griddepcontrol.wait`.)
    """

    name = "threadblock.await_previous_grid"

    assembly_format = "attr-dict"

    def __init__(self) -> None:
        super().__init__()


@irdl_op_definition
class LaunchDependentsOp(IRDLOperation):
    """
    The next launch may start once all blocks have got here, or have ended.

    (`griddepcontrol.launch_dependents`.)
    """

    name = "threadblock.launch_dependents"

    assembly_format = "attr-dict"

    def __init__(self) -> None:
        super().__init__()


@irdl_op_definition
class PrefetchTilesOp(IRDLOperation):
    """
    Threads prefetch `tiles` into L2: those of as many iterations as have buffers.

    Each thread prefetches up to so many `lines`. Of the blocks that read a tile the first one
    prefetches it; with `first_blocks`, only blocks below that index along the first axis of the
    grid do. A prefetch has no other effect: it is right even if the previous grid writes the tile.
    """

    name = "threadblock.prefetch_tiles"

    lines = prop_def(IntegerAttr[I64])
    first_blocks = opt_prop_def(IntegerAttr[I64])
    tiles = var_operand_def(TileConstr)

    assembly_format = (
        "`lines` $lines (`first_blocks` $first_blocks^)? $tiles attr-dict `:` type($tiles)"
    )

    def __init__(
        self, tiles: Sequence[SSAValue], lines: int, first_blocks: int | None = None
    ) -> None:
        blocks = None if first_blocks is None else i64_attr(first_blocks)
        counts = {"lines": i64_attr(lines), "first_blocks": blocks}
        super().__init__(operands=[tiles], properties=counts)

    def verify_(self) -> None:
        for name, count in (("lines", self.lines), ("first_blocks", self.first_blocks)):
            if count is not None and count.value.data < 1:
                raise invalid(self, f"prefetches with {name} {count.value.data}, which is below 1")


@irdl_op_definition
class OneThreadOp(IRDLOperation):
    """
    The first consumer thread of the block runs `body`; the others go on.

    It starts tensor copies of what the previous grid writes, while the producer still copies what
    is available.
    """

    name = "threadblock.one_thread"

    body = region_def("single_block")

    traits = traits_def(NoTerminator())
    assembly_format = "$body attr-dict"

    def __init__(self, ops: Sequence[Operation]) -> None:
        super().__init__(regions=[Region(Block(ops))])


OVERLAP_OPS = (AwaitPreviousGridOp, LaunchDependentsOp, PrefetchTilesOp, OneThreadOp)
"""All operations that `overlap-launches` adds."""
