"""
Operations by which threads keep tiles of later iterations in registers until buffers are free.

    threadblock.section "prologue"
    threadblock.issue_copies iteration 0 %x : ...
    threadblock.fetch_tiles ahead 1 %x : ...
    threadblock.section "main_loop"
    threadblock.barrier pending 0
    %p = threadblock.matmul %x, %w : ...
    threadblock.store_fetched ahead 1 %x : ...
    threadblock.fetch_tiles ahead 2 %x : ...

Loads of an iteration's tiles are in flight from one iteration to the next.
"""

from collections.abc import Sequence

from xdsl.dialects.builtin import I64, IntegerAttr
from xdsl.ir import SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, prop_def, var_operand_def

from mirage_mlir.diagnostics import invalid
from mirage_mlir.dialects.common import i64_attr
from mirage_mlir.dialects.threadblock_bases import TileConstr


class FetchedTilesBase(IRDLOperation):
    """An operation on tiles of the iteration that is `ahead` iterations later."""

    ahead = prop_def(IntegerAttr[I64])
    tiles = var_operand_def(TileConstr)

    assembly_format = "`ahead` $ahead $tiles attr-dict `:` type($tiles)"

    def __init__(self, tiles: Sequence[SSAValue], ahead: int) -> None:
        super().__init__(operands=[tiles], properties={"ahead": i64_attr(ahead)})

    def verify_(self) -> None:
        if (ahead := self.ahead.value.data) < 1:
            raise invalid(self, f"is of tiles {ahead} iterations ahead: 1 is the least")


@irdl_op_definition
class FetchTilesOp(FetchedTilesBase):
    """
    All threads start to load the tiles of a later iteration, if there is one, into registers.

    It is the iteration that is `ahead` iterations later; in the prologue, than the first. The tiles
    have `copy = "realigned"`.
    """

    name = "threadblock.fetch_tiles"


@irdl_op_definition
class StoreFetchedOp(FetchedTilesBase):
    """
    All threads store the fetched tiles of the iteration that is `ahead` iterations later.

    Each thread waits for what it loaded itself. The tiles are those that the iteration before has
    fetched, or the prologue.
    """

    name = "threadblock.store_fetched"


FETCH_OPS = (FetchTilesOp, StoreFetchedOp)
