"""
Operations that the lowering adds to the threadblock dialect for sums across blocks.

Through a workspace (split-K), where the block that arrives last adds up the partial sums of all:

    threadblock.store_partial_sum 0 %b : !threadblock.tile<16x64xf32>
    threadblock.continue_with "last_block"
    %a = threadblock.accumulate %b across [1] {partial_sum = 0 : i64} : ...

In a cluster, where the first block reads the shared memory of the others, which wait for that:

    threadblock.barrier cluster
    threadblock.continue_with "first_block"
    %s = threadblock.accumulate %c across [1] : ...
    threadblock.barrier cluster

Or each block delivers its part to all of them, once they have started. Then none waits for others
before it ends:

    threadblock.arrive_cluster started
    ...
    threadblock.await_cluster
    %d = threadblock.convert_layout %c {delivered, ...} : ...
    threadblock.barrier cluster
"""

from xdsl.dialects.builtin import I64, IntegerAttr, StringAttr, UnitAttr, i64
from xdsl.ir import SSAValue
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    traits_def,
)
from xdsl.traits import MemoryWriteEffect

from mirage_mlir.diagnostics import invalid

CLUSTER, FIRST_BLOCK, LAST_BLOCK = "cluster", "first_block", "last_block"

CONTINUING = (CLUSTER, FIRST_BLOCK, LAST_BLOCK)
"""Which blocks go on behind a sum across blocks, unless each does with tiles of its own."""


@irdl_op_definition
class StorePartialSumOp(IRDLOperation):
    """
    Store the block's partial sum in device memory, where the last block adds up all of them.

    `number` identifies the sum: the `threadblock.accumulate` whose `partial_sum` is that number
    computes the total. With `rescale` the partial sum is relative to that row maximum, which is
    stored with it.
    """

    name = "threadblock.store_partial_sum"

    value = operand_def(AnyAttr())
    rescale = opt_operand_def(AnyAttr())
    number = prop_def(IntegerAttr[I64])

    traits = traits_def(MemoryWriteEffect())
    assembly_format = "$number $value (`rescale` $rescale^)? attr-dict `:` type(operands)"

    def __init__(self, number: int, value: SSAValue, rescale: SSAValue | None):
        super().__init__(operands=[value, rescale], properties={"number": IntegerAttr(number, i64)})


@irdl_op_definition
class ContinueWithOp(IRDLOperation):
    """
    Only some of the blocks that share a sum run the operations that follow.

    `"cluster"`: all of a cluster, whose threads share each tile as if they were of one block.
    `"first_block"`: the first of a cluster; the others go to the barrier behind these operations,
    or end where there is none.
    `"last_block"`: the one that gets here last, as a counter in memory says; the others end.
    """

    name = "threadblock.continue_with"

    blocks = prop_def(StringAttr)

    assembly_format = "$blocks attr-dict"

    def __init__(self, blocks: str) -> None:
        super().__init__(properties={"blocks": StringAttr(blocks)})

    def verify_(self) -> None:
        if (name := self.blocks.data) not in CONTINUING:
            names = ", ".join(f'"{each}"' for each in CONTINUING)
            raise invalid(self, f'is with "{name}", which is none of {names}')


@irdl_op_definition
class ArriveClusterOp(IRDLOperation):
    """
    A thread says that it reads no more shared memory of other blocks of its cluster; or only that
    its block has `started`, whatever it does with shared memory until it waits.
    """

    name = "threadblock.arrive_cluster"

    started = opt_prop_def(UnitAttr)

    assembly_format = "(`started` $started^)? attr-dict"

    def __init__(self, *, started: bool = False) -> None:
        super().__init__(properties={"started": UnitAttr() if started else None})


@irdl_op_definition
class AwaitClusterOp(IRDLOperation):
    """
    A thread waits until all of the cluster have arrived: then its block may end, or the others have
    started.
    """

    name = "threadblock.await_cluster"

    assembly_format = "attr-dict"

    def __init__(self) -> None:
        super().__init__()


CLUSTER_OPS = (ContinueWithOp, ArriveClusterOp, AwaitClusterOp)
"""Operations between those that compute; `StorePartialSumOp` stores a tile."""
