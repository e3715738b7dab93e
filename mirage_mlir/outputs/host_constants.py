"""Constant tensors of a host in memory that its kernels can read."""

from collections.abc import Collection

from xdsl.dialects import func
from xdsl.dialects.bufferization import AllocTensorOp
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Attribute, Operation, Use
from xdsl.rewriter import InsertPoint, Rewriter

from mirage_mlir.diagnostics import name_of
from mirage_mlir.hints import isa

COMPUTED = ("arith", "linalg", "math")
"""Dialects of which the host reads operands in loops of its own, and passes no buffer on."""


def copy_constants(module: ModuleOp, kernels: Collection[str]) -> None:
    """
    Copy the constant tensors of functions that call `kernels`, wherever a kernel may get them.

    Upstream's bufferization puts them into the memory of the program, which a device need not
    reach; a copy lies where the allocator puts it, as all other buffers do.
    """
    for function in module.body.block.ops:
        if isinstance(function, func.FuncOp) and _calls(function, kernels):
            for op in [*function.walk()]:
                if name_of(op) == "arith.constant" and isa(
                    op.results[0].type, TensorType[Attribute]
                ):
                    _copy(op)


def _calls(function: func.FuncOp, kernels: Collection[str]) -> bool:
    return any(
        isinstance(op, func.CallOp) and op.callee.string_value() in kernels
        for op in function.walk()
    )


def _copy(constant: Operation) -> None:
    (value,) = constant.results
    given = [use for use in value.uses if _is_passed_on(use)]
    if not given:
        return
    copy = AllocTensorOp.build(operands=[[], [value], []], result_types=[value.type])
    copy.location = constant.location
    Rewriter.insert_op(copy, InsertPoint.after(constant))
    for use in given:
        use.operation.operands[use.index] = copy.tensor


def _is_passed_on(use: Use) -> bool:
    return name_of(use.operation).partition(".")[0] not in COMPUTED
