"""What the lowering adds to the threadblock dialect for sums across blocks without clusters."""

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
class LeavePartOp(IRDLOperation):
    """
    Leave the block's part of a sum in device memory, where the last block adds all of them up.

    `part` is the number of the sum: the `threadblock.accumulate` with the same `part` has the
    total. With `rescale` the part is relative to that maximum, which is left beside it.
    """

    name = "threadblock.leave_part"

    value = operand_def(AnyAttr())
    rescale = opt_operand_def(AnyAttr())
    part = prop_def(IntegerAttr[I64])

    traits = traits_def(MemoryWriteEffect())
    assembly_format = "$part $value (`rescale` $rescale^)? attr-dict `:` type(operands)"

    def __init__(self, part: int, value: SSAValue, rescale: SSAValue | None):
        super().__init__(operands=[value, rescale], properties={"part": IntegerAttr(part, i64)})
