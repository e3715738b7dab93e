"""Operations on tensors that are none of ours, and what is said where nothing converts them."""

from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Attribute, Operation

from mirage_mlir.diagnostics import name_of, remark
from mirage_mlir.hints import isa

SETTING_UP = (
    *("arith.constant", "linalg.fill", "scf.for", "scf.if", "scf.while", "stablehlo.constant"),
    "tensor.empty",
)
"""What is around computations, and is none itself."""

CONVERSIONS = {
    **dict.fromkeys(("arith", "linalg", "math", "tensor"), "convert-linalg-to-kernel"),
    **dict.fromkeys(("chlo", "stablehlo"), "convert-stablehlo-to-kernel"),
}
"""The pass that converts a dialect."""


def tell_foreign(module: ModuleOp, language: str) -> None:
    """A remark about the first operation on tensors that is none of ours, if there is one."""
    for op in first_foreign_operations(module)[:1]:
        name = name_of(op)
        other = CONVERSIONS.get(name.partition(".")[0])
        instead = f"; {other} converts it" if other else ""
        remark(op, f"'{name}' op is no {language}: nothing of this module was converted{instead}")


def first_foreign_operations(module: ModuleOp) -> list[Operation]:
    """In each function that works on tensors without an operator of ours, the first that does."""
    found: list[Operation] = []
    for function in module.walk():
        if not isinstance(function, FuncOp) or _is_of_kernels(function):
            continue
        foreign = (op for op in function.walk() if op is not function and _works_on_tensors(op))
        found += [*foreign][:1]
    return found


def _is_of_kernels(function: FuncOp) -> bool:
    return any(op.name.startswith("kernel.") for op in function.walk())


def _works_on_tensors(op: Operation) -> bool:
    """Whether `op` computes a tensor of others, in a way that the host has no name for."""
    if isinstance(op, FuncOp | ReturnOp | CallOp) or name_of(op) in SETTING_UP:
        return False
    return any(isa(result.type, TensorType[Attribute]) for result in op.results)
