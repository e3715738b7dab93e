"""Which functions can be superoptimized at all."""

from xdsl.dialects.func import FuncOp, ReturnOp

from mirage_mlir.diagnostics import fail


def check(function: FuncOp) -> None:
    """Fail at what is not straight-line code of kernel operators on tensors."""
    if len(function.body.blocks) > 1:
        fail(function, "has several blocks; only straight-line functions can be superoptimized")
    for op in function.body.block.ops:
        if not op.name.startswith("kernel.") and not isinstance(op, ReturnOp):
            fail(
                op,
                "is no operator of the kernel dialect",
                note="functions to superoptimize hold only those",
            )
