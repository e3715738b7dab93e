"""The GPU modules of a program that hold kernels of ours."""

from xdsl.dialects import gpu
from xdsl.dialects.builtin import ModuleOp

from mirage_mlir.dialects.launch import LAUNCH


def lowered_modules(module: ModuleOp) -> list[gpu.ModuleOp]:
    """Those of kernels whose launches are known, also in plain words; the host may have others."""
    modules = [op for op in module.body.block.ops if isinstance(op, gpu.ModuleOp)]
    return [op for op in modules if any(LAUNCH in each.attributes for each in op.body.block.ops)]
