"""Gradients that are zero whatever the inputs are."""

from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region, SSAValue

from mirage_mlir.dialects import kernel
from mirage_mlir.equivalence.symbolic.proof import prove

MOST_OPERATORS = 100
"""Operators of a program up to which gradients are looked at: that takes some 50 ms each."""


def vanishes(block: Block, value: SSAValue) -> bool:
    """
    Whether a value is provably zero; `block` makes it, and needs no terminator yet.

    The maximum that is subtracted before an exp has such a gradient: it keeps numbers in range and
    changes no result. Gradients through it would be comparisons with each element.
    """
    if len(block.ops) > MOST_OPERATORS or (region := block.parent) is None:
        return False
    body, copies = Region(), dict[SSAValue, SSAValue]()
    region.clone_into(body, value_mapper=copies)
    body.block.add_op(ReturnOp(copies[value]))
    zero = kernel.ConstantOp(0.0, kernel.tensor_type(value))
    zeros = Region(Block([zero, ReturnOp(zero.result)], arg_types=block.arg_types))
    types = list(block.arg_types), [value.type]
    return prove(FuncOp("gradient", types, body), FuncOp("zero", types, zeros)).proved
