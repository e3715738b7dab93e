"""Functions that programs may have as operators of their own, or spell out."""

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from mirage_mlir.dialects import kernel, thread
from mirage_mlir.dialects.bases import constant_value

NEGATION = kernel.ROW_OPS["neg"]


def expands_sigmoid(*functions: FuncOp) -> bool:
    """Whether sigmoid(x) is taken for 1 / (1 + exp(-x)): thread graphs or programs spell it out."""
    ops = (op for function in functions for op in function.walk())
    return any(isinstance(op, thread.GraphOp) or _divides_by_logistic(op) for op in ops)


def _divides_by_logistic(op: Operation) -> bool:
    return isinstance(op, kernel.DivOp) and logistic_argument(op.rhs) is not None


def logistic_argument(value: SSAValue) -> SSAValue | None:
    """x where `value` is `1 + exp(-x)`, computed in its own element type."""
    total = value.owner
    if not isinstance(total, kernel.AddOp):
        return None
    for one, other in ((total.lhs, total.rhs), (total.rhs, total.lhs)):
        if constant_value(one) == 1 and isinstance(other.owner, kernel.ExpOp):
            argument = _negated(other.owner.input)
            if argument is not None and argument.type == value.type:
                return argument
    return None


def _negated(value: SSAValue) -> SSAValue | None:
    """x where `value` is `-x`."""
    op = value.owner
    if isinstance(op, kernel.ScaleOp):
        return op.input if op.factor.value.data == -1 else None
    return op.operands[0] if isinstance(op, NEGATION) else None
