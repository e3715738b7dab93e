"""Which functions can be compiled at all."""

from xdsl.dialects.builtin import TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute

from mirage_mlir.diagnostics import PassFailure, fail
from mirage_mlir.dialects.common import FloatType, StoredType
from mirage_mlir.float_formats import COMPILED
from mirage_mlir.hints import isa


def check_straight(function: FuncOp, wanted: str) -> None:
    """Fail at a function with branches, which cannot be `wanted`."""
    if len(function.body.blocks) > 1:
        fail(function, f"has several blocks; only straight-line functions can be {wanted}")


def check(function: FuncOp) -> None:
    """Fail at what is not straight-line code of kernel operators on tensors."""
    check_straight(function, "compiled")
    kinds = (
        ("argument", function.function_type.inputs),
        ("result", function.function_type.outputs),
    )
    for kind, types in kinds:
        for number, type_ in enumerate(types):
            if not isa(type_, TensorType[FloatType]):
                fail(function, f"has {kind} {number} of type {type_}, {_not_compiled(type_)}")
    for op in function.body.block.ops:
        if not op.name.startswith("kernel.") and not isinstance(op, ReturnOp):
            fail(
                op,
                "is no operator of the kernel dialect",
                note="a function to compile holds nothing else",
            )
        for value in (*op.operands, *op.results):
            if isa(value.type, TensorType[StoredType]) and not isa(
                value.type, TensorType[FloatType]
            ):
                fail(op, f"works on {value.type}, {_not_compiled(value.type)}")


def _not_compiled(type_: Attribute) -> str:
    """Why there are no kernels for values of a type."""
    if isa(type_, TensorType[StoredType]):
        return f"for whose elements there is no lowering: there is one for {COMPILED}"
    return "which is no tensor of floats"


def is_compiled(function: FuncOp) -> bool:
    """
    Whether kernels are made of `function`: others, on the host's side, stay as they are.

    Fails at what cannot be compiled in a function that has operators or kernels, too.
    """
    if function.is_declaration:
        return False
    try:
        check(function)
    except PassFailure:
        if any(op.name.startswith("kernel.") for op in function.walk()):
            raise
        return False
    return True
