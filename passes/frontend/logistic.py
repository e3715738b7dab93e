"""
The logistic function where a program spells it out: `y / (1 + exp(-x))` is `y * sigmoid(x)`.

Frameworks take `silu` and `sigmoid` apart. As one operator of x they are a single step of the
search, and their exponential cannot overflow.
"""

from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import Rewriter

from mirage_mlir.dialects import kernel
from mirage_mlir.dialects.bases import constant_value
from mirage_mlir.interpreters.spelled_out import logistic_argument


def join_logistic(function: FuncOp) -> None:
    """Rewrite, in place, divisions by `1 + exp(-x)`; what nobody reads any more is dropped."""
    for op in list(function.body.block.ops):
        if isinstance(op, kernel.DivOp) and (argument := logistic_argument(op.rhs)) is not None:
            if kernel.shape_of(argument) == kernel.shape_of(op.result):
                divided = _divided(op, argument)
                for each in divided:
                    each.location = op.location
                total = op.rhs.owner
                Rewriter.replace_op(op, divided)
                _drop_unread(total)


def _drop_unread(op: Operation | Block) -> None:
    """Erase an operation whose results nobody reads, and then those that it alone has read."""
    if not isinstance(op, Operation) or op.parent is None:
        return
    if not any(list(result.uses) for result in op.results):
        owners = [value.owner for value in op.operands]
        Rewriter.erase_op(op)
        for owner in owners:
            _drop_unread(owner)


def _divided(op: kernel.DivOp, argument: SSAValue) -> list[Operation]:
    kind = op.result.type
    if op.lhs == argument:
        return [kernel.SiluOp(argument, kind)]
    sigmoid = kernel.SigmoidOp(argument, kind)
    if constant_value(op.lhs) == 1:
        return [sigmoid]
    return [sigmoid, kernel.MulOp(op.lhs, sigmoid.result, kind)]
