"""Which values a program rounds, and which it reads as they are before."""

from xdsl.dialects.builtin import f32
from xdsl.ir import Operation, SSAValue

from mirage_mlir.dialects import kernel


def narrows(op: Operation) -> bool:
    """Whether an operator only rounds its operand."""
    return isinstance(op, kernel.CastOp) and not is_wide(op.result)


def widens(op: Operation) -> bool:
    """Whether an operator only gives its operand another element type, with no digit lost."""
    return isinstance(op, kernel.CastOp) and kernel.tensor_type(op.result).element_type == f32


def is_wide(value: SSAValue) -> bool:
    """Whether a value is in f32, and was not rounded just before."""
    if kernel.tensor_type(value).element_type != f32:
        return False
    return not isinstance(value.owner, kernel.CastOp) or is_wide(value.owner.input)


TELLING = (kernel.SubOp, kernel.DivOp, kernel.CompareOp)
"""Operators whose results say what rounding did to a value."""


def tells_rounding(op: Operation) -> bool:
    """
    Whether an operator takes a value and what it is rounded to, as a split in two halves does.

    Casts are nothing to the search, which would find that `x - bf16(x)` is 0, and that such halves
    need not be multiplied one by one. So it has a kernel of its own.
    """
    if not isinstance(op, TELLING):
        return False
    (one, roundings), (two, others) = map(_origin, op.operands)
    return one is two and roundings != others


def _origin(value: SSAValue) -> tuple[SSAValue, frozenset[str]]:
    """What casts make a value of, one after the other, and the element types that they round to."""
    found: set[str] = set()
    while isinstance(value.owner, kernel.CastOp):
        element = kernel.tensor_type(value).element_type
        found |= {element.name} if element != f32 else set()
        value = value.owner.input
    return value, frozenset(found)
