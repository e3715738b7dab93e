"""Which values a program rounds, and which it reads as they are before."""

from xdsl.dialects.builtin import f32
from xdsl.ir import Operation, SSAValue

from mirage_mlir.dialects import kernel


def narrows(op: Operation) -> bool:
    """Whether an operator only rounds its operand."""
    return isinstance(op, kernel.CastOp) and not is_wide(op.result)


def is_wide(value: SSAValue) -> bool:
    """Whether a value is in f32, and was not rounded just before."""
    if kernel.tensor_type(value).element_type != f32:
        return False
    return not isinstance(value.owner, kernel.CastOp) or is_wide(value.owner.input)
