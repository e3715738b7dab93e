"""How precise products of f32 are to be."""

from xdsl.dialects.builtin import StringAttr, f32
from xdsl.ir import Operation

from mirage_mlir.dialects import kernel
from mirage_mlir.dialects.bases import TF32

AS_F32 = "3xtf32"
"""Three products of tf32 make one that is as precise as f32."""

F32_PRODUCTS = (AS_F32, TF32)
"""What may be asked of all products of f32 at once."""


def check_precision(precision: str) -> None:
    """Raises `ValueError` where there are no such products of f32."""
    if precision not in F32_PRODUCTS:
        raise ValueError(f"products of f32 are {' or '.join(F32_PRODUCTS)}, not '{precision}'")


def ask_for(precision: str, program: Operation) -> None:
    """Let all products of f32 in `program` be in tf32, if that is the `precision`."""
    if precision != TF32:
        return
    for op in program.walk():
        if isinstance(op, kernel.MatmulOp) and kernel.tensor_type(op.lhs).element_type == f32:
            op.precision = StringAttr(TF32)
