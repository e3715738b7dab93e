"""`mirage-opt -t ptx`: the kernels of one function as PTX."""

from dataclasses import dataclass
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.target import Target

from mirage_mlir.bridge.nvptx import to_ptx
from mirage_mlir.outputs.kernels import KernelOptions


@dataclass(frozen=True)
class PtxTarget(KernelOptions, Target):
    """PTX text."""

    name = "ptx"

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        kernels = self.kernels(ctx, module)
        output.write(to_ptx(kernels, self.chip(kernels)))
