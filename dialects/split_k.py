"""The operation that the lowering adds to the threadblock dialect for split-K without clusters."""

from xdsl.dialects.builtin import I64, IntegerAttr, i64
from xdsl.ir import SSAValue
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    prop_def,
    traits_def,
)
from xdsl.traits import MemoryWriteEffect


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
